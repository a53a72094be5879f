// Whole modules against XLA's cost analysis: tests/corpus/cost.tsv holds what XLA counts, the texts lie outside the tree.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "importers/hlo/hlo.h"
#include "src/base/file.h"
#include "src/ir/cost.h"

namespace ir {
namespace {

struct Row {
  std::string file;
  double flops = 0, transcendentals = 0, bytes = 0;
  std::string reason;  ///< why ours differ; "" if they must not
};

std::vector<Row> rows_of(std::istream& table) {
  std::vector<Row> rows;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
    fields.resize(5);
    rows.push_back({fields[0], std::stod(fields[1]), std::stod(fields[2]), std::stod(fields[3]), fields[4]});
  }
  return rows;
}

/// XLA adds up in f32: exact below 2^24, a few roundings above.
bool same(double ours, double xla) { return ours == xla || (xla >= 1 << 24 && std::abs(ours - xla) <= 1e-6 * xla); }

Cost total(const Module& module) {
  Cost sum;
  for (size_t i = 0; i < module.comp(module.entry).instrs.size(); ++i) {
    const Cost one = cost(module, {module.entry, static_cast<InstrId>(i)}, CostMethod::xla);
    sum.flops += one.flops;
    sum.transcendentals += one.transcendentals;
    sum.bytes_read += one.bytes_read;
    sum.bytes_written += one.bytes_written;
  }
  return sum;
}

TEST(CostOfCorpus, IsWhatXlaCountsOrSaysWhyNot) {
  const char* given = std::getenv("PROFILE_SHARED");
  const std::string folder = (given != nullptr ? std::string(given) : SOURCE_DIR "/../shared") + "/corpus/";
  if (!std::ifstream(folder + "README.md")) GTEST_SKIP() << "no corpus in " << folder;
  std::ifstream table(SOURCE_DIR "/tests/corpus/cost.tsv");
  const std::vector<Row> rows = rows_of(table);
  EXPECT_GE(rows.size(), 300);
  for (const Row& row : rows) {
    const auto text = base::read_file(folder + row.file);
    ASSERT_TRUE(text.ok()) << row.file;
    const auto module = importers::hlo::parse(*text, row.file);
    ASSERT_TRUE(module.ok()) << module.error().message;
    const Cost ours = total(*module);
    const bool agrees = same(ours.flops, row.flops) && same(ours.transcendentals, row.transcendentals) && same(ours.bytes(), row.bytes);
    EXPECT_EQ(agrees, row.reason.empty()) << row.file << ": " << ours.flops << " " << ours.transcendentals << " " << ours.bytes()
                                          << ", XLA " << row.flops << " " << row.transcendentals << " " << row.bytes;
  }
}

TEST(CostOfCorpus, ATotalThatIsOffIsNoticed) {
  EXPECT_TRUE(same(24, 24));
  EXPECT_FALSE(same(25, 24));
  EXPECT_TRUE(same(2e7 + 1, 2e7));
  EXPECT_FALSE(same(2.1e7, 2e7));
}

}  // namespace
}  // namespace ir
