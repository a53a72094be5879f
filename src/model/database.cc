// RAII over the C interface of SQLite. Every failure passes through failure(), which turns a result code into "file: what; what to do".
#include "src/model/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/text.h"
#include "src/model/memory_rows.h"

namespace model {
namespace {

/// What a user can do about a result code of SQLite. The first row that fits wins: extended codes before primary ones.
struct Remedy {
  int code;
  std::string_view what, remedy;
};
constexpr Remedy kRemedies[] = {
    {SQLITE_BUSY, "another process is writing it", "wait until it ends, or choose another file with -o"},
    {SQLITE_LOCKED, "another connection is writing it", "wait until it ends, or choose another file with -o"},
    {SQLITE_READONLY, "cannot be written", "make the file and its folder writable, or choose another file with -o"},
    {SQLITE_FULL, "no space is left for it", "free some space, or choose another place with -o"},
    {SQLITE_CORRUPT, "is damaged", "replay again into a new file; `sqlite3 FILE .recover` shows what can still be read"},
    {SQLITE_NOTADB, "is not a database", "give a file that profile has made"},
    {SQLITE_CANTOPEN, "cannot be opened", "check the path and the permissions of the file and its folder"},
    {SQLITE_PERM, "may not be accessed", "check the permissions of the file and its folder"},
    {SQLITE_IOERR, "cannot be read or written", "check the disk and the space left on it"},
    {SQLITE_NOMEM, "not enough memory", "free some memory"},
    {SQLITE_TOOBIG, "a text or blob is larger than SQLite allows (1 GB)", "split the program"},
    {SQLITE_INTERRUPT, "the query was stopped", "make it narrower"},
};

constexpr size_t kLongestSql = 1'000'000;

base::Error failure(sqlite3* db, int code, const std::string& path) {
  const char* detail = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  for (const Remedy& remedy : kRemedies) {
    if (remedy.code != code && remedy.code != (code & 0xff)) continue;
    return {fmt::format("{}: {} ({}); {}", base::escaped(path), remedy.what, base::escaped(detail), remedy.remedy)};
  }
  return {fmt::format("{}: {}", base::escaped(path), base::escaped(detail))};
}

std::vector<std::string> names_of_tables(sqlite3* db) {
  std::vector<std::string> names;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", -1, &statement, nullptr);
  while (sqlite3_step(statement) == SQLITE_ROW) names.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  sqlite3_finalize(statement);
  return names;
}

/// "; did you mean 'top'?" for "no such table: tpo".
std::string suggestion(sqlite3* db, std::string_view message) {
  constexpr std::string_view kMissing = "no such table: ";
  if (!message.starts_with(kMissing)) return "";
  const std::vector<std::string> names = names_of_tables(db);
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = base::nearest(message.substr(kMissing.size()), candidates);
  return near.empty() ? "; `profile schema` lists tables and views" : fmt::format("; did you mean '{}'?", near);
}

base::Error bad_sql(sqlite3* db, std::string_view sql) {
  const std::string message = sqlite3_errmsg(db);
  const std::string what = message + suggestion(db, message);
#if SQLITE_VERSION_NUMBER >= 3038000
  const int offset = sqlite3_error_offset(db);
#else
  const int offset = -1;
#endif
  base::Error error = offset >= 0 ? base::error_at("SQL", sql, static_cast<size_t>(offset), what)
                                  : base::Error{fmt::format("SQL: {}", base::escaped(what))};
  error.exit = base::Exit::wrong_use;
  return error;
}

bool only_space_or_comments(std::string_view sql) {
  for (size_t i = 0; i < sql.size();) {
    const std::string_view rest = sql.substr(i);
    const size_t end = rest.starts_with("--") ? rest.find('\n') : rest.starts_with("/*") ? rest.find("*/") : 0;
    if (end == std::string_view::npos) return true;
    if (end == 0 && std::string_view(" \t\r\n;").find(sql[i]) == std::string_view::npos) return false;
    i += end + (rest.starts_with("/*") ? 2 : 1);
  }
  return true;
}

/// Path as a URI: what has a meaning there is escaped.
std::string uri_of(const std::string& path, std::string_view options) {
  std::string uri = path.starts_with("//") ? "file://" : "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<int>(c));
    else
      uri += c;
  }
  return uri.append("?").append(options);
}

}  // namespace

struct Database::Impl {
  sqlite3* db = nullptr;
  std::string path;
  int file = -1;  ///< for start_writing(); stays open until the process ends: closing it would drop the locks that SQLite has on the file
  ~Impl() { sqlite3_close_v2(db); }
};

