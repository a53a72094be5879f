// The rows of a module are made on one thread and written on another, while its text is printed and compressed on a third. The source's row
// comes last, when its account is known; until then the transaction is open, and goes with everything in it if an error ends the import.
#include "src/model/import.h"

#include <fmt/format.h>

#include <future>
#include <optional>

#include "src/base/text.h"
#include "src/ir/print.h"
#include "src/model/content.h"
#include "src/model/module_rows.h"
#include "src/model/operator_rows.h"
#include "src/model/recording.h"
#include "src/model/symbols.h"

namespace model {
namespace {

base::Status write_source(Database& database, const Source& source, int64_t row) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare(
          "INSERT INTO source (id, path, format, sha256, bytes, read, kept, dropped, options) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"));
  const std::string path = base::escaped(source.path);
  return insert.run(row, std::string_view(path), std::string_view(source.format), std::string_view(source.sha256), source.bytes,
                    source.read, source.kept, source.dropped, std::string_view(source.options));
}

base::Status write_notes(Database& database, std::span<const Note> notes, int64_t source) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO note (source, line, \"column\", code, text) VALUES (?1, nullif(?2, 0), nullif(?3, 0), ?4, ?5)"));
  for (const Note& note : notes) {
    const std::string what = base::escaped(note.text);
    RETURN_IF_ERROR(insert.run(source, note.line, note.column, std::string_view(note.code), std::string_view(what)));
  }
  return {};
}

constexpr size_t kLongText = size_t{256} << 10;  ///< bytes
constexpr size_t kLongModule = 2048;             ///< instructions

/// Is the text worth a thread?
bool is_long(const ir::Module& module, std::string_view text) {
  if (!text.empty()) return text.size() >= kLongText;
  size_t instructions = 0;
  for (const ir::Computation& comp : module.computations) instructions += comp.instrs.size();
  return instructions >= kLongModule;
}

struct ModuleRow {
  int64_t id = 0, source = 0, position = 0, entry = 0;
  std::string name;
};

base::Status write_module_row(Database& database, const ModuleRow& row, const PackedText& text) {
  ASSIGN_OR_RETURN(const int64_t content, add_content(database, text));
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO module (id, source, position, name, content, entry) VALUES (?1,?2,?3,?4,?5,?6)"));
  return insert.run(row.id, row.source, row.position, std::string_view(row.name), content, row.entry);
}

