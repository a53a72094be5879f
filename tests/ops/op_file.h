// An op file: comments with inputs and expected values, then a module.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "replay/inputs.h"
#include "replay/tensor.h"
#include "src/base/result.h"

namespace ops {

/// A number as it was written; zeros with a sign are compared with it.
struct Number {
  double re = 0, im = 0;
  bool signed_zero = false;
};

struct OpFile {
  std::string path, text;
  replay::Recipes inputs;
  std::map<std::string, std::vector<Number>> expected;  ///< by path of the leaf, "" for an array
  double tolerance = -1;                                ///< −1: by type
  std::vector<std::string> devices;                     ///< empty: all
};

base::Result<OpFile> read_op_file(const std::string& path);

/// "" if the array has the expected values, else the first that differs.
std::string check(const replay::Tensor& array, const std::vector<Number>& expected, double tolerance);

}  // namespace ops
