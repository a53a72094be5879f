// A fusion is built beside what it replaces: its body holds copies of the two instructions, the consumer becomes an element of its result
// (or the result), and a producer that nobody else reads becomes an empty tuple, for which nothing is launched. So ids stay, and a pair is
// judged by building it: its traffic, its recomputation and its kernel are those of what would run.
#include "replay/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "replay/defuse.h"
#include "replay/editor.h"
#include "replay/trip_count.h"
#include "src/base/text.h"
#include "src/ir/attr.h"
#include "src/ir/cost.h"
#include "src/stats/paired.h"

namespace replay {
namespace {

using Id = ir::InstrId;

/// Pairs of one program that are looked at closely, by the size of what flows between them: each takes a copy of the program.
size_t most_built(const ir::Module& module) {
  size_t instructions = 1;
  for (const ir::Computation& comp : module.computations) instructions += comp.instrs.size();
  return std::clamp<size_t>(2'000'000 / instructions, 10, 200);
}

const ir::Instr& at(const ir::Module& module, ir::CompId comp, Id id) { return module.instr(comp, id); }

/// The body of a fusion that is one kernel of ours: no product, which a library computes better, no loop, no talk to others.
bool is_plain_body(const ir::Module& module, ir::CompId id, int depth) {
  if (depth > 20) return false;
  return std::ranges::all_of(module.comp(id).instrs, [&](const ir::Instr& instr) {
    const ir::OpClass cls = ir::info(instr.op).cls;
    if (instr.op == ir::Op::fusion) return instr.calls.size() == 1 && is_plain_body(module, instr.calls[0], depth + 1);
    return cls != ir::OpClass::contract && cls != ir::OpClass::control && cls != ir::OpClass::collective && cls != ir::OpClass::order &&
           cls != ir::OpClass::other;
  });
}

/// Runs as a kernel of ours.
bool is_kernel(const ir::Module& module, const ir::Instr& instr) {
  const bool ordered = std::ranges::any_of(instr.attrs, [&](const ir::Attr& a) { return module.text(a.key) == "control-predecessors"; });
  if (ordered) return false;
  if (instr.op == ir::Op::fusion) return instr.calls.size() == 1 && is_plain_body(module, instr.calls[0], 0);
  const ir::OpClass cls = ir::info(instr.op).cls;
  const bool dynamic = instr.op == ir::Op::set_dimension_size || instr.op == ir::Op::dynamic_reshape || instr.op == ir::Op::copy_start;
  return !dynamic && (ir::is_elementwise(instr.op) || cls == ir::OpClass::move || cls == ir::OpClass::reduce);
}

bool is_passing(ir::Op op) { return op == ir::Op::get_tuple_element || op == ir::Op::bitcast; }

/// Who reads what in a computation.
std::vector<std::vector<Id>> users_of(const ir::Computation& comp) {
  std::vector<std::vector<Id>> users(comp.instrs.size());
  for (size_t id = 0; id < comp.instrs.size(); ++id) {
    for (const Id operand : comp.instrs[id].operands) {
      auto& list = users[static_cast<size_t>(operand)];
      if (list.empty() || list.back() != static_cast<Id>(id)) list.push_back(static_cast<Id>(id));
    }
  }
  return users;
}

/// Builds one fusion.
class Builder {
 public:
  Builder(ir::Module& module, Neighbours pair) : module_(module), pair_(pair), users_(users_of(module.comp(pair.comp))) {}

  base::Status build() {
    RETURN_IF_ERROR(check());
    ir::Computation body = make_body();
    const ir::ShapeId result = body.instrs[static_cast<size_t>(body.root)].shape;
    module_.computations.push_back(std::move(body));
    put(result, static_cast<ir::CompId>(module_.computations.size()) - 1);
    return {};
  }
  /// Of the fusion, once it is built.
  ir::InstrRef fusion() const { return {pair_.comp, fusion_}; }

 private:
  const ir::Instr& instr(Id id) const { return at(module_, pair_.comp, id); }
  std::string shown(Id id) const { return base::escaped(module_.name_of(instr(id))); }

  base::Status check() {
    for (const Id id : {pair_.producer, pair_.consumer}) {
      if (!is_kernel(module_, instr(id))) return base::Error{fmt::format("{}: is no kernel that could be part of a fusion", shown(id))};
    }
    links_ = links();
    const auto& operands = instr(pair_.consumer).operands;
    if (std::ranges::none_of(operands, [&](Id id) { return links_.contains(id); }))
      return base::Error{fmt::format("{}: does not read {}", shown(pair_.consumer), shown(pair_.producer))};
    if (const Id around = way_around(); around >= 0)
      return base::Error{
          fmt::format("{} and {}: {} runs between them and needs the first", shown(pair_.producer), shown(pair_.consumer), shown(around))};
    shared_ = is_shared();
    return {};
  }

