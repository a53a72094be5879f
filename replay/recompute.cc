// The body with its inner fusions inlined, then index by index: a value that two users read at the same place is computed once for both, as
// emitters keep what they have just computed; a user that reads it at other places (through a broadcast, a transpose, a window) computes it
// again there. What is made as a whole, above all a reduction, is stored or held by its row and never made again; its operands are
// evaluated at places of its own.
#include <algorithm>
#include <optional>
#include <set>

#include "replay/defuse.h"
#include "replay/order.h"
#include "src/ir/attr.h"
#include "src/ir/cost.h"

namespace replay {
namespace {

using Id = ir::InstrId;

constexpr int kMostInlined = 50;    ///< fusions in fusions
constexpr size_t kMostNodes = 1e5;  ///< after inlining: calls may double with each level
constexpr size_t kMostPlaces = 64;  ///< kept apart; what is used at more places counts all as different

double size_of(const ir::Shape& shape) {
  if (shape.is_array()) return static_cast<double>(ir::elements(shape));
  double most = 1;
  for (const ir::Shape& element : shape.elements) most = std::max(most, size_of(element));
  return most;
}

/// Made as a whole: who reads it anywhere reads what is there.
bool is_stored(ir::Op op) {
  const ir::OpClass cls = ir::info(op).cls;
  return cls == ir::OpClass::contract || cls == ir::OpClass::control || cls == ir::OpClass::reduce || op == ir::Op::sort ||
         op == ir::Op::scatter || op == ir::Op::fft || op == ir::Op::cholesky || op == ir::Op::triangular_solve || op == ir::Op::topk ||
         op == ir::Op::scan;
}

/// Goes over operands element by element itself: they are evaluated as it goes, not read from memory.
bool is_reduction(ir::Op op) { return ir::info(op).cls == ir::OpClass::reduce; }

struct Node {
  ir::InstrRef ref;
  std::vector<Id> operands;  ///< nodes
};

/// Operands before users; the last one is the root.
class Inliner {
 public:
  explicit Inliner(const ir::Module& module) : module_(module) {}

  std::vector<Node> inlined(ir::CompId fused) {
    const Id root = inlined(fused, {}, 0);
    nodes_.resize(static_cast<size_t>(root) + 1);  // what comes after it does not lead to it
    return std::move(nodes_);
  }

 private:
  Id inlined(ir::CompId id, const std::vector<Id>& arguments, int depth) {
    const ir::Computation& comp = module_.comp(id);
    std::vector<Id> placed(comp.instrs.size(), -1);
    for (const Id old : topological(comp)) placed[static_cast<size_t>(old)] = place({id, old}, arguments, placed, depth);
    return placed[static_cast<size_t>(comp.root)];
  }

  Id place(ir::InstrRef ref, const std::vector<Id>& arguments, const std::vector<Id>& placed, int depth) {
    const ir::Instr& instr = module_.instr(ref.comp, ref.instr);
    const auto number = static_cast<size_t>(instr.number);
    if (instr.op == ir::Op::parameter && depth > 0 && number < arguments.size()) return arguments[number];
    std::vector<Id> operands;
    for (const Id operand : instr.operands) operands.push_back(placed[static_cast<size_t>(operand)]);
    const bool calls = (instr.op == ir::Op::fusion || instr.op == ir::Op::call) && instr.calls.size() == 1;
    if (calls && depth < kMostInlined && nodes_.size() < kMostNodes) return inlined(instr.calls[0], operands, depth + 1);
    if (const auto element = element_of(instr, operands)) return *element;
    nodes_.push_back({ref, std::move(operands)});
    return static_cast<Id>(nodes_.size()) - 1;
  }

