// Five spellings of one table, written row by row: a result may be larger than memory. The human ones measure the first rows before they
// print.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "src/base/json_text.h"
#include "src/base/text.h"
#include "src/report/display.h"
#include "src/report/json.h"
#include "src/report/report.h"
#include "src/report/units.h"

namespace report {
namespace {

using model::Cell;
using model::Rows;
using Kind = model::Cell::Kind;

constexpr size_t kGap = 2;                ///< spaces between columns
constexpr size_t kNarrowestName = 12;     ///< names are cut no shorter
constexpr size_t kMeasuredRows = 10'000;  ///< that widths are taken from
constexpr size_t kWidestCell = 250;       ///< of human tables, also where the width is not limited: one name of 1 MB would pad every row

struct Spelling {
  std::string_view name;
  Format format;
};
constexpr Spelling kSpellings[] = {
    {"table", Format::table}, {"json", Format::json}, {"jsonl", Format::jsonl}, {"csv", Format::csv}, {"md", Format::md}};

// ---- human

struct Column {
  std::string name, heading;
  Align align = Align::left;
  size_t width = 0;            ///< of the widest cell that was measured
  size_t limit = kWidestCell;  ///< wider cells are cut
  bool can_be_narrowed = false;
};

using RowSpan = std::span<const std::vector<Cell>>;

bool is_number(const Cell& cell) { return cell.kind == Kind::integer || cell.kind == Kind::real; }

std::string shown(const Column& column, const Cell& cell) { return cut_middle(human(cell, column.name), column.limit); }

std::vector<Column> measured(const std::vector<std::string>& names, RowSpan rows) {
  std::vector<Column> columns;
  for (size_t c = 0; c < names.size(); ++c) {
    Column& column = columns.emplace_back();
    column.name = names[c];
    column.heading = heading(names[c], names);
    const auto fits = [&](const std::vector<Cell>& row) { return is_number(row[c]) || row[c].kind == Kind::null; };
    const bool numbers = !rows.empty() && std::all_of(rows.begin(), rows.end(), fits);
    column.align = numbers ? Align::right : Align::left;
    column.can_be_narrowed = !numbers;
    column.width = display_width(column.heading);
    for (const std::vector<Cell>& row : rows) column.width = std::max(column.width, display_width(shown(column, row[c])));
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
      if (column.can_be_narrowed && column.width > kNarrowestName && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return;
    widest->limit = --widest->width;
  }
}

/// text_of(column, its number).
std::string table_line(const std::vector<Column>& columns, auto text_of) {
  std::string out;
  for (size_t c = 0; c < columns.size(); ++c)
    out.append(c == 0 ? 0 : kGap, ' ').append(padded(text_of(c), columns[c].width, columns[c].align));
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
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

std::string markdown_head(const std::vector<Column>& columns) {
  std::string out = "|", rule = "|";
  for (const Column& column : columns) {
    out += " " + markdown_text(column.heading) + " |";
    rule += column.align == Align::right ? "---:|" : "---|";
  }
  return out + "\n" + rule + "\n";
}

std::string markdown_row(const std::vector<Column>& columns, const std::vector<Cell>& row) {
  std::string out = "|";
  for (size_t c = 0; c < columns.size(); ++c) out += " " + markdown_text(shown(columns[c], row[c])) + " |";
  return out + "\n";
}

/// A table for people: widths and sides come from the first rows, so that the others need not be kept.
class HumanRows final : public RowWriter {
 public:
  HumanRows(std::vector<std::string> names, Format format, const Style& style)
      : names_(std::move(names)), markdown_(format == Format::md), style_(style) {}

  std::string add(const std::vector<Cell>& row) override {
    if (style_.rows > 0 && count_ >= style_.rows) {
      ++more_;
      return "";
    }
    ++count_;
    if (begun_) return line(row);
    first_.push_back(row);
    return first_.size() < kMeasuredRows ? "" : begin();
  }

  std::string end() override {
    std::string out = begun_ ? "" : begin();
    const std::string remark = count_ == 0 ? "(none)\n" : more_ > 0 ? fmt::format("({} more)\n", more_) : "";
    return out + (markdown_ && !remark.empty() ? "\n" : "") + remark;
  }

 private:
  std::string begin() {
    begun_ = true;
    columns_ = measured(names_, first_);
    if (style_.width > 0 && !markdown_) fit(columns_, static_cast<size_t>(style_.width));
    std::string out = markdown_ ? markdown_head(columns_) : table_head();
    for (const std::vector<Cell>& row : std::exchange(first_, {})) out += line(row);
    return out;
  }
  std::string table_head() const {
    const std::string head = table_line(columns_, [&](size_t c) { return cut_middle(columns_[c].heading, columns_[c].width); });
    return (style_.color ? "\x1b[1m" + head + "\x1b[0m" : head) + "\n";
  }
  std::string line(const std::vector<Cell>& row) const {
    if (markdown_) return markdown_row(columns_, row);
    return table_line(columns_, [&](size_t c) { return shown(columns_[c], row[c]); }) + "\n";
  }

  std::vector<std::string> names_;
  bool markdown_;
  Style style_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> first_;
  bool begun_ = false;
  size_t count_ = 0, more_ = 0;
};

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

class CsvRows final : public RowWriter {
 public:
  explicit CsvRows(const std::vector<std::string>& names) {
    for (const std::string& name : names) head_.append(head_.empty() ? "" : ",").append(csv_text(name));
    head_ += "\n";
  }
  std::string add(const std::vector<Cell>& row) override {
    std::string out = std::exchange(head_, "");
    for (size_t c = 0; c < row.size(); ++c) out.append(c == 0 ? "" : ",").append(csv_cell(row[c]));
    return out + "\n";
  }
  std::string end() override { return std::exchange(head_, ""); }

 private:
  std::string head_;  ///< until it is written
};

/// Keys of an object must differ: a second "name" becomes "name_2".
std::vector<std::string> json_keys(const std::vector<std::string>& names) {
  std::set<std::string> used;
  std::vector<std::string> keys;
  for (const std::string& name : names) {
    std::string key = name;
    for (int i = 2; !used.insert(key).second; ++i) key = fmt::format("{}_{}", name, i);
    keys.push_back(base::json_text(key));
  }
  return keys;
}

/// Objects with text around them: of an array, or one a line.
class JsonRows final : public RowWriter {
 public:
  struct Around {
    std::string_view first, between, last, none;
  };
  JsonRows(const std::vector<std::string>& names, const Around& around) : keys_(json_keys(names)), around_(around) {}

  std::string add(const std::vector<Cell>& row) override {
    std::string out(any_ ? around_.between : around_.first);
    any_ = true;
    out += "{";
    for (size_t c = 0; c < row.size(); ++c) out.append(c == 0 ? "" : ", ").append(keys_[c]).append(": ").append(json_cell(row[c]));
    return out + "}";
  }
  std::string end() override { return std::string(any_ ? around_.last : around_.none); }

 private:
  std::vector<std::string> keys_;
  Around around_;
  bool any_ = false;
};
constexpr JsonRows::Around kArray{"[\n  ", ",\n  ", "\n]\n", "[]\n"};
constexpr JsonRows::Around kLines{"", "\n", "\n", ""};

std::string json_array(const Rows& rows) {
  std::string out = render(rows, Format::json, {});
  out.pop_back();
  return out;
}

}  // namespace

std::string json_cell(const Cell& cell) {
  switch (cell.kind) {
    case Kind::null:
      return "null";
    case Kind::integer:
      return fmt::format("{}", cell.integer);
    case Kind::real:
      return std::isfinite(cell.real) ? fmt::format("{}", cell.real) : "null";  // JSON has no infinity
    case Kind::text:
      return base::json_text(cell.text);
    case Kind::blob:
      return "\"" + hexadecimal(cell.text) + "\"";
  }
  return "null";
}

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

std::unique_ptr<RowWriter> row_writer(const std::vector<std::string>& columns, Format format, const Style& style) {
  switch (format) {
    case Format::table:
    case Format::md:
      return std::make_unique<HumanRows>(columns, format, style);
    case Format::json:
      return std::make_unique<JsonRows>(columns, kArray);
    case Format::jsonl:
      return std::make_unique<JsonRows>(columns, kLines);
    case Format::csv:
      return std::make_unique<CsvRows>(columns);
  }
  return nullptr;
}

std::string render(const Rows& rows, Format format, const Style& style) {
  const auto writer = row_writer(rows.columns, format, style);
  std::string out;
  for (const auto& row : rows.rows) out += writer->add(row);
  return out + writer->end();
}

std::string render_json(std::span<const Section> sections, std::string_view status, std::string_view reason, double covered) {
  std::string out = fmt::format("{{\n\"schema_version\": {},\n\"status\": {},\n\"reason\": {},\n\"covered\": {}", kJsonVersion,
                                base::json_text(status), base::json_text(reason), json_cell({Kind::real, 0, covered, {}}));
  for (const Section& section : sections) out += fmt::format(",\n{}: {}", base::json_text(section.name), json_array(*section.rows));
  return out + "\n}\n";
}

}  // namespace report
