// Products of the samples as cuBLASLt is asked for them: each has words there, and means what the program says.
#include <map>

#include "replay/device/cuda/cublas_plan.h"
#include "src/base/file.h"
#include "tests/unit/device_cuda/fake.h"

namespace replay::cuda {
namespace {

struct Products {
  int steps = 0, refused = 0;
  std::map<std::string, int> distinct;  ///< by text
};

Products products_of(const std::string& sample) {
  plan_fake("");
  const auto text = base::read_file(SOURCE_DIR "/samples/" + sample);
  EXPECT_TRUE(text.ok());
  const auto loaded = plan_on_fake(*text, {});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
  Products products;
  for (const Step* step : (*loaded)->plan->steps) {
    for (const Launch& launch : step->launches) {
      const auto* gemm = std::get_if<Gemm>(&launch);
      if (gemm == nullptr) continue;
      ++products.steps;
      const auto matmul = plan_matmul(*gemm);
      products.refused += matmul.ok() ? 0 : 1;
      if (!matmul.ok()) continue;
      ++products.distinct[text_of(*matmul)];
      const bool whole = matmul->m * matmul->n * matmul->k * matmul->batch == gemm->m * gemm->n * gemm->k * gemm->batch;
      EXPECT_TRUE(whole && matmul->k == gemm->k) << step->name << ": " << text_of(*matmul);
    }
  }
  return products;
}

TEST(CublasSamples, HaveNoProductThatItHasNoWordsFor) {
  const Products mnist = products_of("mnist_train_step.hlo.txt"), bert = products_of("bert_pretrain_step.hlo.txt");
  EXPECT_EQ(mnist.steps + bert.steps, 67);
  EXPECT_EQ(mnist.refused + bert.refused, 0);
  EXPECT_EQ(mnist.distinct.size(), 5u);
  EXPECT_EQ(bert.distinct.size(), 29u);
}

}  // namespace
}  // namespace replay::cuda
