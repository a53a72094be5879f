// name TAB file TAB address [;" TAB fields]: the address ends before ;" and may hold tabs itself, so it is walked, not split.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <string>

#include "importers/symbols/ctags.h"
#include "importers/symbols/finish.h"
#include "importers/symbols/lines.h"
#include "importers/symbols/tag.h"
#include "src/base/text.h"

namespace importers::symbols {
namespace {

constexpr std::string_view kProgramName = "!_TAG_PROGRAM_NAME\t", kProgramVersion = "!_TAG_PROGRAM_VERSION\t";

std::string_view take_to(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

int32_t number(std::string_view text) {
  int32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::max(value, 0);
}

/// An address and what follows it; `wrong` says what it is not.
struct Address {
  std::string_view pattern, fields, wrong;
  int32_t line = 0;
};

/// Length of /…/ or ?…? with its delimiters; npos if it does not end.
size_t pattern_length(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text.front())
      return i + 1;
  }
  return std::string_view::npos;
}

Address read_address(std::string_view text) {
  Address address;
  while (!text.empty() && !text.starts_with(";\"")) {
    if (text.front() == '/' || text.front() == '?') {
      const size_t length = pattern_length(text);
      if (length == std::string_view::npos) return {{}, {}, "the pattern does not end", 0};
      address.pattern = text.substr(0, length);
      text.remove_prefix(length);
    } else if (base::is_digit(text.front())) {
      address.line = number(text);
      text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
    } else {
      return {{}, {}, "expected a line number or a /pattern/ after the file", 0};
    }
    if (text.starts_with(';') && !text.starts_with(";\"")) text.remove_prefix(1);
  }
  if (text.starts_with(";\"")) text.remove_prefix(2);
  if (text.starts_with('\t')) text.remove_prefix(1);
  address.fields = text;
  return address;
}

struct TagsTextField {
  std::string_view name;
  std::string_view Tag::*member;
};
constexpr TagsTextField kTagsTexts[] = {
    {"kind", &Tag::kind}, {"language", &Tag::language}, {"roles", &Tag::roles}, {"role", &Tag::roles}, {"signature", &Tag::signature}};
/// Fields whose value is no scope; all other names are kinds of scopes: class:Trainer.
constexpr std::string_view kNoScopes[] = {"kind",     "language",   "roles",      "role",           "signature",     "line",    "end",
                                          "typeref",  "scope",      "access",     "inherits",       "file",          "nameref", "extras",
                                          "xpath",    "epoch",      "template",   "implementation", "properties",    "pattern", "input",
                                          "captures", "correlated", "assignment", "architecture",   "specialization"};

class Fields {
 public:
  void read(std::string_view text, Tag& tag) {
    used_ = 0;
    for (bool first = true; !text.empty(); first = false) {
      const std::string_view field = take_to(text, '\t');
      const size_t colon = field.find(':');
      if (colon == std::string_view::npos) {
        if (first) tag.kind = field;
      } else {
        set(tag, field.substr(0, colon), value(field.substr(colon + 1)));
      }
    }
  }

  /// Resolves escapes where there are any; the text is valid until the next tag.
  std::string_view value(std::string_view written) {
    if (written.find('\\') == std::string_view::npos) return written;
    if (used_ == kept_.size()) kept_.emplace_back();
    return kept_[used_++] = unescaped(written);
  }

 private:
  static void set(Tag& tag, std::string_view name, std::string_view value) {
    for (const auto& [field, member] : kTagsTexts) {
      if (name == field) tag.*member = value;
    }
    if (name == "line") tag.line = number(value);
    if (name == "end") tag.end = number(value);
    if (name == "typeref") tag.type = after(value, "typename:");
    if (name == "scope") tag.scope = value.substr(value.find(':') == std::string_view::npos ? 0 : value.find(':') + 1);
    if (std::ranges::find(kNoScopes, name) == std::end(kNoScopes)) tag.scope = value;
  }
  static std::string_view after(std::string_view value, std::string_view prefix) {
    return value.starts_with(prefix) ? value.substr(prefix.size()) : value;
  }

  std::deque<std::string> kept_;
  size_t used_ = 0;
};

struct Parsed {
  Tag tag;
  std::string_view wrong;
  size_t at = 0;
};

Parsed read_line(std::string_view line, Fields& fields) {
  Parsed parsed;
  std::string_view rest = line;
  const std::string_view name = take_to(rest, '\t');
  if (name.size() == line.size()) return {{}, "expected name TAB file TAB address", line.size()};
  parsed.tag.file = take_to(rest, '\t');
  if (parsed.tag.file.empty() || name.empty()) return {{}, "expected name TAB file TAB address", 0};
  const Address address = read_address(rest);
  if (!address.wrong.empty() || rest.empty())
    return {{}, rest.empty() ? "expected an address after the file" : address.wrong, line.size() - rest.size()};
  fields.read(address.fields, parsed.tag);
  parsed.tag.name = fields.value(name);
  parsed.tag.file = fields.value(parsed.tag.file);
  parsed.tag.pattern = address.pattern;
  if (parsed.tag.line == 0) parsed.tag.line = address.line;
  return parsed;
}

void read_pseudo_tag(Collector& out, std::string_view line) {
  const auto value = [&](std::string_view key) { return line.substr(key.size(), line.find('\t', key.size()) - key.size()); };
  std::string& tool = out.index().tool;
  if (line.starts_with(kProgramName)) tool = value(kProgramName);
  if (line.starts_with(kProgramVersion)) tool += (tool.empty() ? "" : " ") + std::string(value(kProgramVersion));
}

}  // namespace

Match match_tags(const Input& input) {
  if (input.bytes.starts_with("!_TAG_")) return {Match::sure, "begins with !_TAG_"};
  Fields fields;
  int lines = 0, tags = 0, extended = 0;
  each_line(input.bytes.substr(0, size_t{1} << 16), [&](const Line& line) {
    ++lines;
    if (read_line(line.text, fields).wrong.empty()) ++tags, extended += line.text.find(";\"") != std::string_view::npos;
    return lines < 50;
  });
  if (tags == 0 || 2 * tags < lines) return {Match::none, "no !_TAG_ at the start, and lines are not name TAB file TAB address"};
  if (tags == lines && extended > 0) return {Match::likely, "lines are name TAB file TAB address;\""};
  return {Match::weak, "most lines are name TAB file TAB address"};
}

base::Result<model::Imported> read_tags(const Input& input, const TakeModule&) {
  Collector out(input, "ctags");
  const PatternIndex patterns(input.source_text);
  Fields fields;
  each_line(input.bytes, [&](const Line& line) {
    if (line.text.starts_with("!_")) return read_pseudo_tag(out, line.text), true;
    const Parsed parsed = read_line(line.text, fields);
    if (parsed.wrong.empty())
      add_tag(out, parsed.tag, patterns);
    else
      out.drop(line.begin + parsed.at, parsed.wrong);
    return !out.full();
  });
  return finish(out, input);
}

}  // namespace importers::symbols
