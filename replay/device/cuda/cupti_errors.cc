// One row an error that a person can do something about.
#include "replay/device/cuda/cupti_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace replay::cuda {
namespace {

struct Remedy {
  int code;
  std::string_view text;
};
constexpr Remedy kRemedies[] = {
    {33, "this is a virtual GPU whose host does not let its guests do that"},
    {35,
     "this user may not; set NVreg_RestrictProfilingToAdminUsers=0 for the driver (as root: \"options nvidia "
     "NVreg_RestrictProfilingToAdminUsers=0\" in /etc/modprobe.d, then restart the machine), or run with CAP_SYS_ADMIN (docker run "
     "--cap-add SYS_ADMIN)"},
    {38, "this GPU is too old"},
    {39, "another tool (nsys, ncu, compute-sanitizer, cuda-gdb) has it"},
    {40, "this is a virtual GPU, and its host's administrator must allow it"},
    {41, "the GPU computes confidentially"},
    {43, "the GPU is divided (MIG)"},
    {999, "the driver does not answer"},
};

}  // namespace

std::string_view cupti_remedy(int code) {
  const auto found = std::ranges::find(kRemedies, code, &Remedy::code);
  return found == std::end(kRemedies) ? "" : found->text;
}

std::string cupti_error(std::string_view symbol, int code, CuptiText text) {
  const char* name = nullptr;
  if (text(code, &name) != 0 || name == nullptr) name = "an error that CUPTI does not name";
  const std::string_view remedy = cupti_remedy(code);
  return fmt::format("{}: {} ({}){}{}", symbol, name, code, remedy.empty() ? "" : ": ", remedy);
}

}  // namespace replay::cuda
