// GraphNet's form of PIR: a Python layer whose statements carry the operator and its types as a comment,
//   # pd_op.unsqueeze: (1x1x21xi64) <- (1x21xi64, 1xi64)
//   unsqueeze_0 = paddle._C_ops.unsqueeze(data_0, full_int_array_0)
// The comment gives type and shapes, the statement names: what stands first in the call are the operands, the rest are attributes by
// position.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "importers/paddle/attribute.h"
#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr std::string_view kCall = "_C_ops.";

/// Attributes of a call `paddle._C_ops.NAME(…)` in the order of paddle/phi/ops/yaml/ops.yaml, operands left out.
struct Order {
  std::string_view type, names;
};
constexpr Order kOrders[] = {
    {"arange", "dtype place"},
    {"argmax", "keepdims flatten dtype"},
    {"batch_norm", "is_test momentum epsilon data_format use_global_stats trainable_statistics"},
    {"batch_norm_", "is_test momentum epsilon data_format use_global_stats trainable_statistics"},
    {"cast", "dtype"},
    {"conv2d", "strides paddings padding_algorithm dilations groups data_format"},
    {"cumsum", "flatten exclusive reverse"},
    {"depthwise_conv2d", "strides paddings padding_algorithm groups dilations data_format"},
    {"dropout", "is_test mode seed fix_seed"},
    {"embedding", "padding_idx sparse"},
    {"flatten", "start_axis stop_axis"},
    {"full", "shape value dtype place"},
    {"full_int_array", "value dtype place"},
    {"full_like", "dtype place"},
    {"full_with_tensor", "dtype"},
    {"gelu", "approximate"},
    {"layer_norm", "epsilon begin_norm_axis"},
    {"leaky_relu", "negative_slope"},
    {"log_softmax", "axis"},
    {"matmul", "transpose_x transpose_y"},
    {"max", "keepdim"},
    {"mean", "keepdim"},
    {"min", "keepdim"},
    {"pool2d", "strides paddings ceil_mode exclusive data_format pooling_type global_pooling adaptive padding_algorithm"},
    {"pow", "y"},
    {"prod", "keepdim reduce_all"},
    {"scale", "bias bias_after_scale"},
    {"slice", "axes infer_flags decrease_axis"},
    {"softmax", "axis"},
    {"split_with_num", "num"},
    {"stack", "axis"},
    {"strided_slice", "axes"},
    {"sum", "dtype keepdim"},
    {"topk", "axis largest sorted"},
    {"transpose", "perm"},
    {"tril", "diagonal"},
    {"triu", "diagonal"},
    {"unbind", "axis"},
};