  /// Of a tuple that is in sight.
  std::optional<Id> element_of(const ir::Instr& instr, const std::vector<Id>& operands) const {
    if (instr.op != ir::Op::get_tuple_element || operands.empty()) return std::nullopt;
    const Node& tuple = nodes_[static_cast<size_t>(operands[0])];
    const auto index = ir::attr_int(module_, instr, "index");
    if (module_.instr(tuple.ref.comp, tuple.ref.instr).op != ir::Op::tuple || !index) return std::nullopt;
    if (*index < 0 || *index >= static_cast<int64_t>(tuple.operands.size())) return std::nullopt;
    return tuple.operands[static_cast<size_t>(*index)];
  }

  const ir::Module& module_;
  std::vector<Node> nodes_;
};

class Evaluations {
 public:
  Evaluations(const ir::Module& module, std::vector<Node> nodes)
      : module_(module), nodes_(std::move(nodes)), places_(nodes_.size()), counts_(nodes_.size(), 0) {}

  Recomputed recomputed() {
    Recomputed extra;
    const Id root = static_cast<Id>(nodes_.size()) - 1;
    places_[static_cast<size_t>(root)] = {root};
    for (Id id = root; id >= 0; --id) {
      const double elements = size_of(shape(id));
      counts_[static_cast<size_t>(id)] = is_stored(instr(id).op) && !places_[static_cast<size_t>(id)].empty() ? elements : count(id);
      const double again = counts_[static_cast<size_t>(id)] - elements;
      if (again > 0 && elements > 0) {
        const ir::Cost cost = ir::cost(module_, nodes_[static_cast<size_t>(id)].ref, ir::CostMethod::nominal);
        extra.flops += again / elements * cost.flops;
        extra.functions += again / elements * cost.transcendentals;
      }
      if (counts_[static_cast<size_t>(id)] == 0) continue;  // nothing needs it
      for (const Id operand : nodes_[static_cast<size_t>(id)].operands) read(id, operand);
    }
    return extra;
  }

 private:
  /// Sum over the places where it is read; of itself: each element once.
  double count(Id id) const {
    double sum = 0;
    for (const Id place : places_[static_cast<size_t>(id)])
      sum += place == id ? size_of(shape(id)) : counts_[static_cast<size_t>(place)] * reads(place, id);
    return sum;
  }

  void read(Id user, Id operand) {
    auto& places = places_[static_cast<size_t>(operand)];
    const ir::Op op = instr(user).op;
    const bool alike = (ir::is_elementwise(op) || ir::info(op).cls == ir::OpClass::alias) && places.size() < kMostPlaces;
    if (op == ir::Op::tuple || (is_stored(op) && !is_reduction(op))) {  // each element is written once, at its own place; or is in memory
      places.insert(operand);
    } else if (alike) {
      for (const Id place : places_[static_cast<size_t>(user)]) places.insert(place == user ? operand : place);
    } else {
      places.insert(user);
    }
  }

  /// Elements of `operand` that one element of `user` needs.
  double reads(Id user, Id operand) const {
    const ir::Op op = instr(user).op;
    if (op == ir::Op::reduce) return std::max(1.0, size_of(shape(operand)) / size_of(shape(user)));
    if (op != ir::Op::reduce_window) return 1;
    const auto window = ir::attr_window(module_, instr(user));
    double count = 1;
    if (window.ok()) {
      for (const ir::WindowDim& dim : *window) count *= static_cast<double>(dim.size);
    }
    return count;
  }

  const ir::Instr& instr(Id id) const {
    return module_.instr(nodes_[static_cast<size_t>(id)].ref.comp, nodes_[static_cast<size_t>(id)].ref.instr);
  }
  const ir::Shape& shape(Id id) const { return module_.shape(instr(id)); }

  const ir::Module& module_;
  std::vector<Node> nodes_;
  std::vector<std::set<Id>> places_;  ///< users that read it at places of their own; itself: at each of its own once
  std::vector<double> counts_;        ///< elements that are computed
};

}  // namespace

Recomputed recomputed(const ir::Module& module, ir::CompId fused) {
  return Evaluations(module, Inliner(module).inlined(fused)).recomputed();
}

}  // namespace replay