  /// The producer and what only names parts of its result.
  std::set<Id> links() const {
    std::set<Id> found{pair_.producer};
    std::vector<Id> open{pair_.producer};
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      for (const Id user : users_[static_cast<size_t>(id)]) {
        if (is_passing(instr(user).op) && found.insert(user).second) open.push_back(user);
      }
    }
    return found;
  }

  /// An instruction that needs the producer and that the consumer needs; -1: none.
  Id way_around() const {
    std::set<Id> seen;
    std::vector<Id> open;
    for (const Id operand : instr(pair_.consumer).operands) {
      if (!links_.contains(operand)) open.push_back(operand);
    }
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      for (const Id operand : instr(id).operands) {
        if (links_.contains(operand)) return id;
        open.push_back(operand);
      }
    }
    return -1;
  }

  /// Does anybody else read the producer?
  bool is_shared() const {
    return std::ranges::any_of(links_, [&](Id link) {
      if (link == module_.comp(pair_.comp).root) return true;
      return std::ranges::any_of(users_[static_cast<size_t>(link)],
                                 [&](Id user) { return user != pair_.consumer && !links_.contains(user); });
    });
  }

  // --- the body ---------------------------------------------------------------------------------------------------------------------
  static Id add(ir::Computation& body, ir::Instr made) {
    body.instrs.push_back(std::move(made));
    return static_cast<Id>(body.instrs.size()) - 1;
  }

  /// Operand `id` of the caller within the body.
  Id inside(ir::Computation& body, Id id) {
    if (const auto known = placed_.find(id); known != placed_.end()) return known->second;
    ir::Instr made = instr(id);
    if (links_.contains(id)) {
      for (Id& operand : made.operands) operand = inside(body, operand);
    } else if (made.op != ir::Op::constant || module_.literal(made).elided || !module_.shape(made).dims.empty()) {
      ir::Instr parameter;
      parameter.name = made.name, parameter.shape = made.shape, parameter.offset = made.offset;
      parameter.number = static_cast<int64_t>(operands_.size());
      operands_.push_back(id);
      body.parameters.push_back(static_cast<Id>(body.instrs.size()));
      made = std::move(parameter);
    }
    return placed_[id] = add(body, std::move(made));
  }

  ir::Computation make_body() {
    ir::Computation body;
    name_ = fmt::format("{}+{}", module_.name_of(instr(pair_.producer)), module_.name_of(instr(pair_.consumer)));
    body.name = module_.strings.intern(name_ + ".body");
    ir::Instr consumer = instr(pair_.consumer);
    for (Id& operand : consumer.operands) operand = inside(body, operand);
    const Id made = add(body, std::move(consumer));
    body.root = made;
    if (!shared_ && module_.shape(instr(pair_.consumer)).is_array()) return body;
    std::vector<Id> values;
    take(body, made, values);
    if (shared_) take(body, placed_.at(pair_.producer), values);
    std::vector<ir::Shape> shapes;
    for (const Id value : values) shapes.push_back(module_.shape(body.instrs[static_cast<size_t>(value)]));
    ir::Instr tuple;
    tuple.name = module_.strings.intern(name_ + ".results"), tuple.op = ir::Op::tuple;
    tuple.shape = module_.intern(ir::tuple_shape(shapes));
    tuple.operands = std::move(values);
    body.root = add(body, std::move(tuple));
    return body;
  }

  ir::Instr element(Id tuple, const ir::Shape& shape, size_t index, const std::string& name) {
    ir::Instr made;
    made.name = module_.strings.intern(name), made.op = ir::Op::get_tuple_element, made.shape = module_.intern(shape);
    made.operands = {tuple};
    made.attrs.push_back({module_.strings.intern("index"), module_.strings.intern(std::to_string(index))});
    return made;
  }

  /// The elements of a value of the body, or itself.
  void take(ir::Computation& body, Id value, std::vector<Id>& values) {
    const ir::Shape shape = module_.shape(body.instrs[static_cast<size_t>(value)]);
    if (!shape.is_tuple()) {
      values.push_back(value);
      return;
    }
    for (size_t k = 0; k < shape.elements.size(); ++k)
      values.push_back(add(body, element(value, shape.elements[k], k, fmt::format("{}.element.{}", name_, values.size()))));
  }

  // --- the caller -------------------------------------------------------------------------------------------------------------------
  ir::Instr fusion_of(ir::ShapeId shape, ir::CompId body) {
    ir::Instr made;
    made.name = module_.strings.intern(name_), made.op = ir::Op::fusion, made.shape = shape;
    made.origin = instr(pair_.consumer).origin, made.offset = instr(pair_.consumer).offset;
    made.operands = operands_;
    made.calls = {body};
    const bool reduces = std::ranges::any_of(module_.comp(body).instrs, [](const ir::Instr& i) { return i.op == ir::Op::reduce; });
    made.attrs.push_back({module_.strings.intern("kind"), module_.strings.intern(reduces ? "kInput" : "kLoop")});
    made.attrs.push_back({module_.strings.intern("calls"), {}, 1});
    return made;
  }

