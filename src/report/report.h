// Reports: one .sql file each, embedded; the same table in the terminal, in JSON, CSV, Markdown and in the viewer.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace report {

/// A report: its name, a sentence, why it may have no rows, and the SQL (parameter ?1 = run id). From sql/NAME.sql: the first comment line
/// is the sentence, the line "-- Empty: …" the reason, "-- Optional: …" columns that people need not see where no row has a value.
struct Report {
  std::string_view name, about, empty, optional, sql;
};
std::span<const Report> reports();
const Report* find(std::string_view name);

enum class Format { table, json, jsonl, csv, md };
base::Result<Format> format_named(std::string_view name);

/// `run`, or the newest run of the store for 0. Errors: there is none, or not this one.
base::Result<int64_t> existing_run(const model::Reader& reader, int64_t run);
/// `run` 0: the newest run of the store.
base::Result<model::Rows> run(const model::Reader& reader, const Report& report, int64_t run);

/// For human tables: without the optional columns that are NULL in all rows.
model::Rows without_unknown(model::Rows rows, const Report& report);

struct Style {
  bool color = false;
  int width = 0;    ///< columns of the terminal; longer tables have long names cut in the middle; 0: unlimited
  size_t rows = 0;  ///< table and md: at most so many rows, then a line that says how many follow; 0: all
};
/// Human tables (table, md): three digits and a unit, by the suffix of the column name (_ns, _bytes, _flops, _per_s, _percent); NULL: "-";
/// cells of more than 250 columns are cut in the middle.
///
/// Machine formats: raw values under the whole column name. CSV quotes as RFC 4180 says, lines end with LF; NULL is empty; blobs are
/// hexadecimal.
std::string render(const model::Rows& rows, Format format, const Style& style);
/// The same for rows that come one by one: each call returns what can be written now. Widths of human tables are those of the first 10,000
/// rows; later cells that are wider push their line out.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual std::string add(const std::vector<model::Cell>& row) = 0;
  virtual std::string end() = 0;
};
std::unique_ptr<RowWriter> row_writer(const std::vector<std::string>& columns, Format format, const Style& style);

/// {"schema_version":…, "status":"ok|partial|unavailable", "reason":…, "covered":…, "NAME": [rows…]}
struct Section {
  std::string_view name;
  const model::Rows* rows;
};
std::string render_json(std::span<const Section> sections, std::string_view status, std::string_view reason, double covered);
inline constexpr int kJsonVersion = 1;  ///< schema_version: raised when a key changes its meaning or goes

}  // namespace report
