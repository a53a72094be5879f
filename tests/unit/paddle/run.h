// Programs in tests: imported, and evaluated by the reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "importers/paddle/paddle.h"
#include "replay/tensor.h"
#include "src/model/records.h"

namespace importers::paddle {

/// With its modules. A failure ends in a failed expectation and an empty result.
model::Imported imported(std::string_view text, const Options& options = {});
/// Results of the only module, in the order of its fetches and then of what nobody reads.
std::vector<replay::Tensor> evaluated(const ir::Module& module, const std::vector<replay::Tensor>& arguments);
/// An array of the type from numbers.
replay::Tensor array(ir::Type type, const std::vector<int64_t>& dims, const std::vector<double>& values);
std::vector<double> numbers(const replay::Tensor& tensor);
/// Numbers that look random, the same every time: between lo and hi.
std::vector<double> spread(size_t n, double lo, double hi, uint64_t seed);
std::string shared_folder();

}  // namespace importers::paddle
