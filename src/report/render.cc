// Five spellings of one table. The human ones measure all cells before they print; the others write row by row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/text.h"
#include "src/report/display.h"
#include "src/report/report.h"
#include "src/report/units.h"

namespace report {
namespace {

using model::Cell;
using model::Rows;
using Kind = model::Cell::Kind;

constexpr size_t kGap = 2;             ///< spaces between columns
constexpr size_t kNarrowestName = 12;  ///< names are cut no shorter
constexpr size_t kWidestCell = 250;    ///< of human tables, also where the width is not limited: one name of 1 MB would pad every row

struct Spelling {
  std::string_view name;
  Format format;
};
constexpr Spelling kSpellings[] = {
    {"table", Format::table}, {"json", Format::json}, {"jsonl", Format::jsonl}, {"csv", Format::csv}, {"md", Format::md}};

// ---- human

struct Column {
  std::string heading;
  std::vector<std::string> cells;
  Align align = Align::left;
  size_t width = 0;
  bool can_be_cut = false;
};

bool is_number(const Cell& cell) { return cell.kind == Kind::integer || cell.kind == Kind::real; }

std::vector<Column> human_columns(const Rows& rows, size_t count) {
  std::vector<Column> columns;
  for (size_t c = 0; c < rows.columns.size(); ++c) {
    Column& column = columns.emplace_back();
    column.heading = heading(rows.columns[c]);
    const auto fits = [&](const std::vector<Cell>& row) { return is_number(row[c]) || row[c].kind == Kind::null; };
    const bool numbers = !rows.rows.empty() && std::all_of(rows.rows.begin(), rows.rows.end(), fits);
    column.align = numbers ? Align::right : Align::left;
    column.can_be_cut = !numbers;
    column.width = display_width(column.heading);
    for (size_t r = 0; r < count; ++r) {
      column.cells.push_back(cut_middle(human(rows.rows[r][c], rows.columns[c]), kWidestCell));
      column.width = std::max(column.width, display_width(column.cells.back()));
    }
  }
  return columns;
}

size_t total_width(const std::vector<Column>& columns) {
  size_t width = 0;
  for (const Column& column : columns) width += column.width + kGap;
  return width < kGap ? 0 : width - kGap;
}

/// Takes columns off the widest names until the table fits, or all of them are short.
void fit(std::vector<Column>& columns, size_t width) {
  for (size_t total = total_width(columns); total > width; --total) {
    Column* widest = nullptr;
    for (Column& column : columns) {
      if (column.can_be_cut && column.width > kNarrowestName && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

std::string line(const std::vector<Column>& columns, auto text_of) {
  std::string out;
  for (const Column& column : columns) {
    if (&column != &columns.front()) out.append(kGap, ' ');
    out += padded(cut_middle(text_of(column), column.width), column.width, column.align);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

size_t shown_rows(const Rows& rows, const Style& style) {
  return style.rows == 0 ? rows.rows.size() : std::min(rows.rows.size(), style.rows);
}

/// "(12 more)", "(none)" or nothing.
std::string remark(const Rows& rows, size_t shown) {
  if (rows.rows.empty()) return "(none)\n";
  return shown < rows.rows.size() ? fmt::format("({} more)\n", rows.rows.size() - shown) : "";
}

std::string as_table(const Rows& rows, const Style& style) {
  const size_t count = shown_rows(rows, style);
  std::vector<Column> columns = human_columns(rows, count);
  if (style.width > 0) fit(columns, static_cast<size_t>(style.width));
  const std::string head = line(columns, [](const Column& column) { return column.heading; });
  std::string out = (style.color ? "\x1b[1m" + head + "\x1b[0m" : head) + "\n";
  for (size_t r = 0; r < count; ++r) out += line(columns, [&](const Column& column) { return column.cells[r]; }) + "\n";
  return out + remark(rows, count);
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool doubled = text[i] == '_' && (text.substr(i + 1, 1) == "_" || (i > 0 && text[i - 1] == '_'));
    if (doubled || std::string_view("\\|*<`[").find(text[i]) != std::string_view::npos) out += '\\';
    out += text[i];
  }
  return out;
}

std::string as_markdown(const Rows& rows, const Style& style) {
  const size_t count = shown_rows(rows, style);
  const std::vector<Column> columns = human_columns(rows, count);
  std::string out = "|", rule = "|";
  for (const Column& column : columns) {
    out += " " + markdown_text(column.heading) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (size_t r = 0; r < count; ++r) {
    out += "|";
    for (const Column& column : columns) out += " " + markdown_text(column.cells[r]) + " |";
    out += "\n";
  }
  const std::string after = remark(rows, count);
  return after.empty() ? out : out + "\n" + after;
}

// ---- machine

std::string hexadecimal(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(byte));
  return out;
}

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with(' ') && !text.ends_with(' ')) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string csv_cell(const Cell& cell) {
  switch (cell.kind) {
    case Kind::null:
      return "";
    case Kind::integer:
      return fmt::format("{}", cell.integer);
    case Kind::real:
      return fmt::format("{}", cell.real);  // the shortest text that reads back equal
    case Kind::text:
      return csv_text(cell.text);
    case Kind::blob:
      return hexadecimal(cell.text);
  }
  return "";
}

std::string as_csv(const Rows& rows) {
  std::string out;
  for (size_t c = 0; c < rows.columns.size(); ++c) out.append(c == 0 ? "" : ",").append(csv_text(rows.columns[c]));
  out += "\n";
  for (const auto& row : rows.rows) {
    for (size_t c = 0; c < row.size(); ++c) out.append(c == 0 ? "" : ",").append(csv_cell(row[c]));
    out += "\n";
  }
  return out;
}

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_cell(const Cell& cell) {
  switch (cell.kind) {
    case Kind::null:
      return "null";
    case Kind::integer:
      return fmt::format("{}", cell.integer);
    case Kind::real:
      return std::isfinite(cell.real) ? fmt::format("{}", cell.real) : "null";  // JSON has no infinity
    case Kind::text:
      return json_text(cell.text);
    case Kind::blob:
      return "\"" + hexadecimal(cell.text) + "\"";
  }
  return "null";
}

/// Keys of an object must differ: a second "name" becomes "name_2".
std::vector<std::string> json_keys(const Rows& rows) {
  std::set<std::string> used;
  std::vector<std::string> keys;
  for (const std::string& column : rows.columns) {
    std::string key = column;
    for (int i = 2; !used.insert(key).second; ++i) key = fmt::format("{}_{}", column, i);
    keys.push_back(json_text(key));
  }
  return keys;
}

std::string json_objects(const Rows& rows, std::string_view before, std::string_view between) {
  const std::vector<std::string> keys = json_keys(rows);
  std::string out;
  for (const auto& row : rows.rows) {
    out.append(out.empty() ? before : between).append("{");
    for (size_t c = 0; c < row.size(); ++c) out.append(c == 0 ? "" : ", ").append(keys[c]).append(": ").append(json_cell(row[c]));
    out += "}";
  }
  return out;
}

std::string json_array(const Rows& rows) {
  const std::string objects = json_objects(rows, "\n  ", ",\n  ");
  return objects.empty() ? "[]" : "[" + objects + "\n]";
}

}  // namespace

base::Result<Format> format_named(std::string_view name) {
  std::array<std::string_view, std::size(kSpellings)> names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (kSpellings[i].name == name) return kSpellings[i].format;
    names[i] = kSpellings[i].name;
  }
  const std::string_view near = base::nearest(name, names);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  return base::Error{fmt::format("no format '{}'; there are {}{}", displayable(name), fmt::join(names, ", "), hint), base::Exit::wrong_use};
}

std::string render(const Rows& rows, Format format, const Style& style) {
  switch (format) {
    case Format::table:
      return as_table(rows, style);
    case Format::json:
      return json_array(rows) + "\n";
    case Format::jsonl:
      return rows.rows.empty() ? "" : json_objects(rows, "", "\n") + "\n";
    case Format::csv:
      return as_csv(rows);
    case Format::md:
      return as_markdown(rows, style);
  }
  return "";
}

std::string render_json(std::span<const Section> sections, std::string_view status, std::string_view reason, double covered) {
  std::string out = fmt::format("{{\n\"schema_version\": {},\n\"status\": {},\n\"reason\": {},\n\"covered\": {}", kJsonVersion,
                                json_text(status), json_text(reason), json_cell({Kind::real, 0, covered, {}}));
  for (const Section& section : sections) out += fmt::format(",\n{}: {}", json_text(section.name), json_array(*section.rows));
  return out + "\n}\n";
}

}  // namespace report
