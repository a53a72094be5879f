// Answers come from another thread, change when the file does, and never block.
#include "ui/loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "src/model/store.h"
#include "tests/unit/ui/databases.h"
#include "ui/session.h"

namespace ui {
namespace {

namespace fs = std::filesystem;

bool until(const std::function<bool()>& true_now) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!true_now()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class Following : public ::testing::Test {
 protected:
  Following() : path_((fs::temp_directory_path() / ("view_" + std::to_string(::getpid()) + ".db")).string()) { fs::remove(path_); }
  ~Following() override { fs::remove(path_); }

  void add_run() const {
    auto store = model::Store::open(path_, model::OpenMode::append);
    ASSERT_TRUE(store.ok()) << store.error().message;
    model::Run run;
    run.device.name = "null";
    const auto id = store->begin(run);
    ASSERT_TRUE(id.ok() && store->describe(*id, run).ok() && store->finish(*id, model::RunStatus::complete, {}).ok());
  }
  static size_t runs(Session& session) {
    session.update();
    const auto* runs = session.documents()[0]->runs.value();
    return runs == nullptr ? 0 : runs->size();
  }

  std::string path_;
};

TEST_F(Following, OpensAFileThatIsMadeLater) {
  Session session;
  session.open(path_);
  ASSERT_TRUE(until([&] { return session.update(), session.documents()[0]->runs.error() != nullptr; }));
  add_run();
  EXPECT_TRUE(until([&] { return runs(session) == 1; }));
}

TEST_F(Following, ReadsARunThatIsAdded) {
  add_run();
  Session session;
  session.open(path_);
  ASSERT_TRUE(until([&] { return runs(session) == 1; }));
  add_run();
  EXPECT_TRUE(until([&] { return runs(session) == 2; }));
  EXPECT_EQ(session.selection().run, 1) << "what is looked at stays";
}

TEST_F(Following, ReadsAFileThatReplacesIt) {
  add_run();
  add_run();
  Session session;
  session.open(path_);
  ASSERT_TRUE(until([&] { return runs(session) == 2; }));
  fs::remove(path_);
  add_run();
  EXPECT_TRUE(until([&] { return runs(session) == 1; }));
  session.update();
  EXPECT_EQ(session.selection().run, 1);
}

TEST_F(Following, KeepsTheOldAnswerUntilTheNextIsThere) {
  add_run();
  Session session;
  session.open(path_);
  ASSERT_TRUE(until([&] { return runs(session) == 1; }));
  session.reload();
  session.update();
  EXPECT_NE(session.documents()[0]->runs.value(), nullptr);
}

TEST(Loader, DropsWhatNobodyWaitsFor) {
  Loader loader(sample("interrupted"), Loader::Mode::worker);
  std::atomic<int> ran = 0;
  for (int i = 0; i < 100; ++i) {
    Latest<int> forgotten;
    forgotten.want(loader, "x", [&](const model::Reader&) -> base::Result<int> { return ++ran; });
  }
  ASSERT_TRUE(until([&] { return loader.watch(), !loader.busy(); }));
  EXPECT_LT(ran, 100);
}

TEST(Loader, IsBusyUntilAFrameBeginsThatSeesTheAnswer) {
  Loader loader(sample("interrupted"), Loader::Mode::worker);
  Latest<int> answer;
  answer.want(loader, "x", [](const model::Reader&) -> base::Result<int> { return 1; });
  ASSERT_TRUE(until([&] { return answer.value() != nullptr; }));
  EXPECT_TRUE(loader.busy());
  EXPECT_TRUE(until([&] { return loader.watch(), !loader.busy(); }));
}

}  // namespace
}  // namespace ui
