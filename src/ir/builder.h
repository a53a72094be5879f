// Builds small modules in code: a computation or an instruction cut out of a module to be run alone.
#pragma once

#include <optional>
#include <span>

#include "src/ir/module.h"

namespace ir {

/// A module whose entry is `comp` with everything that it calls.
Module extract_computation(const Module& module, CompId comp);
/// A module whose entry is the fusion that calls `comp`, on the computation's own parameters; nothing if no fusion does.
std::optional<Module> extract_fusion(const Module& module, CompId comp);
/// A module whose entry has the distinct operands of `instr` (in order) as parameters 0, 1, … and `instr` as root.
/// Constants (not elided) among the operands stay constants.
/// It gets copies of the operands `overwritten`, so that it can work in place there as it does in the program.
Module extract_instruction(const Module& module, InstrRef instr, std::span<const InstrId> overwritten = {});

}  // namespace ir
