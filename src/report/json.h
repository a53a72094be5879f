// Cells and texts as JSON, whatever bytes are in them.
#pragma once

#include <string>
#include <string_view>

#include "src/model/store.h"

namespace report {

/// With quotes; what is no UTF-8 becomes U+FFFD.
std::string json_text(std::string_view text);
/// Numbers that read back equal; NULL and what is not finite: null; blobs in hexadecimal.
std::string json_cell(const model::Cell& cell);

}  // namespace report
