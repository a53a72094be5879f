// Operators as reports know them: phase, scope, and what in training they belong to.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/paddle/listing.h"
#include "src/model/records.h"

namespace importers::paddle {

/// The operators of the program's own block, in order; shapes are not told yet. `line_of` gives a line for an offset.
class Describer {
 public:
  explicit Describer(const Program& program, std::string_view text);
  /// Call in order: lines are counted forward.
  model::Operator describe(size_t k);

 private:
  model::Phase phase_of(const Operator& op, size_t k) const;
  std::string scope_of(const Operator& op) const;
  std::string attributes_of(const Operator& op) const;
  int64_t line_of(size_t offset);

  const Program& program_;
  std::string_view text_;
  size_t first_gradient_, last_gradient_;  ///< PIR has no roles
  std::unordered_map<std::string_view, int64_t> counts_;
  std::unordered_map<std::string_view, const Variable*> variables_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace importers::paddle
