// State of lowering one instruction: see lower.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/kernel/evaluate.h"

namespace kernel {

/// A leaf of the root and the array where it goes.
struct Root {
  Ref ref;
  std::vector<int64_t> path;
  const ir::Shape* shape = nullptr;
  int array = 0;
  bool stored_type = true;       ///< false: a materialised result, kept in its register type
  std::optional<Ref> reduction;  ///< the reduction whose elements its own correspond to
};

struct Group {
  std::vector<Root> roots;
  std::string signature;  ///< equal signatures share a nest
  int64_t elements = 0;   ///< of the space; maps of as many elements may join
  bool reduces = false;
};

class Lowering {
 public:
  Lowering(const ir::Module& module, replay::Rounding rounding) : module_(module), evaluator_(module, rounding, out_) {}
  base::Result<Lowered> run(ir::InstrRef instr);

 private:
  std::optional<Ref> reduction_below(Ref ref, std::vector<int64_t> path);
  std::string reduced_pattern(Ref reduction);
  std::vector<Group> group(const std::vector<Root>& roots);
  base::Status lower_groups(const std::vector<Group>& groups);
  base::Result<bool> materialise_together(const std::set<Ref>& reductions);
  base::Status lower_group(const Group& group);
  base::Status materialise(Ref reduction);
  using Piece = std::map<std::pair<std::string, int>, std::pair<int64_t, int64_t>>;
  using Attempt = std::function<base::Status(Nest&)>;
  base::Status lower_with(const Attempt& make, bool cuts);
  base::Status lower_updates(std::vector<Root>& roots);
  // lower_whole.cc: ops whose result is made as a whole, in memory
  base::Result<Materialised> lower_whole(Ref ref, const std::vector<Root>& targets);
  base::Status lower_scatter(Ref scatter, const std::vector<Root>& targets);
  base::Result<Materialised> lower_sort(Ref ref);
  base::Status lower_pick(Ref ref, const Root& target);
  base::Result<Materialised> lower_steps(Ref ref);
  base::Status lower_update_slice(Ref update, const Root& target);
  base::Status copy_first(Ref from, const Root& to);
  int operand_array(Ref ref);
  void start_anew();
  base::Result<std::vector<Root>> attempt(const Group& group, Nest& nest);
  base::Status add_finish(const Root& root, Nest& nest);
  enum class Joined : uint8_t { yes, no };
  base::Result<Joined> add_map(const Root& root, Nest& nest);
  base::Status add_own_stage(const Root& root);
  base::Status put(std::vector<Store>& stores, const Root& root, const ir::Shape& as, const Place& place);
  base::Result<bool> learn();
  int add_array(int64_t bytes);
  static int64_t computed_bytes(const ir::Shape& shape);

  const ir::Module& module_;
  Lowered out_;
  Evaluator evaluator_;
  Index map_linear_;
  int depth_ = 0;
};

}  // namespace kernel
