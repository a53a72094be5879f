// Convolutions of dilated operands without their zeros. Dilation puts b−1 zeros between neighbours, and which places of a window meet
// elements rather than zeros repeats with the results: in one dimension, results y, y + P, y + 2P, … with P = b / gcd(b, stride) meet the
// same ones. Such a phase is a convolution of its own, of the operand without dilation and of every b-th place of the window; of two
// dilated dimensions every pair of phases is one. Each is computed densely and then put where its results lie.
#include "replay/device/cpu/convolution_phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace replay::cpu {
namespace {

constexpr int64_t kMostPhases = 1024;

using Dim = Convolution::Dim;

int64_t phases_of(const Dim& d) { return d.base_dilation / std::gcd(d.base_dilation, d.stride); }

/// Results phase, phase + P, … of one dimension.
struct Phase {
  Dim dim;                ///< without dilation; window 0: the results are zeros
  int64_t w = 0, to = 0;  ///< offsets of its first place in the window, of its first result
  int64_t to_step = 0;    ///< between its results in Y
  auto key() const { return std::tuple(dim.window, dim.out, dim.pad_low); }
};

/// Place y·stride + k·window_dilation − pad_low of the dilated operand holds an element where b divides it.
Phase phase_of(const Dim& d, int64_t phase) {
  const int64_t b = d.base_dilation, period = phases_of(d), shared = std::gcd(b, d.window_dilation), step = b / shared;
  Phase out{d, 0, phase * d.y, period * d.y};
  const int64_t start = phase * d.stride - d.pad_low;
  int64_t first = 0;  // of the window's places that meet elements, if it has that many
  while (first < step && (start + first * d.window_dilation) % b != 0) ++first;
  out.dim.window = first < step && first < d.window ? (d.window - first + step - 1) / step : 0;
  out.dim.out = (d.out - phase + period - 1) / period;
  out.dim.stride = period * d.stride / b;
  out.dim.base_dilation = 1;
  out.dim.window_dilation = d.window_dilation / shared;
  out.dim.w = d.w * step;
  if (out.dim.window == 0) return out;
  out.dim.pad_low = -(start + first * d.window_dilation) / b;
  const int64_t last = first + (out.dim.window - 1) * step;
  out.w = (d.reversed ? d.window - 1 - last : first) * d.w;
  return out;
}

/// Gives the results dense strides, in the order in which they lie in Y; returns their number.
int64_t make_dense(Convolution& c) {
  std::vector<std::pair<int64_t*, int64_t>> strides{{&c.y.group, c.groups}, {&c.y.outer, c.batch}, {&c.y.inner, c.out_features}};
  for (Dim& d : c.dims) strides.emplace_back(&d.y, d.out);
  std::ranges::stable_sort(strides, std::less{}, [](const auto& s) { return *s.first; });
  int64_t count = 1;
  for (auto& [stride, size] : strides) {
    *stride = count;
    count *= size;
  }
  return count;
}

class Phases final : public Native {
 public:
  static base::Result<std::unique_ptr<Native>> make(const Convolution& c, int threads, const std::shared_ptr<Scratch>& scratch);

  void run(std::span<const void* const> in, std::span<void* const> out) override;
  std::string implementation() const override {
    return parts_.empty() ? "nothing to compute" : fmt::format("{} phases, {}", pieces_.size(), parts_.front()->implementation());
  }
  std::string precision() const override { return parts_.empty() ? "" : parts_.front()->precision(); }

 private:
  struct Piece {
    int64_t w = 0, to = 0;   ///< bytes
    Native* part = nullptr;  ///< nothing: zeros
    int64_t bytes = 0;       ///< of its results
    std::unique_ptr<Native> place;
  };
  base::Status add(const Convolution& c, std::span<const Phase> phases, int threads, const std::shared_ptr<Scratch>& scratch);

