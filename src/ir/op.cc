// The table of opcodes, and lookup by text.
#include "src/ir/op.h"

#include <array>
#include <unordered_map>

#include "src/base/text.h"

namespace ir {
namespace {

constexpr OpInfo kOps[] = {
#define OP(identifier, text, operands, cls) {text, operands, OpClass::cls},
#include "src/ir/op.def"
#undef OP
};

const std::unordered_map<std::string_view, Op>& by_text() {
  static const auto* const map = [] {
    auto* m = new std::unordered_map<std::string_view, Op>;
    for (size_t i = 0; i < std::size(kOps); ++i) m->emplace(kOps[i].text, static_cast<Op>(i));
    return m;
  }();
  return *map;
}

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<size_t>(op)]; }

std::optional<Op> find_op(std::string_view text) {
  const auto it = by_text().find(text);
  if (it == by_text().end()) return std::nullopt;
  return it->second;
}

std::string_view nearest_op(std::string_view text) {
  std::array<std::string_view, std::size(kOps)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kOps[i].text;
  return base::nearest(text, names);
}

}  // namespace ir
