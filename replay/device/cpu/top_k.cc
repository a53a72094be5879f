// The k largest elements of lines. Every element becomes one number that orders as XLA orders elements (total order of floats) with its
// place below, so that equal elements come in order; a heap of the best k, entered only by what beats the worst of them, is sorted at the
// end.
#include <algorithm>
#include <bit>
#include <functional>

#include "replay/device/cpu/native.h"
#include "replay/device/cpu/threads.h"
#include "replay/element.h"

namespace replay::cpu {
namespace {

/// Larger is earlier in the result.
struct Key {
  uint64_t order;  ///< of the element
  uint32_t place;  ///< inverted: of equals the first is larger
  auto operator<=>(const Key&) const = default;
};

uint64_t order_of_sign_magnitude(uint64_t code, int bits) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return code & sign ? ~code & (2 * sign - 1) : code | sign;
}

using Order = uint64_t (*)(ir::Type type, const std::byte* from, int64_t index);

template <typename Code>
uint64_t float_order(ir::Type, const std::byte* from, int64_t index) {
  return order_of_sign_magnitude(reinterpret_cast<const Code*>(from)[index], 8 * sizeof(Code));
}
uint64_t signed_order(ir::Type type, const std::byte* from, int64_t index) {
  return static_cast<uint64_t>(load_integer(type, from, index)) ^ (uint64_t{1} << 63);
}
uint64_t unsigned_order(ir::Type type, const std::byte* from, int64_t index) {
  return static_cast<uint64_t>(load_integer(type, from, index));
}

class Largest final : public Native {
 public:
  Largest(const TopK& op, int threads, std::shared_ptr<Scratch> scratch)
      : op_(op), threads_(threads), scratch_(std::move(scratch)), lines_(1), size_(op.from.dims.back()), k_(op.values.dims.back()) {
    for (size_t d = 0; d + 1 < op.from.dims.size(); ++d) lines_ *= op.from.dims[d];
  }

  void run(std::span<const void* const> in, std::span<void* const> out) override {
    if (lines_ == 0 || k_ == 0) return;
    const auto pieces = scratch_->pieces(threads_, k_ * static_cast<int64_t>(sizeof(Key)));
    const int64_t bytes = lines_ * size_ * ir::bytes(op_.from.type), chunk = std::max<int64_t>(1, lines_ / (int64_t{8} * threads_));
    for_ranges((lines_ + chunk - 1) / chunk, bytes < kParallelBytes ? 1 : threads_, [&](int64_t range, int64_t thread) {
      Key* const best = reinterpret_cast<Key*>(pieces[static_cast<size_t>(thread)]);
      for (int64_t line = range * chunk; line < std::min(lines_, (range + 1) * chunk); ++line) {
        select(line, static_cast<const std::byte*>(in[0]), best);
        write(line, static_cast<const std::byte*>(in[0]), best, out);
      }
    });
  }
  std::string implementation() const override { return "heap of the best"; }
  std::string precision() const override { return ""; }

 private:
  struct Lines {
    explicit Lines(const ir::Shape& shape) : dims(shape.dims), strides(ir::strides(shape)), step(strides.back()) {}
    int64_t offset(int64_t line) const {
      int64_t out = 0;
      for (size_t d = dims.size() - 1; d-- > 0; line /= dims[d]) out += line % dims[d] * strides[d];
      return out;
    }
    std::vector<int64_t> dims, strides;
    int64_t step;
  };

  template <typename OrderAt>
  void select_by(int64_t line, const OrderAt& order_at, Key* best) const {
    const int64_t base = from_.offset(line);
    const uint64_t turn = op_.largest ? 0 : ~uint64_t{0};
    const auto key = [&](int64_t i) { return Key{order_at(base + i * from_.step) ^ turn, ~static_cast<uint32_t>(i)}; };
    for (int64_t i = 0; i < k_; ++i) best[i] = key(i);
    std::make_heap(best, best + k_, std::greater<>());  // the worst of the best in front
    for (int64_t i = k_; i < size_; ++i) {
      const Key next = key(i);
      if (next.order <= best[0].order) continue;  // an equal one comes later: it loses
      std::pop_heap(best, best + k_, std::greater<>());
      best[k_ - 1] = next;
      std::push_heap(best, best + k_, std::greater<>());
    }
    std::sort(best, best + k_, std::greater<>());
  }
  void select(int64_t line, const std::byte* from, Key* best) const {
    const ir::Type type = op_.from.type;
    if (type == ir::Type::f32)
      return select_by(
          line, [&](int64_t i) { return float_order<uint32_t>(type, from, i); }, best);
    if (type == ir::Type::f64)
      return select_by(
          line, [&](int64_t i) { return float_order<uint64_t>(type, from, i); }, best);
    const Order order = ir::is_float(type) ? (ir::bytes(type) == 2 ? float_order<uint16_t> : float_order<uint8_t>)
                        : ir::info(type).kind == ir::TypeInfo::Kind::signed_ ? signed_order
                                                                             : unsigned_order;
    select_by(
        line, [&](int64_t i) { return order(type, from, i); }, best);
  }
  void write(int64_t line, const std::byte* from, const Key* best, std::span<void* const> out) const {
    const int64_t bytes = ir::bytes(op_.from.type), base = from_.offset(line), values = values_.offset(line), places = places_.offset(line);
    for (int64_t i = 0; i < k_; ++i) {
      const int64_t place = ~best[i].place;
      std::copy_n(from + (base + place * from_.step) * bytes, bytes, static_cast<std::byte*>(out[0]) + (values + i * values_.step) * bytes);
      static_cast<int32_t*>(out[1])[places + i * places_.step] = static_cast<int32_t>(place);
    }
  }

  TopK op_;
  int threads_;
  std::shared_ptr<Scratch> scratch_;
  int64_t lines_, size_, k_;
  Lines from_{op_.from}, values_{op_.values}, places_{op_.places};
};

}  // namespace

base::Result<std::unique_ptr<Native>> make_top_k(const TopK& op, int threads, std::shared_ptr<Scratch> scratch) {
  return std::unique_ptr<Native>(std::make_unique<Largest>(op, threads, std::move(scratch)));
}

}  // namespace replay::cpu
