// One table says what the fields of each message are called and what they hold; a message becomes text field by field, or what the reader
// of that text would make of it. Fields that no reader asks for are left out.
#include "importers/tensorflow/binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <future>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "importers/tensorflow/graph_def.h"
#include "importers/tensorflow/step_stats.h"
#include "importers/tensorflow/text_proto.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/base/wire.h"

namespace importers::tensorflow {
namespace {

enum class In : uint8_t {
  graph,
  node,
  attribute,
  value,
  list,
  shape,
  dim,
  tensor,
  function,
  library,
  library_function,
  signature,
  argument,
  entry,
  meta_graph,
  saved_model,
  run_metadata,
  step_stats,
  device,
  row,
  output,
  description,
};
enum class FieldHolds : uint8_t { text, integer, f32, f64, boolean, type, message };

struct FieldRow {
  In in;
  uint32_t number;
  std::string_view name;
  FieldHolds holds;
  In message = In::graph;  ///< of messages
};

constexpr FieldRow kFields[] = {
    {In::graph, 1, "node", FieldHolds::message, In::node},
    {In::graph, 2, "library", FieldHolds::message, In::library},
    {In::library, 1, "function", FieldHolds::message, In::library_function},
    {In::node, 1, "name", FieldHolds::text},
    {In::node, 2, "op", FieldHolds::text},
    {In::node, 3, "input", FieldHolds::text},
    {In::node, 4, "device", FieldHolds::text},
    {In::node, 5, "attr", FieldHolds::message, In::attribute},
    {In::attribute, 1, "key", FieldHolds::text},
    {In::attribute, 2, "value", FieldHolds::message, In::value},
    {In::value, 1, "list", FieldHolds::message, In::list},
    {In::value, 2, "s", FieldHolds::text},
    {In::value, 3, "i", FieldHolds::integer},
    {In::value, 4, "f", FieldHolds::f32},
    {In::value, 5, "b", FieldHolds::boolean},
    {In::value, 6, "type", FieldHolds::type},
    {In::value, 7, "shape", FieldHolds::message, In::shape},
    {In::value, 8, "tensor", FieldHolds::message, In::tensor},
    {In::value, 9, "placeholder", FieldHolds::text},
    {In::value, 10, "func", FieldHolds::message, In::function},
    {In::list, 2, "s", FieldHolds::text},
    {In::list, 3, "i", FieldHolds::integer},
    {In::list, 4, "f", FieldHolds::f32},
    {In::list, 5, "b", FieldHolds::boolean},
    {In::list, 6, "type", FieldHolds::type},
    {In::list, 7, "shape", FieldHolds::message, In::shape},
    {In::list, 8, "tensor", FieldHolds::message, In::tensor},
    {In::list, 9, "func", FieldHolds::message, In::function},
    {In::function, 1, "name", FieldHolds::text},
    {In::shape, 2, "dim", FieldHolds::message, In::dim},
    {In::shape, 3, "unknown_rank", FieldHolds::boolean},
    {In::dim, 1, "size", FieldHolds::integer},
    {In::tensor, 1, "dtype", FieldHolds::type},
    {In::tensor, 2, "tensor_shape", FieldHolds::message, In::shape},
    {In::tensor, 4, "tensor_content", FieldHolds::text},
    {In::tensor, 5, "float_val", FieldHolds::f32},
    {In::tensor, 6, "double_val", FieldHolds::f64},
    {In::tensor, 7, "int_val", FieldHolds::integer},
    {In::tensor, 8, "string_val", FieldHolds::text},
    {In::tensor, 9, "scomplex_val", FieldHolds::f32},
    {In::tensor, 10, "int64_val", FieldHolds::integer},
    {In::tensor, 11, "bool_val", FieldHolds::boolean},
    {In::tensor, 12, "dcomplex_val", FieldHolds::f64},
    {In::tensor, 13, "half_val", FieldHolds::integer},
    {In::tensor, 16, "uint32_val", FieldHolds::integer},
    {In::tensor, 17, "uint64_val", FieldHolds::integer},
    {In::library_function, 1, "signature", FieldHolds::message, In::signature},
    {In::library_function, 3, "node_def", FieldHolds::message, In::node},
    {In::library_function, 4, "ret", FieldHolds::message, In::entry},
    {In::library_function, 6, "control_ret", FieldHolds::message, In::entry},
    {In::signature, 1, "name", FieldHolds::text},
    {In::signature, 2, "input_arg", FieldHolds::message, In::argument},
    {In::signature, 3, "output_arg", FieldHolds::message, In::argument},
    {In::argument, 1, "name", FieldHolds::text},
    {In::argument, 5, "number_attr", FieldHolds::text},
    {In::argument, 6, "type_list_attr", FieldHolds::text},
    {In::entry, 1, "key", FieldHolds::text},
    {In::entry, 2, "value", FieldHolds::text},
    {In::meta_graph, 2, "graph_def", FieldHolds::message, In::graph},
    {In::saved_model, 2, "meta_graphs", FieldHolds::message, In::meta_graph},
    {In::run_metadata, 1, "step_stats", FieldHolds::message, In::step_stats},
    {In::step_stats, 1, "dev_stats", FieldHolds::message, In::device},
    {In::device, 1, "device", FieldHolds::text},
    {In::device, 2, "node_stats", FieldHolds::message, In::row},
    {In::row, 1, "node_name", FieldHolds::text},
    {In::row, 2, "all_start_micros", FieldHolds::integer},
    {In::row, 3, "op_start_rel_micros", FieldHolds::integer},
    {In::row, 4, "op_end_rel_micros", FieldHolds::integer},
    {In::row, 7, "output", FieldHolds::message, In::output},
    {In::row, 8, "timeline_label", FieldHolds::text},
    {In::row, 13, "all_start_nanos", FieldHolds::integer},
    {In::row, 14, "op_start_rel_nanos", FieldHolds::integer},
    {In::row, 15, "op_end_rel_nanos", FieldHolds::integer},
    {In::output, 1, "slot", FieldHolds::integer},
    {In::output, 3, "tensor_description", FieldHolds::message, In::description},
    {In::description, 1, "dtype", FieldHolds::type},
    {In::description, 2, "shape", FieldHolds::message, In::shape},
};

/// DataType by number; a reference to a variable is 100 more.
constexpr std::string_view kTypes[] = {"DT_INVALID",
                                       "DT_FLOAT",
                                       "DT_DOUBLE",
                                       "DT_INT32",
                                       "DT_UINT8",
                                       "DT_INT16",
                                       "DT_INT8",
                                       "DT_STRING",
                                       "DT_COMPLEX64",
                                       "DT_INT64",
                                       "DT_BOOL",
                                       "DT_QINT8",
                                       "DT_QUINT8",
                                       "DT_QINT32",
                                       "DT_BFLOAT16",
                                       "DT_QINT16",
                                       "DT_QUINT16",
                                       "DT_UINT16",
                                       "DT_COMPLEX128",
                                       "DT_HALF",
                                       "DT_RESOURCE",
                                       "DT_VARIANT",
                                       "DT_UINT32",
                                       "DT_UINT64",
                                       "DT_FLOAT8_E5M2",
                                       "DT_FLOAT8_E4M3FN",
                                       "",
                                       "",
                                       "",
                                       "DT_INT4",
                                       "DT_UINT4"};

const FieldRow* field_row(In in, uint32_t number) {
  const auto row = std::ranges::find_if(kFields, [&](const FieldRow& r) { return r.in == in && r.number == number; });
  return row == std::end(kFields) ? nullptr : row;
}

/// Text as the reader of protobuf text takes it back: all bytes but these stand for themselves.
void quote(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const size_t special = text.find_first_of("\"\\\n");
    out += text.substr(0, special);
    if (special == text.npos) break;
    out += text[special] == '\n' ? "\\n" : text[special] == '"' ? "\\\"" : "\\\\";
    text.remove_prefix(special + 1);
  }
  out += '"';
}

std::string number_text(FieldHolds holds, uint64_t bits) {
  if (holds == FieldHolds::f32) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (holds == FieldHolds::f64) return fmt::format("{}", std::bit_cast<double>(bits));
  if (holds == FieldHolds::boolean) return bits != 0 ? "true" : "false";
  if (holds == FieldHolds::integer) return fmt::format("{}", static_cast<int64_t>(bits));
  const uint64_t type = bits > 100 && bits < 200 ? bits - 100 : bits;
  return type < std::size(kTypes) && !kTypes[type].empty() ? std::string(kTypes[type]) : "DT_INVALID";
}

/// Numbers one behind the other, as proto3 writes lists. False: damaged.
template <typename Each>
bool each_packed(FieldHolds holds, std::string_view bytes, Each each) {
  const size_t size = holds == FieldHolds::f32 ? 4 : holds == FieldHolds::f64 ? 8 : 0;
  base::WireNumbers numbers(bytes, size);
  while (const auto bits = numbers.next()) each(*bits);
  return numbers.left() == 0;
}

constexpr int kDeepest = 32;  ///< messages in each other

/// Walks over the fields of a message: to.open(row, bytes, depth), which is false of a damaged one, of messages in it, to.text(row, bytes),
/// to.number(row, bits). False: damaged.
template <typename To>
bool walk(std::string_view bytes, In in, int depth, To& to) {
  base::WireReader wire(bytes);
  while (depth < kDeepest) {
    const auto field = wire.next();
    if (!field) break;
    const FieldRow* row = field_row(in, field->number);
    if (row == nullptr) continue;
    if (row->holds == FieldHolds::message) {
      if (!field->is_bytes() || !to.open(*row, field->bytes, depth)) return false;
    } else if (row->holds == FieldHolds::text) {
      to.text(*row, field->bytes);
    } else if (!field->is_bytes()) {
      to.number(*row, field->value);
    } else if (!each_packed(row->holds, field->bytes, [&](uint64_t bits) { to.number(*row, bits); })) {
      return false;
    }
  }
  return depth < kDeepest && wire.wrong().empty();
}

/// Protobuf text of a message.
class Writer {
 public:
  bool open(const FieldRow& row, std::string_view bytes, int depth) {
    out_.append(row.name).append(" {\n");
    if (!walk(bytes, row.message, depth + 1, *this)) return false;
    out_ += "}\n";
    return true;
  }
  void text(const FieldRow& row, std::string_view bytes) {
    out_.append(row.name) += ": ";
    quote(out_, bytes);
    out_ += '\n';
  }
  void number(const FieldRow& row, uint64_t bits) {
    out_.append(row.name) += ": ";
    out_.append(number_text(row.holds, bits)) += '\n';
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

base::Error damaged(const Input& input) {
  return {fmt::format("{}:1:1: is a damaged or cut protobuf; copy the file again", base::escaped(input.path))};
}

/// Cuts the graphs of a file into runs of whole fields. False: damaged.
bool cut_graphs(std::string_view bytes, In in, std::vector<GraphPieces::Piece>& pieces) {
  base::WireReader wire(bytes);
  size_t begin = 0;
  const auto cut = [&](size_t end) {
    if (end > begin) pieces.push_back({bytes.substr(begin, end - begin)});
    begin = end;
  };
  while (const auto field = wire.next()) {
    const FieldRow* row = in == In::graph ? nullptr : field_row(in, field->number);
    if (row != nullptr && (!field->is_bytes() || !cut_graphs(field->bytes, row->message, pieces))) return false;
    if (in == In::graph && wire.at() - begin >= kGraphPiece) cut(wire.at());
  }
  if (in == In::graph) cut(bytes.size());
  return wire.wrong().empty();
}

/// A message as the reader of protobuf text gives it, without the text.
class MessageRows {
 public:
  /// Valid until the next one, texts in it as long as `bytes` besides. Nothing: damaged.
  std::optional<Message> message(std::string_view bytes, In in) {
    rows_.clear();
    made_.clear();
    return walk(bytes, in, 1, *this) ? std::optional(Message(rows_)) : std::nullopt;
  }

  bool open(const FieldRow& row, std::string_view bytes, int depth) {
    const size_t at = rows_.size();
    rows_.push_back({row.name, {}, 1, true});
    if (!walk(bytes, row.message, depth + 1, *this)) return false;
    rows_[at].size = static_cast<uint32_t>(rows_.size() - at);
    return true;
  }

  void text(const FieldRow& row, std::string_view bytes) { rows_.push_back({row.name, is_quoted(bytes) ? quoted(bytes) : bytes}); }
  void number(const FieldRow& row, uint64_t bits) { rows_.push_back({row.name, made_.emplace_back(number_text(row.holds, bits))}); }

 private:
  std::string_view quoted(std::string_view text) {
    std::string& made = made_.emplace_back();
    quote(made, text);
    return made;
  }

  std::vector<Field> rows_;
  std::deque<std::string> made_;  ///< texts that do not stand in the file
};

/// Calls each(row, bytes) for the messages of one that holds nothing else that is asked for, until it is false. False: damaged.
template <typename Each>
bool each_message(std::string_view bytes, In in, Each each) {
  base::WireReader wire(bytes);
  while (const auto field = wire.next()) {
    const FieldRow* row = field_row(in, field->number);
    if (row != nullptr && (!field->is_bytes() || !each(*row, field->bytes))) return false;
  }
  return wire.wrong().empty();
}

bool read_library(std::string_view bytes, MessageRows& rows, GraphSink& sink) {
  const auto part = [&](const FieldRow& row, std::string_view within) {
    const auto message = rows.message(within, row.message);
    if (message) sink.function_part(row.name, *message, 0);
    return message.has_value();
  };
  return each_message(bytes, In::library, [&](const FieldRow& row, std::string_view function) {
    sink.function();
    return each_message(function, row.message, part);
  });
}

/// Fields of a graph.
base::Status read_binary(const Input& input, const GraphPieces::Piece& piece, GraphSink& sink) {
  MessageRows rows;
  const bool whole = each_message(piece.bytes, In::graph, [&](const FieldRow& row, std::string_view bytes) {
    if (row.message == In::library) return read_library(bytes, rows, sink);
    const auto node = rows.message(bytes, row.message);
    if (node) sink.node(*node, 0);
    return node.has_value();
  });
  return whole ? base::Status() : damaged(input);
}

/// The account speaks of the file as it is: its size and its identity, and no lines.
template <typename Read>
base::Result<model::Imported> amended(const Input& input, const TakeModule& take, std::string_view format, Read read) {
  auto hashing = std::async(std::launch::async, base::sha256_hex, input.bytes);
  std::string sha256;
  const auto amend = [&](model::Source source) {
    if (hashing.valid()) sha256 = hashing.get();
    source.format = format;
    source.sha256 = sha256;
    source.bytes = static_cast<int64_t>(input.bytes.size());
    return source;
  };
  const auto without_lines = [](std::vector<model::Operator>& operators) {
    for (model::Operator& op : operators) op.line = 0;
  };
  const auto take_module = [&](const model::Source& source, Program program, std::string_view hlo) {
    without_lines(program.operators);
    return take(amend(source), std::move(program), hlo);
  };
  const auto take_ahead = [&](const model::Source& source, model::OperatorStream operators) -> base::Status {
    const auto without_line = [make = std::move(operators.make)](size_t i) {
      model::Operator op = make(i);
      op.line = 0;
      return op;
    };
    const auto left = take.ahead(amend(source), {operators.count, without_line});
    return left.ok() ? base::Status() : base::Status(left.error());
  };
  ASSIGN_OR_RETURN(model::Imported imported, read(take.takes_ahead() ? TakeModule(take_module, take_ahead) : TakeModule(take_module)));
  imported.source = amend(std::move(imported.source));
  without_lines(imported.operators);
  for (model::Note& note : imported.notes) note.line = note.column = 0;
  return imported;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() < 4096 && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

/// The next field if it is this string or message.
std::optional<std::string_view> next_bytes(base::WireReader& wire, uint32_t number) {
  const auto field = wire.next();
  return field && field->number == number && field->is_bytes() ? std::optional(field->bytes) : std::nullopt;
}

/// A NodeDef: its name and its op come first.
bool is_node(std::string_view bytes) {
  base::WireReader wire(bytes);
  const auto name = next_bytes(wire, 1);
  if (!name || !is_word(*name)) return false;
  const auto op = next_bytes(wire, 2);
  return op && is_word(*op) && op->find('/') == std::string_view::npos;
}

bool is_graph(std::string_view bytes) {
  base::WireReader wire(bytes);
  const auto node = next_bytes(wire, 1);
  return node && is_node(*node);
}

/// The first field of that number that is a message; empty: none among the first few.
std::string_view first_message(std::string_view bytes, uint32_t number) {
  base::WireReader wire(bytes);
  for (int fields = 0; fields < 8; ++fields) {
    const auto field = wire.next();
    if (!field) break;
    if (field->number == number && field->is_bytes()) return field->bytes;
  }
  return {};
}

std::optional<In> graph_kind(std::string_view bytes) {
  if (is_graph(bytes)) return In::graph;
  if (is_graph(first_message(bytes, 2))) return In::meta_graph;
  if (is_graph(first_message(first_message(bytes, 2), 2))) return In::saved_model;
  return std::nullopt;
}

bool is_device(std::string_view bytes) {
  base::WireReader wire(bytes);
  const auto name = next_bytes(wire, 1);
  return name && name->starts_with('/') && is_word(*name);
}

std::optional<In> stats_kind(std::string_view bytes) {
  if (is_device(first_message(bytes, 1))) return In::step_stats;
  if (is_device(first_message(first_message(bytes, 1), 1))) return In::run_metadata;
  return std::nullopt;
}

}  // namespace

Match match_binary_graph(const Input& input) {
  if (graph_kind(input.bytes)) return {Match::sure, "a binary GraphDef or SavedModel"};
  return {Match::none, "no binary GraphDef or SavedModel"};
}
Match match_binary_step_stats(const Input& input) {
  if (stats_kind(input.bytes)) return {Match::sure, "binary step_stats"};
  return {Match::none, "no binary step_stats"};
}

base::Result<model::Imported> read_binary_graph(const Input& input, const TakeModule& take) {
  GraphPieces pieces{{}, read_binary};
  if (!cut_graphs(input.bytes, graph_kind(input.bytes).value_or(In::graph), pieces.pieces)) return damaged(input);
  return amended(input, take, "tensorflow-graph-binary",
                 [&](const TakeModule& amending) { return read_graph_pieces(input, pieces, amending); });
}
base::Result<model::Imported> read_binary_step_stats(const Input& input, const TakeModule& take) {
  Writer writer;
  if (!walk(input.bytes, stats_kind(input.bytes).value_or(In::run_metadata), 0, writer)) return damaged(input);
  const std::string text = writer.take();
  Input as_text = input;
  as_text.bytes = text;
  return amended(input, take, "tensorflow-step-stats-binary",
                 [&](const TakeModule& amending) { return read_step_stats(as_text, amending); });
}

}  // namespace importers::tensorflow
