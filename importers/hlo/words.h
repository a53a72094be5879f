// Words of HLO texts as tables: attributes that are known, attributes that name computations, opcodes of old texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/ir/module.h"

namespace importers::hlo {

/// What the value of an attribute looks like; more than this is the verifier's to know.
enum class Form : uint8_t { any, integer, boolean, numbers, braces, word, string, one_of, aliases };
struct Attribute {
  std::string_view key;
  Form form = Form::any;
  std::string_view words;  ///< of one_of, separated by spaces
};
/// nullptr: not known to today's parsers.
const Attribute* find_attribute(std::string_view key);
const Attribute* find_header_attribute(std::string_view key);
/// A known attribute that is spelled alike, or "".
std::string_view nearest_attribute(std::string_view key);
/// "; attribute 'dimension' is not known, did you mean 'dimensions'?" for what an instruction has and nobody knows; else "".
std::string misspelt_attribute(const ir::Module& module, const ir::Instr& instr);
/// Why a value is not one of this attribute; "" if it is.
std::string wrong_form(const Attribute& row, std::string_view value);
/// `to_apply`, `calls`, `body`, …: the value is a computation or a list of them.
bool names_computations(std::string_view key);

bool same_but_for_case(std::string_view a, std::string_view b);
/// What a type of another language is called here: f32 for float32, float, fp32; "" if there is none.
std::string_view our_type(std::string_view word);

/// An opcode that is gone: what it is called today, and the attribute that says the rest.
struct OldOpcode {
  std::string_view text;
  ir::Op op;
  std::string_view key, value;
};
const OldOpcode* find_old_opcode(std::string_view text);

}  // namespace importers::hlo
