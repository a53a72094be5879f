// Words of HLO texts as tables: attributes that are known, attributes that name computations, opcodes of old texts.
#pragma once

#include <string_view>

#include "src/ir/op.h"

namespace importers::hlo {

bool is_known_attribute(std::string_view key);
bool is_known_header_attribute(std::string_view key);
/// `to_apply`, `calls`, `body`, …: the value is a computation or a list of them.
bool names_computations(std::string_view key);

/// An opcode that is gone: what it is called today, and the attribute that says the rest.
struct OldOpcode {
  std::string_view text;
  ir::Op op;
  std::string_view key, value;
};
const OldOpcode* find_old_opcode(std::string_view text);

}  // namespace importers::hlo