std::vector<std::string_view> attribute_names(std::string_view type) {
  const size_t dot = type.find('.');
  if (dot != std::string_view::npos) type.remove_prefix(dot + 1);
  const auto order = std::ranges::find(kOrders, type, &Order::type);
  std::vector<std::string_view> names;
  for (std::string_view rest = order == std::end(kOrders) ? std::string_view() : order->names; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

class PythonReader {
 public:
  PythonReader(Cursor cursor, Listing& listing) : cursor_(cursor), listing_(listing) {}

  base::Result<size_t> run() {
    listing_.programs.push_back({Form::python, {}, {}, cursor_.at()});
    listing_.programs.back().blocks.push_back({});
    while (!cursor_.skip_space().at_end()) {
      if (cursor_.take("def forward("))
        parameters();
      else if (is_comment_of_operator(cursor_.line()))
        RETURN_IF_ERROR(operation());
      else
        cursor_.skip_line();
    }
    return cursor_.at();
  }

 private:
  Block& block() { return listing_.programs.back().blocks[0]; }

  void parameters() {
    const std::string_view inside = cursor_.rest().substr(0, cursor_.rest().find(')'));
    for (const std::string_view name : items_of(inside)) {
      if (name != "self") define(name, {});
    }
    cursor_.move_to(cursor_.at() + inside.size());
  }

  void define(std::string_view name, Type type) {
    Variable variable;
    variable.name = name;
    variable.type = std::move(type);
    variable.offset = cursor_.at();
    known_[name] = block().variables.size();
    block().variables.push_back(std::move(variable));
    ++listing_.read;
  }

  static bool is_comment_of_operator(std::string_view line) {
    return line.starts_with("# ") && line.find(" <- (") != std::string_view::npos && line.find(": (") != std::string_view::npos;
  }

  base::Status operation() {
    Operator op;
    op.offset = cursor_.at();
    cursor_.take("# ");
    op.type = cursor_.word("_.");
    if (!cursor_.take(": ")) return cursor_.error(fmt::format("expected ': ' and types, got {}", cursor_.found()));
    ASSIGN_OR_RETURN(std::vector<Type> results, types());
    cursor_.take(" <- ");
    ASSIGN_OR_RETURN(const std::vector<Type> operands, types());
    cursor_.skip_line();
    name(op, results, operands);
    ++listing_.read;
    block().operators.push_back(std::move(op));
    return {};
  }

  base::Result<std::vector<Type>> types() {
    if (!cursor_.take('(')) return cursor_.error(fmt::format("expected '(' and types, got {}", cursor_.found()));
    return types_until(')');
  }

  /// `1x21xi64, [1xf32, 2xf32], None`
  base::Result<std::vector<Type>> types_until(char close) {
    std::vector<Type> types;
    while (!cursor_.skip_blanks().take(close)) {
      const size_t begin = cursor_.at();
      Type type;
      if (close == ')' && cursor_.take('[')) {
        ASSIGN_OR_RETURN(type.elements, types_until(']'));
        type.kind = Type::Kind::list;
      } else if (!cursor_.take("None")) {
        const std::string_view spelling = cursor_.word("_-");
        if (spelling.empty()) return cursor_.error(begin, fmt::format("expected a type, got {}", cursor_.found()));
        const std::string whole = fmt::format("tensor<{}>", spelling);
        Cursor inner(listing_.keep(whole), cursor_.source());
        auto read = read_type(inner, listing_);
        if (!read.ok()) return cursor_.error(begin, fmt::format("'{}' is no type", base::escaped(spelling)));
        type = *std::move(read);
      }
      types.push_back(std::move(type));
      cursor_.take(',');
    }
    return types;
  }

  /// The statement below the comment: up to an empty line, a comment or a `del`.
  std::string_view statement() {
    const size_t begin = cursor_.at();
    while (!cursor_.at_end()) {
      const std::string_view line = base::trimmed(cursor_.line());
      if (line.empty() || line[0] == '#' || line.starts_with("del ") || line.starts_with("return ")) break;
      cursor_.skip_line();
    }
    return base::trimmed(cursor_.since(begin));
  }

  /// What the layer is given has no types but those of its first use.
  void type_inputs(std::span<const std::string_view> in, const std::vector<Type>& types) {
    for (size_t k = 0; k < std::min(in.size(), types.size()); ++k) {
      const auto found = known_.find(in[k]);
      if (found == known_.end()) continue;
      Type& type = block().variables[found->second].type;
      if (type.kind == Type::Kind::absent) type = types[k];
    }
  }

  void name(Operator& op, std::vector<Type>& results, const std::vector<Type>& operands) {
    const std::string_view text = statement();
    const size_t equals = text.find(" = ");
    std::vector<std::string_view> out, in;
    if (equals != std::string_view::npos) {
      for (const std::string_view name : items_of(base::trimmed(text.substr(0, equals), " \t\r\n()"))) out.push_back(name);
      arguments(op, in, text.substr(equals + 3), operands.size());
      type_inputs(in, operands);
    }
    if (out.size() != results.size()) {
      listing_.notes.push_back(
          {op.offset, "unnamed-results", fmt::format("{} has {} results, its statement names {}", op.type, results.size(), out.size())});
      listing_.programs.back().gaps = true;
    }
    for (size_t k = 0; k < std::min(out.size(), results.size()); ++k) define(out[k], std::move(results[k]));
    op.outputs = one_slot(out);
    op.inputs = one_slot(in);
  }

  /// Operands are names of variables, wherever they stand; what else there is are attributes, in the order of the operator's definition.
  void arguments(Operator& op, std::vector<std::string_view>& in, std::string_view text, size_t operands) {
    std::string_view list = text;
    if (const size_t call = text.find(kCall); call != std::string_view::npos) {
      Cursor inner(text, "", std::min(text.find('(', call), text.size()));
      list = base::trimmed(inner.group());
      if (list.size() >= 2) list = list.substr(1, list.size() - 2);
    }
    const std::vector<std::string_view> names = attribute_names(op.type);
    std::vector<Attribute> attributes;
    for (const std::string_view item : items_of(list)) {
      const bool is_name = known_.contains(item) || item == "None";
      if (is_name && in.size() < operands) {
        in.push_back(item == "None" ? std::string_view() : item);
        continue;
      }
      const size_t k = attributes.size();
      const std::string_view name = k < names.size() ? names[k] : listing_.keep(fmt::format("argument_{}", k));
      attributes.push_back({name, literal(item)});
    }
    op.attributes = listing_.keep(attributes);
  }

  std::span<const Slot> one_slot(const std::vector<std::string_view>& arguments) {
    return listing_.keep(std::vector<Slot>{{{}, listing_.keep(arguments)}});
  }

  /// `float("1e-05")` → `1e-05`
  static std::string_view literal(std::string_view item) {
    constexpr std::string_view kFloat = "float(\"";
    if (item.starts_with(kFloat) && item.ends_with("\")")) return item.substr(kFloat.size(), item.size() - kFloat.size() - 2);
    return item;
  }

  Cursor cursor_;
  Listing& listing_;
  std::unordered_map<std::string_view, size_t> known_;  ///< variables, by name: places in the block
};

}  // namespace

base::Result<size_t> read_python(Cursor cursor, Listing& listing) { return PythonReader(cursor, listing).run(); }

}  // namespace importers::paddle
