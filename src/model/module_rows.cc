// What instructions share gets one row when it is first needed: shapes, layouts, files (string), operators and their scopes, costs (work).
// Operands and users are texts in the instruction's own row: as rows of their own they were more than all others together.
#include "src/model/module_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/base/hash.h"
#include "src/base/json_text.h"
#include "src/base/text.h"
#include "src/ir/alike.h"
#include "src/ir/attr.h"
#include "src/ir/cost_model.h"
#include "src/ir/print.h"
#include "src/model/operator_rows.h"
#include "src/model/row_batch.h"

namespace model {
namespace {

constexpr size_t kMostOperators = 64;  ///< of one fusion: bounds what a file can make us write

/// NULL for what is not there.

/// "[3,17]"; nothing for an empty list.
template <typename Ids>
void append_list(std::string& out, const Ids& ids) {
  for (const int32_t id : ids) {
    char digits[12];
    out += out.empty() ? '[' : ',';
    out.append(digits, std::to_chars(std::begin(digits), std::end(digits), id).ptr);
  }
  if (!out.empty()) out += ']';
}

/// Who uses each instruction of a computation, in order, once each: one array, and where the part of each begins.
class Users {
 public:
  explicit Users(const ir::Computation& comp) : begin_(comp.instrs.size() + 1), last_(comp.instrs.size(), -1) {
    each_use(comp, [&](size_t used, int32_t) { ++begin_[used + 1]; });
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    users_.resize(begin_.back());
    std::ranges::fill(last_, -1);
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    each_use(comp, [&](size_t used, int32_t user) { users_[next[used]++] = user; });
  }
  std::span<const int32_t> of(size_t instr) const { return std::span(users_).subspan(begin_[instr], begin_[instr + 1] - begin_[instr]); }

 private:
  template <typename Each>
  void each_use(const ir::Computation& comp, Each each) {
    for (size_t i = 0; i < comp.instrs.size(); ++i) {
      const auto user = static_cast<int32_t>(i);
      for (const ir::InstrId id : comp.instrs[i].operands) {
        const auto used = static_cast<size_t>(id);
        if (std::exchange(last_[used], user) != user) each(used, user);
      }
    }
  }
  std::vector<size_t> begin_;
  std::vector<int32_t> users_, last_;  ///< last_: the user that was counted last
};

/// Rows of table work: what equal instructions cost by each method.
class Works {
 public:
  Works(const ir::Module& module, NextIds& next, ProgramTables& tables) : next_(next), tables_(tables), alike_(module) {
    for (const ir::CostMethod method : ir::kCostMethods) models_.emplace_back(module, method);
  }

  int64_t row_of(const ir::Computation& comp, const ir::Instr& instr) {
    const size_t number = alike_.number(comp, instr);
    if (number >= by_number_.size()) by_number_.resize(2 * number + 1);
    int64_t& row = by_number_[number];
    return row != 0 ? row : row = row_of(costs(comp, instr));
  }

 private:
  static constexpr size_t kNumbers = 5;  ///< of one method
  using Numbers = std::array<double, kNumbers * std::size(ir::kCostMethods)>;
  struct Hash {
    size_t operator()(const Numbers& numbers) const {
      return base::hash64({reinterpret_cast<const char*>(numbers.data()), sizeof numbers});
    }
  };

  Numbers costs(const ir::Computation& comp, const ir::Instr& instr) {
    Numbers numbers{};
    auto at = numbers.begin();
    for (ir::CostModel& model : models_) {
      const ir::Cost cost = model.of(comp, instr);
      for (const double value : {cost.flops, cost.transcendentals, cost.bytes_read, cost.bytes_written, cost.known ? 1.0 : 0.0})
        *at++ = value;
    }
    return numbers;
  }

  int64_t row_of(const Numbers& numbers) {
    const auto [row, fresh] = rows_.try_emplace(numbers, next_.work);
    if (!fresh) return row->second;
    for (size_t i = 0; i < models_.size(); ++i) {
      const double* of = &numbers[i * kNumbers];
      tables_.work.add(next_.work, ir::text(ir::kCostMethods[i]), of[0], of[1], of[2], of[3], static_cast<int64_t>(of[4]));
    }
    return next_.work++;
  }

