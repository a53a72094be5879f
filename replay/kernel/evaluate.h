// Values of instructions at places: lowering pulls each output element through the ops until it reaches loads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/kernel/arithmetic.h"
#include "replay/kernel/nest.h"
#include "replay/kernel/place.h"
#include "replay/kernel/ref.h"
#include "replay/rounding.h"
#include "src/base/result.h"
#include "src/ir/attr.h"
#include "src/ir/module.h"

namespace kernel {

inline constexpr int64_t kMostSerial = 8192;  ///< elements that a single thread may work through

class Evaluator {
 public:
  Evaluator(const ir::Module& module, replay::Rounding rounding, Lowered& out) : module_(module), rounding_(rounding), out_(out) {}

  /// Frame 0: `body` is a computation whose parameters are the operands, or one instruction whose operands are.
  void open(ir::InstrRef instr);
  Ref root() const { return root_; }

  /// Element `place` of leaf `path`; not yet rounded to a small float where only borders round.
  base::Result<NodeId> value(Ref ref, const std::vector<int64_t>& path, const Place& place);

  const ir::Instr& instr(Ref ref) const { return module_.instr(frames_[static_cast<size_t>(ref.frame)].comp, ref.instr); }
  const ir::Shape& shape(Ref ref) const { return module_.shape(instr(ref)); }
  const ir::Shape& shape(Ref ref, const std::vector<int64_t>& path) const;
  Ref operand(Ref ref, size_t k) const;
  /// Looks through tuples, elements of tuples, calls and parameters that are bound.
  Maker maker(Ref ref, std::vector<int64_t> path) { return maker(ref, std::move(path), Calls::enter); }
  bool is_input(Ref ref) const;
  int input_leaf(Ref ref, const std::vector<int64_t>& path) const;  ///< its array
  Graph& graph() { return out_.graph; }
  const ir::Module& module() const { return module_; }
  bool rounds_each() const { return rounding_ == replay::Rounding::each; }
  base::Error unsupported(Ref ref, std::string_view why) const;

  /// A nest begins: values depend on its loops, so nothing is remembered.
  void begin(Nest& nest);
  /// Loop variables for a dimension that may have been split: the index that runs over 0 … extent-1.
  Index loops_of(const std::string& key, int64_t extent, std::vector<TermId>& loops);
  const LoopOf& loop_of(TermId variable) const { return loop_of_.at(variable); }
  /// The attempt ends; the next one finds the result of the reduction in memory.
  base::Error in_memory_first(Ref reduction);
  /// Adds what `terms.wish` asks for; false if there was none.
  bool take_wish();

  std::optional<PlacedReduction> first_reduction;  ///< of the nest
  /// Where a reduction reads its operand for element `place` in step `step` of what it combines.
  Place reduced_place(Ref reduction, const Place& place, const Index& step);
  /// Does the node need the result of a reduction of stage `first` or a later one?
  bool needs_stage(NodeId node, size_t first) const;
  size_t add_stage(Stage stage, int64_t count, const Index& step);

  Retry retry;
  bool cuts_allowed = true, outer_allowed = true;
  int64_t map_elements = 0;  ///< iterations of the nest's own loops, where its roots are no reductions
  std::map<std::pair<std::string, int>, std::pair<int64_t, int64_t>> pieces;  ///< loops (key, position) that run from … to below only
  std::map<std::string, std::vector<int64_t>> factors;                        ///< of loop dimensions by key, outermost first
  std::map<std::string, std::vector<int>> outer_factors;                      ///< positions in factors that are outer loops of the nest
  std::map<Ref, Materialised> materialised;

  /// A reduction becomes a stage of the current nest where its place covers the outer loops; elsewhere the attempt ends (see retry).
  base::Result<NodeId> reduction_value(Ref ref, const std::vector<int64_t>& path, const Place& place);
  /// n results of a computation on n or 2n values: reducers, maps, scatter combiners.
  base::Result<std::vector<NodeId>> apply(ir::CompId comp, std::span<const Typed> arguments);
  NodeId load(ir::Type type, int array, const Index& at, Held held);
  void store(std::vector<Store>& to, int array, const Index& at, Typed value, Held held);
  Tap tap(const ir::WindowDim& window, const Index& place, const Index& step, int64_t size);
  /// Pairs as their parts, and back.
  std::vector<NodeId> flattened(std::span<const NodeId> nodes);
  std::vector<NodeId> paired(std::span<const NodeId> flat, std::span<const ir::Type> types);
  /// A sum without values; nodes for the results of a reduction that has values.
  Reduction sum_of(ir::Type type);
  void name_results(Reduction& reduction);
  NodeId in_range(const Index& index, int64_t low, int64_t high);
  Index clamped(const Index& index, int64_t low, int64_t high);
  /// An integer value as an index, clamped to [low, high].
  Index clamped_value(Typed value, int64_t low, int64_t high);
  NodeId round_result(NodeId node, ir::Type type) { return rounds_each() ? rounded(graph(), node, type) : node; }

