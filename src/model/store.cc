// Writing. Each public function is one transaction, so what it reported as saved is in the file whatever happens next. A file that others
// may be reading is in WAL mode while a store is open (they follow a run as it grows) and goes back to a rollback journal at the end,
// because only then does it open from a read-only folder. A new file has a journal until its first run: what an import appends is then
// written once, and not first to a log; and it is synchronised once, at the end: before, a power cut could only destroy what is imported
// just now.
#include "src/model/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "src/base/text.h"
#include "src/model/checks.h"
#include "src/model/content.h"
#include "src/model/database.h"
#include "src/model/run_rows.h"
#include "src/model/schema.h"
#include "src/model/summary.h"

namespace model {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kWriterPragmas = "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY";
constexpr std::string_view kLog = "PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL";
constexpr std::string_view kUnsynchronised = "PRAGMA synchronous = OFF";  ///< a kill harms nothing even then

base::Error in_use(const std::string& path) {
  return {fmt::format("{}: another process is writing it; wait until it ends, or choose another file with -o", base::escaped(path))};
}

/// Is a run in progress by another process? Between its passes it holds no lock.
base::Result<bool> has_living_writer(const Database& database) {
  ASSIGN_OR_RETURN(Statement rows, database.prepare("SELECT writer FROM run WHERE status = 'running'"));
  while (true) {
    ASSIGN_OR_RETURN(const bool row, rows.step());
    if (!row) return false;
    if (writer_lives(rows.text(0)) && rows.text(0) != this_writer()) return true;
  }
}

void remove_files(const std::string& path) {
  for (const std::string_view suffix : {"-wal", "-shm", "-journal", ""}) ::unlink((path + std::string(suffix)).c_str());
}

/// Makes room for a fresh store: removes a file of ours that nobody is writing. Anything else is left alone and is an Error.
base::Status remove_ours(const std::string& path, milliseconds busy) {
  ASSIGN_OR_RETURN(const FileState state, look_at(path));
  if (state == FileState::missing) return {};
  if (state == FileState::database) {
    ASSIGN_OR_RETURN(Database old, Database::open(path, Database::Access::write, busy));
    ASSIGN_OR_RETURN(const Identity identity, identify(old, kSchemaVersion));
    ASSIGN_OR_RETURN(const Transaction lock, Transaction::begin(old));
    ASSIGN_OR_RETURN(const int64_t runs, old.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'run'"));
    ASSIGN_OR_RETURN(const bool used, identity == Identity::ours && runs > 0 ? has_living_writer(old) : base::Result<bool>(false));
    if (used) return in_use(path);
  }
  remove_files(path);
  if (::access(path.c_str(), F_OK) != 0) return {};
  return base::Error{fmt::format("{}: cannot be replaced; make its folder writable, or choose another file with -o", base::escaped(path))};
}

base::Result<Database> open_file(const std::string& path, milliseconds busy, std::string_view mode) {
  ASSIGN_OR_RETURN(Database database, Database::open(path, Database::Access::write, busy));
  RETURN_IF_ERROR(identify(database, kSchemaVersion));  // before anything is changed in a file that may not be ours
  RETURN_IF_ERROR(database.writable());
  RETURN_IF_ERROR(database.execute(kWriterPragmas));
  static_cast<void>(database.execute(mode));  // the log has to wait where another process writes with a journal
  RETURN_IF_ERROR(prepare_schema(database, schema(), migrations(), kSchemaVersion));
  return database;
}

/// A new file gets its tables at once. On a full disk this fails here, and leaves nothing.
base::Result<Database> open_for_writing(const std::string& path, milliseconds busy) {
  ASSIGN_OR_RETURN(const FileState state, look_at(path));
  auto database = open_file(path, busy, state == FileState::missing ? kUnsynchronised : kLog);
  if (state == FileState::missing && !database.ok()) remove_files(path);
  return database;
}

/// For a run, which others may follow. SQLite does not wait for one that reads just now, so we do; with a journal a run would only be
/// slower.
void go_to_log(Database& database) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries && !database.execute(kLog).ok(); ++i) std::this_thread::sleep_for(milliseconds(10));
}

}  // namespace

struct Store::Impl {
  Database database;
  RunInserts inserts;
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store::~Store() {
  if (impl_ == nullptr) return;
  // Where a reader is connected the file stays in WAL mode, which costs only that it does not open from read-only folders.
  static_cast<void>(impl_->database.execute("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE"));
  impl_->database.synchronise();
}

base::Result<Store> Store::open(const std::string& path, OpenMode mode, milliseconds busy) {
  if (mode == OpenMode::fresh) RETURN_IF_ERROR(remove_ours(path, busy));
  ASSIGN_OR_RETURN(Database database, open_for_writing(path, busy));
  RETURN_IF_ERROR(end_abandoned_runs(database));
  ASSIGN_OR_RETURN(RunInserts inserts, RunInserts::make(database));
  return Store(std::make_unique<Impl>(Impl{std::move(database), std::move(inserts)}));
}

base::Result<Import> Store::import(const Source& source) { return Import::begin(impl_->database, source); }

base::Result<ImportIds> Store::add(const Imported& imported) {
  ASSIGN_OR_RETURN(Import import, this->import(imported.source));
  for (size_t i = 0; i < imported.modules.size(); ++i) {
    const std::string_view text = i < imported.module_texts.size() ? std::string_view(imported.module_texts[i]) : std::string_view();
    const std::span<const Operator> operators =
        i < imported.module_operators.size() ? std::span<const Operator>(imported.module_operators[i]) : std::span<const Operator>();
    RETURN_IF_ERROR(import.add(imported.modules[i], text, operators));
  }
  return import.finish(imported);
}

base::Result<int64_t> Store::begin(const Run& run) {
  go_to_log(impl_->database);
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(impl_->database));
  ASSIGN_OR_RETURN(const int64_t id, add_run(impl_->database, run));
  RETURN_IF_ERROR(transaction.commit());
  return id;
}

base::Status Store::describe(int64_t run, const Run& what) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(impl_->database));
  RETURN_IF_ERROR(write_description(impl_->database, run, what));
  return transaction.commit();
}

base::Status Store::add(int64_t run, const Pass& pass, std::span<const Sample> samples) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(impl_->database));
  RETURN_IF_ERROR(impl_->inserts.add(run, pass, samples));
  return transaction.commit();
}

base::Status Store::finish(int64_t run, RunStatus status, std::span<const StepStat> stats) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(impl_->database));
  RETURN_IF_ERROR(end_run(impl_->database, run, status, stats));
  return transaction.commit();
}

}  // namespace model
