// Checks of files and of writers. The header of an SQLite file (its documentation, "The Database Header") tells page size and page
// count, so a file that lost its end is known before a query stumbles over it.
#include "src/model/checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/base/file.h"
#include "src/base/text.h"
#include "src/model/store.h"

namespace model {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kHeaderBytes = 100;

base::Error wrong(const std::string& path, std::string_view what) { return {fmt::format("{}: {}", base::escaped(path), what)}; }

struct Head {
  std::array<unsigned char, kHeaderBytes> bytes{};
  size_t size = 0;
  uint32_t number(size_t at, size_t width) const {
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | bytes.at(at + i);
    return value;
  }
};

base::Result<Head> read_head(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return wrong(path, fmt::format("cannot be opened: {}; check the permissions of the file and its folder", std::strerror(errno)));
  Head head;
  const ssize_t got = ::read(fd, head.bytes.data(), head.bytes.size());
  const int why = errno;
  ::close(fd);
  if (got < 0) return wrong(path, fmt::format("cannot be read: {}; check the disk", std::strerror(why)));
  head.size = static_cast<size_t>(got);
  return head;
}

/// Bytes that the header promises, or 0 where it does not say (its count is valid only if two counters agree).
int64_t promised_bytes(const Head& head) {
  const uint32_t page = head.number(16, 2) == 1 ? 65536 : head.number(16, 2);
  return head.number(24, 4) == head.number(92, 4) ? int64_t{page} * head.number(28, 4) : 0;
}

base::Error unusual(const std::string& path, const struct stat& info) {
  return S_ISDIR(info.st_mode) ? wrong(path, "is a directory; give a file in it, for example profile.db")
                               : wrong(path, "is not a regular file; give a file that profile has made");
}

/// Field 22 of /proc/PID/stat: when a process started; "" if it has ended, also where nobody has asked for its status yet (field 3 is Z).
/// The name in field 2 may hold anything, so fields are counted behind its ')'.
std::string start_time(std::string_view pid) {
  const auto stat = base::read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat.ok()) return "";
  size_t at = stat->rfind(')');
  if (at != std::string::npos && (stat->substr(at, 3) == ") Z" || stat->substr(at, 3) == ") X")) return "";
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return "";
  return stat->substr(at + 1, stat->find(' ', at + 1) - at - 1);
}

std::string boot_id() {
  auto id = base::read_file("/proc/sys/kernel/random/boot_id");
  return id.ok() ? id->substr(0, id->find('\n')) : std::string("unknown");
}

}  // namespace

base::Result<FileState> look_at(const std::string& path) {
  if (path.empty()) return base::Error{"database: the name is empty; give a path, for example profile.db", base::Exit::wrong_use};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return wrong(path, fmt::format("cannot be opened: {}; check the path", std::strerror(errno)));
    return FileState::missing;
  }
  if (!S_ISREG(info.st_mode)) return unusual(path, info);
  if (info.st_size == 0) return FileState::empty;
  ASSIGN_OR_RETURN(const Head head, read_head(path));
  const std::string_view begin(reinterpret_cast<const char*>(head.bytes.data()), head.size);
  if (!begin.starts_with(kMagic)) return wrong(path, "is not a database; give a file that profile has made");
  if (head.size < kHeaderBytes) return wrong(path, "is damaged: its end is missing; replay again into a new file");
  std::error_code ignored;
  const bool has_log = std::filesystem::exists(path + "-wal", ignored) || std::filesystem::exists(path + "-journal", ignored);
  if (!has_log && info.st_size < promised_bytes(head)) {
    return wrong(path, fmt::format("is damaged: {} of {} bytes are there; copy it again or replay into a new file", info.st_size,
                                   promised_bytes(head)));
  }
  return FileState::database;
}

base::Result<Identity> identify(const Database& database, int64_t newest) {
  ASSIGN_OR_RETURN(const int64_t application, database.integer("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, database.integer("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t objects, database.integer("SELECT count(*) FROM sqlite_schema"));
  if (objects == 0) return Identity::unused;
  if (application != kApplicationId) {
    return wrong(database.path(), "is a database of another application; choose another file with -o");
  }
  if (version > newest) {
    return wrong(
        database.path(),
        fmt::format("was made by a newer version of profile (schema {}, this one knows {}); update profile, or choose another file with -o",
                    version, newest));
  }
  return Identity::ours;
}

std::string this_writer() {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{} {} {}", boot_id(), pid, start_time(pid));
}

bool writer_lives(std::string_view writer) {
  const size_t first = writer.find(' ');
  const size_t second = writer.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || writer.substr(0, first) != boot_id()) return false;
  const std::string_view pid = writer.substr(first + 1, second - first - 1);
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string_view::npos) return false;
  return start_time(pid) == writer.substr(second + 1) && !writer.substr(second + 1).empty();
}

}  // namespace model
