// A module of a text that must parse.
#pragma once

#include <string_view>

#include "src/ir/module.h"

namespace ir {

Module parsed(std::string_view text);

}  // namespace ir
