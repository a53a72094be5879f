// Random numbers: the bit generators as XLA specifies them (ThreeFry 2x32 with 20 rounds, Philox 4x32 with 10: Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", 2011), with XLA's counters and its order of the results; `rng` from the inputs' stream, by its name.
//
// A state is u64[2] {key, counter} or, for Philox, u64[3] {key, counter low, counter high}. What comes back is the state with its counter
// moved on by as many blocks as were made.
#include <algorithm>
#include <array>
#include <numbers>

#include "replay/element.h"
#include "replay/inputs.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

struct Pair {
  uint32_t a, b;
};

Pair threefry(uint64_t key, uint64_t counter) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const std::array<uint32_t, 3> keys = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  Pair x{static_cast<uint32_t>(counter) + k0, static_cast<uint32_t>(counter >> 32) + k1};
  for (uint32_t i = 0; i < 5; ++i) {
    for (const int r : kRotations[i % 2]) {
      x.a += x.b;
      x.b = (x.b << r | x.b >> (32 - r)) ^ x.a;
    }
    x.a += keys[(i + 1) % 3];
    x.b += keys[(i + 2) % 3] + i + 1;
  }
  return x;
}

std::array<uint32_t, 4> philox(uint64_t key, uint64_t low, uint64_t high) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> x = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                               static_cast<uint32_t>(high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{x[0]} * 0xD2511F53u, q = uint64_t{x[2]} * 0xCD9E8D57u;
    x = {static_cast<uint32_t>(q >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(q), static_cast<uint32_t>(p >> 32) ^ x[3] ^ k1,
         static_cast<uint32_t>(p)};
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return x;
}

/// The dimension along which ThreeFry's two words alternate: the largest even one, else the largest; −1 for a scalar.
int64_t split_dimension(const std::vector<int64_t>& dims) {
  for (const int64_t odd : {0, 1}) {
    int64_t best = -1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] % 2 <= odd && (best < 0 || dims[d] > dims[static_cast<size_t>(best)])) best = static_cast<int64_t>(d);
    }
    if (best >= 0) return best;
  }
  return -1;
}

/// Bits in logical order, and how many blocks they took.
struct Bits {
  std::vector<uint64_t> values;
  uint64_t blocks = 0;
};

Bits threefry_bits(uint64_t key, uint64_t counter, const ir::Shape& shape, bool wide) {
  const int64_t n = ir::elements(shape);
  Bits bits{std::vector<uint64_t>(static_cast<size_t>(n)), static_cast<uint64_t>(n)};
  const auto block = [&](int64_t i) { return threefry(key, counter + static_cast<uint64_t>(i)); };
  if (wide) {
    for (int64_t i = 0; i < n; ++i) bits.values[static_cast<size_t>(i)] = block(i).a | uint64_t{block(i).b} << 32;
    return bits;
  }
  const int64_t along = split_dimension(shape.dims);
  if (along < 0) return {{block(0).a}, 1};
  const auto split = static_cast<size_t>(along);
  std::vector<int64_t> half = shape.dims;
  half[split] = (half[split] + 1) / 2;
  const Indices strides = row_major(half);
  bits.blocks = half.empty() ? 1 : static_cast<uint64_t>(ir::elements(ir::array_shape(ir::Type::u32, half)));
  Walker walker(shape.dims);
  for (int64_t i = 0; i < n; ++i) {
    const Indices& at = walker.move_to(i);
    int64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d) place += (d == split ? at[d] / 2 : at[d]) * strides[d];
    const Pair made = block(place);
    bits.values[static_cast<size_t>(i)] = at[split] % 2 == 0 ? made.a : made.b;
  }
  return bits;
}

Bits philox_bits(uint64_t key, uint64_t low, uint64_t high, int64_t n, bool wide) {
  const int64_t per = wide ? 2 : 4;
  Bits bits{std::vector<uint64_t>(static_cast<size_t>(n)), static_cast<uint64_t>((n + per - 1) / per)};
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t counter = low + static_cast<uint64_t>(i / per);
    const auto block = philox(key, counter, high + (counter < low ? 1 : 0));
    const auto k = static_cast<size_t>(i % per);
    bits.values[static_cast<size_t>(i)] = wide ? block[2 * k] | uint64_t{block[2 * k + 1]} << 32 : block[k];
  }
  return bits;
}

}  // namespace

