// Whole files through stdio of POSIX.
#include "src/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace base {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > 0) ::close(fd);
  }
};

Result<std::string> read_all(int fd, const std::string& path, size_t expected) {
  std::string bytes;
  bytes.resize(expected > 0 ? expected + 1 : 1 << 16);
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2);
    const ssize_t got = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("{}: cannot read: {}", path, std::strerror(errno))};
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return read_all(0, "<stdin>", 0);
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) {
    const char* remedy = errno == ENOENT ? "; check the path" : errno == EACCES ? "; make it readable" : "";
    return Error{fmt::format("{}: cannot open: {}{}", path, std::strerror(errno), remedy)};
  }
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return Error{fmt::format("{}: cannot read: {}", path, std::strerror(errno))};
  if (S_ISDIR(info.st_mode)) return Error{fmt::format("{}: is a directory; give the files in it", path)};
  return read_all(file.fd, path, static_cast<size_t>(info.st_size));
}

Status write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".partial";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return Error{fmt::format("{}: cannot create: {}", path, std::strerror(errno))};
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = errno;
    std::remove(temporary.c_str());
    return Error{fmt::format("{}: cannot write: {}; free some space or choose another place", path, std::strerror(why))};
  }
  return {};
}

}  // namespace base