/// Ids of a source that is stored already; source 0 if it is not.
base::Result<ImportIds> find_source(Database& database, const Source& source) {
  ImportIds ids;
  ASSIGN_OR_RETURN(
      Statement rows,
      database.prepare(
          "SELECT s.id, m.id, c.first_instruction FROM source s LEFT JOIN module m ON m.source = s.id "
          "LEFT JOIN computation c ON c.module = m.id WHERE s.sha256 = ?1 AND s.options = ?2 ORDER BY m.position, c.position"));
  rows.bind(1, std::string_view(source.sha256));
  rows.bind(2, std::string_view(source.options));
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

struct Import::Impl {
  Database& database;
  Transaction transaction;
  ImportIds ids;
  NextIds next;
  Background background;  ///< after the transaction: has ended when that is rolled back
  std::optional<ProgramTables> tables;
  std::optional<OperatorRows> operator_rows;  ///< of the module that is still to come, or of the one in hand
  Background rows;                            ///< makes them; last: uses all of the above

  base::Status give_ahead(OperatorStream operators) {
    rows.submit([this, operators = std::move(operators)] {
      if (!operator_rows) operator_rows.emplace(OperatorRows::Place{ids.source, next.module}, next, *tables);
      constexpr size_t kWrittenTogether = size_t{1} << 16;
      for (size_t i = 0; i < operators.count; ++i) {
        operator_rows->give(operators.make(i));
        if (next.op % kWrittenTogether == 0) write_behind();
      }
      return background.status();
    });
    return rows.status();
  }

  void write_behind() {
    background.submit([this] { return database.start_writing(), base::Status(); });
  }

  /// No module came: they are the file's own.
  base::Status release_ahead() {
    if (!operator_rows) return {};
    for (const std::string_view table : {"op", "scope"})
      RETURN_IF_ERROR(database.execute(fmt::format("UPDATE {} SET module = NULL WHERE module = {}", table, next.module)));
    return {};
  }

  base::Status take(ir::Module module, std::string text, std::vector<Operator> operators) {
    struct Given {
      ir::Module module;
      std::string text;
      std::vector<Operator> operators;
    };
    RETURN_IF_ERROR(rows.wait());
    auto given = std::make_shared<const Given>(Given{std::move(module), std::move(text), std::move(operators)});
    rows.submit([this, given = std::move(given)] { return add(given->module, given->text, given->operators); });
    return {};
  }

  base::Status add(const ir::Module& module, std::string_view text, std::span<const Operator> operators) {
    const auto pack = [&] { return text.empty() ? packed(ir::print(module)) : packed(text); };
    auto packing = std::async(is_long(module, text) ? std::launch::async : std::launch::deferred, pack);
    const auto position = static_cast<int64_t>(ids.modules.size());
    ModuleRow row{next.module, ids.source, position, next.computation + module.entry, base::escaped(module.text(module.name))};
    if (!operator_rows) operator_rows.emplace(OperatorRows::Place{ids.source, next.module}, next, *tables);
    for (const Operator& op : operators) operator_rows->give(op);
    ids.first_instruction.push_back(write_module(module, *operator_rows, next, *tables));
    ids.modules.push_back(next.module++);
    operator_rows.reset();
    ASSIGN_OR_RETURN(PackedText content, packing.get());
    background.submit([this, row = std::move(row), content = std::move(content)] { return write_module_row(database, row, content); });
    return background.status();
  }

  /// Row of the first: they are consecutive.
  int64_t add(std::span<const Operator> operators) {
    const int64_t first = next.op;
    OperatorRows own({ids.source, 0}, next, *tables);
    for (const Operator& op : operators) own.give(op);
    return first;
  }
};

Import::Import(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Import::Import(Import&&) noexcept = default;
Import& Import::operator=(Import&&) noexcept = default;
Import::~Import() = default;

base::Result<Import> Import::begin(Database& database, const Source& source) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  ASSIGN_OR_RETURN(ImportIds ids, find_source(database, source));
  ASSIGN_OR_RETURN(NextIds next, NextIds::read(database));
  if (!ids.existed) {
    ASSIGN_OR_RETURN(ids.source, database.integer("SELECT coalesce(max(id), 0) + 1 FROM source"));
  }
  std::unique_ptr<Impl> impl(new Impl{database, std::move(transaction), std::move(ids), next, {}, {}, {}, {}});
  ASSIGN_OR_RETURN(impl->tables, ProgramTables::make(database, impl->background));
  return Import(std::move(impl));
}

base::Status Import::add(const ir::Module& module, std::string_view text, std::span<const Operator> operators) {
  if (impl_->ids.existed) return {};
  RETURN_IF_ERROR(impl_->rows.wait());
  return impl_->add(module, text, operators);
}

base::Status Import::take(ir::Module module, std::string text, std::vector<Operator> operators) {
  return impl_->ids.existed ? base::Status() : impl_->take(std::move(module), std::move(text), std::move(operators));
}

base::Status Import::ahead(OperatorStream operators) {
  return impl_->ids.existed ? base::Status() : impl_->give_ahead(std::move(operators));
}

base::Result<ImportIds> Import::finish(const Imported& imported) {
  if (impl_->ids.existed) return impl_->ids;
  RETURN_IF_ERROR(impl_->rows.wait());
  Database& database = impl_->database;
  const int64_t source = impl_->ids.source, first_op = impl_->add(imported.operators);
  impl_->tables->flush();
  RETURN_IF_ERROR(impl_->background.wait());
  RETURN_IF_ERROR(impl_->release_ahead());
  RETURN_IF_ERROR(write_source(database, imported.source, source));
  RETURN_IF_ERROR(write_notes(database, imported.notes, source));
  if (imported.symbols) RETURN_IF_ERROR(write_symbols(database, impl_->background, *imported.symbols, source));
  for (const Recording& recording : imported.recordings) {
    RETURN_IF_ERROR(write_recording(database, impl_->background, recording, imported.operators, {source, first_op}));
  }
  RETURN_IF_ERROR(join_symbols(database, imported.symbols ? 0 : source));
  RETURN_IF_ERROR(impl_->transaction.commit());
  return impl_->ids;
}

}  // namespace model
