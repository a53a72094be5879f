// The cost of every instruction of one module by one method; remembers what computations cost, so that shared callees are looked at once.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/ir/cost.h"

namespace ir {

/// Bytes between memory and the processor.
struct Moved {
  double read = 0, written = 0;
};

class CostModel {
 public:
  CostModel(const Module& module, CostMethod method) : module_(module), method_(method), computations_(module.computations.size()) {}

  Cost of(const Computation& comp, const Instr& instr);
  const Cost& computation(CompId id);

 private:
  static double size(const Shape& shape);        ///< of a tuple: its table of pointers
  static double leaf_bytes(const Shape& shape);  ///< of all leaves; elements that the layout packs ("E(4)") count their bits
  static const Instr& operand(const Computation& comp, const Instr& instr, size_t i);
  static bool is_control(const Instr& instr);
  Cost control(const Instr& instr);
  Cost custom_call(const Computation& comp, const Instr& instr);
  Cost fusion(const Instr& instr);

  // cost_accessed.cc: "bytes accessed" of XLA
  Moved accessed(const Computation& comp, const Instr& instr);
  Moved by_default(const Computation& comp, const Instr& instr);
  Moved fusion_accessed(const Computation& body);
  double parameter_read(const Computation& body, InstrId parameter);
  double leaves_read(const Computation& body, InstrId value);
  double value_read(const Computation& body, InstrId value);
  double nested_read(const Computation& body, InstrId value, InstrId fusion);

  // cost_traffic.cc: what must move once
  Moved traffic(const Computation& comp, const Instr& instr);
  Moved fusion_traffic(const Instr& instr, const Computation& body);
  const std::vector<double>& touched(const Computation& body);
  enum class Fate : uint8_t { used, stored };  ///< stored: the user is what the fusion writes
  struct Use {
    InstrId value, user;
    Fate fate;
  };
  double touched_by(const Computation& body, const Use& use);
  double stored(const Computation& body, InstrId value);

  using Users = std::vector<std::vector<InstrId>>;  ///< of each instruction, in order, once each
  const std::vector<InstrId>& users(const Computation& comp, InstrId value);
  using Value = std::pair<const Computation*, InstrId>;

  const Module& module_;
  CostMethod method_;
  std::unordered_map<const Computation*, Users> users_;
  std::map<Value, double> read_;                                         ///< by parameter: nested fusions may share bodies
  std::unordered_map<const Computation*, std::vector<double>> touched_;  ///< of each value of a body
  std::vector<std::optional<Cost>> computations_;
};

}  // namespace ir
