// parse(print(m)) == m over all samples and both forms.
#include <gtest/gtest.h>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/print.h"

namespace {

class Samples : public testing::TestWithParam<const char*> {};

TEST_P(Samples, SurviveBothForms) {
  const auto text = base::read_file(std::string(SOURCE_DIR "/samples/") + GetParam());
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto module = importers::hlo::parse(*text, GetParam());
  ASSERT_TRUE(module.ok()) << module.error().message;
  for (const ir::Form form : {ir::Form::long_, ir::Form::short_}) {
    const std::string printed = ir::print(*module, form);
    const auto again = importers::hlo::parse(printed, "printed");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(*again == *module);
    EXPECT_EQ(ir::print(*again, form), printed);
  }
}

INSTANTIATE_TEST_SUITE_P(Hlo, Samples, testing::Values("mnist_train_step.hlo.txt", "bert_pretrain_step.hlo.txt"));

}  // namespace
