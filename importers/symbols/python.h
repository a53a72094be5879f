// What a Python text tells without being parsed: where its functions and classes begin and end, and the strings that name scopes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace importers::symbols {

struct Block {
  std::string_view name;
  int32_t line = 0, end_line = 0;  ///< of `def` or `class`, and of its last statement; from 1
  int32_t parent = -1;             ///< block around it
  bool is_class = false;
};

/// A short string in the text: the value of a variable, or what a call is given as name or scope.
struct Literal {
  std::string_view name;   ///< of the variable; empty: an argument
  std::string_view value;  ///< between the quotes, escapes as written
  int32_t line = 0;
};

struct PythonText {
  std::vector<Block> blocks;  ///< by line
  std::vector<Literal> literals;
};

/// A byte of an identifier; any byte of one that is not ASCII.
bool is_word(char c);

/// Linear; any bytes give something. Indentation counts a tab as up to the next multiple of 8, as Python does.
PythonText read_python(std::string_view text);

}  // namespace importers::symbols
