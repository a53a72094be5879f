// Framework operators as their names tell them: scope, short name, phase.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/model/operator_records.h"

namespace model {

struct OperatorName {
  std::vector<std::string_view> scope;  ///< components around the operator, those of gradients and tracing removed; at most kDeepestScope
  std::string_view short_name;          ///< the last two components
  Phase phase = Phase::forward;
};
inline constexpr size_t kDeepestScope = 32;

/// "a/b(c/d)/e" → a, b(c/d), e: what is between slashes, but for those inside parentheses (JAX: "jvp(a/b)").
/// "conv_12" is conv: without the number that makes a name unique.
std::string_view without_number(std::string_view word);
std::vector<std::string_view> path_parts(std::string_view path);
/// The last two components of a path; the whole where it has fewer.
std::string_view short_name(std::string_view name);
/// From `metadata={op_type=… op_name=…}`; views point into `name`. Understands names of TensorFlow ("gradient_tape/model/layer/MatMul"),
/// JAX ("jit(step)/transpose(jvp(Model))/layer/dot_general") and Paddle ("matmul_grad").
OperatorName operator_name(std::string_view name, std::string_view type);

}  // namespace model
