// One file a kernel: a line with the hash of what follows, a line with the length of the log, the log, the machine code.
#include "replay/device/cuda/cache.h"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "src/base/file.h"
#include "src/base/hash.h"

namespace replay::cuda {
namespace {

constexpr std::string_view kFormat = "profile cubin 1 ";
constexpr size_t kLargest = size_t{256} << 20;

/// Up to the end of a line, which is taken off `text`.
std::string_view line_of(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string cache_folder() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    return text != nullptr ? text : "";
  };
  if (const std::string own = value("PROFILE_CACHE"); !own.empty()) return own;
  if (const std::string caches = value("XDG_CACHE_HOME"); !caches.empty()) return caches + "/profile/cubins";
  const std::string home = value("HOME");
  return home.empty() ? "" : home + "/.cache/profile/cubins";
}

std::string cache_key(std::string_view text, std::string_view architecture, std::string_view compiler) {
  return base::sha256_hex(fmt::format("{}\n{}\n{}", compiler, architecture, text));
}

std::string Cache::path_of(const std::string& key) const { return folder_ + "/" + key + ".cubin"; }

std::optional<Machine> Cache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const auto bytes = base::read_file(path_of(key), kLargest);
  if (!bytes.ok()) return std::nullopt;
  std::string_view rest = *bytes;
  const std::string_view head = line_of(rest);
  if (!head.starts_with(kFormat) || head.substr(kFormat.size()) != base::sha256_hex(rest)) return std::nullopt;
  const std::string_view length = line_of(rest);
  size_t log_bytes = 0;
  std::from_chars(length.data(), length.data() + length.size(), log_bytes);
  if (log_bytes > rest.size()) return std::nullopt;
  Machine machine;
  machine.log = rest.substr(0, log_bytes);
  machine.code.assign(rest.begin() + static_cast<std::ptrdiff_t>(log_bytes), rest.end());
  machine.usage = read_usage(machine.log);
  return machine;
}

void Cache::keep(const std::string& key, const Machine& machine) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  std::string rest = fmt::format("{}\n{}", machine.log.size(), machine.log);
  rest.append(machine.code.begin(), machine.code.end());
  static std::atomic<int> writer{0};
  const std::string own = fmt::format("{}.{}.{}", path_of(key), getpid(), ++writer);  // others may be writing the same
  const base::Status written = base::write_file(own, fmt::format("{}{}\n", kFormat, base::sha256_hex(rest)) + rest);
  if (written.ok()) std::filesystem::rename(own, path_of(key), ignored);  // else it is compiled again next time
}

}  // namespace replay::cuda
