// Cells as JSON, whatever bytes are in them. Texts: src/base/json_text.h.
#pragma once

#include <string>

#include "src/model/store.h"

namespace report {

/// Numbers that read back equal; NULL and what is not finite: null; blobs in hexadecimal.
std::string json_cell(const model::Cell& cell);

}  // namespace report