  void put(ir::ShapeId shape, ir::CompId body) {
    ir::Instr made = fusion_of(shape, body);
    ir::Computation& comp = module_.comp(pair_.comp);
    const bool single = !module_.shape(shape).is_tuple();
    if (single) {
      fusion_ = pair_.consumer;
      comp.instrs[static_cast<size_t>(fusion_)] = std::move(made);
    } else {
      fusion_ = add(comp, std::move(made));
      size_t next = 0;
      become_elements(pair_.consumer, next);
      if (shared_) become_elements(pair_.producer, next);
    }
    if (shared_) return;
    for (const Id link : links_) become(link, ir::Op::tuple, {}, module_.intern(ir::tuple_shape({})));
  }

  void become(Id id, ir::Op op, std::vector<Id> operands, ir::ShapeId shape) {
    ir::Instr& changed = module_.comp(pair_.comp).instrs[static_cast<size_t>(id)];
    changed.op = op, changed.operands = std::move(operands), changed.shape = shape;
    changed.attrs.clear(), changed.calls.clear();
  }

  /// The instruction's value from the fusion's results [next, …).
  void become_elements(Id id, size_t& next) {
    const ir::Instr old = instr(id);
    const ir::Shape shape = module_.shape(old);
    const std::string name(module_.name_of(old));
    ir::Computation& comp = module_.comp(pair_.comp);
    if (!shape.is_tuple()) {
      ir::Instr value = element(fusion_, shape, next++, name);
      comp.instrs[static_cast<size_t>(id)] = std::move(value);
      return;
    }
    std::vector<Id> values;
    for (const ir::Shape& part : shape.elements) {
      ir::Instr value = element(fusion_, part, next++, fmt::format("{}.result.{}", name, values.size()));
      values.push_back(add(comp, std::move(value)));
    }
    become(id, ir::Op::tuple, std::move(values), old.shape);
  }

  ir::Module& module_;
  Neighbours pair_;
  std::vector<std::vector<Id>> users_;
  std::set<Id> links_;
  bool shared_ = false;
  std::string name_;
  std::map<Id, Id> placed_;
  std::vector<Id> operands_;
  Id fusion_ = -1;
};

// --- suggestions ----------------------------------------------------------------------------------------------------------------------

/// Computations whose instructions are steps, with their executions in a pass as far as the text tells.
std::map<ir::CompId, double> step_computations(const ir::Module& module) {
  std::map<ir::CompId, double> calls{{module.entry, 1}};
  std::vector<ir::CompId> open{module.entry};
  while (!open.empty()) {
    const ir::CompId comp = open.back();
    open.pop_back();
    for (Id id = 0; id < static_cast<Id>(module.comp(comp).instrs.size()); ++id) {
      const ir::Instr& instr = at(module, comp, id);
      if (instr.op != ir::Op::while_ && instr.op != ir::Op::call && instr.op != ir::Op::conditional) continue;
      const double trips = instr.op == ir::Op::while_ ? static_cast<double>(trip_count(module, {comp, id}).value_or(1)) : 1;
      for (const ir::CompId callee : instr.calls) {
        if (calls.try_emplace(callee, calls[comp] * trips).second) open.push_back(callee);
      }
    }
  }
  return calls;
}

constexpr double kOperationsOfFunction = 20;  ///< vector instructions of an exponential, about
constexpr double kLoneElement_ns = 0.75;      ///< on one thread: gathers of f16 against the grain of BERT's attention
constexpr double kShortestSure_ns = 1000;     ///< shorter steps have the flag too-short

/// Operations, with functions for what they take.
double operations(double flops, double functions) { return flops + kOperationsOfFunction * functions; }

/// What a step takes of the machine.
struct Cost {
  double bytes = 0, operations = 0, lone_elements = 0;
  Recomputed again;  ///< beyond these operations
};

std::optional<Cost> cost_of(const ir::Module& module, ir::InstrRef ref, replay::Rounding rounding, const kernel::Target& target) {
  const auto kernel = kernel::make(module, ref, rounding, target);
  if (!kernel.ok()) return std::nullopt;
  const ir::Instr& instr = module.instr(ref.comp, ref.instr);
  const ir::Cost nominal = ir::cost(module, ref, ir::CostMethod::nominal);
  Cost cost;
  if (instr.op == ir::Op::fusion) cost.again = recomputed(module, instr.calls[0]);
  cost.operations = operations(nominal.flops, nominal.transcendentals);
  cost.bytes = ir::cost(module, ref, ir::CostMethod::traffic).bytes() + 2 * static_cast<double>(kernel->scratch_bytes);
  cost.lone_elements = static_cast<double>(kernel->lone_elements);
  return cost;
}

