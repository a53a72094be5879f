// Reading. A connection that cannot write; where that alone does not open the file, the two ways that SQLite has for it are tried:
// without locks in a read-only folder, and with a rollback of what a killed writer left.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "src/base/text.h"
#include "src/model/checks.h"
#include "src/model/content.h"
#include "src/model/database.h"
#include "src/model/schema.h"
#include "src/model/store.h"

namespace model {
namespace {

constexpr std::chrono::milliseconds kBusy{5000};
constexpr std::string_view kReaderPragmas =
    "PRAGMA query_only = 1; PRAGMA mmap_size = 2147418112; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY";

bool has_log(const std::string& path) {
  std::error_code ignored;
  for (const std::string_view suffix : {"-wal", "-journal"}) {
    const auto size = std::filesystem::file_size(path + std::string(suffix), ignored);
    if (!ignored && size > 0) return true;
  }
  return false;
}

bool folder_is_writable(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

/// Opens and reads the schema: SQLite looks at a file only when a statement does.
base::Result<Database> try_to_open(const std::string& path, Database::Access access) {
  ASSIGN_OR_RETURN(Database database, Database::open(path, access, kBusy));
  RETURN_IF_ERROR(database.integer("SELECT count(*) FROM sqlite_schema"));
  return database;
}

base::Result<Database> open_for_reading(const std::string& path) {
  auto database = try_to_open(path, Database::Access::read);
  if (database.ok()) return database;
  const base::Error first = database.error();
  // immutable=1 takes no locks and would not see what lies in a log: for folders that cannot be written only.
  if (!has_log(path)) {
    if (folder_is_writable(path)) return first;
    auto immutable = try_to_open(path, Database::Access::immutable);
    return immutable.ok() ? std::move(immutable) : base::Result<Database>(first);
  }
  auto recovered = try_to_open(path, Database::Access::recover);
  if (recovered.ok()) return recovered;
  return base::Error{first.message + "; if its folder is read-only: copy the file with its -wal or -journal to a writable one"};
}

void bind(Statement& statement, int parameter, const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::null:
      return statement.bind(parameter, Null{});
    case Cell::Kind::integer:
      return statement.bind(parameter, cell.integer);
    case Cell::Kind::real:
      return statement.bind(parameter, cell.real);
    case Cell::Kind::text:
      return statement.bind(parameter, std::string_view(cell.text));
    case Cell::Kind::blob:
      return statement.bind(parameter, std::as_bytes(std::span(cell.text)));
  }
}

Cell cell_of(const Statement& statement, int column) {
  switch (statement.kind(column)) {
    case Statement::Kind::null:
      return {};
    case Statement::Kind::integer:
      return {Cell::Kind::integer, statement.integer(column), 0, {}};
    case Statement::Kind::real:
      return {Cell::Kind::real, 0, statement.real(column), {}};
    case Statement::Kind::text:
      return {Cell::Kind::text, 0, 0, std::string(statement.text(column))};
    case Statement::Kind::blob:
      return {Cell::Kind::blob, 0, 0, std::string(statement.text(column))};
  }
  return {};
}

/// Tables and views that the file lacks because an older version made it are no mistake of the query.
base::Error in_old_file(const Database& database, const base::Error& error) {
  const auto version = database.integer("PRAGMA user_version");
  if (!version.ok() || *version >= kSchemaVersion || error.message.find("no such") == std::string::npos) return error;
  const std::string shown = base::escaped(database.path());
  return {fmt::format(
              "{}\n{}: was made by an older version of profile (schema {}, this one makes {}); `profile upgrade {}` adds what is missing",
              error.message, shown, *version, kSchemaVersion, shown),
          error.exit};
}

base::Error wrong_use(std::string what) { return {std::move(what), base::Exit::wrong_use}; }

}  // namespace

struct Cursor::Impl {
  Statement statement;
  std::vector<Cell> parameters;  ///< bound without a copy
  std::vector<std::string> columns;
};

Cursor::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

const std::vector<std::string>& Cursor::columns() const { return impl_->columns; }

base::Result<std::optional<std::vector<Cell>>> Cursor::next() {
  ASSIGN_OR_RETURN(const bool there, impl_->statement.step());
  if (!there) return std::optional<std::vector<Cell>>();
  std::optional<std::vector<Cell>> cells(std::in_place);
  cells->reserve(impl_->columns.size());
  for (int i = 0; i < impl_->statement.columns(); ++i) cells->push_back(cell_of(impl_->statement, i));
  return cells;
}

struct Reader::Impl {
  Database database;
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

base::Result<Reader> Reader::open(const std::string& path) {
  ASSIGN_OR_RETURN(const FileState state, look_at(path));
  const std::string shown = base::escaped(path);
  if (state == FileState::missing)
    return base::Error{
        fmt::format("{}: there is no such file; check the path, or make it with `profile --replay FILE -o {}`", shown, shown)};
  const base::Error empty{fmt::format("{}: is empty, nothing was saved in it; replay a program into it with -o", shown)};
  if (state == FileState::empty && !has_log(path)) return empty;
  ASSIGN_OR_RETURN(Database database, open_for_reading(path));
  ASSIGN_OR_RETURN(const Identity identity, identify(database, kSchemaVersion));
  if (identity == Identity::unused) return empty;
  RETURN_IF_ERROR(database.execute(kReaderPragmas));
  return Reader(std::make_unique<Impl>(Impl{std::move(database)}));
}

base::Result<Cursor> Reader::start(std::string_view sql, std::span<const Cell> parameters) const {
  auto prepared = impl_->database.prepare(sql);
  if (!prepared.ok()) return in_old_file(impl_->database, prepared.error());
  Statement statement = *std::move(prepared);
  if (!statement.read_only())
    return wrong_use("SQL: the statement writes; profile opens databases for reading only, use `sqlite3` to change one");
  if (statement.columns() == 0) return wrong_use("SQL: the statement has no result; give a SELECT");  // BEGIN, ATTACH, PRAGMA x = 1
  if (statement.parameters() != static_cast<int>(parameters.size())) {
    return wrong_use(fmt::format("SQL: {} parameters in the statement, {} given", statement.parameters(), parameters.size()));
  }
  auto cursor = std::make_unique<Cursor::Impl>(Cursor::Impl{std::move(statement), {parameters.begin(), parameters.end()}, {}});
  for (size_t i = 0; i < parameters.size(); ++i) bind(cursor->statement, static_cast<int>(i) + 1, cursor->parameters[i]);
  for (int i = 0; i < cursor->statement.columns(); ++i) cursor->columns.emplace_back(cursor->statement.column_name(i));
  return Cursor(std::move(cursor));
}

base::Result<Rows> Reader::query(std::string_view sql, std::span<const Cell> parameters) const {
  ASSIGN_OR_RETURN(Cursor cursor, start(sql, parameters));
  Rows result;
  result.columns = cursor.columns();
  while (true) {
    ASSIGN_OR_RETURN(auto row, cursor.next());
    if (!row) return result;
    result.rows.push_back(*std::move(row));
  }
}

base::Result<std::string> Reader::module_text(int64_t module) const {
  const Cell id{Cell::Kind::integer, module, 0, {}};
  ASSIGN_OR_RETURN(const Rows rows, query("SELECT content AS content FROM module WHERE id = ?1", std::span(&id, 1)));
  if (rows.rows.empty())
    return base::Error{
        fmt::format("{}: there is no module {}; `profile list` shows what is there", base::escaped(impl_->database.path()), module)};
  return read_content(impl_->database, rows.rows[0][0].integer);
}

base::Result<std::string> Reader::content(int64_t id) const { return read_content(impl_->database, id); }

void Reader::interrupt() const { impl_->database.interrupt(); }

}  // namespace model
