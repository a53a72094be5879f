// Which step of one run is which step of another: by what they compute, by their names, by their places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace report {

/// What tells a step, in plan order. Empty keys match nothing.
struct Identity {
  std::string key, name, computation, opcode, kind, shape;
};

/// The rules in the order in which they are tried; what one has matched the next ones leave alone.
enum class MatchedBy : uint8_t {
  nothing,
  key,               ///< both compute the same: step.key. Of several equal ones those with the same name first, then in order
  name,              ///< same name, opcode, kind and shape; in the same computation first
  name_other_shape,  ///< same name, opcode and kind
  neighbours,        ///< the step before it, or after it, is matched, and opcode, kind and shape are the same
};
std::string_view text(MatchedBy rule);  ///< "key", "name", "name, other shape", "neighbours"; nothing: ""

struct Match {
  int32_t before = -1;  ///< index; -1: the step is new
  MatchedBy by = MatchedBy::nothing;
};
/// For each step of `after` its step of `before`; none of them twice. n log n. Where no key and no name agrees, no neighbour is believed.
std::vector<Match> match(std::span<const Identity> before, std::span<const Identity> after);

}  // namespace report
