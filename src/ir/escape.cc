// C escapes of strings in HLO text: octal and hexadecimal bytes too, because old custom-call configs are binary.
#include "src/ir/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace ir {
namespace {

int octal_digits(std::string_view text, size_t at) {
  int n = 0;
  while (n < 3 && at + static_cast<size_t>(n) < text.size() && text[at + static_cast<size_t>(n)] >= '0' &&
         text[at + static_cast<size_t>(n)] <= '7')
    ++n;
  return n;
}

char plain_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  const auto is_plain = [](char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' '; };
  out += '"';
  if (std::ranges::all_of(text, is_plain)) {
    out.append(text) += '"';
    return;
  }
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < ' ')
      fmt::format_to(std::back_inserter(out), "\\{:03o}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

std::string unescaped(std::string_view quoted) {
  if (quoted.size() >= 2 && (quoted.front() == '"' || quoted.front() == '\'')) quoted = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(quoted.size());
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      out += quoted[i];
      continue;
    }
    const char c = quoted[++i];
    const int octal = octal_digits(quoted, i);
    unsigned value = 0;
    if (octal > 0) {
      std::from_chars(quoted.data() + i, quoted.data() + i + octal, value, 8);
      i += static_cast<size_t>(octal) - 1;
      out += static_cast<char>(value & 0xff);
    } else if (c == 'x' || c == 'X') {
      const size_t most = std::min(quoted.size(), i + 3);
      const auto [end, code] = std::from_chars(quoted.data() + i + 1, quoted.data() + most, value, 16);
      if (code == std::errc()) i = static_cast<size_t>(end - quoted.data()) - 1;
      out += code == std::errc() ? static_cast<char>(value) : c;
    } else {
      out += plain_escape(c);
    }
  }
  return out;
}

}  // namespace ir