 private:
  struct Frame {
    ir::CompId comp = 0;
    int parent = -1;
    ir::InstrId caller = -1;
    std::vector<Typed> bound;  ///< parameters that are values
    bool single = false;       ///< operands are inputs
  };
  int frame_of(Ref caller, ir::CompId comp);
  enum class Calls : uint8_t { enter, stop_at };
  Maker maker(Ref ref, std::vector<int64_t> path, Calls calls);
  base::Result<NodeId> compute(Ref ref, const std::vector<int64_t>& path, const Place& place);
  base::Result<NodeId> materialised_value(Ref ref, const Materialised& stored, const std::vector<int64_t>& path, const Place& place);
  base::Result<NodeId> input(Ref ref, int leaf, const std::vector<int64_t>& path, const Place& place);
  base::Result<NodeId> constant(Ref ref, const Place& place);
  base::Result<NodeId> arithmetic(Ref ref, const Place& place);
  base::Result<NodeId> bitcast_convert(Ref ref, const Place& place);
  base::Result<NodeId> bitcast(Ref ref, const Place& place);
  base::Result<NodeId> moved(Ref ref, const std::vector<int64_t>& path, const Place& place);
  base::Result<NodeId> pad(Ref ref, const Place& place);
  base::Result<NodeId> concatenate(Ref ref, const Place& place);
  base::Result<NodeId> dynamic_slice(Ref ref, const Place& place);
  base::Result<NodeId> dynamic_update_slice(Ref ref, const Place& place);
  base::Result<NodeId> gather(Ref ref, const Place& place);
  base::Result<NodeId> map(Ref ref, const Place& place);
  base::Result<std::vector<Typed>> terms_of(Ref ref, const Place& place, const Index& step, const Reduction& reducer, Place* operand_place);
  base::Result<std::vector<Typed>> window_terms(Ref ref, const Place& place, const Index& step, const Reduction& reducer);
  base::Result<std::vector<Typed>> product_terms(Ref ref, const Place& place, const Index& step);
  bool covers_outer(const std::vector<int64_t>& sizes, const Place& place) const;
  int64_t serial_cost(Ref ref) const;
  std::vector<TermId> exact_loops(const std::vector<int64_t>& sizes, const Place& place) const;
  base::Result<std::vector<Typed>> terms_in_stage(Ref ref, const Place& place, const Reduction& reducer, size_t& stage);
  base::Result<std::vector<Typed>> convolution_terms(Ref ref, const Place& place, const Index& step);
  base::Result<Typed> product_of(Ref ref, const Place& left, const Place& right);
  base::Result<std::vector<int64_t>> steps_of(Ref ref);
  base::Result<Reduction> reducer(Ref ref);
  base::Result<std::vector<NodeId>> combined_by(ir::CompId comp, std::span<const ir::Type> types, int64_t guards);
  base::Result<Reduction> guarded(ir::CompId comp, std::span<const ir::Type> types, Reduction reduction);
  ir::Type sum_type(Ref ref) const;
  std::vector<ir::Type> reduced_types(Ref ref) const;
  base::Result<NodeId> result_of_nothing(Ref ref, size_t leaf);
  base::Result<std::vector<NodeId>> with_start(Ref ref, const Reduction& reduction);

  const ir::Module& module_;
  replay::Rounding rounding_;
  Lowered& out_;
  std::vector<Frame> frames_;
  std::vector<const ir::Shape*> inputs_;  ///< as they are in memory
  std::map<std::pair<ir::CompId, std::vector<Maker>>, int> frame_index_;
  Ref root_;
  Nest* nest_ = nullptr;
  struct StageLoops {
    int64_t count;
    Index step;
  };
  std::vector<StageLoops> stage_loops_;  ///< per stage of nest_: its loops as one number that runs over 0 … count-1
  std::unordered_map<std::string, NodeId> memo_;
  std::unordered_map<std::string, std::vector<NodeId>> reductions_;
  std::map<TermId, LoopOf> loop_of_;
  int depth_ = 0;
  int64_t results_ = 0;
  int inside_reduction_ = 0;
};

}  // namespace kernel
