#include "tests/unit/paddle/run.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "replay/element.h"
#include "replay/reference/reference.h"

namespace importers::paddle {

model::Imported imported(std::string_view text, const Options& options) {
  const Input input{"program.txt", text, options};
  auto result = keep_modules(input, [](const Input& in, const TakeModule& take) { return read(in, take); });
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? *std::move(result) : model::Imported{};
}

std::vector<replay::Tensor> evaluated(const ir::Module& module, const std::vector<replay::Tensor>& arguments) {
  replay::reference::Evaluator evaluator(module, replay::Rounding::each);
  auto result = evaluator.run(module.entry, arguments);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) return {};
  return result->shape.is_tuple() ? std::move(result->elements) : std::vector<replay::Tensor>{*std::move(result)};
}

replay::Tensor array(ir::Type type, const std::vector<int64_t>& dims, const std::vector<double>& values) {
  replay::Tensor tensor;
  tensor.shape = ir::array_shape(type, dims);
  for (const double value : values) {
    const ir::Literal one = ir::is_float(type) ? ir::scalar_literal(type, value) : ir::scalar_literal(type, static_cast<int64_t>(value));
    tensor.data.insert(tensor.data.end(), one.data.begin(), one.data.end());
  }
  return tensor;
}

std::vector<double> numbers(const replay::Tensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < ir::elements(tensor.shape); ++i) {
    const bool real = ir::is_float(tensor.shape.type);
    out.push_back(real ? replay::load_real(tensor.shape.type, tensor.data.data(), i)
                       : static_cast<double>(replay::load_integer(tensor.shape.type, tensor.data.data(), i)));
  }
  return out;
}

std::vector<double> spread(size_t n, double lo, double hi, uint64_t seed) {
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values.push_back(lo + (hi - lo) * static_cast<double>(seed >> 11) / 9007199254740992.0);
  }
  return values;
}

std::string shared_folder() {
  const char* given = std::getenv("PROFILE_SHARED");
  return given != nullptr ? given : SOURCE_DIR "/../shared";
}

}  // namespace importers::paddle
