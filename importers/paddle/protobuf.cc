// Protobuf text of ProgramDesc: what `print(program)` gave before 2.0 and `program.to_string(True)` gives still. Fields may come in any
// order; those that nothing here needs are passed over.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr int kDeepestMessage = 64;

/// How AttrType names the fields that hold a value: those of a list repeat.
constexpr std::string_view kListKinds[] = {"INTS", "FLOATS", "STRINGS", "BOOLEANS", "BLOCKS", "LONGS", "FLOAT64S", "VARS", "SCALARS"};

class ProtobufReader {
 public:
  ProtobufReader(Cursor cursor, Listing& listing) : cursor_(cursor), listing_(listing) {}

  base::Result<size_t> run() {
    const size_t begin = cursor_.skip_space().at();
    listing_.programs.push_back({Form::protobuf, {}, {}, begin});
    while (!cut_ && cursor_.skip_space().rest().starts_with("blocks")) {
      if (!next_field() || !opens_) return cursor_.error(fmt::format("expected '{{' after 'blocks', got {}", cursor_.found()));
      RETURN_IF_ERROR(block());
    }
    while (!cut_ && (cursor_.skip_space().rest().starts_with("version") || cursor_.rest().starts_with("op_version_map"))) {
      RETURN_IF_ERROR(skip_field());
    }
    return cursor_.at();
  }

 private:
  Program& program() { return listing_.programs.back(); }

  /// `name: value` or `name {`, into field_, value_ and opens_; false at '}' and where the text ends or a writer's dots stand.
  bool next_field() {
    closed_ = false;
    cursor_.skip_space();
    if (cursor_.at_end() || cursor_.rest().starts_with("...")) return cut(), false;
    if (cursor_.take('}')) return closed_ = true, false;
    field_ = cursor_.word();
    cursor_.skip_blanks().take(':');
    opens_ = cursor_.skip_blanks().take('{') || cursor_.take('<');
    if (opens_ || field_.empty()) return !field_.empty();
    const size_t begin = cursor_.at();
    if (!cursor_.quoted()) cursor_.word("_+-.");
    value_ = cursor_.since(begin);
    cursor_.skip_blanks().take(',') || cursor_.take(';');
    return true;
  }

  void cut() {
    if (cut_) return;
    cut_ = program().gaps = true;
    listing_.notes.push_back(
        {std::min(cursor_.at(), cursor_.text().size() - 1), "cut-short", "the text ends inside a message: what follows is missing"});
  }

  base::Status bad_field() const { return cursor_.error(fmt::format("expected a field or '}}', got {}", cursor_.found())); }

  base::Status skip_field() {
    if (!next_field()) return cut_ ? base::Status() : bad_field();
    return opens_ ? skip_message() : base::Status();
  }

  base::Status skip_message() {
    for (int depth = 1; depth > 0 && !cut_;) {
      if (next_field()) {
        if (opens_ && ++depth > kDeepestMessage) return cursor_.error("messages lie too deep");
      } else if (!cut_) {
        if (!closed_) return bad_field();
        --depth;
      }
    }
    return {};
  }

  /// Calls `field` for each field of the message that has just been opened; `field` says whether it took it.
  template <typename Take>
  base::Status message(const Take& take) {
    while (next_field()) {
      const size_t before = cursor_.at();
      const bool opened = opens_;
      ASSIGN_OR_RETURN(const bool taken, take());
      if (cut_) return {};
      if (!taken && opened && cursor_.at() == before) RETURN_IF_ERROR(skip_message());
      if (cut_) return {};
    }
    return cut_ || closed_ ? base::Status() : bad_field();
  }

  std::string_view string() const {
    return value_.size() >= 2 && (value_[0] == '"' || value_[0] == '\'') ? value_.substr(1, value_.size() - 2) : value_;
  }

