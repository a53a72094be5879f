// The store: one SQLite file that is appended to. Writing goes through Store, reading through Reader; SQL stays in this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
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

/// Ids that an import got: one a module, and the instruction row of (module index, comp, instr).
struct ImportIds {
  int64_t source = 0;
  bool existed = false;                 ///< the same bytes had been imported before
  std::vector<int64_t> modules;
  std::vector<std::vector<int64_t>> first_instruction;  ///< [module][comp]: rows of a computation are consecutive: id = first + instr
};

class Store {
 public:
  static base::Result<Store> open(const std::string& path, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();  ///< checkpoints, and leaves a file that opens from read-only places

  /// One transaction: all or nothing.
  base::Result<ImportIds> add(const Imported& imported);
  /// Commits the run row with status `running`; returns its id.
  base::Result<int64_t> begin(const Run& run);
  /// Device (with ceilings), kernels, steps, buffers, notes: when the plan is known; called again, it replaces (worst errors, ceilings).
  base::Status describe(int64_t run, const Run& what);
  /// One transaction: a pass and its samples. When this returns, they are saved.
  base::Status add(int64_t run, const Pass& pass, std::span<const Sample> samples);
  base::Status finish(int64_t run, RunStatus status, std::span<const StepStat> stats);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class Reader {
 public:
  /// Read-only; also from read-only folders and while a run is being written. Errors: missing, not a database, not ours, newer version, damaged.
  static base::Result<Reader> open(const std::string& path);
  Reader(Reader&&) noexcept;
  ~Reader();
  base::Result<Rows> query(std::string_view sql, std::span<const Cell> parameters = {}) const;
  base::Result<std::string> module_text(int64_t module) const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// schema.sql as embedded.
std::string_view schema();

}  // namespace model
