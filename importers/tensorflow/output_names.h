// Outputs of an op type by name, as the bodies of functions write them: "values" and "indices" of TopKV2 are ports 0 and 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace importers::tensorflow {

/// The port of tensor `k` of the output named so. `outputs`: how many the node is told to have, 0: not told. Nothing: the type is not
/// known, or has no such output.
std::optional<int32_t> output_port(std::string_view type, std::string_view name, int32_t k, size_t outputs);

}  // namespace importers::tensorflow
