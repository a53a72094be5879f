// Long texts: kept once each, compressed where they are long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/model/database.h"

namespace model {

/// A text as a row of table content has it: plain or compressed.
struct PackedText {
  std::string hash;
  int64_t bytes = 0;  ///< of the text
  std::string plain, zstd;
};
base::Result<PackedText> packed(std::string_view text);
/// Row of table content with this text; made if there is none. Inside a transaction of the caller.
base::Result<int64_t> add_content(Database& database, std::string_view text);
base::Result<int64_t> add_content(Database& database, const PackedText& content);
base::Result<std::string> read_content(const Database& database, int64_t content);

}  // namespace model
