// Finds the programs of a file, whatever their form and whatever stands around them (a log, a page of documentation), and reads each.
#include "importers/paddle/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/paddle/cursor.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";  ///< U+FEFF: editors put it at the start, web pages into lines

bool begins_pir_operator(std::string_view line) {
  if (line.starts_with("() = \"")) return true;
  const bool value = line.starts_with("(%") || line.starts_with('%');
  if (!value) return line.starts_with("\"builtin.") || line.starts_with("\"pd");
  return line.find(") = \"") != std::string_view::npos || line.find(" = \"pd") != std::string_view::npos ||
         line.find(") = ") != std::string_view::npos;
}

/// A brace alone in its line, with an operator, a region's argument or another '}' behind it.
bool begins_pir_region(std::string_view text, size_t brace) {
  Cursor inside(text, "", brace + 1);
  const size_t at = inside.skip_blanks().at();
  if (inside.skip_space().at() == at) return false;
  if (inside.peek() == '}' || inside.peek() == '^') return true;
  return begins_pir_operator(inside.line());
}

enum class Begin : uint8_t { none, readable, protobuf, pir, python };

/// What begins in the line at the cursor, with the offset of its first byte.
struct Found {
  Begin what = Begin::none;
  size_t at = 0;
};

Found begins_at(const Cursor& cursor, std::string_view line) {
  if (line.empty()) return {};
  if (line.starts_with("{ // block")) return {Begin::readable, cursor.at()};
  if (line.starts_with("blocks {") || line.starts_with("blocks{")) return {Begin::protobuf, cursor.at()};
  if (line.starts_with("# pd_op.") || line.starts_with("# builtin.")) return {Begin::python, cursor.at()};
  if (line.back() == '{' && (line.size() == 1 || line.ends_with("= {") || line.starts_with("module")) &&
      begins_pir_region(cursor.text(), cursor.at() + line.size() - 1))
    return {Begin::pir, cursor.at() + line.size() - 1};
  if (line[0] == '^' && line.find(':') != std::string_view::npos) return {Begin::pir, cursor.at()};
  return begins_pir_operator(line) ? Found{Begin::pir, cursor.at()} : Found{};
}

/// The last line from `begin` to the cursor's that says something about a pass; "": none. Only where a program begins is it worth a look.
std::string_view title_before(const Cursor& cursor, size_t begin) {
  std::string_view title;
  for (Cursor at(cursor.text(), "", std::min(begin, cursor.at())); at.skip_space().at() < cursor.at(); at.skip_line()) {
    const std::string_view line = at.line();
    if (line.find(" pass") != line.npos || line.find("IRPrinting") != line.npos) title = line;
  }
  return title;
}

/// Walks over lines to the next program. Lines are looked at once.
struct Search {
  Found found;
  std::string_view title;  ///< the last line before it that says something about a pass
  size_t first_text = std::string_view::npos;
};

Search next_program(Cursor cursor) {
  Search search;
  while (!cursor.skip_space().at_end()) {
    const std::string_view line = cursor.line();
    search.found = begins_at(cursor, line);
    if (search.found.what != Begin::none) {
      search.title = line.ends_with(" = {") ? line.substr(0, line.size() - 4) : title_before(cursor, search.first_text);
      return search;
    }
    if (search.first_text == std::string_view::npos) search.first_text = cursor.at();
    cursor.move_to(cursor.at() + line.size());
    cursor.skip_line();
  }
  return search;
}

void number_operators(Program& program) {
  size_t number = 0;
  for (Block& block : program.blocks) {
    for (Operator& op : block.operators) op.number = number++;
  }
}

std::unique_ptr<const std::string> without_marks(std::string_view bytes) {
  auto text = std::make_unique<std::string>();
  text->reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t mark = std::min(bytes.find(kMark, at), bytes.size());
    text->append(bytes, at, mark - at);
    at = mark + kMark.size();
  }
  return text;
}

