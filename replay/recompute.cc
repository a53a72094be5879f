// Index by index: a value that two users read at the same place is computed once for both, as emitters keep what they have just computed;
// a user that reads it at other places (through a broadcast, a transpose, a window) computes it again there.
#include <algorithm>
#include <set>

#include "replay/defuse.h"
#include "replay/order.h"
#include "src/ir/attr.h"
#include "src/ir/cost.h"

namespace replay {
namespace {

using Id = ir::InstrId;

constexpr int kMostNested = 8;      ///< of fusions in fusions
constexpr size_t kMostPlaces = 64;  ///< kept apart; what is used at more places counts all as different

/// Reads what its operands have stored: computing these anew for each use would be absurd.
bool reads_stored(ir::Op op) {
  const ir::OpClass cls = ir::info(op).cls;
  return cls == ir::OpClass::contract || cls == ir::OpClass::control || op == ir::Op::sort || op == ir::Op::scatter || op == ir::Op::fft ||
         op == ir::Op::cholesky || op == ir::Op::triangular_solve || op == ir::Op::topk || op == ir::Op::scan;
}

double size_of(const ir::Shape& shape) {
  if (shape.is_array()) return static_cast<double>(ir::elements(shape));
  double most = 1;
  for (const ir::Shape& element : shape.elements) most = std::max(most, size_of(element));
  return most;
}

class Evaluations {
 public:
  Evaluations(const ir::Module& module, ir::CompId id, int depth)
      : module_(module), id_(id), depth_(depth), comp_(module.comp(id)), places_(comp_.instrs.size()), counts_(comp_.instrs.size(), 0) {}

  double recomputed() {
    const std::vector<Id> order = topological(comp_);
    places_[static_cast<size_t>(comp_.root)] = {comp_.root};
    double extra = 0;
    for (size_t i = order.size(); i-- > 0;) {
      const Id id = order[i];
      count(id);
      const ir::Instr& instr = comp_.instrs[static_cast<size_t>(id)];
      if (instr.op == ir::Op::fusion && instr.calls.size() == 1 && depth_ < kMostNested)
        extra += Evaluations(module_, instr.calls[0], depth_ + 1).recomputed();
      const double elements = size_of(module_.shape(instr)), again = counts_[static_cast<size_t>(id)] - elements;
      if (again > 0) {
        const ir::Cost cost = ir::cost(module_, {id_, id}, ir::CostMethod::nominal);
        extra += again / elements * (cost.flops + cost.transcendentals);
      }
      for (const Id operand : instr.operands) read(id, operand);
    }
    return extra;
  }

 private:
  /// Sum over the places where it is read; of itself: each element once.
  void count(Id id) {
    double sum = 0;
    for (const Id place : places_[static_cast<size_t>(id)]) {
      sum += place == id ? size_of(shape(id)) : counts_[static_cast<size_t>(place)] * reads(place, id);
    }
    counts_[static_cast<size_t>(id)] = sum;
  }

  void read(Id user, Id operand) {
    auto& places = places_[static_cast<size_t>(operand)];
    const ir::Op op = comp_.instrs[static_cast<size_t>(user)].op;
    if (reads_stored(op)) {
      places.insert(operand);
    } else if ((ir::is_elementwise(op) || ir::info(op).cls == ir::OpClass::alias) && places.size() < kMostPlaces) {
      const bool tuple = op == ir::Op::tuple;  // each element is written once, at its own places
      if (tuple) {
        places.insert(operand);
      } else {
        for (const Id place : places_[static_cast<size_t>(user)]) places.insert(place == user ? operand : place);
      }
    } else {
      places.insert(user);
    }
  }

  /// Elements of `operand` that one element of `user` needs.
  double reads(Id user, Id operand) const {
    const ir::Instr& instr = comp_.instrs[static_cast<size_t>(user)];
    if (instr.op == ir::Op::reduce) return std::max(1.0, size_of(shape(operand)) / size_of(shape(user)));
    if (instr.op != ir::Op::reduce_window) return 1;
    const auto window = ir::attr_window(module_, instr);
    double count = 1;
    if (window.ok()) {
      for (const ir::WindowDim& dim : *window) count *= static_cast<double>(dim.size);
    }
    return count;
  }

  const ir::Shape& shape(Id id) const { return module_.shape(comp_.instrs[static_cast<size_t>(id)]); }

  const ir::Module& module_;
  ir::CompId id_;
  int depth_;
  const ir::Computation& comp_;
  std::vector<std::set<Id>> places_;  ///< users that read it at places of their own; itself: at each of its own once
  std::vector<double> counts_;        ///< elements that are computed
};

}  // namespace

double recomputed_flops(const ir::Module& module, ir::CompId fused) { return Evaluations(module, fused, 0).recomputed(); }

}  // namespace replay
