// All devices side by side: each has an interpreter and a frame; instructions are taken in order, each on every device before the next, so
// that a collective finds what it exchanges. Computations with an exchange inside are walked the same way, all others are evaluated by
// each device alone.
#include "replay/reference/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>

#include "replay/callees.h"
#include "replay/reference/combiner.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

using base::Error;
using base::Result;
using base::Status;
using PerDevice = std::vector<Leaves>;  ///< values of one instruction
using Op = ir::Op;

constexpr int64_t kMostTrips = 1'000'000;

bool exchanges(Op op) { return ir::info(op).cls == ir::OpClass::collective && !std::string_view(ir::text(op)).ends_with("-done"); }

/// Elements of an array, cut along a dimension: `from` of `to_dims` places at `begin` of another of `from_dims`.
Indices part_of(const std::vector<int64_t>& from_dims, const std::vector<int64_t>& to_dims, size_t along, int64_t begin) {
  Indices all(static_cast<size_t>(ir::elements(ir::array_shape(ir::Type::u8, to_dims))));
  std::iota(all.begin(), all.end(), 0);
  const Indices strides = row_major(from_dims);
  return affine(to_dims, strides, begin * strides[along], all);
}

/// An instruction on all devices.
struct At {
  ir::CompId comp;
  ir::InstrId id;
  std::vector<Frame>& frames;
  const ir::Instr& instr;
};

class Machine {
 public:
  Machine(const ir::Module& module, Rounding rounding, const Devices& devices) : module_(module), devices_(devices) {
    for (int64_t d = 0; d < devices.count(); ++d) {
      in_.push_back(std::make_unique<Interpreter>(module, rounding));
      in_.back()->be_device(d / devices.partitions, d % devices.partitions);
    }
    for (size_t c = 0; c < module.computations.size(); ++c) (void)has_exchange(static_cast<ir::CompId>(c));
  }

  /// `arguments`: by device and parameter.
  Result<PerDevice> run(ir::CompId comp, const std::vector<std::vector<Leaves>>& arguments);

  const ir::Module& module() const { return module_; }
  Interpreter& in(size_t device) { return *in_[device]; }
  Error failure(const At& at, std::string_view why) const {
    return Error{fmt::format("reference: {} ({}) {}", module_.name_of(at.instr), ir::text(at.instr.op), why)};
  }
  Values whole(size_t device, const ArrayPtr& array) {
    Indices all(static_cast<size_t>(ir::elements(array->shape)));
    std::iota(all.begin(), all.end(), 0);
    return load(*in_[device], *array, all);
  }
  Values combined(const At& at, const std::vector<int64_t>& group, size_t k);

 private:
  bool has_exchange(ir::CompId comp);
  size_t count() const { return in_.size(); }
  Status take_failures();

  Result<PerDevice> visit(const At& at);
  Result<PerDevice> control(const At& at);
  Result<PerDevice> loop(const At& at);
  Result<PerDevice> branch(const At& at);
  Result<std::vector<int64_t>> scalars(const PerDevice& values);
  PerDevice operand(const At& at, size_t k);

  Result<PerDevice> exchange(const At& at);
  Status between(const At& at, const std::vector<int64_t>& group, PerDevice& out);

  const ir::Module& module_;
  Devices devices_;
  std::vector<std::unique_ptr<Interpreter>> in_;
  std::vector<int> exchange_{};  ///< by computation: 0 not known, 1 no, 2 yes
};

bool Machine::has_exchange(ir::CompId comp) {
  if (exchange_.empty()) exchange_.resize(module_.computations.size());
  int& known = exchange_[static_cast<size_t>(comp)];
  if (known != 0) return known == 2;
  known = 1;  // a computation that calls itself
  bool any = false;
  for (const ir::Instr& instr : module_.comp(comp).instrs) {
    any = any || exchanges(instr.op);
    for (const ir::CompId callee : instr.calls) any = has_exchange(callee) || any;
  }
  exchange_[static_cast<size_t>(comp)] = any ? 2 : 1;
  return any;
}

Status Machine::take_failures() {
  for (const auto& in : in_) RETURN_IF_ERROR(in->take_failure());
  return {};
}

Result<PerDevice> Machine::run(ir::CompId comp, const std::vector<std::vector<Leaves>>& arguments) {
  const ir::Computation& computation = module_.comp(comp);
  std::vector<Frame> frames(count());
  for (size_t d = 0; d < count(); ++d) {
    frames[d].comp = comp;
    frames[d].round = Round::each;
    for (size_t k = 0; k < computation.parameters.size() && k < arguments[d].size(); ++k)
      frames[d].given[computation.parameters[k]] = arguments[d][k];
  }
  for (const ir::InstrId id : operands_first(computation)) {
    ASSIGN_OR_RETURN(PerDevice made, visit({comp, id, frames, computation.instrs[static_cast<size_t>(id)]}));
    for (size_t d = 0; d < count(); ++d) frames[d].given[id] = std::move(made[d]);
  }
  PerDevice root;
  for (Frame& frame : frames) root.push_back(frame.given[computation.root]);
  return root;
}

