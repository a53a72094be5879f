// A module becomes rows with ids that are known beforehand: those of a computation's instructions are consecutive, so operands and
// callees are written without a look-up. Strings and shapes are interned in the module; each gets a row when it is first needed.
#include "src/model/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "src/base/text.h"
#include "src/ir/attr.h"
#include "src/ir/cost_model.h"
#include "src/ir/print.h"
#include "src/model/content.h"
#include "src/model/operators.h"
#include "src/model/row_batch.h"

namespace model {
namespace {

constexpr size_t kMostOperators = 64;  ///< of one fusion: bounds what a file can make us write

/// Texts of programs may hold any bytes; what is stored can be read by every client.
std::string shown(std::string_view text) { return base::escaped(text); }

/// The operators of a module and the scopes around them.
class Operators {
 public:
  static base::Result<Operators> make(Database& database, int64_t module) {
    ASSIGN_OR_RETURN(
        Statement op,
        database.prepare("INSERT INTO op (module, position, type, name, short_name, scope, phase) VALUES (?1,?2,?3,?4,?5,?6,?7)"));
    ASSIGN_OR_RETURN(Statement scope, database.prepare("INSERT INTO scope (module, parent, depth, name) VALUES (?1,?2,?3,?4)"));
    return Operators(database, module, std::move(op), std::move(scope));
  }

  /// Row of the operator that `origin` names, or 0 if it names none.
  base::Result<int64_t> row_of(const ir::Module& module, const ir::Origin* origin) {
    if (origin == nullptr || origin->op_name == ir::StringId::empty) return int64_t{0};
    const uint64_t key = uint64_t{static_cast<uint32_t>(origin->op_name)} << 32 | static_cast<uint32_t>(origin->op_type);
    if (const auto found = rows_.find(key); found != rows_.end()) return found->second;
    const std::string type = shown(module.text(origin->op_type)), name = shown(module.text(origin->op_name));
    const OperatorName parsed = operator_name(name, type);
    ASSIGN_OR_RETURN(const int64_t scope, scope_row(parsed.scope));
    RETURN_IF_ERROR(insert_op_.run(module_, static_cast<int64_t>(rows_.size()), std::string_view(type), std::string_view(name),
                                   parsed.short_name, scope, text(parsed.phase)));
    return rows_[key] = database_->last_id();
  }

 private:
  Operators(Database& database, int64_t module, Statement op, Statement scope)
      : database_(&database), module_(module), insert_op_(std::move(op)), insert_scope_(std::move(scope)) {}

  base::Result<int64_t> scope_row(std::span<const std::string_view> parts) {
    std::string path;
    int64_t row = 0;
    if (parts.empty()) return scope_row(path, 0, 0);
    for (size_t depth = 0; depth < parts.size(); ++depth) {
      path.append(depth == 0 ? "" : "/").append(parts[depth]);
      ASSIGN_OR_RETURN(row, scope_row(path, row, static_cast<int64_t>(depth)));
    }
    return row;
  }

  base::Result<int64_t> scope_row(const std::string& path, int64_t parent, int64_t depth) {
    if (const auto found = scopes_.find(path); found != scopes_.end()) return found->second;
    const auto insert = [&](auto parent_row) { return insert_scope_.run(module_, parent_row, depth, std::string_view(path)); };
    RETURN_IF_ERROR(parent == 0 ? insert(Null{}) : insert(parent));
    return scopes_[path] = database_->last_id();
  }

  Database* database_;
  int64_t module_;
  Statement insert_op_, insert_scope_;
  std::unordered_map<uint64_t, int64_t> rows_;
  std::unordered_map<std::string, int64_t> scopes_;
};

/// Rows of table string, made at first use.
class StringRows {
 public:
  static base::Result<StringRows> make(Database& database) {
    ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO string (text) VALUES (?1)"));
    return StringRows(database, std::move(insert));
  }
  base::Result<int64_t> row_of(const std::string& text) {
    if (const auto found = rows_.find(text); found != rows_.end()) return found->second;
    RETURN_IF_ERROR(insert_.run(std::string_view(text)));
    return rows_[text] = database_->last_id();
  }

 private:
  StringRows(Database& database, Statement insert) : database_(&database), insert_(std::move(insert)) {}
  Database* database_;
  Statement insert_;
  std::unordered_map<std::string, int64_t> rows_;
};

/// What instructions of equal shape share.
struct ShapeRow {
  int64_t shape = 0, layout = 0, bytes = 0;
};

/// Operators in a computation with the part of its work that is theirs.
using Shares = std::vector<std::pair<int64_t, double>>;

struct Inserts {
  Statement computation;
  RowBatch instruction, operand, call, cost, op_instruction;

