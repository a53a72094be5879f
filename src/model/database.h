// The one place that talks to SQLite, with memory_rows.cc: connections, statements, transactions; its errors as one line that says what to
// do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/result.h"

namespace model {

struct MemoryRows;
struct Null {};
using Blob = std::span<const std::byte>;

/// A prepared statement. Parameters and columns count from 1 and 0, as in SQLite. It must not outlive its Database.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  void bind(int parameter, int64_t value);
  void bind(int parameter, int32_t value) { bind(parameter, int64_t{value}); }
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view value);  ///< not copied: valid until the next step
  void bind(int parameter, Blob value);              ///< not copied either
  void bind(int parameter, Null);
  void bind(int parameter, const MemoryRows& rows);  ///< not copied; for `memory_rows(?)`

  /// True: a row is there. False: it has ended, and is reset.
  base::Result<bool> step();
  void reset();
  /// Binds all parameters and runs a statement that returns no rows.
  template <typename... Values>
  base::Status run(const Values&... values) {
    int parameter = 0;
    (bind(++parameter, values), ...);
    const auto row = step();
    return row.ok() ? base::Status() : base::Status(row.error());
  }

  enum class Kind : uint8_t { null, integer, real, text, blob };
  int columns() const;
  std::string_view column_name(int column) const;
  Kind kind(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  ///< of text and blob; valid until the next step
  int parameters() const;
  bool read_only() const;

 private:
  friend class Database;
  struct Impl;
  explicit Statement(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A connection.
class Database {
 public:
  enum class Access {
    read,       ///< opens for reading only
    immutable,  ///< the same without locks: for read-only folders; a -wal file is not seen
    recover,    ///< read and write, but statements may only read: rolls back what a killed writer left
    write,      ///< makes the file if it is missing
  };
  /// `busy`: how long a statement waits for another process.
  static base::Result<Database> open(const std::string& path, Access access, std::chrono::milliseconds busy);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Runs statements separated by ';'. Rows are dropped.
  base::Status execute(std::string_view sql);
  /// One statement. An Error of the SQL itself shows the place and has exit status wrong_use.
  base::Result<Statement> prepare(std::string_view sql) const;
  /// First column of the first row; 0 if there is none or it is NULL.
  base::Result<int64_t> integer(std::string_view sql) const;
  int64_t last_id() const;
  /// SQLite opens for reading what it may not write, and says so only when a row changes.
  base::Status writable() const;
  /// Waits until the file is on the disk. For `PRAGMA synchronous = OFF`; errors of the disk are left to the next reader.
  void synchronise();
  /// Has the disk begin with what SQLite has written so far, and does not wait: less is left to synchronise().
  void start_writing();
  /// From any thread: the statement that runs now ends with an error.
  void interrupt() const;
  const std::string& path() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// BEGIN IMMEDIATE (a reader that turns into a writer fails at once, whatever the timeout) … commit(), or rolled back when it goes.
class Transaction {
 public:
  static base::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  base::Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace model
