// Whole files in, whole files out; messages name the path and what to do.
#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"

namespace base {

inline constexpr size_t kLargestFile = size_t{4} << 30;
/// The bytes of a file or a pipe, or of stdin for "-". A directory, a device (/dev/zero), a missing or unreadable file, and one that has
/// more than `limit` bytes is an Error.
Result<std::string> read_file(const std::string& path, size_t limit = kLargestFile);
/// The same Error that read_file would give, without reading. A pipe is not opened.
Status check_readable(const std::string& path);
/// Writes through a temporary file and a rename, so that a full disk leaves the old content.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace base