struct Statement::Impl {
  sqlite3_stmt* statement = nullptr;
  std::string path;
  Impl(sqlite3_stmt* raw, std::string file) : statement(raw), path(std::move(file)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { sqlite3_finalize(statement); }
};

Statement::Statement(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;
Statement::~Statement() = default;

void Statement::bind(int parameter, int64_t value) { sqlite3_bind_int64(impl_->statement, parameter, value); }
void Statement::bind(int parameter, double value) { sqlite3_bind_double(impl_->statement, parameter, value); }
void Statement::bind(int parameter, Null) { sqlite3_bind_null(impl_->statement, parameter); }

void Statement::bind(int parameter, const MemoryRows& rows) { bind_memory_rows(impl_->statement, parameter, rows); }

void Statement::bind(int parameter, std::string_view value) {
  const char* begin = value.empty() ? "" : value.data();  // a null pointer would be NULL
  sqlite3_bind_text64(impl_->statement, parameter, begin, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int parameter, Blob value) {
  const void* begin = value.empty() ? static_cast<const void*>("") : value.data();
  sqlite3_bind_blob64(impl_->statement, parameter, begin, value.size(), SQLITE_STATIC);
}

base::Result<bool> Statement::step() {
  const int code = sqlite3_step(impl_->statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(impl_->statement);
    return false;
  }
  base::Error error = failure(sqlite3_db_handle(impl_->statement), code, impl_->path);
  sqlite3_reset(impl_->statement);
  return error;
}

void Statement::reset() { sqlite3_reset(impl_->statement); }
int Statement::columns() const { return sqlite3_column_count(impl_->statement); }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(impl_->statement, column); }
double Statement::real(int column) const { return sqlite3_column_double(impl_->statement, column); }
int Statement::parameters() const { return sqlite3_bind_parameter_count(impl_->statement); }
bool Statement::read_only() const { return sqlite3_stmt_readonly(impl_->statement) != 0; }

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(impl_->statement, column);
  return name == nullptr ? "" : name;
}

Statement::Kind Statement::kind(int column) const {
  switch (sqlite3_column_type(impl_->statement, column)) {
    case SQLITE_INTEGER:
      return Kind::integer;
    case SQLITE_FLOAT:
      return Kind::real;
    case SQLITE_TEXT:
      return Kind::text;
    case SQLITE_BLOB:
      return Kind::blob;
    default:
      return Kind::null;
  }
}

std::string_view Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(impl_->statement, column);  // of a text too: its bytes
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(sqlite3_column_bytes(impl_->statement, column)));
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

base::Result<Database> Database::open(const std::string& path, Access access, std::chrono::milliseconds busy) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  const bool reads = access == Access::read || access == Access::immutable;
  const int mode = reads                     ? SQLITE_OPEN_READONLY
                   : access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                             : SQLITE_OPEN_READWRITE;
  const std::string uri = uri_of(path, access == Access::immutable ? "immutable=1" : "");
  const int code = sqlite3_open_v2(uri.c_str(), &impl->db, mode | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return failure(impl->db, code, path);
  sqlite3_extended_result_codes(impl->db, 1);
  sqlite3_busy_timeout(impl->db, static_cast<int>(busy.count()));
  if (access == Access::write && add_memory_rows(impl->db) != SQLITE_OK) return failure(impl->db, SQLITE_NOMEM, path);
  Database database(std::move(impl));
  if (access == Access::recover) RETURN_IF_ERROR(database.execute("PRAGMA query_only = 1"));
  return database;
}

base::Status Database::execute(std::string_view sql) {
  const std::string text(sql);
  const int code = sqlite3_exec(impl_->db, text.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? base::Status() : base::Status(failure(impl_->db, code, impl_->path));
}

base::Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  if (sql.size() > kLongestSql) return base::Error{"SQL: the text is too long; split it", base::Exit::wrong_use};
  const int code = sqlite3_prepare_v3(impl_->db, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw, &rest);
  auto impl = std::make_unique<Statement::Impl>(raw, impl_->path);
  if (code == SQLITE_ERROR) return bad_sql(impl_->db, sql);
  if (code != SQLITE_OK) return failure(impl_->db, code, impl_->path);
  if (raw == nullptr) return base::Error{"SQL: there is no statement; give a SELECT", base::Exit::wrong_use};
  const auto used = static_cast<size_t>(rest - sql.data());
  if (!only_space_or_comments(sql.substr(used))) {
    base::Error error = base::error_at("SQL", sql, used, "a second statement; give one at a time");
    error.exit = base::Exit::wrong_use;
    return error;
  }
  return Statement(std::move(impl));
}

base::Result<int64_t> Database::integer(std::string_view sql) const {
  ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

void Database::synchronise() {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(impl_->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file != nullptr && file->pMethods != nullptr) file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

void Database::start_writing() {
  if (impl_->file < 0) impl_->file = ::open(impl_->path.c_str(), O_RDONLY | O_CLOEXEC);
  if (impl_->file >= 0) ::sync_file_range(impl_->file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

base::Status Database::writable() const {
  return sqlite3_db_readonly(impl_->db, "main") == 0 ? base::Status() : base::Status(failure(nullptr, SQLITE_READONLY, impl_->path));
}

int64_t Database::last_id() const { return sqlite3_last_insert_rowid(impl_->db); }
void Database::interrupt() const { sqlite3_interrupt(impl_->db); }
const std::string& Database::path() const { return impl_->path; }

base::Result<Transaction> Transaction::begin(Database& database) {
  RETURN_IF_ERROR(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed rollback means that SQLite has rolled back already (full disk, I/O error).
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

base::Status Transaction::commit() {
  RETURN_IF_ERROR(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace model
