// HLO text of a module. parse(print(m)) == m.
#pragma once

#include <string>

#include "src/ir/module.h"

namespace ir {

enum class Form {
  long_,      ///< `%` names, operands with shapes
  short_,     ///< bare names, operands without shapes
  canonical,  ///< for identities: names replaced by numbers, no metadata, callees in place
};

std::string print(const Module& module, Form form = Form::long_);
std::string print(const Module& module, CompId comp, Form form);
std::string print(const Module& module, InstrRef ref, Form form);
/// What an instruction computes, whatever things are called: opcode, shapes with layouts, attributes that matter, callees in place.
/// Equal texts = equal work. Operands appear as their shapes.
std::string canonical(const Module& module, InstrRef ref);
std::string canonical(const Module& module, CompId comp);

}  // namespace ir
