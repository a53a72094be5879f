// Files that may be compressed: gzip and zstd are told by their first bytes and unpacked.
#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"

namespace base {

/// How much a compressed text may grow: at least `floor_bytes`, beyond that `ratio` times its compressed size, never more than
/// `most_bytes`. Texts of programs shrink 5 to 60 times (a model of equal layers: 200); what shrinks more was made to fill a memory.
struct UnpackLimit {
  size_t ratio = 300, floor_bytes = size_t{64} << 20, most_bytes = size_t{4} << 30;
  size_t of(size_t packed_bytes) const;
};

/// "gzip", "zstd", or "" for anything else.
std::string_view compression_of(std::string_view bytes);
/// The bytes themselves if they are not compressed; else unpacked, once: all members of a gzip file, all frames of a zstd file. `path` is
/// for messages. Errors: damaged, cut, more than the limit.
Result<std::string> decompressed(std::string bytes, std::string_view path, UnpackLimit limit = {});
/// read_file, and what it holds unpacked.
Result<std::string> read_unpacked_file(const std::string& path);

}  // namespace base
