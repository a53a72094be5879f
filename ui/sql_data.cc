// Rows come one by one, so that a query without a limit of its own does not fill the memory.
#include "ui/sql_data.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>

#include "src/report/query.h"

namespace ui {

base::Result<SqlAnswer> run_sql(const model::Reader& reader, const std::string& sql, int64_t run, size_t limit) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<model::Cell> parameters;
  if (sql.find("?1") != std::string::npos) parameters.push_back(report::cell(run));
  ASSIGN_OR_RETURN(model::Cursor cursor, reader.start(sql, parameters));
  SqlAnswer answer;
  auto rows = std::make_shared<model::Rows>();
  rows->columns = cursor.columns();
  while (true) {
    ASSIGN_OR_RETURN(auto row, cursor.next());
    if (!row) break;
    answer.more = rows->rows.size() == limit;
    if (answer.more) break;
    rows->rows.push_back(*std::move(row));
  }
  answer.rows = std::move(rows);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

base::Result<std::vector<SqlTable>> read_tables(const model::Reader& reader) {
  ASSIGN_OR_RETURN(const model::Rows rows, report::ask(reader, "columns"));
  std::vector<SqlTable> tables;
  for (const std::vector<model::Cell>& row : rows.rows) {
    if (tables.empty() || tables.back().name != row[1].text) tables.push_back({row[0].text, row[1].text, {}});
    tables.back().columns.emplace_back(row[2].text, row[3].text);
  }
  return tables;
}

std::pair<int, int> place_of(std::string_view message) {
  constexpr std::string_view kStart = "SQL:";
  if (!message.starts_with(kStart)) return {0, 0};
  const char* end = message.data() + message.size();
  int line = 0, column = 0;
  const auto first = std::from_chars(message.data() + kStart.size(), end, line);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return {0, 0};
  const auto second = std::from_chars(first.ptr + 1, end, column);
  return second.ec == std::errc() ? std::pair{line, column} : std::pair{0, 0};
}

std::pair<int, int> word_at(std::string_view text, std::pair<int, int> line_and_column) {
  const auto [line, column] = line_and_column;
  if (line < 1 || column < 1) return {0, 0};
  size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const size_t newline = text.find('\n', begin);
    if (newline == std::string_view::npos) return {0, 0};
    begin = newline + 1;
  }
  begin += static_cast<size_t>(column) - 1;
  if (begin >= text.size()) return {0, 0};
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {static_cast<int>(begin), static_cast<int>(std::max(end, begin + 1))};
}

std::vector<int> number_columns(const model::Rows& rows) {
  using Kind = model::Cell::Kind;
  constexpr size_t kLooked = 1000;
  std::vector<int> found;
  for (size_t c = 0; c < rows.columns.size(); ++c) {
    bool any = false, all = true;
    for (size_t r = 0; r < std::min(rows.rows.size(), kLooked); ++r) {
      const Kind kind = rows.rows[r][c].kind;
      any = any || kind == Kind::integer || kind == Kind::real;
      all = all && (kind == Kind::null || kind == Kind::integer || kind == Kind::real);
    }
    if (any && all) found.push_back(static_cast<int>(c));
  }
  return found;
}

}  // namespace ui
