// Attributes as values. Texts are canonical (the parser dropped comments and needless space), so a small scanner is enough.
#include "src/ir/attr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "src/ir/attr_scan.h"
#include "src/ir/escape.h"

namespace ir {
namespace {

const Attr* find_attr(const Module& module, const Instr& instr, std::string_view key) {
  for (const Attr& attr : instr.attrs) {
    if (module.text(attr.key) == key) return &attr;
  }
  return nullptr;
}

base::Error broken(std::string_view key, std::string_view text, std::string_view like) {
  return base::Error{fmt::format("{}={}: not of the form {}", key, text.substr(0, 80), like)};
}

/// `3x3`: integers joined by x.
std::optional<std::vector<int64_t>> by_x(AttrScan& scan) {
  std::vector<int64_t> values;
  do {
    const auto value = scan.integer();
    if (!value) return std::nullopt;
    values.push_back(*value);
  } while (scan.take('x'));
  return values;
}

/// `1_2x0_0`: groups of 2 or 3 integers joined by x.
std::optional<std::vector<std::vector<int64_t>>> groups_by_x(AttrScan& scan) {
  std::vector<std::vector<int64_t>> groups;
  do {
    std::vector<int64_t> group;
    do {
      const auto value = scan.integer();
      if (!value) return std::nullopt;
      group.push_back(*value);
    } while (scan.take('_'));
    if (group.size() < 2 || group.size() > 3) return std::nullopt;
    groups.push_back(std::move(group));
  } while (scan.take('x'));
  return groups;
}

/// One item of a window, `stride=2x2`, set in every dimension.
bool set_window_item(AttrScan& scan, std::string_view key, std::vector<WindowDim>& window) {
  static constexpr struct {
    std::string_view key;
    int64_t WindowDim::*field;
  } kItems[] = {{"size", &WindowDim::size},
                {"stride", &WindowDim::stride},
                {"lhs_dilate", &WindowDim::base_dilation},
                {"rhs_dilate", &WindowDim::window_dilation}};
  if (key == "pad") {
    const auto pads = groups_by_x(scan);
    if (!pads || pads->size() != window.size()) return false;
    for (size_t i = 0; i < window.size(); ++i) window[i].pad_low = (*pads)[i][0], window[i].pad_high = (*pads)[i][1];
    return true;
  }
  const auto values = by_x(scan);
  if (!values) return false;
  if (key == "size" && window.empty()) window.resize(values->size());
  if (values->size() != window.size()) return false;
  for (size_t i = 0; i < window.size() && key == "rhs_reversal"; ++i) window[i].reversed = (*values)[i] != 0;
  for (const auto& item : kItems) {
    for (size_t i = 0; i < window.size() && key == item.key; ++i) window[i].*item.field = (*values)[i];
  }
  return true;
}

/// Beyond it a window is larger than any array, and its products overflow.
constexpr int64_t kMostInWindow = int64_t{1} << 40;

bool is_sound(const WindowDim& dim) {
  const int64_t all[] = {dim.size, dim.stride, dim.base_dilation, dim.window_dilation, dim.pad_low, dim.pad_high};
  return dim.size >= 0 && dim.stride > 0 && dim.base_dilation > 0 && dim.window_dilation > 0 &&
         std::ranges::all_of(all, [](int64_t n) { return n >= -kMostInWindow && n <= kMostInWindow; });
}

/// Positions of two letters and of the spatial digits in one part of dim_labels.
struct Labels {
  int64_t first = -1, second = -1;
  std::vector<int64_t> spatial;
};

std::optional<Labels> read_labels(std::string_view text, char first, char second) {
  Labels labels;
  labels.spatial.assign(static_cast<size_t>(std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; })), -1);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<size_t>(text[i] - '0');
    int64_t* slot = text[i] == first ? &labels.first : text[i] == second ? &labels.second : nullptr;
    if (digit < labels.spatial.size()) slot = &labels.spatial[digit];
    if (text[i] == '?') continue;
    if (slot == nullptr || *slot >= 0) return std::nullopt;
    *slot = static_cast<int64_t>(i);
  }
  if (labels.first < 0 || labels.second < 0) return std::nullopt;
  return labels;
}

std::optional<std::vector<int64_t>> braced(AttrScan& scan) {
  std::vector<int64_t> values;
  if (!scan.take('{')) return std::nullopt;
  while (!scan.take('}')) {
    const auto value = scan.integer();
    if (!value) return std::nullopt;
    values.push_back(*value);
    scan.take(',');
  }
  return values;
}