/// What is done again, and what is gathered, hides behind nothing: both take the instructions that would wait for memory.
double time_ns(const Cost& cost, const Roof& roof, const kernel::Target& target) {
  const auto arithmetic = [&](double count) { return roof.flops_per_s > 0 ? 1e9 * count / (roof.flops_per_s / 2) : 0; };
  const double memory = roof.bytes_per_s > 0 ? 1e9 * cost.bytes / roof.bytes_per_s : 0;
  const double lone = cost.lone_elements * kLoneElement_ns / target.threads;
  return std::max(memory, arithmetic(cost.operations)) + lone + arithmetic(operations(cost.again.flops, cost.again.functions));
}

/// All pairs of kernels, largest flow first.
std::vector<Neighbours> neighbours(const ir::Module& module, const std::map<ir::CompId, double>& comps) {
  std::vector<std::tuple<double, Neighbours>> found;
  for (const auto& [comp, calls] : comps) {
    const auto& instrs = module.comp(comp).instrs;
    for (Id consumer = 0; consumer < static_cast<Id>(instrs.size()); ++consumer) {
      if (!is_kernel(module, instrs[static_cast<size_t>(consumer)])) continue;
      std::set<Id> producers;
      for (Id operand : instrs[static_cast<size_t>(consumer)].operands) {
        while (is_passing(at(module, comp, operand).op) && !at(module, comp, operand).operands.empty())
          operand = at(module, comp, operand).operands[0];
        if (!is_kernel(module, at(module, comp, operand)) || !producers.insert(operand).second) continue;
        const double bytes = static_cast<double>(ir::bytes(module.shape(at(module, comp, operand))));
        found.emplace_back(-bytes * calls, Neighbours{comp, operand, consumer});
      }
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<Neighbours> pairs;
  const size_t most = most_built(module);
  for (size_t i = 0; i < found.size() && i < most; ++i) pairs.push_back(std::get<1>(found[i]));
  return pairs;
}

}  // namespace

base::Result<std::shared_ptr<const ir::Module>> with_fused(const ir::Module& module, const std::vector<Neighbours>& pairs) {
  auto made = std::make_shared<ir::Module>(module);
  std::set<std::pair<ir::CompId, Id>> used;
  for (const Neighbours& pair : pairs) {
    for (const Id id : {pair.producer, pair.consumer}) {
      if (!used.emplace(pair.comp, id).second)
        return base::Error{
            fmt::format("{}: is in two pairs; try them one by one", base::escaped(module.name_of(at(module, pair.comp, id))))};
    }
    RETURN_IF_ERROR(Builder(*made, pair).build());
  }
  return std::shared_ptr<const ir::Module>(std::move(made));
}

double noise_ns(const Suggestion& suggestion) { return stats::kSmallestEffect * std::max(suggestion.apart_ns, kShortestSure_ns); }

Suggestions suggestions(const ir::Module& module, const Roof& roof, replay::Rounding rounding, const kernel::Target& target) {
  Suggestions out;
  const auto comps = step_computations(module);
  std::map<std::pair<ir::CompId, Id>, std::optional<Cost>> known;
  const auto cost_alone = [&](ir::CompId comp, Id id) {
    const auto [cost, fresh] = known.try_emplace({comp, id});
    if (fresh) cost->second = cost_of(module, {comp, id}, rounding, target);
    return cost->second;
  };
  for (const Neighbours& pair : neighbours(module, comps)) {
    ir::Module trial = module;
    Builder builder(trial, pair);
    if (!builder.build().ok()) continue;
    const auto first = cost_alone(pair.comp, pair.producer), second = cost_alone(pair.comp, pair.consumer);
    const auto both = cost_of(trial, builder.fusion(), rounding, target);
    if (!first || !second || !both) continue;
    Suggestion made{pair, std::string(trial.name_of(trial.instr(pair.comp, builder.fusion().instr)))};
    made.saved_bytes = first->bytes + second->bytes - both->bytes;
    made.extra_flops = both->again.operations() - first->again.operations() - second->again.operations();
    made.apart_ns = time_ns(*first, roof, target) + time_ns(*second, roof, target);
    made.saved_ns = made.apart_ns - time_ns(*both, roof, target);
    made.calls = comps.at(pair.comp);
    if (made.saved_ns <= 0 || made.saved_bytes <= 0) continue;
    if (made.saved_ns < noise_ns(made)) {
      ++out.within_noise;
    } else {
      out.paying.push_back(std::move(made));
    }
  }
  std::ranges::stable_sort(out.paying, std::greater<>(), [](const Suggestion& s) { return s.saved_ns * s.calls; });
  return out;
}

}  // namespace replay