  base::Status flush() {
    for (RowBatch* batch : {&instruction, &operand, &call, &cost, &op_instruction}) RETURN_IF_ERROR(batch->flush());
    return {};
  }
};

base::Result<Inserts> prepare_inserts(Database& database) {
  ASSIGN_OR_RETURN(
      Statement computation,
      database.prepare(
          "INSERT INTO computation (id, module, position, name, first_instruction, instructions, root) VALUES (?1,?2,?3,?4,?5,?6,?7)"));
  ASSIGN_OR_RETURN(RowBatch instruction,
                   RowBatch::make(database, "instruction",
                                  "id, computation, position, name, opcode, kind, dtype, shape, layout, result_bytes, op, source_file, "
                                  "source_line, attributes"));
  ASSIGN_OR_RETURN(RowBatch operand, RowBatch::make(database, "operand", "instruction, position, operand"));
  ASSIGN_OR_RETURN(RowBatch call, RowBatch::make(database, "call", "instruction, position, computation"));
  ASSIGN_OR_RETURN(RowBatch cost,
                   RowBatch::make(database, "cost", "instruction, method, flops, transcendentals, bytes_read, bytes_written, known"));
  ASSIGN_OR_RETURN(RowBatch share, RowBatch::make(database, "op_instruction", "instruction, op, share"));
  return Inserts{std::move(computation), std::move(instruction), std::move(operand), std::move(call), std::move(cost), std::move(share)};
}

std::string kind_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op == ir::Op::fusion) return shown(ir::attr_text(module, instr, "kind").value_or(""));
  if (instr.op == ir::Op::custom_call) return shown(ir::attr_string(module, instr, "custom_call_target"));
  return "";
}

