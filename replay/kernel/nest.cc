// Nests as text, to read and to test.
#include "replay/kernel/nest.h"

#include <fmt/format.h>

namespace kernel {
namespace {

void print_loops(std::string& out, const Terms& terms, const std::vector<TermId>& loops) {
  for (const TermId v : loops) out += fmt::format(" v{} {}", v, terms[v].range.high + 1);
}

void print_stores(std::string& out, const Lowered& lowered, const std::vector<Store>& stores, std::string_view indent) {
  for (const Store& s : stores) out += fmt::format("{}p{}[{}] = n{}\n", indent, s.array, print(lowered.graph.terms, s.at), s.value);
}

}  // namespace

std::string print(const Lowered& lowered) {
  std::string out;
  for (const Nest& nest : lowered.nests) {
    if (nest.merge) {
      out += fmt::format("nest sort {} rows of {}, n{} = before\n", nest.merge->rows, nest.merge->length, nest.merge->before.combined[0]);
      continue;
    }
    out += nest.serial ? "nest serial" : "nest";
    print_loops(out, lowered.graph.terms, nest.outer);
    out += "\n";
    for (const Stage& stage : nest.stages) {
      out += "  stage";
      print_loops(out, lowered.graph.terms, stage.loops);
      out += "\n";
      for (const Reduction& r : stage.reductions)
        for (size_t k = 0; k < r.results.size(); ++k) out += fmt::format("    n{} = combine n{}\n", r.results[k], r.values[k]);
      print_stores(out, lowered, stage.stores, "    ");
    }
    print_stores(out, lowered, nest.finish, "  ");
  }
  for (size_t id = 0; id < lowered.graph.size(); ++id) out += print(lowered.graph, static_cast<NodeId>(id)) + "\n";
  return out;
}

}  // namespace kernel
