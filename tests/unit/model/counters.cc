// Hardware counters in the store: by step beside its traffic on paper, and what fusions save of what was counted.
#include "fixture.h"

namespace model {
namespace {

class CounterTest : public StoreTest {
 protected:
  /// The run's fusion reads 100 and writes 28 bytes, its parts 200 and 60, 90 and 10; the negation reads 64.
  void save(const Counters& counters) {
    auto store = Store::open(path(), OpenMode::append);
    const auto ids = store->add(imported(kProgram));
    model::Run described = tiny_run(*ids);
    described.counters = counters;
    const auto run = store->begin(described);
    ASSERT_TRUE(run.ok()) << run.error().message;
    ASSERT_TRUE(store->describe(*run, described).ok());  // replaces what begin() has written
    ASSERT_TRUE(store->finish(*run, RunStatus::complete, {}).ok());
  }
  static Counters counted() {
    Counters counters;
    counters.counters = {{"dram_read", "dram__bytes_read.sum", "bytes", ""},
                         {"dram_write", "dram__bytes_write.sum", "bytes", ""},
                         {"l2_hit", "lts__t_sector_hit_rate.pct", "percent", ""},
                         {"tensor", "sm__pipe", "percent", "GX1 has no such metric"}};
    counters.values = {{0, -1, 0, 100}, {0, -1, 1, 28}, {0, -1, 2, 62.5}, {0, 0, 0, 200}, {0, 0, 1, 60},
                       {0, 1, 0, 90},   {0, 1, 1, 10},  {1, -1, 0, 64},   {1, -1, 1, 0}};
    return counters;
  }
};

TEST_F(CounterTest, AreRowsAndColumnsByStep) {
  save(counted());
  EXPECT_EQ(ask(path(), "SELECT count(*), sum(why = '') FROM counter"), "4|3");
  EXPECT_EQ(ask(path(),
                "SELECT name, format('%g', dram_read_bytes), format('%g', dram_bytes), format('%g', l2_hit_percent), tensor_percent, "
                "format('%g', bytes) FROM step_counter ORDER BY step"),
            "f|100|128|62.5|NULL|160 n|64|64|0|NULL|64");
}

TEST_F(CounterTest, TellWhatAFusionSavesOfWhatWasCounted) {
  save(counted());
  Counters reads = counted();
  std::erase_if(reads.values, [](const CounterValue& value) { return value.counter == 1; });
  reads.counters[1].why = "CUPTI gives no value";
  save(reads);  // reads alone are not the traffic
  save({});
  EXPECT_EQ(ask(path(),
                "SELECT run, format('%g', counted_bytes), format('%g', counted_unfused_bytes), format('%g', counted_saved_bytes) "
                "FROM fusion_cost WHERE counted_bytes IS NOT NULL"),
            "1|128|360|232");
  EXPECT_EQ(ask(path(), "SELECT count(*) FROM fusion_cost"), "3");
}

}  // namespace
}  // namespace model