/// A GraphNet layer is one program from the top of the file on: its inputs are named there.
size_t begin_of(const Found& found, std::string_view text) {
  if (found.what != Begin::python) return found.at;
  const size_t forward = text.rfind("def forward(", found.at);
  return forward == std::string_view::npos ? found.at : forward;
}

base::Result<size_t> read_program(const Search& search, Cursor cursor, Listing& listing) {
  switch (search.found.what) {
    case Begin::readable:
      return read_readable(cursor, listing);
    case Begin::protobuf:
      return read_protobuf(cursor, listing);
    case Begin::python:
      return read_python(cursor, listing);
    case Begin::pir:
      return read_pir(cursor, search.title, listing);
    case Begin::none:
      break;
  }
  return cursor.at();
}

}  // namespace

std::string_view first_argument(std::span<const Slot> slots, std::string_view slot) {
  const auto found = std::ranges::find(slots, slot, &Slot::name);
  return found == slots.end() || found->arguments.empty() ? std::string_view() : found->arguments[0];
}

std::string_view name_of(Form form) {
  switch (form) {
    case Form::readable:
      return "old IR";
    case Form::protobuf:
      return "protobuf text";
    case Form::pir:
      return "PIR";
    case Form::python:
      return "GraphNet";
  }
  return "";
}

std::string_view Operator::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &Attribute::name);
  return found == attributes.end() ? std::string_view() : found->value;
}

Match match(const Input& input) {
  std::string_view text = input.bytes;
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const std::string_view head = text.substr(0, size_t{1} << 20);
  if (head.substr(0, size_t{1} << 12).find('\0') != std::string_view::npos) return {Match::none, "is no text"};
  std::unique_ptr<const std::string> cleaned;
  if (head.find(kMark) != std::string_view::npos) cleaned = without_marks(head), text = *cleaned;
  const Search search = next_program(Cursor(text, input.path));
  static constexpr std::string_view kWhat[] = {"", "a block of the old IR", "protobuf text of a program", "PIR text",
                                               "GraphNet's Python form of PIR"};
  if (search.found.what == Begin::none) {
    if (text.starts_with("class Program_weight_tensor"))
      return {Match::none, "GraphNet's description of a model's inputs has no operators; give the model.py beside it"};
    return {Match::none, "no line begins a block ('{ // block'), a protobuf text ('blocks {') or PIR ('(%0) = \"')"};
  }
  const bool first = search.first_text == std::string_view::npos;
  return {first ? Match::sure : Match::likely,
          fmt::format("{} {}", first ? "begins with" : "has", kWhat[static_cast<size_t>(search.found.what)])};
}

base::Result<Listing> read_listing(const Input& input) {
  Listing listing;
  listing.text = input.bytes;
  if (input.bytes.find(kMark) != std::string_view::npos) {
    listing.cleaned = without_marks(input.bytes);
    listing.text = *listing.cleaned;
    const size_t marks = (input.bytes.size() - listing.text.size()) / kMark.size();
    if (marks > 1 || !input.bytes.starts_with(kMark))
      listing.notes.push_back(
          {0, "byte-order-marks", fmt::format("{} byte order marks (U+FEFF) are left out; columns count without them", marks)});
  }
  Cursor cursor(listing.text, input.path);
  while (!cursor.skip_space().at_end()) {
    const Search search = next_program(cursor);
    if (search.first_text != std::string_view::npos) {
      const size_t end = search.found.what == Begin::none ? listing.text.size() : search.found.at;
      listing.notes.push_back(
          {search.first_text, "text-outside", fmt::format("{} bytes around the program are not read", end - search.first_text)});
    }
    if (search.found.what == Begin::none) break;
    cursor.move_to(begin_of(search.found, listing.text));
    ASSIGN_OR_RETURN(const size_t end, read_program(search, cursor, listing));
    cursor.move_to(std::max(end, search.found.at + 1));
  }
  if (listing.programs.empty())
    return base::error_at(input.path, listing.text, 0, "no program begins in this text; print one with print(program)");
  for (Program& program : listing.programs) number_operators(program);
  return listing;
}

}  // namespace importers::paddle