std::vector<Values> rng_bit_generator(const Call& call) {
  const auto algorithm = ir::attr_text(call.module(), call.instr, "algorithm").value_or("rng_default");
  const ir::Shape& whole = call.module().shape(call.instr);
  const ir::Shape& shape = whole.is_tuple() ? call.in.leaf_shape(whole, call.in.leaf_count(whole) - 1) : whole;
  const Batch state = call.whole(0);
  if (state->type != ir::Type::u64 || size(*state) < 2 || size(*state) > 3)
    return call.fail("takes a state of u64[2] or u64[3]"), std::vector<Values>();
  const auto word = [&](size_t i) { return static_cast<uint64_t>(state->integer[i]); };
  const bool wide = ir::info(shape.type).bits == 64;
  const bool is_threefry = algorithm == "rng_three_fry";
  const uint64_t low = word(1), high = size(*state) == 3 ? word(2) : word(0);
  const Bits bits = is_threefry ? threefry_bits(word(0), low, shape, wide) : philox_bits(word(0), low, high, ir::elements(shape), wide);
  Values out = zeros(shape.type, bits.values.size());
  for (size_t i = 0; i < bits.values.size(); ++i) set_bits(out, i, bits.values[i] & (~uint64_t{0} >> (64 - ir::info(shape.type).bits)));
  for (int64_t& value : out.integer) value = wrap(shape.type, value);
  if (!whole.is_tuple()) return {std::move(out)};
  Values next = *state;
  next.integer[1] = static_cast<int64_t>(low + bits.blocks);
  if (size(next) == 3 && low + bits.blocks < low) ++next.integer[2];
  std::vector<Values> made;
  made.push_back(std::move(next));
  made.push_back(std::move(out));
  return made;
}

namespace {

constexpr uint64_t kSeed = 1;
constexpr int64_t kFirstState = 0x7012395;  ///< what XLA's CPU and GPU backends start with

double uniform_at(uint64_t key, uint64_t i) { return static_cast<double>(stream(key, i) >> 11) * 0x1p-53; }

/// Box and Muller: two uniform numbers make one normal.
double normal_at(uint64_t key, uint64_t i) {
  return std::sqrt(-2 * std::log1p(-uniform_at(key, 2 * i))) * std::cos(2 * std::numbers::pi * uniform_at(key, 2 * i + 1));
}

}  // namespace

Batch rng(const Call& call) {
  const auto kind = ir::attr_text(call.module(), call.instr, "distribution").value_or("rng_uniform");
  if (call.instr.operands.size() != 2) return call.fail("takes two parameters of its distribution");
  const Values a = converted(call.scalar(0), ir::Type::f64), b = converted(call.scalar(1), ir::Type::f64);
  const uint64_t key = stream_key(kSeed, call.module().name_of(call.instr));
  Values real = zeros(ir::Type::f64, call.count());
  for (size_t i = 0; i < real.re.size(); ++i) {
    const auto at = static_cast<uint64_t>((*call.at)[i]);
    real.re[i] = kind == "rng_normal" ? a.re[0] + b.re[0] * normal_at(key, at) : a.re[0] + (b.re[0] - a.re[0]) * uniform_at(key, at);
    if (kind == "rng_bernoulli") real.re[i] = uniform_at(key, at) < a.re[0] ? 1 : 0;
    if (kind_of(call.shape.type) == Kind::integer) real.re[i] = std::floor(real.re[i]);
  }
  return share(converted(std::move(real), call.shape.type));
}

Batch rng_state(const Call& call) {
  Values out = zeros(call.shape.type, call.count());
  for (size_t i = 0; i < out.integer.size(); ++i) out.integer[i] = (*call.at)[i] == 0 ? kFirstState : 0;
  return share(std::move(out));
}

Batch threefry_call(const Call& call) {
  if (call.instr.operands.size() != 4) return call.fail("takes two words of a key and two of a counter");
  std::array<Batch, 4> words;
  for (size_t k = 0; k < words.size(); ++k) {
    words[k] = call.operand(k);
    if (words[k]->integer.size() != call.count()) return call.fail("takes four arrays of u32 of one size");
  }
  const auto word = [&](size_t k, size_t i) { return static_cast<uint64_t>(static_cast<uint32_t>(words[k]->integer[i])); };
  Values out = zeros(call.shape.type, call.count());
  for (size_t i = 0; i < out.integer.size(); ++i) {
    const Pair made = threefry(word(0, i) | word(1, i) << 32, word(2, i) | word(3, i) << 32);
    out.integer[i] = call.leaf == 0 ? made.a : made.b;
  }
  return share(std::move(out));
}

}  // namespace replay::reference
