// What the memory panel draws: buffers, live bytes at each step, and what they would be without fusion. No ImGui in here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/store.h"
#include "ui/run_data.h"

namespace ui {

/// Of a plan; those that live in another one's memory are not here. Places are indices in RunData::steps.
struct Buffer {
  std::string name;
  uint8_t kind = 0;  ///< index into kMemoryKinds
  int64_t bytes = 0;
  int64_t offset = -1;                    ///< in the arena; −1: outside
  uint32_t first = 0, last = 0;           ///< live from this place to this one; parameters and constants: all
  int64_t first_step = 0, last_step = 0;  ///< as stored
};

/// From the bottom of the picture to its top.
inline constexpr std::array<std::string_view, 6> kMemoryKinds = {"constant", "parameter", "output", "temporary", "scratch", "other"};
using KindBytes = std::array<double, kMemoryKinds.size()>;

struct MemoryPicture {
  std::shared_ptr<const RunData> run;
  std::vector<Buffer> buffers;
  std::vector<KindBytes> by_kind;   ///< live bytes at each place
  std::vector<double> live;         ///< their sums
  std::vector<double> unfused;      ///< live bytes while a fusion's parts run one after another; of other steps as in live
  bool unfused_is_planned = false;  ///< of replay --unfused; else modelled from the program
  bool has_fusions = false;
  uint32_t peak = 0, unfused_peak = 0;
  int64_t arena_bytes = 0;  ///< end of the last buffer in it
  /// Indices of the buffers that live at a place, largest first.
  std::vector<uint32_t> alive(uint32_t place) const;
};

/// A value inside a fusion.
struct InnerValue {
  std::string opcode;
  double bytes = 0;
  std::vector<int64_t> users;  ///< positions, above its own
  bool root = false;
};
/// The most bytes that lie between the parts of a fusion that run one after another: its operands and its result have memory already, and
/// what only renames, repeats or counts needs none.
double peak_between_parts(std::span<const InnerValue> values);

MemoryPicture arrange_memory(std::shared_ptr<const RunData> run, std::vector<Buffer> buffers, std::vector<double> between_parts);
base::Result<MemoryPicture> read_memory(const model::Reader& reader, std::shared_ptr<const RunData> run);

/// The buffers that live at a place as the report `memory` has those of the peak: the same columns and order.
model::Rows memory_rows(const MemoryPicture& memory, uint32_t place);

/// What fusing does to the peak: "without fusion the peak would be …, modelled"; empty: there are no fusions.
std::string fusion_sentence(const MemoryPicture& memory);

}  // namespace ui
