// The store: one SQLite file that is appended to. Writing goes through Store, reading through Reader; SQL stays in this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/model/import.h"
#include "src/model/records.h"

namespace model {

enum class OpenMode { append, fresh };  ///< fresh: an existing database of ours is replaced (-f); a file that is not ours is refused

/// A table of cells as SQLite gave them.
struct Cell {
  enum class Kind : uint8_t { null, integer, real, text, blob } kind = Kind::null;
  int64_t integer = 0;
  double real = 0;
  std::string text;
};
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

class Store {
 public:
  /// Makes the file if it is missing. Runs whose writer was killed become `interrupted` and get their statistics now.
  /// Errors: a directory, not a database, damaged, another application's, made by a newer version, read-only, a full disk,
  /// another process that writes it (after a wait of `busy`).
  static base::Result<Store> open(const std::string& path, OpenMode mode, std::chrono::milliseconds busy = std::chrono::seconds(15));
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();  ///< checkpoints, and leaves a file that opens from read-only places

  /// Begins an import of the file with this hash and these options, for modules that come one by one. Nothing else may be written until it
  /// ends.
  base::Result<Import> import(const Source& source);
  /// The same of a whole file. One transaction: all or nothing.
  base::Result<ImportIds> add(const Imported& imported);
  /// Commits the run row with status `running`; returns its id.
  base::Result<int64_t> begin(const Run& run);
  /// Device (with ceilings), kernels, steps, buffers, notes: when the plan is known; called again, it replaces (worst errors, ceilings).
  base::Status describe(int64_t run, const Run& what);
  /// One transaction: a pass and its samples. When this returns, they are saved.
  base::Status add(int64_t run, const Pass& pass, std::span<const Sample> samples);
  /// Writes statistics, the folded timeline and the status. Steps that `stats` lacks get statistics from their saved samples: an empty
  /// span is enough, and flags that only the caller knows (throttled) come with theirs.
  base::Status finish(int64_t run, RunStatus status, std::span<const StepStat> stats);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The rows of a query, one by one.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();
  const std::vector<std::string>& columns() const;
  /// Nothing after the last row.
  base::Result<std::optional<std::vector<Cell>>> next();

 private:
  friend class Reader;
  struct Impl;
  explicit Cursor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Reader {
 public:
  /// Read-only; also from read-only folders and while a run is being written. Errors: missing, not a database, not ours, newer version,
  /// damaged.
  static base::Result<Reader> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();
  /// One statement that reads. Bad SQL, a statement that writes, wrong parameters: an Error with exit status wrong_use.
  base::Result<Rows> query(std::string_view sql, std::span<const Cell> parameters = {}) const;
  /// The same for results that may not fit into memory. The cursor must not outlive the reader.
  base::Result<Cursor> start(std::string_view sql, std::span<const Cell> parameters = {}) const;
  base::Result<std::string> module_text(int64_t module) const;
  /// A row of table content: the source text of a kernel.
  base::Result<std::string> content(int64_t id) const;
  /// From any thread: the query that runs now ends with an error. Others are not touched.
  void interrupt() const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Is the process still there that run.writer names? A run with status `running` is otherwise one that was killed.
bool writer_lives(std::string_view writer);

/// schema.sql and views.sql as embedded.
std::string_view schema();

}  // namespace model