  NextIds& next_;
  ProgramTables& tables_;
  std::vector<ir::CostModel> models_;  ///< in the order of kCostMethods; they remember what computations cost
  std::unordered_map<Numbers, int64_t, Hash> rows_;
  ir::Alike alike_;
  std::vector<int64_t> by_number_;  ///< rows of what is alike; 0: not written yet
};

std::string kind_of(const ir::Module& module, const ir::Instr& instr) {
  if (instr.op == ir::Op::fusion) return base::escaped(ir::attr_text(module, instr, "kind").value_or(""));
  if (instr.op == ir::Op::custom_call) return base::escaped(ir::attr_string(module, instr, "custom_call_target"));
  return "";
}

/// Attributes as a JSON object of texts; callees by name. Empty if there are none.
void append_attributes(std::string& out, const ir::Module& module, const ir::Instr& instr) {
  size_t next_call = 0;
  std::string value;
  for (const ir::Attr& attr : instr.attrs) {
    out += out.empty() ? '{' : ',';
    base::append_json(out, base::Shown(module.text(attr.key)));
    out += ':';
    if (attr.calls <= 0) {
      base::append_json(out, module.text(attr.text));
      continue;
    }
    value = module.text(attr.text);
    for (int32_t i = 0; i < attr.calls && next_call < instr.calls.size(); ++i, ++next_call) {
      value.append(i == 0 ? "" : ", ").append(module.text(module.comp(instr.calls[next_call]).name));
    }
    base::append_json(out, value);
  }
  if (!out.empty()) out += '}';
}

/// Does an instruction of a fusion do work of its own?
bool produces(ir::Op op) {
  const ir::OpClass cls = ir::info(op).cls;
  return cls != ir::OpClass::source && cls != ir::OpClass::alias && cls != ir::OpClass::order;
}

class ModuleWriter {
 public:
  ModuleWriter(const ir::Module& module, OperatorRows& operators, NextIds& next, ProgramTables& tables)
      : module_(module),
        next_(next),
        tables_(tables),
        operators_(operators),
        works_(module, next, tables),
        shapes_(module.shapes.size()),
        origins_(module.origins.size()),
        first_computation_(next.computation) {}

  std::vector<int64_t> write() {
    std::vector<int64_t> first_instruction;
    for (const ir::Computation& comp : module_.computations) {
      first_instruction.push_back(next_.instruction);
      write(comp);
    }
    return first_instruction;
  }

 private:
  /// What instructions of equal metadata share; 0 for what it does not tell.
  struct OriginRow {
    int64_t op = 0, place = 0;
    bool known = false;
  };

  struct OpRow {
    int64_t row = 0;
    ir::StringId type{};
  };

  void write(const ir::Computation& comp) {
    const base::Shown name(module_.text(comp.name));
    tables_.computation.add(next_.computation, next_.module, next_.computation - first_computation_, name.text(), next_.instruction,
                            static_cast<int64_t>(comp.instrs.size()), next_.instruction + comp.root);
    const Users users(comp);
    for (size_t i = 0; i < comp.instrs.size(); ++i) write(comp, i, users.of(i));
    ++next_.computation;
  }

  void write(const ir::Computation& comp, size_t position, std::span<const int32_t> users) {
    const ir::Instr& instr = comp.instrs[position];
    const OriginRow origin = origin_row(instr.origin);
    const base::Shown name(module_.name_of(instr));
    const std::string kind = kind_of(module_, instr);
    for (std::string* text : {&attributes_, &operands_, &users_}) text->clear();
    append_attributes(attributes_, module_, instr);
    append_list(operands_, instr.operands);
    append_list(users_, users);
    tables_.instruction.add(next_.computation, name.text(), ir::text(instr.op), std::string_view(kind), shape_row(instr.shape),
                            or_null(origin.op), or_null(origin.place), or_null(attributes_), or_null(operands_), or_null(users_),
                            works_.row_of(comp, instr));
    for (size_t i = 0; i < instr.calls.size(); ++i) {
      tables_.call.add(next_.instruction, static_cast<int64_t>(i), first_computation_ + instr.calls[i]);
    }
    if (instr.op == ir::Op::fusion) write_shares(instr, origin);
    ++next_.instruction;
  }