/// Attributes as a JSON object of texts; callees by name. Empty if there are none.
std::string attributes_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.attrs.empty()) return "";
  nlohmann::json object = nlohmann::json::object();
  size_t next_call = 0;
  for (const ir::Attr& attr : instr.attrs) {
    std::string value(module.text(attr.text));
    for (int32_t i = 0; i < attr.calls && next_call < instr.calls.size(); ++i, ++next_call) {
      value.append(i == 0 ? "" : ", ").append(module.text(module.comp(instr.calls[next_call]).name));
    }
    object[shown(module.text(attr.key))] = std::move(value);
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Does an instruction of a fusion do work of its own?
bool produces(ir::Op op) {
  const ir::OpClass cls = ir::info(op).cls;
  return cls != ir::OpClass::source && cls != ir::OpClass::alias && cls != ir::OpClass::order;
}

/// Writes one module.
class ModuleWriter {
 public:
  ModuleWriter(const ir::Module& module, Inserts inserts, StringRows strings, Operators operators)
      : module_(module),
        inserts_(std::move(inserts)),
        strings_(std::move(strings)),
        operators_(std::move(operators)),
        shapes_(module.shapes.size()),
        shares_(module.computations.size()) {
    for (const ir::CostMethod method : ir::kCostMethods) costs_.emplace_back(module, method);
  }

  /// Returns the first instruction row of each computation. Rows are numbered on from the two ids given.
  base::Result<std::vector<int64_t>> write(int64_t module_row, int64_t first_computation, int64_t first_instruction) {
    first_computation_ = first_computation;
    for (const ir::Computation& comp : module_.computations) {
      first_.push_back(first_instruction);
      first_instruction += static_cast<int64_t>(comp.instrs.size());
    }
    for (size_t i = 0; i < first_.size(); ++i) {
      const ir::Computation& comp = module_.computations[i];
      const int64_t row = first_computation_ + static_cast<int64_t>(i);
      const auto size = static_cast<int64_t>(comp.instrs.size());
      const std::string name = shown(module_.text(comp.name));
      RETURN_IF_ERROR(inserts_.computation.run(row, module_row, static_cast<int64_t>(i), std::string_view(name), first_[i], size,
                                               first_[i] + comp.root));
      for (ir::InstrId k = 0; k < size; ++k) RETURN_IF_ERROR(write_instruction({static_cast<ir::CompId>(i), k}));
    }
    RETURN_IF_ERROR(inserts_.flush());
    return std::move(first_);
  }

 private:
  int64_t row_of(ir::InstrRef ref) const { return first_[static_cast<size_t>(ref.comp)] + ref.instr; }

  base::Result<ShapeRow> shape_row(ir::ShapeId id) {
    std::optional<ShapeRow>& known = shapes_[static_cast<size_t>(id)];
    if (known) return *known;
    const ir::Shape& shape = module_.shape(id);
    const std::string whole = ir::print(shape), plain = ir::print(shape, ir::LayoutPrint::without);
    ShapeRow row;
    ASSIGN_OR_RETURN(row.shape, strings_.row_of(plain));
    ASSIGN_OR_RETURN(row.layout, strings_.row_of(whole.starts_with(plain) ? whole.substr(plain.size()) : whole));
    row.bytes = ir::bytes(shape);
    known = row;
    return row;
  }

  base::Status write_instruction(ir::InstrRef ref) {
    const ir::Instr& instr = module_.instr(ref.comp, ref.instr);
    const int64_t row = row_of(ref);
    ASSIGN_OR_RETURN(const ShapeRow shape, shape_row(instr.shape));
    ASSIGN_OR_RETURN(const int64_t op, operators_.row_of(module_, module_.origin(instr)));
    const std::string name = shown(module_.name_of(instr)), kind = kind_of(module_, instr), attributes = attributes_of(module_, instr);
    ASSIGN_OR_RETURN(const std::optional<SourceLine> source, source_line(module_.origin(instr)));
    RETURN_IF_ERROR(inserts_.instruction.add(
        row, first_computation_ + ref.comp, ref.instr, std::string_view(name), ir::text(instr.op), std::string_view(kind),
        ir::text(module_.shape(instr).type), shape.shape, shape.layout, shape.bytes, op == 0 ? std::nullopt : std::optional(op),
        source ? std::optional(source->file) : std::nullopt, source ? std::optional(source->line) : std::nullopt,
        attributes.empty() ? std::nullopt : std::optional<std::string_view>(attributes)));
    RETURN_IF_ERROR(write_edges(instr, ref.comp, row));
    RETURN_IF_ERROR(write_costs(ref, row));
    return write_shares(instr, op, row);
  }

  struct SourceLine {
    int64_t file = 0;  ///< row of its name
    int64_t line = 0;
  };
  base::Result<std::optional<SourceLine>> source_line(const ir::Origin* origin) {
    if (origin == nullptr || origin->source_file == ir::StringId::empty) return std::optional<SourceLine>();
    int64_t& file = files_[origin->source_file];
    if (file == 0) {
      ASSIGN_OR_RETURN(file, strings_.row_of(shown(module_.text(origin->source_file))));
    }
    return std::optional(SourceLine{file, origin->source_line});
  }

  base::Status write_edges(const ir::Instr& instr, ir::CompId comp, int64_t row) {
    int64_t position = 0;
    for (const ir::InstrId operand : instr.operands) RETURN_IF_ERROR(inserts_.operand.add(row, position++, row_of({comp, operand})));
    position = 0;
    for (const ir::CompId callee : instr.calls) RETURN_IF_ERROR(inserts_.call.add(row, position++, first_computation_ + callee));
    return {};
  }

  base::Status write_costs(ir::InstrRef ref, int64_t row) {
    for (size_t i = 0; i < costs_.size(); ++i) {
      const ir::Cost cost = costs_[i].of(module_.comp(ref.comp), module_.instr(ref.comp, ref.instr));
      RETURN_IF_ERROR(inserts_.cost.add(row, ir::text(ir::kCostMethods[i]), cost.flops, cost.transcendentals, cost.bytes_read,
                                        cost.bytes_written, int64_t{cost.known}));
    }
    return {};
  }

  base::Status write_shares(const ir::Instr& instr, int64_t op, int64_t row) {
    if (instr.op == ir::Op::fusion && !instr.calls.empty()) {
      ASSIGN_OR_RETURN(const Shares* shares, shares_of(instr.calls.front()));
      for (const auto& [part, share] : *shares) RETURN_IF_ERROR(inserts_.op_instruction.add(row, part, share));
      if (!shares->empty()) return {};
    }
    return op == 0 ? base::Status() : inserts_.op_instruction.add(row, op, 1.0);
  }

  /// By bytes that the parts produce: most fusions are bound by traffic, and every part has a result.
  base::Result<const Shares*> shares_of(ir::CompId comp) {
    std::optional<Shares>& known = shares_[static_cast<size_t>(comp)];
    if (known) return &*known;
    std::map<int64_t, double> bytes;
    for (const ir::Instr& part : module_.comp(comp).instrs) {
      if (!produces(part.op)) continue;
      ASSIGN_OR_RETURN(const int64_t op, operators_.row_of(module_, module_.origin(part)));
      if (op != 0) bytes[op] += static_cast<double>(std::max<int64_t>(1, ir::bytes(module_.shape(part))));
    }
    known = Shares(bytes.begin(), bytes.end());
    std::stable_sort(known->begin(), known->end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (known->size() > kMostOperators) known->resize(kMostOperators);
    double sum = 0;
    for (const auto& [op, part] : *known) sum += part;
    for (auto& [op, part] : *known) part /= sum;
    return &*known;
  }

  const ir::Module& module_;
  Inserts inserts_;
  StringRows strings_;
  Operators operators_;
  std::vector<std::optional<ShapeRow>> shapes_;
  std::vector<std::optional<Shares>> shares_;
  std::vector<ir::CostModel> costs_;  ///< in the order of kCostMethods; they remember what computations cost
  std::unordered_map<ir::StringId, int64_t> files_;
  std::vector<int64_t> first_;
  int64_t first_computation_ = 0;
};

base::Result<std::vector<int64_t>> write_module(Database& database, const ir::Module& module, int64_t row) {
  ASSIGN_OR_RETURN(Inserts inserts, prepare_inserts(database));
  ASSIGN_OR_RETURN(StringRows strings, StringRows::make(database));
  ASSIGN_OR_RETURN(Operators operators, Operators::make(database, row));
  ASSIGN_OR_RETURN(const int64_t computation, database.integer("SELECT coalesce(max(id), 0) + 1 FROM computation"));
  ASSIGN_OR_RETURN(const int64_t instruction, database.integer("SELECT coalesce(max(id), 0) + 1 FROM instruction"));
  ModuleWriter writer(module, std::move(inserts), std::move(strings), std::move(operators));
  ASSIGN_OR_RETURN(std::vector<int64_t> first, writer.write(row, computation, instruction));
  ASSIGN_OR_RETURN(Statement entry, database.prepare("UPDATE module SET entry = ?1 WHERE id = ?2"));
  RETURN_IF_ERROR(entry.run(computation + module.entry, row));
  return first;
}

base::Result<int64_t> write_source(Database& database, const Source& source) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO source (path, format, sha256, bytes, read, kept, dropped) VALUES (?1,?2,?3,?4,?5,?6,?7)"));
  const std::string path = shown(source.path);
  RETURN_IF_ERROR(insert.run(std::string_view(path), std::string_view(source.format), std::string_view(source.sha256), source.bytes,
                             source.read, source.kept, source.dropped));
  return database.last_id();
}

base::Status write_notes(Database& database, std::span<const Note> notes, int64_t source) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO note (source, line, \"column\", code, text) VALUES (?1, nullif(?2, 0), nullif(?3, 0), ?4, ?5)"));
  for (const Note& note : notes) {
    const std::string what = shown(note.text);
    RETURN_IF_ERROR(insert.run(source, note.line, note.column, std::string_view(note.code), std::string_view(what)));
  }
  return {};
}