  std::vector<std::unique_ptr<Native>> parts_;
  std::map<std::vector<std::tuple<int64_t, int64_t, int64_t>>, Native*> part_by_key_;  ///< phases often differ in their offsets only
  std::vector<Piece> pieces_;
  std::shared_ptr<Scratch> results_ = std::make_shared<Scratch>();
  int64_t most_bytes_ = 0;
};

base::Status Phases::add(const Convolution& c, std::span<const Phase> phases, int threads, const std::shared_ptr<Scratch>& scratch) {
  Convolution part = c;
  Piece piece;
  std::vector<std::tuple<int64_t, int64_t, int64_t>> key;
  bool zeros = false;
  for (size_t s = 0; s < phases.size(); ++s) {
    part.dims[s] = phases[s].dim;
    part.dims[s].y = phases[s].to_step;
    piece.w += phases[s].w * ir::bytes(c.w.type);
    piece.to += phases[s].to * ir::bytes(c.y.type);
    zeros = zeros || phases[s].dim.window == 0;
    key.push_back(phases[s].key());
  }
  const Convolution in_place = part;
  piece.bytes = make_dense(part) * ir::bytes(c.y.type);
  if (piece.bytes == 0) return {};
  most_bytes_ = std::max(most_bytes_, piece.bytes);
  if (!zeros && !part_by_key_.contains(key)) {
    ASSIGN_OR_RETURN(auto native, make_convolution(part, threads, scratch));
    part_by_key_[key] = native.get();
    parts_.push_back(std::move(native));
  }
  piece.part = zeros ? nullptr : part_by_key_[key];
  Permute place;
  place.element_bytes = ir::bytes(c.y.type);
  place.dims = {{c.groups, part.y.group, c.y.group}, {c.batch, part.y.outer, c.y.outer}, {c.out_features, part.y.inner, c.y.inner}};
  for (size_t s = 0; s < phases.size(); ++s) place.dims.push_back({part.dims[s].out, part.dims[s].y, in_place.dims[s].y});
  ASSIGN_OR_RETURN(piece.place, make_permute(place, threads, scratch));
  pieces_.push_back(std::move(piece));
  return {};
}

base::Result<std::unique_ptr<Native>> Phases::make(const Convolution& c, int threads, const std::shared_ptr<Scratch>& scratch) {
  auto out = std::make_unique<Phases>();
  int64_t count = 1;
  for (const Dim& d : c.dims) count *= phases_of(d);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Phase> phases;
    int64_t rest = i;
    for (const Dim& d : c.dims) {
      phases.push_back(phase_of(d, rest % phases_of(d)));
      rest /= phases_of(d);
    }
    RETURN_IF_ERROR(out->add(c, phases, threads, scratch));
  }
  return std::unique_ptr<Native>(std::move(out));
}

void Phases::run(std::span<const void* const> in, std::span<void* const> out) {
  std::byte* const dense = results_->pieces(1, most_bytes_).front();
  const void* const from[] = {dense};
  void* const into[] = {dense};
  for (const Piece& piece : pieces_) {
    const void* const operands[] = {in[0], static_cast<const std::byte*>(in[1]) + piece.w};
    if (piece.part == nullptr) {
      std::memset(dense, 0, static_cast<size_t>(piece.bytes));
    } else {
      piece.part->run(operands, into);
    }
    void* const to[] = {static_cast<std::byte*>(out[0]) + piece.to};
    piece.place->run(from, to);
  }
}

}  // namespace

bool has_phases(const Convolution& op) {
  int64_t count = 1;
  for (const Dim& d : op.dims) {
    if (d.base_dilation > kMostPhases) return false;
    count = std::min(count * phases_of(d), kMostPhases + 1);
  }
  const bool dilated = std::ranges::any_of(op.dims, [](const Dim& d) { return d.base_dilation > 1; });
  return dilated && count <= kMostPhases;
}

base::Result<std::unique_ptr<Native>> make_phases(const Convolution& op, int threads, std::shared_ptr<Scratch> scratch) {
  return Phases::make(op, threads, scratch);
}

}  // namespace replay::cpu
