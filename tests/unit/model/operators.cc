// What names of operators tell: one line a case, from the samples and from what JAX and Paddle write.
#include "src/model/operators.h"

#include <gtest/gtest.h>

namespace model {
namespace {

struct Case {
  const char *name, *type, *scope, *short_name, *phase;
};
constexpr Case kCases[] = {
    {"model/bert/layer_0/softmax/Softmax", "Softmax", "model/bert/layer_0/softmax", "softmax/Softmax", "forward"},
    {"gradient_tape/model/bert/layer_0/Mul", "Mul", "model/bert/layer_0", "layer_0/Mul", "backward"},
    {"gradients/dense/MatMul_grad/MatMul", "MatMul", "dense/MatMul_grad", "MatMul_grad/MatMul", "backward"},
    {"sequential/dense/ReluGrad", "ReluGrad", "sequential/dense", "dense/ReluGrad", "backward"},
    {"Adam/Adam/update_1/ResourceApplyAdam", "ResourceApplyAdam", "Adam/Adam/update_1", "update_1/ResourceApplyAdam", "optimizer"},
    {"Adam/Pow", "Pow", "Adam", "Adam/Pow", "optimizer"},
    {"Adam_1/add", "AddV2", "Adam_1", "Adam_1/add", "optimizer"},
    {"ArithmeticOptimizer/Cast", "Cast", "ArithmeticOptimizer", "ArithmeticOptimizer/Cast", "forward"},
    {"XLA_Args", "", "", "XLA_Args", "host"},
    {"Mul", "Mul", "", "Mul", "forward"},
    {"jit(train_step)/jvp(Model)/layer_0/dot_general", "", "Model/layer_0", "layer_0/dot_general", "forward"},
    {"jit(train_step)/transpose(jvp(Model))/layer_0/dot_general", "", "Model/layer_0", "layer_0/dot_general", "backward"},
    {"jit(f)/jit(main)/transpose", "", "", "jit(main)/transpose", "forward"},
    {"jit(step)/jit(shmap_body)/psum", "", "", "jit(shmap_body)/psum", "communication"},
    {"matmul_grad", "matmul_grad", "", "matmul_grad", "backward"},
    {"", "", "", "", "forward"},
    {"///", "", "", "///", "forward"},
    {"a(b/c)/d", "", "a(b/c)", "a(b/c)/d", "forward"},
};

std::string joined(const std::vector<std::string_view>& parts) {
  std::string path;
  for (const std::string_view part : parts) path.append(path.empty() ? "" : "/").append(part);
  return path;
}

TEST(Operators, ScopeShortNameAndPhaseFollowFromTheName) {
  for (const Case& c : kCases) {
    const OperatorName found = operator_name(c.name, c.type);
    EXPECT_EQ(joined(found.scope), c.scope) << c.name;
    EXPECT_EQ(found.short_name, c.short_name) << c.name;
    EXPECT_EQ(short_name(c.name), c.short_name);
    EXPECT_EQ(text(found.phase), c.phase) << c.name;
  }
}

TEST(Operators, DeepNamesAreBounded) {
  std::string name;
  for (int i = 0; i < 100'000; ++i) name += "a/";
  EXPECT_EQ(operator_name(name, "").scope.size(), kDeepestScope);
  const std::string nested(100'000, '(');
  EXPECT_EQ(operator_name(nested, "").phase, Phase::forward);
}

}  // namespace
}  // namespace model
