// What an instruction costs on paper: flops, transcendentals, bytes.
#pragma once

#include <cstdint>

#include "src/ir/module.h"

namespace ir {

enum class CostMethod : uint8_t {
  xla,      ///< the rules of XLA's HloCostAnalysis (custom calls unknown)
  nominal,  ///< 2 per multiply-add, products in custom calls counted: what GFLOP/s and coverage use
  traffic,  ///< bytes that must move through memory once: what the roofline and GB/s use
};
inline constexpr CostMethod kCostMethods[] = {CostMethod::xla, CostMethod::nominal, CostMethod::traffic};
std::string_view text(CostMethod method);

struct Cost {
  double flops = 0, transcendentals = 0, bytes_read = 0, bytes_written = 0;
  bool known = true;  ///< false: custom calls whose meaning is not known (XLA says -1)
  double bytes() const { return bytes_read + bytes_written; }
};
Cost cost(const Module& module, InstrRef ref, CostMethod method);
/// `traffic` of a fusion's parts run one by one minus that of the fusion: what fusing saves, in bytes.
double fusion_saved_bytes(const Module& module, InstrRef fusion);

}  // namespace ir
