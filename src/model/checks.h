// What a path holds, before and after SQLite has opened it: most mistakes with files are seen here and told in words of the user.
#pragma once

#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/model/database.h"

namespace model {

inline constexpr int64_t kApplicationId = 0x70726f66;  ///< "prof": PRAGMA application_id of our files

enum class FileState { missing, empty, database };
/// Errors: a directory, a device, unreadable, something else than an SQLite file, an SQLite file that is cut short.
base::Result<FileState> look_at(const std::string& path);

enum class Identity { unused, ours };  ///< unused: a database without tables, as a writer leaves it that was killed at its first write
/// Errors: of another application, made by a version newer than `newest`.
base::Result<Identity> identify(const Database& database, int64_t newest);

/// "boot-id pid start-time" of this process: tells later whether the writer of a run is still there.
std::string this_writer();

}  // namespace model
