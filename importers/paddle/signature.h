// PIR's names of operators, operands, results and attributes in the words of the old IR, so that both forms are lowered by the same rows.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/paddle/listing.h"

namespace importers::paddle {

struct NamedSlots {
  std::vector<Slot> slots;
  std::vector<std::string_view> last;  ///< arguments of the last one
};

/// A copy under other names, and the lists that it points into.
struct Renamed {
  Operator op;
  NamedSlots inputs, outputs;
  std::vector<Attribute> attributes;
};

/// An operator in the words of the old IR: one of the old IR is itself. `aliases`: outputs that take the memory of an input, as (output
/// slot, input slot).
struct Normal {
  const Operator* given = nullptr;
  std::unique_ptr<Renamed> renamed;  ///< of PIR
  std::vector<std::pair<std::string_view, std::string_view>> aliases;

  const Operator& op() const { return renamed ? renamed->op : *given; }
};

/// Without dialect, `(phi_kernel)` and the `_` of what works in place: "pd_op.adam_" → "adam".
std::string_view plain_type(const Operator& op);
/// "pd_op.matmul", "matmul(phi_kernel)" → "matmul"; "pd_op.adam_" → "adam_": what reports call it.
std::string_view shown_type(const Operator& op);
/// `op` must outlive the result.
Normal normal(const Operator& op, Form form);

}  // namespace importers::paddle
