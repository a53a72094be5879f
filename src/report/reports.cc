// The reports are the files of sql/, embedded: the first comment line is the sentence that the help shows.
#include <algorithm>
#include <array>

#include "embedded/report_sql.h"
#include "src/report/compare.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/sql_comment.h"

namespace report {
namespace {

/// What follows a mark ("\n-- Empty: ") in its line.
constexpr std::string_view marked_comment(std::string_view sql, std::string_view mark) {
  const size_t begin = sql.find(mark);
  return begin == std::string_view::npos ? std::string_view()
                                         : sql.substr(begin + mark.size(), sql.find('\n', begin + 1) - begin - mark.size());
}

constexpr auto kReports = [] {
  std::array<Report, std::size(embedded::kFiles)> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string_view sql = embedded::kFiles[i].text;
    table[i] = {embedded::kFiles[i].name, first_comment(sql), marked_comment(sql, "\n-- Empty: "), marked_comment(sql, "\n-- Optional: "),
                sql};
  }
  return table;
}();

/// Reports whose rows need more than SQL; their .sql file is what they read.
struct Computed {
  std::string_view name;
  base::Result<model::Rows> (*rows)(const model::Reader& reader, int64_t run);
};
constexpr Computed kComputed[] = {{"compare", compare_with_run_before}};

int column_named(const model::Rows& rows, std::string_view name) {
  const auto found = std::find(rows.columns.begin(), rows.columns.end(), name);
  return found == rows.columns.end() ? -1 : static_cast<int>(found - rows.columns.begin());
}

/// A run that says `running` although its writer is gone was killed. SQL cannot know: the column `writer` is turned into the truth here.
void resolve_writers(model::Rows& rows) {
  const int status = column_named(rows, "status"), writer = column_named(rows, "writer");
  if (status < 0 || writer < 0) return;
  for (std::vector<model::Cell>& row : rows.rows) {
    model::Cell& cell = row[static_cast<size_t>(status)];
    if (cell.text == "running" && !model::writer_lives(row[static_cast<size_t>(writer)].text)) cell.text = "interrupted";
    row.erase(row.begin() + writer);
  }
  rows.columns.erase(rows.columns.begin() + writer);
}

bool is_word_of(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

model::Rows without_unknown(model::Rows rows, const Report& report) {
  for (size_t column = rows.columns.size(); column-- > 0;) {
    const auto unknown = [&](const std::vector<model::Cell>& row) { return row[column].kind == model::Cell::Kind::null; };
    if (!is_word_of(report.optional, rows.columns[column]) || !std::ranges::all_of(rows.rows, unknown)) continue;
    rows.columns.erase(rows.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return rows;
}

std::span<const Report> reports() { return kReports; }

const Report* find(std::string_view name) {
  const auto found = std::find_if(kReports.begin(), kReports.end(), [&](const Report& report) { return report.name == name; });
  return found == kReports.end() ? nullptr : &*found;
}

base::Result<int64_t> existing_run(const model::Reader& reader, int64_t run) {
  const model::Cell id = cell(run);
  ASSIGN_OR_RETURN(const model::Rows rows,
                   reader.query("SELECT id AS run FROM run WHERE ?1 IN (id, 0) ORDER BY id DESC LIMIT 1", std::span(&id, 1)));
  if (!rows.rows.empty()) return rows.rows[0][0].integer;
  if (run == 0) return base::Error{"no run is stored; replay a program first: profile replay FILE"};
  return base::Error{"there is no run " + std::to_string(run) + "; `profile list` shows what is stored", base::Exit::wrong_use};
}

base::Result<model::Rows> run(const model::Reader& reader, const Report& report, int64_t run) {
  std::vector<model::Cell> parameters;
  if (report.sql.find("?1") != std::string_view::npos) {
    ASSIGN_OR_RETURN(run, existing_run(reader, run));
    parameters.push_back(cell(run));
  }
  const auto* computed = std::ranges::find(kComputed, report.name, &Computed::name);
  if (computed != std::end(kComputed)) return computed->rows(reader, run);
  ASSIGN_OR_RETURN(model::Rows rows, reader.query(report.sql, parameters));
  resolve_writers(rows);
  return rows;
}

}  // namespace report