Result<PerDevice> Machine::visit(const At& at) {
  if (exchanges(at.instr.op)) return exchange(at);
  if (std::ranges::any_of(at.instr.calls, [&](ir::CompId callee) { return has_exchange(callee); })) return control(at);
  PerDevice out;
  for (size_t d = 0; d < count(); ++d) {
    out.push_back(in_[d]->materialise(at.frames[d], at.id));
    at.frames[d].inner.clear(), at.frames[d].notes.clear(), at.frames[d].dense.clear();
  }
  RETURN_IF_ERROR(take_failures());
  return out;
}

PerDevice Machine::operand(const At& at, size_t k) {
  PerDevice out;
  for (Frame& frame : at.frames) out.push_back(frame.given[at.instr.operands.at(k)]);
  return out;
}

/// Calls: the operands are the arguments. An asynchronous start gives operands, results, and nothing for its contexts.
Result<PerDevice> Machine::control(const At& at) {
  if (at.instr.op == Op::while_) return loop(at);
  if (at.instr.op == Op::conditional) return branch(at);
  if (at.instr.op != Op::call && at.instr.op != Op::fusion && at.instr.op != Op::async_start)
    return failure(at, "does not take computations that exchange");
  std::vector<std::vector<Leaves>> arguments(count());
  for (size_t k = 0; k < at.instr.operands.size(); ++k) {
    const PerDevice values = operand(at, k);
    for (size_t d = 0; d < count(); ++d) arguments[d].push_back(values[d]);
  }
  ASSIGN_OR_RETURN(PerDevice made, run(at.instr.calls.at(0), arguments));
  if (at.instr.op != Op::async_start) return made;
  const auto leaves = ir::leaves(module_.shape(at.instr));
  for (size_t d = 0; d < count(); ++d) {
    Leaves all;
    for (const Leaves& argument : arguments[d]) all.insert(all.end(), argument.begin(), argument.end());
    all.insert(all.end(), made[d].begin(), made[d].end());
    while (all.size() < leaves.size())
      all.push_back(in_[d]->pack(zeros(leaves[all.size()].shape->type, static_cast<size_t>(ir::elements(*leaves[all.size()].shape))),
                                 *leaves[all.size()].shape));
    made[d] = std::move(all);
  }
  return made;
}

/// The one integer of each device's array.
Result<std::vector<int64_t>> Machine::scalars(const PerDevice& values) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < count(); ++d) out.push_back(values[d].empty() ? 0 : load(*in_[d], *values[d][0], {0}).integer.at(0));
  RETURN_IF_ERROR(take_failures());
  return out;
}

bool alike(const std::vector<int64_t>& values) { return std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end(); }

Result<PerDevice> Machine::loop(const At& at) {
  const auto conditions = ir::attr_calls(module_, at.instr, "condition"), bodies = ir::attr_calls(module_, at.instr, "body");
  PerDevice state = operand(at, 0);
  for (int64_t trips = 0; trips < kMostTrips; ++trips) {
    std::vector<std::vector<Leaves>> arguments;
    for (const Leaves& leaves : state) arguments.push_back({leaves});
    ASSIGN_OR_RETURN(const PerDevice predicate, run(conditions.at(0), arguments));
    ASSIGN_OR_RETURN(const std::vector<int64_t> again, scalars(predicate));
    if (!alike(again)) return failure(at, "exchanges in its body, but ends on some devices before others");
    if (again[0] == 0) return state;
    ASSIGN_OR_RETURN(state, run(bodies.at(0), arguments));
  }
  return failure(at, fmt::format("still goes on after {} trips", kMostTrips));
}

Result<PerDevice> Machine::branch(const At& at) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> selected, scalars(operand(at, 0)));
  if (!alike(selected)) return failure(at, "exchanges in a branch that not all devices take");
  const auto branches = branches_of(module_, at.instr);
  const bool by_pred = module_.shape(module_.instr(at.comp, at.instr.operands.at(0))).type == ir::Type::pred;
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  const int64_t index = by_pred ? (selected[0] != 0 ? 0 : 1) : selected[0] < 0 || selected[0] > last ? last : selected[0];
  std::vector<std::vector<Leaves>> arguments;
  for (const Leaves& leaves : operand(at, static_cast<size_t>(index) + 1)) arguments.push_back({leaves});
  return run(branches.at(static_cast<size_t>(index)), arguments);
}

