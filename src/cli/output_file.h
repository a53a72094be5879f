// A file that an export writes: all of it or nothing, and never over another one by accident.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "src/base/result.h"

namespace cli {

enum class Existing { keep, replace };

/// Written beside its place and moved there by finish(); without it nothing is left. "-" is stdout.
class OutputFile {
 public:
  /// Errors: the file exists and is to be kept, it is no plain file, its folder cannot be written.
  static base::Result<OutputFile> create(const std::string& path, Existing existing);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  base::Status write(std::string_view bytes);
  base::Status finish();

 private:
  OutputFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  std::string temporary() const { return path_ + ".partial"; }
  base::Error failed() const;

  std::string path_;
  std::FILE* file_;  ///< nullptr: stdout, or done
};

}  // namespace cli
