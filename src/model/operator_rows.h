// Rows of operators and of the scopes around them.
#pragma once

#include <cstdint>
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

  /// Rows of those that the importer gave, before all others. Of two with one name the first is the one that instructions mean. They must
  /// outlive this.
  void give(std::span<const Operator> operators);
  /// Row of the operator with this name as its program writes it; if none was given, one is made of what its name and type tell.
  int64_t row_of(std::string_view name, std::string_view type);

 private:
  void add(const Operator& op);
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
  std::span<const Operator> given_;  ///< by row - first_given_
  ir::HashIndex index_;              ///< of given_, by name
  bool indexed_ = false;             ///< once an instruction names one
  ir::Strings paths_;                ///< of scopes
  std::vector<int64_t> scope_rows_;  ///< by path; 0: not written yet
  std::string scope_path_;           ///< of the operator before
  std::vector<Scope> open_;          ///< its scopes, outermost first
  std::string inputs_;               ///< of the operator in hand, as JSON
};

}  // namespace model
