// Rows of operators and of the scopes around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/hash_index.h"
#include "src/model/module_rows.h"
#include "src/model/operator_records.h"

namespace model {

/// The operators of one program: those that its importer gave, and those that instructions name beside them.
class OperatorRows {
 public:
  /// Where they stand: rows of source and module; module 0: in none.
  struct Place {
    int64_t source = 0, module = 0;
  };
  OperatorRows(Place place, NextIds& next, ProgramTables& tables) : place_(place), first_given_(next.op), next_(next), tables_(tables) {}

  /// Row of one that the importer gave. Of two with one name the first is the one that instructions mean.
  void give(const Operator& op);
  /// Row of the operator with this name as its program writes it; if none was given, one is made of what its name and type tell.
  int64_t row_of(std::string_view name, std::string_view type);

 private:
  struct Given {
    uint64_t hash;  ///< of the name
    std::string_view name;
  };
  void keep(std::string_view name);
  void index();
  struct Scope {
    size_t end = 0;  ///< in scope_path_
    int64_t row = 0;
  };
  int64_t scope_row(std::string_view path);
  int64_t scope_row(std::span<const std::string_view> parts);
  int64_t scope_row(std::string_view path, int64_t parent, int64_t depth);

  const Place place_;
  const int64_t first_given_;  ///< row
  NextIds& next_;
  ProgramTables& tables_;
  int64_t position_ = 0;
  std::vector<Given> given_;         ///< by row - first_given_, where instructions may name them
  std::deque<std::string> names_;    ///< of those, one behind the other
  ir::HashIndex index_;              ///< of those, by name
  size_t indexed_ = 0;               ///< so many of them are in it: none until an instruction names one
  ir::Strings paths_;                ///< of scopes
  std::vector<int64_t> scope_rows_;  ///< by path; 0: not written yet
  std::string scope_path_;           ///< of the operator before
  std::vector<Scope> open_;          ///< its scopes, outermost first
  std::string inputs_;               ///< of the operator in hand, as JSON
};

}  // namespace model
