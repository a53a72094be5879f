// Form: lengths that a reader can hold, no marks of unfinished work, no names that say nothing. Functions are found by braces: an opening
// brace outside any function, after a parameter list, starts one; its length runs from the head's first line to the closing brace.
#include <algorithm>
#include <regex>

#include "tests/unit/layering/layering.h"

namespace layering {
namespace {

constexpr int longest_file = 600;
constexpr int longest_header = 160;  // aim at 120; the tables of records and kernels need the rest
constexpr int longest_function = 60;

bool is_cpp(const Source& source) { return source.path.ends_with(".cc") || source.path.ends_with(".h"); }

/// What a brace opens, told by the code between the last ';', '{' or '}' and the brace.
enum class Brace { scope, function, other };

Brace kind_of(const std::string& head) {
  static const std::regex scope(
      R"(^\s*(inline\s+)?(namespace|extern)\b|^\s*(template\s*<.*>\s*)?(typedef\s+)?(struct|class|enum|union)\b[^()]*$)");
  static const std::regex assigned(R"(^[^(]*[^=!<>(]=[^=])");
  if (std::regex_search(head, scope)) return Brace::scope;
  const bool has_parameters = head.find('(') != std::string::npos;
  if (!has_parameters) return Brace::other;
  if (head.find("operator") == std::string::npos && std::regex_search(head, assigned)) return Brace::other;  // a table or another value
  return Brace::function;
}

/// `// Table: …` in the comment right above line `line` (1-based) exempts a function that is one line per case.
bool is_marked_table(const std::vector<std::string>& lines, int line) {
  for (int i = line - 2; i >= 0; --i) {
    const std::string& text = lines[static_cast<size_t>(i)];
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos || text.compare(first, 2, "//") != 0) return false;
    if (text.find("Table:") != std::string::npos) return true;
  }
  return false;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

struct Function {
  int first_line;
  int last_line;
};

/// All functions of a file, nested ones (lambdas, local classes) counted with the one around them.
std::vector<Function> functions_of(const std::string& code) {
  std::vector<Function> found;
  std::vector<Brace> open;
  size_t head = 0;  // where the text before the next brace starts
  const auto inside = [&] { return std::ranges::count(open, Brace::scope) != static_cast<std::ptrdiff_t>(open.size()); };
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '{') {
      const Brace kind = inside() ? Brace::other : kind_of(code.substr(head, i - head));
      if (kind == Brace::function) {
        const size_t first = code.find_first_not_of(" \t\n", head);
        found.push_back({line_of(code, first), 0});
      }
      open.push_back(kind);
    } else if (code[i] == '}' && !open.empty()) {
      if (open.back() == Brace::function) found.back().last_line = line_of(code, i);
      open.pop_back();
    }
    if (code[i] == '{' || code[i] == '}' || (code[i] == ';' && !inside())) head = i + 1;
  }
  return found;
}

void check_functions(const Source& source, Findings& findings) {
  const std::vector<std::string> lines = split_lines(source.text);
  for (const Function& function : functions_of(code_only(source.text))) {
    const int length = function.last_line - function.first_line + 1;
    if (length <= longest_function || is_marked_table(lines, function.first_line)) continue;
    findings.push_back(at(source, function.first_line,
                          "a function of " + std::to_string(length) + " lines, limit " + std::to_string(longest_function) +
                              "; split it, or say '// Table: …' above it if it is one line per case"));
  }
}

void check_marks(const Source& source, Findings& findings) {
  static const std::regex mark(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X|HA"
      "CK)\\b");
  for (std::sregex_iterator it(source.text.begin(), source.text.end(), mark), end; it != end; ++it) {
    findings.push_back(at(source, line_of(source.text, static_cast<size_t>(it->position())), "'" + it->str() + "'; do it or file it"));
  }
}

}  // namespace

Findings check_form(const Source& source) {
  static const std::regex empty_name(R"((^|[/_])(utils?|common|helpers?|managers?|misc)([._]|/|$))");
  Findings findings;
  const auto lines = static_cast<int>(std::ranges::count(source.text, '\n'));
  const int limit = source.path.ends_with(".h") ? longest_header : longest_file;
  if (lines > limit)
    findings.push_back(at(source, lines, std::to_string(lines) + " lines, limit " + std::to_string(limit) + "; split the file"));
  if (std::regex_search(source.path, empty_name)) findings.push_back(at(source, 1, "the name says nothing; name what the file does"));
  check_marks(source, findings);
  if (is_cpp(source)) check_functions(source, findings);
  return findings;
}

}  // namespace layering
