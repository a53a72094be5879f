// The bytes go to PATH.partial, which is renamed at the end: a full disk or Ctrl-C leaves what was there before.
#include "src/cli/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "src/base/text.h"
#include "src/cli/output.h"

namespace cli {

base::Result<OutputFile> OutputFile::create(const std::string& path, Existing existing) {
  if (path == "-") return OutputFile(path, nullptr);
  std::error_code unreadable;
  const std::filesystem::file_status status = std::filesystem::status(path, unreadable);
  const std::string shown = base::escaped(path);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return base::Error{fmt::format("{}: is no file; give a name for a file, or - for stdout", shown), base::Exit::wrong_use};
  if (std::filesystem::exists(status) && existing == Existing::keep)
    return base::Error{fmt::format("{}: exists; -f replaces it, -o NAME writes elsewhere", shown), base::Exit::wrong_use};
  OutputFile file(path, nullptr);
  file.file_ = std::fopen(file.temporary().c_str(), "wb");
  if (file.file_ != nullptr) return file;
  return base::Error{fmt::format("{}: cannot create: {}; -o NAME writes elsewhere", shown, std::strerror(errno))};
}

OutputFile::OutputFile(OutputFile&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, nullptr)) {}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(temporary().c_str());
}

base::Error OutputFile::failed() const {
  return {fmt::format("{}: cannot write: {}; free some space or choose another place", base::escaped(path_), std::strerror(errno))};
}

base::Status OutputFile::write(std::string_view bytes) {
  if (file_ == nullptr) return print_out(bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size()) return {};
  return failed();
}

base::Status OutputFile::finish() {
  if (file_ == nullptr) return {};
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (closed && std::rename(temporary().c_str(), path_.c_str()) == 0) return {};
  const base::Error error = failed();
  std::remove(temporary().c_str());
  return error;
}

}  // namespace cli
