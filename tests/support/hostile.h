// What damage and malice make of a file, and what every importer owes it: an error with a place, or a sound import.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/hlo/hlo.h"
#include "importers/importer.h"
#include "src/ir/verify.h"

namespace support {

/// One to four edits: a stretch comes again or is lost, a number becomes another, something that means much in some format stands where
/// it should not; in binary files (those that hold a zero) also a byte or a bit.
inline std::string edited(std::string_view text, std::mt19937& random) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view kMarks = "{}[]()<>\"'\\:,-%^/#\n\t\0x"sv;
  constexpr std::string_view kPieces[] = {
      "<<", ">>", "||", ": ", " = ", "\r\n", "-1", "nan", "1e999", "size: 99999999999", "\xff\xc0", "\xed\xa0\x80", "\xff\xff\xff\xff\x0f"};
  constexpr std::string_view kNumbers[] = {
      "0", "-1", "1", "3", "7", "100000", "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e30"};
  constexpr std::string_view kDigits = "0123456789";
  const size_t kinds = text.find('\0') == std::string_view::npos ? 6 : 8;
  std::string result(text);
  for (size_t edits = 1 + random() % 4; edits > 0 && !result.empty(); --edits) {
    const size_t at = random() % result.size(), digit = result.find_first_of(kDigits, at), kind = random() % kinds;
    if (kind == 0)
      result.insert(at, result.substr(random() % result.size(), random() % 200));
    else if (kind == 1)
      result.erase(at, random() % 40);
    else if (kind == 2 && digit != std::string::npos)
      result.replace(digit, result.find_first_not_of(kDigits, digit) - digit, kNumbers[random() % std::size(kNumbers)]);
    else if (kind == 6)
      result[at] = static_cast<char>(random());
    else if (kind == 7)
      result[at] = static_cast<char>(result[at] ^ (1 << random() % 8));
    else
      result.replace(at, random() % 8, kind == 3 ? kPieces[random() % std::size(kPieces)] : kMarks.substr(random() % kMarks.size(), 1));
  }
  return result;
}

/// A piece that comes `times` times; to be made only when it is needed, for it may be long.
struct Nest {
  std::string piece;
  size_t times = 1;
  std::string text() const {
    std::string result;
    result.reserve(piece.size() * times);
    for (size_t i = 0; i < times; ++i) result += piece;
    return result;
  }
};
constexpr size_t kDepth = 100'000;

/// Pieces that nest when they are repeated: what opens something in any text, and stretches of this one that open more than they close.
inline std::vector<Nest> text_nests(std::string_view text, std::mt19937 random) {
  std::vector<std::string> pieces = {"{",   "[",   "(",  "<",        "<<",       "\"",    "\\\"", "/",
                                     "-",   " / ", "f(", "{\"a\":[", "[{\"a\":", "x: { ", "vec[", "attr { value { list { func { ",
                                     "\n  "};
  for (size_t tries = 0; tries < 5000 && pieces.size() < 60; ++tries) {
    const std::string_view stretch = text.substr(random() % text.size(), 2 + random() % 60);
    const auto count = [&](std::string_view of) { return std::ranges::count_if(stretch, [&](char c) { return of.find(c) != of.npos; }); };
    if (count("{[(<") > count("}])>")) pieces.emplace_back(stretch);
  }
  std::vector<Nest> nests;
  for (std::string& piece : pieces) nests.push_back({std::move(piece), kDepth});
  return nests;
}

/// A protobuf message in a message …, `kDepth` deep: the fields of `prefix`, then those of `cycle` again and again.
inline Nest wire_nest(const std::vector<int>& prefix, const std::vector<int>& cycle) {
  std::string backwards;
  for (size_t depth = kDepth; depth > 0; --depth) {
    const size_t at = depth - 1;
    const int number = at < prefix.size() ? prefix[at] : cycle[(at - prefix.size()) % cycle.size()];
    std::string head(1, static_cast<char>(number << 3 | 2));
    for (size_t rest = backwards.size(), more = 1; more != 0; rest >>= 7) {
      more = rest >> 7;
      head += static_cast<char>((rest & 127) | (more != 0 ? 128 : 0));
    }
    backwards.append(head.rbegin(), head.rend());
  }
  return {{backwards.rbegin(), backwards.rend()}};
}

/// Each field in itself, groups that are not closed, and what nests in GraphDef, SavedModel, XSpace and RunMetadata.
inline std::vector<Nest> wire_nests() {
  std::vector<Nest> nests = {{"\x0b", kDepth}};
  for (int number = 1; number <= 15; ++number) nests.push_back(wire_nest({}, {number}));
  const std::pair<std::vector<int>, std::vector<int>> paths[] = {
      {{1, 5, 2}, {10, 2, 2}}, {{1, 5, 2}, {1, 9, 2, 2}}, {{2, 1, 3, 5, 2}, {10, 2, 2}},
      {{1, 5, 2, 8}, {15, 8}}, {{1}, {3, 4, 4}},          {{2}, {2, 4}}};
  for (const auto& [prefix, cycle] : paths) nests.push_back(wire_nest(prefix, cycle));
  return nests;
}

/// Names that a person would not give: quotes, SQL, control characters, wrong UTF-8, paths, what formats use, nothing, a megabyte.
inline std::vector<std::string> hostile_names() {
  std::vector<std::string> names = {std::string("a\0b", 3), std::string(1 << 20, 'n'), "a'b; DROP TABLE op; --", "../../etc/passwd",
                                    "a\xff\xc0\xed\xa0\x80"};
  for (const char* word : {"a\"b",
                           "a\x01\x1b[2Jb",
                           "*/ #include <x>",
                           "\xef\xbb\xbf",
                           "\xe2\x80\xae",
                           "a\\",
                           "a\rb",
                           "\t",
                           "%s%n",
                           "",
                           " ",
                           "{}",
                           "a,b",
                           "a:0",
                           "^a",
                           "_",
                           "__",
                           "/",
                           "//",
                           ":"})
    names.emplace_back(word);
  return names;
}

/// What is wrong with what came of reading the file "hostile"; "" if nothing is.
inline std::string flaw_of(const base::Result<model::Imported>& imported) {
  if (!imported.ok()) {
    static const std::regex place("^hostile:[0-9]+(:[0-9]+)?: .|^hostile: .*byte [0-9]+");
    const std::string message = imported.error().message.substr(0, 300);
    return std::regex_search(message, place) ? "" : "an error without a place: " + message;
  }
  const model::Source& source = imported->source;
  if (source.read != source.kept + source.dropped || source.kept < 0 || source.dropped < 0)
    return fmt::format("an account that does not balance: {} read, {} kept, {} dropped", source.read, source.kept, source.dropped);
  if (imported->symbols) {
    const auto size = static_cast<int32_t>(imported->symbols->symbols.size());
    for (const model::Symbol& symbol : imported->symbols->symbols)
      if (symbol.target >= size || symbol.within >= size) return "a link to a symbol that there is not";
  }
  for (size_t m = 0; m < imported->modules.size(); ++m) {
    const ir::Module& module = imported->modules[m];
    if (module.entry < 0) return "a module without an entry";
    if (const auto findings = ir::verify(module); !findings.empty()) return "an unsound module: " + findings.front().what;
    const auto again = importers::hlo::parse(imported->module_texts[m], "printed");
    if (!again.ok()) return "a module whose text cannot be read: " + again.error().message;
    if (!(*again == module)) return "a module whose text says something else";
  }
  return "";
}

}  // namespace support
