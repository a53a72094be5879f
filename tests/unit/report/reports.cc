// The ten reports on a small run with known samples: exact numbers.
#include <set>

#include "src/report/query.h"
#include "src/report/report.h"
#include "tests/unit/model/fixture.h"

namespace report {
namespace {

class Reports : public model::StoreTest {
 protected:
  void save_runs(int count) {
    auto store = model::Store::open(path(), model::OpenMode::append);
    const auto ids = store->add(model::imported(model::kProgram));
    for (int i = 0; i < count; ++i) {
      const auto run = store->begin(model::tiny_run(*ids));
      for (int32_t pass = 0; pass < 5; ++pass)
        ASSERT_TRUE(store->add(*run, {pass, 10'000 * pass, 10'000 * pass + 9'000}, model::tiny_samples(pass)).ok());
      ASSERT_TRUE(store->finish(*run, model::RunStatus::complete, {}).ok());
    }
  }
  std::string show(std::string_view name, Format format = Format::csv, int64_t id = 0) {
    const auto reader = model::Reader::open(path());
    if (!reader.ok()) return reader.error().message;
    const auto rows = run(*reader, *find(name), id);
    return rows.ok() ? render(*rows, format, {}) : rows.error().message;
  }
};

TEST_F(Reports, EachHasASentenceAndAReasonWhyItMayBeEmpty) {
  std::set<std::string_view> names;
  for (const Report& report : reports()) {
    names.insert(report.name);
    EXPECT_TRUE(report.about.ends_with('.')) << report.name;
    EXPECT_TRUE(report.empty.ends_with('.')) << report.name;
    EXPECT_EQ(find(report.name), &report);
  }
  for (const std::string_view promised : {"top", "ops", "optypes", "layers", "phases", "fusions", "roofline", "coverage", "memory",
                                          "recompute", "collectives", "notes", "runs", "kernels", "gaps", "compare"})
    EXPECT_TRUE(names.contains(promised)) << promised;
  EXPECT_EQ(find("nothing"), nullptr);
}

TEST_F(Reports, Top) {
  save_runs(1);
  EXPECT_EQ(show("top", Format::table),
            "step  op           kind           calls   median  spread   share   GB/s  GFLOP/s   roof  class   flags\n"
            "f     layer_0/Exp  fusion:kInput      1  2.02 µs   0.5 %  57.4 %  0.079    0.016  0.8 %  kernel\n"
            "n     -            negate             1  1.50 µs   0.0 %  42.6 %  0.043    0.005  0.4 %  kernel\n");
}

TEST_F(Reports, Ops) {
  save_runs(1);
  EXPECT_EQ(show("ops"),
            "op,type,phase,steps,pass_ns,share_percent,gb_per_s,gflop_per_s,name\n"
            "layer_0/Exp,Exp,forward,1,1616,45.90909090909091,0.07920792079207921,0.015841584158415842,model/layer_0/Exp\n"
            "(no metadata),,,1,1500,42.61363636363637,0.042666666666666665,0.005333333333333333,(no metadata)\n"
            "layer_0/Sum,Sum,backward,1,404,11.477272727272727,0.07920792079207921,0.015841584158415842,gradient_tape/model/layer_0/Sum\n");
}

TEST_F(Reports, Layers) {
  save_runs(1);
  EXPECT_EQ(show("layers"),
            "layer,depth,pass_ns,share_percent,self_ns,forward_ns,backward_ns,optimizer_ns,ops\n"
            "model,0,2020,57.38636363636363,0,1616,404,0,2\n"
            "model/layer_0,1,2020,57.38636363636363,2020,1616,404,0,2\n");
}

TEST_F(Reports, Fusions) {
  save_runs(1);
  EXPECT_EQ(show("fusions"),
            "fusion,kind,parts,launches,calls,median_ns,pass_ns,bytes,saved_bytes,saved_traffic_percent,saved_time_ns,unfused_ns,"
            "predicted_saved_ns,measured_saved_ns,measured_saved_low_ns,measured_saved_high_ns,counted_saved_bytes,saved_share_percent,"
            "pairs,verdict,why,flags\n"
            "f,kInput,2,1,1,2020,2020,160,256,61.53846153846154,25.6,,,,,,,,,,,\n");
}

TEST_F(Reports, Roofline) {
  save_runs(1);
  EXPECT_EQ(show("roofline"),
            "step,class,intensity_flop_per_byte,bound_by,median_ns,attainable_ns,gb_per_s,gflop_per_s,attainable_gflop_per_s,roof_percent,"
            "published_percent,basis\n"
            "f,kernel,0.2,memory,2020,16,0.07920792079207921,0.015841584158415842,2,0.7920792079207922,,\n"
            "n,kernel,0.125,memory,1500,6.4,0.042666666666666665,0.005333333333333333,1.25,0.4266666666666667,,\n");
}

TEST_F(Reports, Coverage) {
  save_runs(1);
  EXPECT_EQ(
      show("coverage"),
      "class,steps,steps_percent,flops,flops_percent,bytes,bytes_percent,pass_ns,share_percent\nkernel,2,100,40,100,224,100,3520,100\n");
}

TEST_F(Reports, Memory) {
  save_runs(1);
  EXPECT_EQ(show("memory"),
            "at_step,buffer,kind,bytes,share_percent,first_step,last_step\n"
            "n,(all 3 live buffers),peak,192,100,1,1\n"
            "n,x,parameter,128,66.66666666666667,0,1\n"
            "n,f,temporary,32,16.666666666666668,0,1\n"
            "n,n,output,32,16.666666666666668,1,1\n");
}

TEST_F(Reports, Notes) {
  save_runs(1);
  EXPECT_EQ(show("notes"), "about,line,column,code,text\nrun 1,,,load,the machine was busy\n");
}

TEST_F(Reports, Kernels) {
  save_runs(1);
  EXPECT_EQ(show("kernels"),
            "kernel,language,implementation,steps,pass_ns,share_percent,compile_ns,code_bytes,source_bytes\n"
            "fused,llvm-ir,jit,1,2020,57.38636363636363,1000,64,20\n"
            "neg,llvm-ir,jit,1,1500,42.61363636363637,500,32,18\n");
}

TEST_F(Reports, RunsShowAKilledOneAsInterrupted) {
  save_runs(1);
  {
    auto store = model::Store::open(path(), model::OpenMode::append);
    const auto ids = store->add(model::imported(model::kProgram));
    ASSERT_TRUE(store->begin(model::tiny_run(*ids)).ok());
    EXPECT_NE(show("runs").find("2,tiny,null,1,running,2023-11-14 22:13:20,0,2,,"), std::string::npos) << show("runs");
  }
  const std::string before = show("runs");
  EXPECT_EQ(before.find("writer"), std::string::npos);
  EXPECT_NE(before.find("1,tiny,null,1,complete,2023-11-14 22:13:20,5,2,3520,"), std::string::npos) << before;
}

TEST_F(Reports, TakeTheNewestRunOrTheOneAskedFor) {
  save_runs(2);
  EXPECT_EQ(show("notes"), "about,line,column,code,text\nrun 2,,,load,the machine was busy\n");
  EXPECT_EQ(show("notes", Format::csv, 1), "about,line,column,code,text\nrun 1,,,load,the machine was busy\n");
  EXPECT_EQ(show("notes", Format::csv, 9), "there is no run 9; `profile list` shows what is stored");
}

TEST_F(Reports, OfAStoreWithoutARunSayWhatToDo) {
  ASSERT_TRUE(model::Store::open(path(), model::OpenMode::append).ok());
  EXPECT_EQ(show("top"), "no run is stored; replay a program first: profile replay FILE");
  EXPECT_EQ(show("runs").substr(0, 10), "run,module");
}

/// A pass of 1 ms at the roof, and a step beside it that moves next to nothing in `length_ns`.
std::string far_from_its_roof(const std::string& path, int64_t length_ns) {
  auto store = model::Store::open(path, model::OpenMode::fresh);
  const auto ids = store->add(model::imported(model::kProgram));
  model::Run run = model::tiny_run(*ids);
  run.steps[0].bytes = 10e6, run.steps[1].bytes = 1000;  // 1 ms and 100 ns at 10 GB/s
  run.steps[0].flops = run.steps[1].flops = 0;
  run.buffers.clear();
  const auto id = store->begin(run);
  EXPECT_TRUE(id.ok() && store->describe(*id, run).ok());
  for (int32_t pass = 0; pass < 3; ++pass) {
    const int64_t begin_ns = 3'000'000 * int64_t{pass};
    const std::vector<model::Sample> samples = {{0, pass, 0, begin_ns, 1'000'000, 1}, {1, pass, 0, begin_ns + 1'000'000, length_ns, 1}};
    EXPECT_TRUE(store->add(*id, {pass, begin_ns, begin_ns + 2'000'000}, samples).ok());
  }
  EXPECT_TRUE(store->finish(*id, model::RunStatus::complete, {}).ok());
  const auto reader = model::Reader::open(path);
  const auto rows = report::run(*reader, *find("findings"), 1);
  std::string found;
  for (const auto& row : rows->rows) found += row[0].text == "far from its roof" ? row[1].text : "";
  return found;
}

TEST_F(Reports, FindingsLeaveOutWhatIsNotWorthALook) {
  EXPECT_EQ(far_from_its_roof(path("little.db"), 10'050), "") << "9.95 of 1010 µs: less than 1 %";
  EXPECT_EQ(far_from_its_roof(path("more.db"), 10'400), "n") << "10.3 of 1010 µs";
}

TEST_F(Reports, SettingsAreSaidInWords) {
  auto store = model::Store::open(path(), model::OpenMode::append);
  const auto ids = store->add(model::imported(model::kProgram));
  model::Run settings = model::tiny_run(*ids);
  settings.options = {{"budget_s", "30"}, {"link_gbps", "400"}, {"seed", "1"}};
  const auto id = store->begin(settings);
  ASSERT_TRUE(id.ok() && store->describe(*id, settings).ok() && store->finish(*id, model::RunStatus::complete, {}).ok());
  const auto reader = model::Reader::open(path());
  const model::Cell first = cell(int64_t{1});
  const auto facts = ask(*reader, "run_facts", std::span(&first, 1));
  ASSERT_TRUE(facts.ok());
  std::set<std::string> said;
  for (const auto& row : facts->rows) said.insert(row[0].text + ": " + row[1].text);
  for (const char* expected : {"budget: 30 s", "link: 400 Gbit/s", "seed: 1"}) EXPECT_TRUE(said.contains(expected)) << expected;
}

}  // namespace
}  // namespace report
