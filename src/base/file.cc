// Whole files through stdio of POSIX.
#include "src/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "src/base/text.h"

namespace base {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > 0) ::close(fd);
  }
};

Error wrong(const std::string& path, std::string_view what) { return {fmt::format("{}: {}", escaped(path), what)}; }

Result<std::string> read_all(int fd, const std::string& path, size_t expected, size_t limit) {
  const Error too_large = wrong(path, fmt::format("has more than {}; split it", human_bytes(static_cast<double>(limit))));
  if (expected > limit) return too_large;
  std::string bytes;
  bytes.resize(expected > 0 ? expected + 1 : 1 << 16);
  size_t used = 0;
  while (true) {
    if (used > limit) return too_large;
    if (used == bytes.size()) bytes.resize(std::min(bytes.size() * 2, limit + 1));
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return wrong(path, fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Error cannot_open(const std::string& path) {
  const char* remedy = errno == ENOENT ? "; check the path" : errno == EACCES ? "; make it readable" : "";
  return wrong(path, fmt::format("cannot open: {}{}", std::strerror(errno), remedy));
}

/// Reading a device may never end. A terminal is one that ends.
Status check_kind(const std::string& path, mode_t mode, bool terminal) {
  if (S_ISDIR(mode)) return wrong(path, "is a directory; give the files in it");
  if (S_ISBLK(mode) || (S_ISCHR(mode) && !terminal)) return wrong(path, "is a device; give a file");
  if (S_ISSOCK(mode)) return wrong(path, "is a socket; give a file");
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t limit) {
  if (path == "-") return read_all(STDIN_FILENO, "<stdin>", 0, limit);
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return cannot_open(path);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return wrong(path, fmt::format("cannot read: {}", std::strerror(errno)));
  RETURN_IF_ERROR(check_kind(path, info.st_mode, ::isatty(file.fd) != 0));
  return read_all(file.fd, path, static_cast<size_t>(info.st_size), limit);
}

Status check_readable(const std::string& path) {
  if (path == "-") return {};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || ::access(path.c_str(), R_OK) != 0) return cannot_open(path);
  return check_kind(path, info.st_mode, true);
}

Status write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".partial";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr)
    return Error{fmt::format("{}: cannot create: {}; check the folder and its permissions", escaped(path), std::strerror(errno))};
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = errno;
    std::remove(temporary.c_str());
    return wrong(path, fmt::format("cannot write: {}; free some space or choose another place", std::strerror(why)));
  }
  return {};
}

}  // namespace base