std::optional<Alias> read_alias(AttrScan& scan) {
  Alias alias;
  const auto output = braced(scan);
  if (!output || !scan.take(':')) return std::nullopt;
  alias.output = *output;
  const bool pair = scan.take('(');
  const auto parameter = scan.integer();
  if (!parameter) return std::nullopt;
  alias.parameter = *parameter;
  if (!pair) return alias;
  if (scan.take(',')) {
    const auto input = braced(scan);
    if (!input) return std::nullopt;
    alias.input = *input;
  }
  if (scan.take(',') && scan.word().empty()) return std::nullopt;
  if (!scan.take(')')) return std::nullopt;
  return alias;
}

}  // namespace

std::optional<std::string_view> attr_text(const Module& module, const Instr& instr, std::string_view key) {
  const Attr* attr = find_attr(module, instr, key);
  if (attr == nullptr) return std::nullopt;
  return module.text(attr->text);
}

std::vector<int64_t> attr_dims(const Module& module, const Instr& instr, std::string_view key) {
  AttrScan scan{attr_text(module, instr, key).value_or("")};
  std::vector<int64_t> dims;
  scan.take('{');
  while (const auto value = scan.integer()) {
    dims.push_back(*value);
    scan.take(',');
  }
  return dims;
}

std::optional<int64_t> attr_int(const Module& module, const Instr& instr, std::string_view key) {
  const auto text = attr_text(module, instr, key);
  if (!text) return std::nullopt;
  return AttrScan{*text}.integer();
}

bool attr_true(const Module& module, const Instr& instr, std::string_view key) { return attr_text(module, instr, key) == "true"; }

std::vector<CompId> attr_calls(const Module& module, const Instr& instr, std::string_view key) {
  auto next = instr.calls.begin();
  for (const Attr& attr : instr.attrs) {
    if (attr.calls < 0) continue;
    if (module.text(attr.key) == key) return {next, next + attr.calls};
    next += attr.calls;
  }
  return {};
}

std::string attr_string(const Module& module, const Instr& instr, std::string_view key) {
  const std::string_view text = attr_text(module, instr, key).value_or("");
  return text.starts_with('"') || text.starts_with('\'') ? unescaped(text) : std::string(text);
}

base::Result<std::vector<WindowDim>> attr_window(const Module& module, const Instr& instr) {
  static constexpr std::string_view kForm = "{size=3x3 stride=2x2 pad=0_1x0_1}";
  const std::string_view text = attr_text(module, instr, "window").value_or("{}");
  std::vector<WindowDim> window;
  const size_t size = text.find("size=");  // says the rank, and may stand anywhere
  if (size != std::string_view::npos) {
    AttrScan scan{text.substr(size + 5)};
    if (!set_window_item(scan, "size", window)) return broken("window", text, kForm);
  }
  AttrScan scan{text};
  if (!scan.take('{')) return broken("window", text, kForm);
  while (!scan.take('}')) {
    const std::string_view key = scan.word();
    if (key.empty() || !scan.take('=') || !set_window_item(scan, key, window)) return broken("window", text, kForm);
    if (!scan.take(' ')) scan.take(',');
  }
  if (!std::ranges::all_of(window, is_sound))
    return base::Error{fmt::format("window={}: sizes are ≥ 0, strides and dilations ≥ 1, and none is beyond 2^40", text)};
  return window;
}

base::Result<std::vector<SliceDim>> attr_slice(const Module& module, const Instr& instr) {
  const std::string_view text = attr_text(module, instr, "slice").value_or("");
  AttrScan scan{text};
  std::vector<SliceDim> dims;
  if (!scan.take('{')) return broken("slice", text, "{[0:4], [1:8:2]}");
  while (!scan.take('}')) {
    const bool opened = scan.take('[');
    const auto start = scan.integer();
    const bool colon = scan.take(':');
    const auto limit = scan.integer();
    const auto stride = scan.take(':') ? scan.integer() : std::optional<int64_t>(1);
    if (!opened || !start || !colon || !limit || !stride || !scan.take(']')) return broken("slice", text, "{[0:4], [1:8:2]}");
    dims.push_back({*start, *limit, *stride});
    scan.take(',');
  }
  return dims;
}

base::Result<std::vector<PadDim>> attr_padding(const Module& module, const Instr& instr) {
  const std::string_view text = attr_text(module, instr, "padding").value_or("");
  if (text.empty()) return std::vector<PadDim>{};  // of a scalar
  AttrScan scan{text};
  const auto groups = groups_by_x(scan);
  if (!groups || !scan.at_end()) return broken("padding", text, "0_1x2_3_1");
  std::vector<PadDim> dims;
  for (const auto& group : *groups) dims.push_back({group[0], group[1], group.size() == 3 ? group[2] : 0});
  return dims;
}

