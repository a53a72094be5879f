// Fills the table by names, and says what a number means in the driver's own words.
#include "replay/device/cuda/driver.h"

#include <fmt/format.h>

#include <algorithm>

namespace replay::cuda {

base::Result<Driver> open_driver(const Opener& opener) {
  const Opened library = open_library(Library::driver, opener);
  if (library.handle == nullptr) return base::Error{fmt::format("no NVIDIA driver ({})", library.why), base::Exit::missing_capability};
  Driver driver;
  const char* missing = fill(driver, library.handle, opener);
  if (missing != nullptr)
    return base::Error{fmt::format("the driver {} has no function {}; CUDA 12.0 or newer is needed", library.file, missing),
                       base::Exit::missing_capability};
  return driver;
}

base::Status during(std::string_view what, base::Status status) {
  if (status.ok()) return status;
  return base::Error{fmt::format("{}: {}", what, status.error().message), status.error().exit};
}

/// As the comments of cuda.h tell (a test reads them), with uncorrectable memory and link errors and a kernel's failed assertion.
std::span<const int> errors_that_stay() {
  static constexpr int kStay[] = {214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911};
  return kStay;
}

base::Error Driver::failure(const char* symbol, int code) const {
  if (std::ranges::binary_search(errors_that_stay(), code)) *lost = code;
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name.address(code, &name) != 0 || name == nullptr) name = "an error that the driver does not name";
  if (error_text.address(code, &text) != 0 || text == nullptr) return {fmt::format("{}: {} ({})", symbol, name, code)};
  return {fmt::format("{}: {} ({}), {}", symbol, name, code, text)};
}

}  // namespace replay::cuda
