// Elements into another physical order. Dimensions that stay neighbours merge; then two dimensions remain that matter: the one adjacent in
// the result and the one adjacent in the source. Where they differ, square blocks of both are copied, so that whole cache lines are used on
// either side.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "replay/device/cpu/native.h"
#include "replay/device/cpu/threads.h"

namespace replay::cpu {
namespace {

using Dims = std::vector<Permute::Dim>;

constexpr int64_t kBlock = 32;  ///< elements of a block's side: two lines of f32 each way

/// Outermost first in the result, dimensions of size 1 dropped, neighbours merged.
Dims simplified(Dims dims) {
  std::erase_if(dims, [](const Permute::Dim& d) { return d.size == 1; });
  std::ranges::stable_sort(dims, [](const Permute::Dim& a, const Permute::Dim& b) { return a.to > b.to; });
  Dims out;
  for (const Permute::Dim& d : dims) {
    const bool follows = !out.empty() && out.back().to == d.to * d.size && out.back().from == d.from * d.size;
    if (follows)
      out.back() = {out.back().size * d.size, d.from, d.to};
    else
      out.push_back(d);
  }
  if (out.empty()) out.push_back({1, 1, 1});
  return out;
}

/// A rectangle of rows (adjacent in the source where they can be) by columns (adjacent in the result).
struct PlaneLoops {
  Permute::Dim rows, columns;
};

template <typename T>
void copy_block(const T* from, T* to, const PlaneLoops& plane, int64_t rows, int64_t columns) {
  if (plane.columns.from == 1 && plane.columns.to == 1) {
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(to + r * plane.rows.to, from + r * plane.rows.from, static_cast<size_t>(columns) * sizeof(T));
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T* source = from + r * plane.rows.from;
    T* target = to + r * plane.rows.to;
    for (int64_t c = 0; c < columns; ++c) target[c * plane.columns.to] = source[c * plane.columns.from];
  }
}

struct Wide {
  uint64_t words[2];
};

class Permutation final : public Native {
 public:
  Permutation(const Permute& op, int threads) : bytes_(op.element_bytes), from_offset_(op.from_offset), threads_(threads) {
    Dims dims = simplified(op.dims);
    for (const Permute::Dim& d : dims) elements_ *= d.size;
    plane_.columns = dims.back();
    dims.pop_back();
    const auto nearest = std::ranges::min_element(dims, {}, [](const Permute::Dim& d) { return std::abs(d.from); });
    if (nearest != dims.end()) {
      plane_.rows = *nearest;
      dims.erase(nearest);
    }
    outer_ = std::move(dims);
    straight_ = plane_.columns.from == 1;
    row_step_ = straight_ ? plane_.rows.size : kBlock;
    if (straight_) row_step_ = std::clamp<int64_t>((32 << 10) / std::max<int64_t>(1, plane_.columns.size * bytes_), 1, plane_.rows.size);
    row_blocks_ = (plane_.rows.size + row_step_ - 1) / std::max<int64_t>(row_step_, 1);
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    if (elements_ == 0) return;
    if (bytes_ == 1) return run_as<uint8_t>(in[0], out[0]);
    if (bytes_ == 2) return run_as<uint16_t>(in[0], out[0]);
    if (bytes_ == 4) return run_as<uint32_t>(in[0], out[0]);
    if (bytes_ == 8) return run_as<uint64_t>(in[0], out[0]);
    run_as<Wide>(in[0], out[0]);
  }
  std::string implementation() const override { return "permute"; }
  std::string precision() const override { return ""; }

 private:
  template <typename T>
  void run_as(const void* in, void* out) const {
    int64_t tasks = row_blocks_;
    for (const Permute::Dim& d : outer_) tasks *= d.size;
    const int threads = elements_ * bytes_ < kParallelBytes ? 1 : threads_;
    const int64_t chunk = std::max<int64_t>(1, tasks / (int64_t{8} * threads));
    for_ranges((tasks + chunk - 1) / chunk, threads, [&](int64_t range, int64_t) {
      for (int64_t task = range * chunk; task < std::min(tasks, (range + 1) * chunk); ++task)
        run_task(static_cast<const T*>(in) + from_offset_, static_cast<T*>(out), task);
    });
  }

  template <typename T>
  void run_task(const T* from, T* to, int64_t task) const {
    int64_t rest = task / row_blocks_;
    const int64_t first = task % row_blocks_ * row_step_, rows = std::min(row_step_, plane_.rows.size - first);
    for (size_t d = outer_.size(); d-- > 0;) {
      const int64_t at = rest % outer_[d].size;
      rest /= outer_[d].size;
      from += at * outer_[d].from, to += at * outer_[d].to;
    }
    from += first * plane_.rows.from, to += first * plane_.rows.to;
    const int64_t step = straight_ ? plane_.columns.size : kBlock;
    for (int64_t c = 0; c < plane_.columns.size; c += step)
      copy_block(from + c * plane_.columns.from, to + c * plane_.columns.to, plane_, rows, std::min(step, plane_.columns.size - c));
  }

  int64_t bytes_, from_offset_;
  int threads_;
  int64_t elements_ = 1, row_step_ = 1, row_blocks_ = 1;
  bool straight_ = false;  ///< the same dimension is adjacent on both sides
  PlaneLoops plane_;
  Dims outer_;
};

}  // namespace

base::Result<std::unique_ptr<Native>> make_permute(const Permute& op, int threads, std::shared_ptr<Scratch>) {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    if (op.element_bytes == bytes) return std::unique_ptr<Native>(std::make_unique<Permutation>(op, threads));
  }
  return base::Error{fmt::format("permute: elements of {} bytes", op.element_bytes)};
}

}  // namespace replay::cpu