/// Σ (or whatever to_apply computes) of operand k over a group, rounded once.
Values Machine::combined(const At& at, const std::vector<int64_t>& group, size_t k) {
  const auto device = [&](int64_t member) { return static_cast<size_t>(member); };
  Interpreter& in = *in_[device(group[0])];
  const ir::InstrId id = at.instr.operands[k];
  std::vector<Values> acc;
  acc.push_back(whole(device(group[0]), at.frames[device(group[0])].given[id].at(0)));
  Indices all(size(acc[0]));
  std::iota(all.begin(), all.end(), 0);
  Combiner combiner(in, at.instr.calls.at(0));
  for (size_t m = 1; m < group.size(); ++m) {
    std::vector<Values> next;
    next.push_back(whole(device(group[m]), at.frames[device(group[m])].given[id].at(0)));
    combiner.combine(acc, all, next);
  }
  in.round(at.frames[device(group[0])], acc[0].type, acc[0]);
  return std::move(acc[0]);
}

/// What a collective puts into its result: starts of gathers and permutes give the operands first.
struct Layout {
  size_t first = 0;  ///< leaf of the first result
};
Layout layout_of(const ir::Instr& instr) {
  const bool operands_first = instr.op == Op::all_gather_start || instr.op == Op::collective_permute_start;
  return {operands_first ? instr.operands.size() : 0};
}

Result<PerDevice> Machine::exchange(const At& at) {
  const bool permutes = at.instr.op == Op::collective_permute || at.instr.op == Op::collective_permute_start;
  const auto groups = permutes ? pairs_of(module_, at.instr, devices_) : groups_of(module_, at.instr, devices_);
  if (!groups.ok()) return failure(at, groups.error().message);
  const auto leaves = ir::leaves(module_.shape(at.instr));
  PerDevice out(count());
  for (size_t d = 0; d < count(); ++d) {
    for (const ir::Leaf& leaf : leaves) {  // devices in no group, contexts of starts: zeros
      const auto n = leaf.shape->is_array() ? static_cast<size_t>(ir::elements(*leaf.shape)) : 0;
      out[d].push_back(in_[d]->pack(zeros(leaf.shape->type, n), *leaf.shape));
    }
    for (size_t k = 0; k < layout_of(at.instr).first && k < out[d].size(); ++k) out[d][k] = at.frames[d].given[at.instr.operands[k]].at(0);
  }
  for (const auto& group : *groups) RETURN_IF_ERROR(between(at, group, out));
  RETURN_IF_ERROR(take_failures());
  return out;
}

/// One group's part of a collective.
class Exchange {
 public:
  Exchange(Machine& machine, const At& at, const std::vector<int64_t>& group, PerDevice& out)
      : machine_(machine),
        at_(at),
        group_(group),
        out_(out),
        first_(layout_of(at.instr).first),
        members_(static_cast<int64_t>(group.size())),
        leaves_(ir::leaves(machine.module().shape(at.instr))) {
    const std::vector<int64_t> dims = ir::attr_dims(machine.module(), at.instr, "dimensions");
    along_ = dims.empty() ? -1 : dims[0];
  }
  Status run();

 private:
  size_t operands() const { return at_.instr.operands.size(); }
  const ir::Shape& operand(size_t k) const { return machine_.module().shape(machine_.module().instr(at_.comp, at_.instr.operands[k])); }
  const ir::Shape& result(size_t k) const { return *leaves_.at(first_ + k).shape; }
  size_t along() const { return static_cast<size_t>(along_); }
  Values given(int64_t member, size_t k) const {
    const auto device = static_cast<size_t>(group_[static_cast<size_t>(member)]);
    return machine_.whole(device, at_.frames[device].given[at_.instr.operands[k]].at(0));
  }
  void keep(int64_t member, size_t k, Values values) const {
    const auto device = static_cast<size_t>(group_[static_cast<size_t>(member)]);
    out_[device].at(first_ + k) = machine_.in(device).pack(std::move(values), result(k));
  }
  /// `whole` has as many times the places of `part` along the dimension as there are members.
  Status fits(const ir::Shape& part, const ir::Shape& whole) const {
    const bool ranks = along_ >= 0 && along_ < part.rank() && part.rank() == whole.rank();
    if (ranks && part.dims[along()] * members_ == whole.dims[along()]) return {};
    return machine_.failure(at_, "has groups that do not fit its sizes");
  }
  Indices piece(const ir::Shape& whole, const ir::Shape& part, int64_t number) const {
    return part_of(whole.dims, part.dims, along(), number * part.dims[along()]);
  }

