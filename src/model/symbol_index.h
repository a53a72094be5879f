// A source index as plain records: which names a program's source files define, and where each is used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/module.h"

namespace model {

/// What an occurrence of a name does. Definitions become rows of table `symbol`, all others rows of `symbol_use`.
enum class SymbolRole : uint8_t { definition, reference, import, write, documentation };
std::string_view text(SymbolRole role);

/// What a name stands for, whatever the index calls it; `Symbol::kind` keeps the index's own word.
enum class SymbolSort : uint8_t { other, module, type, function, variable, parameter };
std::string_view text(SymbolSort sort);

/// How the definition of a use was found, from certain to doubtful.
enum class TargetRule : uint8_t {
  none,      ///< the index does not hold it
  given,     ///< the index says so
  place,     ///< the use and the definition are the same characters (a comprehension's variable, an attribute assigned again)
  function,  ///< nearest definition of the name before the use, in the same function
  later,     ///< nearest after it in the same function: a comprehension uses its variable before it defines it
  type,      ///< member of the class around the use
  module,    ///< defined at module level
  nearest,   ///< nearest before the use, in another function
};
std::string_view text(TargetRule rule);

/// One record of an index. What it does not tell is empty, 0 (lines, columns) or -1 (offsets, record numbers).
struct Symbol {
  ir::StringId name{}, kind{}, type{};  ///< kind and type as the index writes them
  ir::StringId file{};                  ///< as the index writes it
  ir::StringId scope{};                 ///< name of what is around it, as the index writes it
  ir::StringId key{};                   ///< by which the index ties uses to definitions: SCIP symbol, PySonar path, LSIF moniker
  ir::StringId value{};                 ///< the text that the source assigns to it: NAME = "tower"
  SymbolRole role = SymbolRole::reference;
  SymbolSort sort = SymbolSort::other;
  TargetRule rule = TargetRule::none;
  float confidence = 0;                        ///< of `target`, 0 to 1
  int32_t line = 0;                            ///< from 1
  int32_t column = 0, end_column = 0;          ///< of the name, in bytes from 1; the end is the first that is not the name's
  int32_t end_line = 0;                        ///< of a definition: its last line
  int64_t begin_offset = -1, end_offset = -1;  ///< of the name in its file, half open, from 0, in SymbolIndex::unit
  int64_t last_offset = -1;                    ///< of a definition: end of its body
  int32_t target = -1;                         ///< of a use: record of its definition
  int32_t within = -1;                         ///< record of the function or type around it
};

/// A short string that the source text gives to a call as name or scope: tf.name_scope("tower"), name="batch_index".
struct SymbolLiteral {
  int32_t within = -1;  ///< record of the function around it
  ir::StringId value{};
  int32_t line = 0;
};

/// An index as it was read.
struct SymbolIndex {
  ir::Strings strings;
  std::vector<Symbol> symbols;  ///< in the order of the file
  std::vector<SymbolLiteral> literals;
  std::string tool;           ///< "Universal Ctags 5.9.0"; empty: not told
  std::string text_path;      ///< the source file that the records were held against; empty: none was given
  std::string newline, unit;  ///< how offsets count, found by that: "lf" or "crlf"; "bytes", "characters", "utf-16" or "any" (all ASCII)
  int64_t tested = 0, fitted = 0;  ///< records with an offset or a column in that file, and those whose name stands there

  std::string_view view(ir::StringId id) const { return strings.view(id); }
};

}  // namespace model