/// Ids of a source that is stored already; source 0 if it is not.
base::Result<ImportIds> find_source(Database& database, const std::string& sha256) {
  ImportIds ids;
  ASSIGN_OR_RETURN(Statement rows,
                   database.prepare("SELECT s.id, m.id, c.first_instruction FROM source s LEFT JOIN module m ON m.source = s.id "
                                    "LEFT JOIN computation c ON c.module = m.id WHERE s.sha256 = ?1 ORDER BY m.position, c.position"));
  rows.bind(1, std::string_view(sha256));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return ids;
    ids.source = rows.integer(0);
    ids.existed = true;
    if (rows.kind(1) == Statement::Kind::null) continue;
    if (ids.modules.empty() || ids.modules.back() != rows.integer(1)) {
      ids.modules.push_back(rows.integer(1));
      ids.first_instruction.emplace_back();
    }
    if (rows.kind(2) != Statement::Kind::null) ids.first_instruction.back().push_back(rows.integer(2));
  }
}

}  // namespace

base::Result<ImportIds> import_source(Database& database, const Imported& imported) {
  ASSIGN_OR_RETURN(ImportIds ids, find_source(database, imported.source.sha256));
  if (ids.existed) return ids;
  ASSIGN_OR_RETURN(ids.source, write_source(database, imported.source));
  RETURN_IF_ERROR(write_notes(database, imported.notes, ids.source));
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO module (source, position, name, content) VALUES (?1,?2,?3,?4)"));
  for (size_t i = 0; i < imported.modules.size(); ++i) {
    const ir::Module& module = imported.modules[i];
    ASSIGN_OR_RETURN(const int64_t content,
                     add_content(database, i < imported.module_texts.size() ? imported.module_texts[i] : ir::print(module)));
    const std::string name = shown(module.text(module.name));
    RETURN_IF_ERROR(insert.run(ids.source, static_cast<int64_t>(i), std::string_view(name), content));
    ids.modules.push_back(database.last_id());
    ASSIGN_OR_RETURN(std::vector<int64_t> first, write_module(database, module, ids.modules.back()));
    ids.first_instruction.push_back(std::move(first));
  }
  return ids;
}

}  // namespace model
