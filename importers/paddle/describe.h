// Operators as reports know them: phase, scope, and what in training they belong to.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/paddle/listing.h"
#include "src/model/records.h"

namespace importers::paddle {

struct Described {
  const Operator* op;
  size_t place;  ///< in the program's own block: of this operator, or of the one that runs its block
  int64_t line;
  std::string name;
  std::string shape{}, note{};  ///< that the lowering tells; "": none
};

/// The operators of a program, those of inner blocks behind the one that runs them.
class Describer {
 public:
  Describer(const Program& program, std::string_view text);
  std::vector<Described> named();
  /// Copies names and shapes: threads that free what others have made wait for each other.
  model::Operator describe(const Described& described) const;

 private:
  Described named(const Operator& op, size_t place);
  model::Phase phase_of(const Operator& op, size_t place) const;
  std::string scope_of(const Operator& op) const;
  std::string attributes_of(const Operator& op) const;
  int64_t line_of(size_t offset);

  const Program& program_;
  std::string_view text_;
  size_t first_gradient_ = SIZE_MAX, last_gradient_ = 0;  ///< in the program's own block: PIR has no roles
  std::unordered_map<std::string_view, int64_t> counts_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace importers::paddle