  int64_t shape_row(ir::ShapeId id) {
    int64_t& row = shapes_[static_cast<size_t>(id)];
    if (row != 0) return row;
    const ir::Shape& shape = module_.shape(id);
    const std::string whole = ir::print(shape), plain = ir::print(shape, ir::LayoutPrint::without);
    const std::string_view layout = std::string_view(whole).substr(whole.starts_with(plain) ? plain.size() : 0);
    tables_.shape.add(next_.shape, ir::text(shape.type), std::string_view(plain), layout, ir::bytes(shape));
    return row = next_.shape++;
  }

  static uint64_t key(ir::StringId text, uint32_t with) { return uint64_t{static_cast<uint32_t>(text)} << 32 | with; }

  OriginRow origin_row(ir::OriginId id) {
    if (id == ir::OriginId::none) return {};
    OriginRow& row = origins_[static_cast<size_t>(id)];
    if (!row.known) {
      const ir::Origin& origin = module_.origins[static_cast<size_t>(id)];
      row = {op_row(origin), place_row(origin), true};
    }
    return row;
  }

  /// Row of the operator that `origin` names, or 0 if it names none.
  int64_t op_row(const ir::Origin& origin) {
    if (origin.op_name == ir::StringId::empty) return 0;
    if (op_rows_.empty()) op_rows_.resize(module_.strings.size());
    OpRow& known = op_rows_[static_cast<size_t>(origin.op_name)];
    if (known.row != 0 && known.type == origin.op_type) return known.row;
    const auto made = [&] { return operators_.row_of(module_.text(origin.op_name), module_.text(origin.op_type)); };
    if (known.row == 0) return (known = {made(), origin.op_type}).row;
    const auto [row, fresh] = other_op_rows_.try_emplace(key(origin.op_name, static_cast<uint32_t>(origin.op_type)), 0);
    if (fresh) row->second = made();
    return row->second;
  }

  int64_t place_row(const ir::Origin& origin) {
    if (origin.source_file == ir::StringId::empty) return 0;
    const auto [row, fresh] = places_.try_emplace(key(origin.source_file, static_cast<uint32_t>(origin.source_line)), next_.place);
    if (!fresh) return row->second;
    tables_.place.add(next_.place, file_row(origin.source_file), origin.source_line);
    return next_.place++;
  }

  int64_t file_row(ir::StringId file) {
    const auto [row, fresh] = files_.try_emplace(file, next_.string);
    if (!fresh) return row->second;
    tables_.string.add(next_.string, base::Shown(module_.text(file)).text());
    return next_.string++;
  }

  /// A fusion whose parts name no other operator than its own needs no shares of operators, nor of lines where they name no other line.
  void write_shares(const ir::Instr& fusion, OriginRow own) {
    if (!fusion.calls.empty()) gather_shares(module_.comp(fusion.calls.front()));
    const bool is_own = std::ranges::all_of(op_bytes_, [&](const auto& entry) { return entry.first == own.op; });
    if (!is_own) {
      for (const auto& [op, share] : shares_of(op_bytes_)) tables_.op_share.add(next_.instruction, op, share);
    }
    const bool is_plain = std::ranges::all_of(place_bytes_, [&](const auto& entry) { return entry.first.second == own.place; });
    if (!is_plain) {
      for (const auto& [key, share] : shares_of(place_bytes_)) tables_.place_share.add(next_.instruction, key.first, key.second, share);
    }
    op_bytes_.clear();
    place_bytes_.clear();
  }

  /// By bytes that the parts produce: most fusions are bound by traffic, and every part has a result.
  void gather_shares(const ir::Computation& body) {
    for (const ir::Instr& part : body.instrs) {
      const OriginRow origin = produces(part.op) ? origin_row(part.origin) : OriginRow();
      const auto bytes = static_cast<double>(std::max<int64_t>(1, ir::bytes(module_.shape(part))));
      if (origin.op != 0) op_bytes_[origin.op] += bytes;
      if (origin.place != 0) place_bytes_[{origin.op, origin.place}] += bytes;
    }
  }

  /// The largest, with sum 1.
  template <typename Key>
  static std::vector<std::pair<Key, double>> shares_of(const std::map<Key, double>& bytes) {
    std::vector<std::pair<Key, double>> shares(bytes.begin(), bytes.end());
    std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    if (shares.size() > kMostOperators) shares.resize(kMostOperators);
    double sum = 0;
    for (const auto& [key, part] : shares) sum += part;
    for (auto& [key, part] : shares) part /= sum;
    return shares;
  }