base::Result<ConvDims> attr_conv_dims(const Module& module, const Instr& instr) {
  const std::string_view text = attr_text(module, instr, "dim_labels").value_or("");
  const size_t bar = text.find('_'), arrow = text.find("->");
  if (bar == std::string_view::npos || arrow == std::string_view::npos || arrow < bar) return broken("dim_labels", text, "b01f_01io->b01f");
  const std::string_view in_text = text.substr(0, bar), kernel_text = text.substr(bar + 1, arrow - bar - 1),
                         out_text = text.substr(arrow + 2);
  const auto in = read_labels(in_text, 'b', 'f'), kernel = read_labels(kernel_text, 'i', 'o'), out = read_labels(out_text, 'b', 'f');
  const auto rank = [](std::string_view labels) { return static_cast<int64_t>(labels.size()); };
  const bool sound = in && kernel && out && in->spatial.size() == kernel->spatial.size() && in->spatial.size() == out->spatial.size();
  if (!sound) return broken("dim_labels", text, "b01f_01io->b01f");
  return ConvDims{in->first,   in->second,      kernel->first, kernel->second, out->first,        out->second,
                  in->spatial, kernel->spatial, out->spatial,  rank(in_text),  rank(kernel_text), rank(out_text)};
}

DotDims attr_dot_dims(const Module& module, const Instr& instr) {
  return {attr_dims(module, instr, "lhs_batch_dims"), attr_dims(module, instr, "lhs_contracting_dims"),
          attr_dims(module, instr, "rhs_batch_dims"), attr_dims(module, instr, "rhs_contracting_dims")};
}

base::Result<Compare> attr_compare(const Module& module, const Instr& instr) {
  static constexpr std::pair<std::string_view, Direction> kDirections[] = {{"EQ", Direction::EQ}, {"NE", Direction::NE},
                                                                           {"GE", Direction::GE}, {"GT", Direction::GT},
                                                                           {"LE", Direction::LE}, {"LT", Direction::LT}};
  const std::string_view text = attr_text(module, instr, "direction").value_or("");
  const auto it = std::ranges::find(kDirections, text, &std::pair<std::string_view, Direction>::first);
  if (it == std::end(kDirections)) return broken("direction", text, "EQ, NE, GE, GT, LE or LT");
  return Compare{it->second, attr_text(module, instr, "type") == "TOTALORDER"};
}

GatherDims attr_gather(const Module& module, const Instr& instr) {
  const auto dims = [&](std::string_view key, std::string_view old) {  // names until 2018-08
    return attr_text(module, instr, key) ? attr_dims(module, instr, key) : attr_dims(module, instr, old);
  };
  return {dims("offset_dims", "output_window_dims"),
          dims("collapsed_slice_dims", "elided_window_dims"),
          dims("start_index_map", "gather_dims_to_operand_dims"),
          dims("slice_sizes", "window_bounds"),
          dims("operand_batching_dims", ""),
          dims("start_indices_batching_dims", ""),
          attr_int(module, instr, "index_vector_dim").value_or(0)};
}

ScatterDims attr_scatter(const Module& module, const Instr& instr) {
  return {attr_dims(module, instr, "update_window_dims"),
          attr_dims(module, instr, "inserted_window_dims"),
          attr_dims(module, instr, "scatter_dims_to_operand_dims"),
          attr_dims(module, instr, "input_batching_dims"),
          attr_dims(module, instr, "scatter_indices_batching_dims"),
          attr_int(module, instr, "index_vector_dim").value_or(0)};
}

std::optional<Op> simple_reducer(const Module& module, CompId id) {
  static constexpr Op kCommutative[] = {Op::add, Op::multiply, Op::maximum, Op::minimum, Op::and_, Op::or_, Op::xor_};
  const Computation& comp = module.comp(id);
  const Instr& root = comp.instrs[static_cast<size_t>(comp.root)];
  const bool is_known = std::ranges::find(kCommutative, root.op) != std::end(kCommutative);
  if (!is_known || comp.parameters.size() != 2 || root.operands.size() != 2 || root.operands[0] == root.operands[1]) return std::nullopt;
  const auto is_parameter = [&](InstrId operand) { return comp.instrs[static_cast<size_t>(operand)].op == Op::parameter; };
  if (!std::ranges::all_of(root.operands, is_parameter)) return std::nullopt;
  return root.op;
}

base::Result<std::vector<Alias>> parse_aliases(std::string_view text) {
  AttrScan scan{text};
  std::vector<Alias> aliases;
  bool ok = scan.take('{');
  while (ok && !scan.take('}')) {
    const auto alias = read_alias(scan);
    ok = alias.has_value();
    if (ok) aliases.push_back(*alias), scan.take(',');
  }
  if (!ok) return broken("alias", text, "{{0}: (1, {}, may-alias)}");
  return aliases;
}

}  // namespace ir
