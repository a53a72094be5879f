// profile doctor
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replay/device/cuda/cuda.h"
#include "replay/device/cuda/libraries.h"
#include "src/cli/command.h"
#include "src/cli/output.h"

namespace cli {
namespace {

constexpr std::string_view kNotYet = "compiled by NVRTC and run on the host by tests; not yet run on a GPU";

/// Texts as cells; what is empty is null.
std::vector<model::Cell> cells(std::initializer_list<std::string_view> texts) {
  std::vector<model::Cell> row;
  for (const std::string_view text : texts)
    row.push_back({text.empty() ? model::Cell::Kind::null : model::Cell::Kind::text, 0, 0, std::string(text)});
  return row;
}

model::Rows findings() {
  model::Rows rows;
  rows.columns = {"part", "for", "state", "version", "file", "why", "without_it"};
  for (const auto& found : replay::cuda::survey(replay::cuda::system_opener()))
    rows.rows.push_back(cells({found.name, found.about, found.usable() ? "usable" : "missing", found.version, found.file, found.why,
                               found.usable() ? std::string_view() : found.without_it}));
  const std::string why_no_counters = replay::cuda::why_no_counters();
  rows.rows.push_back(cells({"counters", "what the hardware counts", why_no_counters.empty() ? "usable" : "missing", "", "",
                             why_no_counters, why_no_counters.empty() ? "" : "--counters reads nothing; times are measured all the same"}));
  const std::string_view headers = replay::cuda::headers_version();
  const bool built = !headers.empty();
  rows.rows.push_back(cells({"headers", "the build", built ? "usable" : "missing", headers, "",
                             built ? "" : "this program was built without CUDA's headers",
                             built ? "" : "nothing so far: libraries are opened at run time"}));
  rows.rows.push_back(cells({"kernels", "CUDA C++", "host only", "", "", kNotYet, "no number of a GPU has been seen yet"}));
  return rows;
}

}  // namespace

Action define_doctor(CLI::App& app) {
  auto output = std::make_shared<OutputOptions>();
  output->define(app);
  return [output]() -> base::Result<base::Exit> {
    RETURN_IF_ERROR(print_rows(findings(), *output));
    return base::Exit::ok;
  };
}

}  // namespace cli