  const ir::Module& module_;
  NextIds& next_;
  ProgramTables& tables_;
  OperatorRows& operators_;
  Works works_;
  std::vector<int64_t> shapes_;                          ///< rows by ShapeId; 0: not written yet
  std::vector<OriginRow> origins_;                       ///< by OriginId
  std::vector<OpRow> op_rows_;                           ///< by name, of the type that it has first
  std::unordered_map<uint64_t, int64_t> other_op_rows_;  ///< by key(name, type), of names with several
  std::unordered_map<uint64_t, int64_t> places_;         ///< by key(file, line)
  std::unordered_map<ir::StringId, int64_t> files_;
  int64_t first_computation_;
  std::string attributes_, operands_, users_;                  ///< of the instruction in hand
  std::map<int64_t, double> op_bytes_;                         ///< of the fusion in hand
  std::map<std::pair<int64_t, int64_t>, double> place_bytes_;  ///< the same by operator and line
};

}  // namespace

base::Result<NextIds> NextIds::read(const Database& database) {
  NextIds next;
  const auto after = [&](std::string_view table, std::string_view id) {
    return database.integer(fmt::format("SELECT coalesce(max({}), 0) + 1 FROM {}", id, table));
  };
  ASSIGN_OR_RETURN(next.module, after("module", "id"));
  ASSIGN_OR_RETURN(next.computation, after("computation", "id"));
  ASSIGN_OR_RETURN(next.instruction, after("instruction", "id"));
  ASSIGN_OR_RETURN(next.shape, after("shape", "id"));
  ASSIGN_OR_RETURN(next.place, after("place", "id"));
  ASSIGN_OR_RETURN(next.string, after("string", "id"));
  ASSIGN_OR_RETURN(next.work, after("work", "work"));
  ASSIGN_OR_RETURN(next.op, after("op", "id"));
  ASSIGN_OR_RETURN(next.scope, after("scope", "id"));
  return next;
}

base::Result<ProgramTables> ProgramTables::make(Database& database, Background& background) {
  const auto table = [&](std::string_view name, std::string_view columns, RowBatch::Ids ids = RowBatch::Ids::given) {
    return RowBatch::make(database, background, name, columns, ids);
  };
  ASSIGN_OR_RETURN(RowBatch computation, table("computation", "id, module, position, name, first_instruction, instructions, root"));
  ASSIGN_OR_RETURN(
      RowBatch instruction,
      table("instruction", "computation, name, opcode, kind, shape, op, place, attributes, operands, users, work", RowBatch::Ids::next));
  ASSIGN_OR_RETURN(RowBatch call, table("call", "instruction, position, computation"));
  ASSIGN_OR_RETURN(RowBatch shape, table("shape", "id, dtype, text, layout, bytes"));
  ASSIGN_OR_RETURN(RowBatch place, table("place", "id, file, line"));
  ASSIGN_OR_RETURN(RowBatch string, table("string", "id, text"));
  ASSIGN_OR_RETURN(RowBatch work, table("work", "work, method, flops, transcendentals, bytes_read, bytes_written, known"));
  ASSIGN_OR_RETURN(RowBatch op,
                   table("op",
                         "id, source, module, position, type, name, short_name, scope, phase, type_from, launches, device, shape, "
                         "shape_from, attributes, inputs, line, note"));
  ASSIGN_OR_RETURN(RowBatch scope, table("scope", "id, module, parent, depth, name"));
  ASSIGN_OR_RETURN(RowBatch op_share, table("op_share", "instruction, op, share"));
  ASSIGN_OR_RETURN(RowBatch place_share, table("place_share", "instruction, op, place, share"));
  return ProgramTables{std::move(computation), std::move(instruction), std::move(call),       std::move(shape),
                       std::move(place),       std::move(string),      std::move(work),       std::move(op),
                       std::move(scope),       std::move(op_share),    std::move(place_share)};
}

void ProgramTables::flush() {
  for (RowBatch* batch : {&computation, &instruction, &call, &shape, &place, &string, &work, &op, &scope, &op_share, &place_share})
    batch->flush();
}

std::vector<int64_t> write_module(const ir::Module& module, OperatorRows& operators, NextIds& next, ProgramTables& tables) {
  return ModuleWriter(module, operators, next, tables).write();
}

}  // namespace model
