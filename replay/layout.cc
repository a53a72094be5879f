// Ids become places: an alias takes that of the buffer in whose memory it lives.
#include "replay/layout.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace replay {
namespace {

using base::Error;
using base::Result;
using base::Status;

constexpr int64_t kLine = 64;  ///< what the plan puts its buffers on

int64_t padded(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

bool is_parameter(const Buffer& buffer) { return buffer.kind == Buffer::Kind::parameter || buffer.kind == Buffer::Kind::constant; }

/// The buffer in whose memory this one lives; -1: a circle.
BufferId root_of(const Plan& plan, BufferId id) {
  for (size_t steps = 0; steps <= plan.buffers.size(); ++steps) {
    const BufferId next = plan.buffers[static_cast<size_t>(id)].alias_of;
    if (next < 0) return id;
    id = next;
  }
  return -1;
}

}  // namespace

Result<Layout> lay_out(const Plan& plan, int64_t alignment) {
  Layout layout{std::vector<Place>(plan.buffers.size()), 0, padded(plan.arena_bytes, kLine)};
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.alias_of >= 0) continue;
    if (is_parameter(buffer)) {
      layout.places[i] = {Place::Area::parameters, layout.parameter_bytes, buffer.bytes};
      layout.parameter_bytes += padded(buffer.bytes, alignment) + alignment;
      continue;
    }
    const int64_t offset = buffer.bytes == 0 ? 0 : buffer.offset;
    if (offset < 0 || offset % kLine != 0 || offset + padded(buffer.bytes, kLine) > layout.arena_bytes)
      return Error{fmt::format("plan: buffer {} ({}) lies outside the arena; report it as a bug", i, buffer.name)};
    layout.places[i] = {Place::Area::arena, offset, buffer.bytes};
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].alias_of < 0) continue;
    const BufferId root = root_of(plan, static_cast<BufferId>(i));
    if (root < 0 || plan.buffers[i].bytes > plan.buffers[static_cast<size_t>(root)].bytes)
      return Error{fmt::format("plan: buffer {} ({}) does not fit the one it lives in; report it as a bug", i, plan.buffers[i].name)};
    layout.places[i] = layout.places[static_cast<size_t>(root)];
    layout.places[i].bytes = plan.buffers[i].bytes;
  }
  return layout;
}

Status check_fits(int64_t needed_bytes, int64_t free_bytes) {
  if (needed_bytes <= free_bytes) return {};
  return Error{fmt::format("memory: needs {}, {} free; try --isolated (each step alone), --computation NAME or --instruction NAME",
                           base::human_bytes(static_cast<double>(needed_bytes)), base::human_bytes(static_cast<double>(free_bytes)))};
}

}  // namespace replay
