// What a kernel writes beyond a buffer of the arena shows where another step reads what it has destroyed; beyond a parameter only here.
#include "replay/device/cuda/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "src/base/text.h"

namespace replay::cuda {
namespace {

constexpr unsigned char kPattern = 0xcb, kNoNumber = 0xff;

}  // namespace

Guards::Guards(const Plan& plan, const Prepared& ready, const Gpu& gpu)
    : gpu_(gpu), arena_(ready.arena.address()), arena_bytes_(static_cast<size_t>(ready.layout.arena_bytes)) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Place& place = ready.layout.places[i];
    if (place.area != Place::Area::parameters || plan.buffers[i].alias_of >= 0) continue;
    const int64_t end = place.offset + place.bytes, next = (end + kGuard - 1) / kGuard * kGuard + kGuard;
    zones_.push_back({ready.parameters.address() + static_cast<Address>(end), static_cast<size_t>(next - end), plan.buffers[i].name});
  }
}

base::Status Guards::set() const {
  const Driver& d = gpu_.driver();
  for (const Zone& zone : zones_) RETURN_IF_ERROR(d.call(d.fill, zone.address, kPattern, zone.bytes, gpu_.stream()));
  if (arena_ != 0) RETURN_IF_ERROR(d.call(d.fill, arena_, kNoNumber, arena_bytes_, gpu_.stream()));
  return gpu_.wait();
}

base::Status Guards::check() const {
  const Driver& d = gpu_.driver();
  std::array<unsigned char, 2 * kGuard> storage{};
  for (const Zone& zone : zones_) {
    const std::span bytes = std::span(storage).first(zone.bytes);
    RETURN_IF_ERROR(d.call(d.to_host, static_cast<void*>(bytes.data()), zone.address, bytes.size()));
    if (const auto changed = std::ranges::find_if(bytes, [](unsigned char b) { return b != kPattern; }); changed != bytes.end())
      return base::Error{fmt::format("memory was written {} bytes beyond the end of {}; report it as a bug", changed - bytes.begin() + 1,
                                     base::escaped(zone.after))};
  }
  return {};
}

}  // namespace replay::cuda