  base::Status block() {
    program().blocks.push_back({});
    Block block;
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "parent_idx" && !opens_) {
        Cursor number(value_, "");
        const int64_t parent = number.integer().value_or(-1);
        if (parent >= static_cast<int64_t>(program().blocks.size())) return cursor_.error("a block cannot lie in one that follows it");
        block.parent = static_cast<int32_t>(parent);
        return true;
      }
      if (field_ == "vars" && opens_) return variable(block);
      if (field_ == "ops" && opens_) return operation(block);
      return false;
    }));
    program().blocks.back() = std::move(block);
    return {};
  }

  base::Result<bool> variable(Block& block) {
    Variable variable;
    variable.offset = cursor_.at();
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "name") return variable.name = string(), true;
      if (field_ == "persistable") return variable.persistable = value_ == "true", true;
      if (field_ == "is_parameter") return variable.parameter = value_ == "true", true;
      if (field_ == "type" && opens_) return type(variable.type);
      return false;
    }));
    return keep(variable.name.empty(), block.variables, std::move(variable));
  }

  /// A record that the end of the text cuts is counted as dropped.
  template <typename Record>
  bool keep(bool nameless, std::vector<Record>& records, Record record) {
    ++listing_.read;
    if (cut_ && nameless)
      ++listing_.dropped;
    else
      records.push_back(std::move(record));
    return true;
  }

  base::Result<bool> type(Type& type) {
    type.kind = Type::Kind::other;
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "type" && !opens_) return type.holder = value_, true;
      if (!opens_) return false;
      if (field_ == "tensor_array") return false;
      RETURN_IF_ERROR(holder(type));
      return true;
    }));
    return true;
  }

  /// `lod_tensor { tensor { data_type: FP32 dims: -1 } lod_level: 0 }`, or selected rows, which have no message between.
  base::Status holder(Type& type) {
    const bool direct = field_ == "selected_rows" || field_ == "tensor";
    if (direct) return tensor(type);
    return message([&]() -> base::Result<bool> {
      if (field_ != "tensor" || !opens_) return false;
      RETURN_IF_ERROR(tensor(type));
      return true;
    });
  }

  base::Status tensor(Type& type) {
    type.kind = Type::Kind::tensor;
    std::vector<int64_t> dims;
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "data_type") return type.dtype = dtype_name(value_), true;
      if (field_ != "dims" || opens_) return false;
      Cursor number(value_, "");
      dims.push_back(number.integer().value_or(-1));
      return true;
    }));
    type.dims = listing_.keep(dims);
    return {};
  }

  base::Result<bool> operation(Block& block) {
    Operator op;
    op.offset = cursor_.at();
    inputs_.clear(), outputs_.clear(), attributes_.clear();
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "type" && !opens_) return op.type = string(), true;
      if (!opens_) return false;
      if (field_ == "inputs") return slot(inputs_);
      if (field_ == "outputs") return slot(outputs_);
      if (field_ == "attrs") return attribute(op);
      return false;
    }));
    op.inputs = listing_.keep(inputs_), op.outputs = listing_.keep(outputs_), op.attributes = listing_.keep(attributes_);
    return keep(op.type.empty(), block.operators, std::move(op));
  }

  base::Result<bool> slot(std::vector<Slot>& slots) {
    Slot slot;
    arguments_.clear();
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (field_ == "parameter") return slot.name = string(), true;
      if (field_ == "arguments") return arguments_.push_back(string()), true;
      return false;
    }));
    slot.arguments = listing_.keep(arguments_);
    slots.push_back(slot);
    return true;
  }

  base::Result<bool> attribute(Operator& op) {
    Attribute attribute;
    std::string_view kind;
    std::vector<std::string_view> values;
    RETURN_IF_ERROR(message([&]() -> base::Result<bool> {
      if (opens_) return false;
      if (field_ == "name") return attribute.name = string(), true;
      if (field_ == "type") return kind = value_, true;
      return values.push_back(value_), true;
    }));
    if (attribute.name == "op_callstack") return place(op, values), true;
    const bool list = std::ranges::find(kListKinds, kind) != std::end(kListKinds);
    const bool text = kind == "STRING" && values.size() == 1 && values[0].size() >= 2;
    attribute.value = list             ? listing_.keep(fmt::format("[{}]", fmt::join(values, ", ")))
                      : text           ? values[0].substr(1, values[0].size() - 2)
                      : values.empty() ? std::string_view()
                                       : values[0];
    if (kind.starts_with("BLOCK")) {
      for (const std::string_view value : values) op.blocks.push_back(static_cast<int32_t>(Cursor(value, "").integer().value_or(0)));
    }
    attributes_.push_back(attribute);
    return true;
  }

  /// The callstack is pairs of `  File "x.py", line 12, in f` and the line's text, the innermost last.
  static void place(Operator& op, const std::vector<std::string_view>& lines) {
    for (const std::string_view line : lines) {
      const size_t file = line.find("File "), number = line.find(", line ");
      if (file == std::string_view::npos || number == std::string_view::npos || number < file) continue;
      std::string_view path = line.substr(file + 5, number - file - 5);
      while (!path.empty() && (path.front() == '\\' || path.front() == '"')) path.remove_prefix(1);
      while (!path.empty() && (path.back() == '\\' || path.back() == '"')) path.remove_suffix(1);
      op.file = path;
      op.file_line = Cursor(line.substr(number + 7), "").integer().value_or(0);
    }
  }

  Cursor cursor_;
  Listing& listing_;
  std::string_view field_, value_;
  bool opens_ = false;   ///< the field is a message
  bool closed_ = false;  ///< there was no field because the message ends
  bool cut_ = false;
  // Of the operator in hand, until the listing keeps them.
  std::vector<Slot> inputs_, outputs_;
  std::vector<std::string_view> arguments_;
  std::vector<Attribute> attributes_;
};

}  // namespace

base::Result<size_t> read_protobuf(Cursor cursor, Listing& listing) { return ProtobufReader(cursor, listing).run(); }

}  // namespace importers::paddle