  Status permute() {
    for (size_t k = 0; k < operands(); ++k) keep(1, k, given(0, k));
    return {};
  }
  Status broadcast() {
    for (size_t k = 0; k < operands(); ++k) {
      for (int64_t m = 0; m < members_; ++m) keep(m, k, given(0, k));
    }
    return {};
  }
  Status reduce() {
    for (size_t k = 0; k < operands(); ++k) {
      const Values sum = machine_.combined(at_, group_, k);
      for (int64_t m = 0; m < members_; ++m) keep(m, k, sum);
    }
    return {};
  }
  Status scatter() {
    for (size_t k = 0; k < operands(); ++k) {
      RETURN_IF_ERROR(fits(result(k), operand(k)));
      const Values sum = machine_.combined(at_, group_, k);
      for (int64_t m = 0; m < members_; ++m) keep(m, k, take(sum, piece(operand(k), result(k), m)));
    }
    return {};
  }
  Status gather() {
    for (size_t k = 0; k < operands(); ++k) {
      RETURN_IF_ERROR(fits(operand(k), result(k)));
      Values all = zeros(result(k).type, static_cast<size_t>(ir::elements(result(k))));
      for (int64_t m = 0; m < members_; ++m) put(all, piece(result(k), operand(k), m), given(m, k));
      for (int64_t m = 0; m < members_; ++m) keep(m, k, all);
    }
    return {};
  }
  /// Piece m of a member's operand goes to member m; without a dimension operand m does.
  Status to_all() {
    if (along_ < 0) {
      if (static_cast<int64_t>(operands()) != members_) return machine_.failure(at_, "has groups of another size than it has operands");
      for (int64_t m = 0; m < members_; ++m) {
        for (size_t k = 0; k < operands(); ++k) keep(m, k, given(static_cast<int64_t>(k), static_cast<size_t>(m)));
      }
      return {};
    }
    ir::Shape part = operand(0);
    part.dims.at(along()) /= members_;
    RETURN_IF_ERROR(fits(part, operand(0)));
    for (int64_t m = 0; m < members_; ++m) {
      Values all = zeros(result(0).type, static_cast<size_t>(ir::elements(result(0))));
      for (int64_t from = 0; from < members_; ++from)
        put(all, piece(operand(0), part, from), take(given(from, 0), piece(operand(0), part, m)));
      keep(m, 0, std::move(all));
    }
    return {};
  }

  struct Row {
    Op op;
    Status (Exchange::*act)();
  };
  static constexpr Row kRows[] = {
      {Op::collective_permute, &Exchange::permute},
      {Op::collective_permute_start, &Exchange::permute},
      {Op::collective_broadcast, &Exchange::broadcast},
      {Op::all_reduce, &Exchange::reduce},
      {Op::all_reduce_start, &Exchange::reduce},
      {Op::reduce_scatter, &Exchange::scatter},
      {Op::all_gather, &Exchange::gather},
      {Op::all_gather_start, &Exchange::gather},
      {Op::all_to_all, &Exchange::to_all},
  };

  Machine& machine_;
  const At& at_;
  const std::vector<int64_t>& group_;
  PerDevice& out_;
  size_t first_;
  int64_t members_, along_ = -1;
  std::vector<ir::Leaf> leaves_;
};

Status Exchange::run() {
  const auto row = std::ranges::find(kRows, at_.instr.op, &Row::op);
  if (row == std::end(kRows)) return machine_.failure(at_, "is not simulated");
  return (this->*row->act)();
}

Status Machine::between(const At& at, const std::vector<int64_t>& group, PerDevice& out) { return Exchange(*this, at, group, out).run(); }

}  // namespace

Devices devices_of(const ir::Module& module) {
  const auto number = [&](std::string_view key) {
    for (const ir::Attr& attr : module.attrs) {
      int64_t value = 1;
      const std::string_view text = module.text(attr.text);
      if (module.text(attr.key) == key && std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
        return std::max<int64_t>(1, value);
    }
    return int64_t{1};
  };
  return {number("replica_count"), number("num_partitions")};
}

Result<std::vector<Tensor>> run_on_devices(const ir::Module& module, Rounding rounding, const Devices& devices,
                                           const std::vector<std::vector<Tensor>>& arguments) {
  const ir::Computation& entry = module.comp(module.entry);
  if (static_cast<int64_t>(arguments.size()) != devices.count())
    return Error{fmt::format("reference: {} devices, arguments for {}", devices.count(), arguments.size())};
  std::vector<std::vector<Leaves>> leaves(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    if (arguments[d].size() != entry.parameters.size())
      return Error{fmt::format("reference: {} takes {} arguments, {} are given", module.text(entry.name), entry.parameters.size(),
                               arguments[d].size())};
    for (const Tensor& tensor : arguments[d]) leaves[d].push_back(leaves_of(tensor));
  }
  Machine machine(module, rounding, devices);
  ASSIGN_OR_RETURN(const PerDevice made, machine.run(module.entry, leaves));
  std::vector<Tensor> out;
  for (const Leaves& root : made) out.push_back(tensor_of(module.shape(entry.instrs[static_cast<size_t>(entry.root)]), root));
  return out;
}

}  // namespace replay::reference
