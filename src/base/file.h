// Whole files in, whole files out; messages name the path and what to do.
#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"

namespace base {

/// The bytes of a regular file, or of stdin for "-". A directory, a missing or unreadable file is an Error.
Result<std::string> read_file(const std::string& path);
/// Writes through a temporary file and a rename, so that a full disk leaves the old content.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace base
