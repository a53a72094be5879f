// Counter-based generators (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), laid out over arrays as XLA does it:
// ThreeFry of 32 bits makes two numbers a counter, which become neighbours along the first even dimension (the largest if none is even);
// Philox makes four, one after another in row-major order. Types of less than 32 bits take the lower bits of a number.
#include "replay/kernel/random.h"

#include <array>

#include "src/base/math.h"
#include "src/ir/attr.h"

namespace kernel {
namespace {

/// A u32 or u64 node with operators.
struct U {
  Graph* g;
  NodeId id;
};
U same(U like, uint64_t value) { return {like.g, like.g->integer(like.g->type(like.id), static_cast<int64_t>(value))}; }
U op(Code code, U a, U b) { return {a.g, a.g->binary(code, a.id, b.id)}; }
U operator+(U a, U b) { return op(Code::add, a, b); }
U operator^(U a, U b) { return op(Code::xor_, a, b); }
U operator|(U a, U b) { return op(Code::or_, a, b); }
U operator*(U a, uint64_t b) { return op(Code::mul, a, same(a, b)); }
U operator<<(U a, unsigned by) { return op(Code::shl, a, same(a, by)); }
U operator>>(U a, unsigned by) { return op(Code::lshr, a, same(a, by)); }
U number(Graph& g, uint32_t value) { return {&g, g.integer(Reg::i32, static_cast<int32_t>(value))}; }
U narrow(U a) { return {a.g, a.g->cast(Code::trunc, Reg::i32, a.id)}; }
U wide(U a) { return {a.g, a.g->cast(Code::zext, Reg::i64, a.id)}; }
U low(U a) { return narrow(a); }
U high(U a) { return narrow(a >> 32); }
U joined(U lower, U upper) { return wide(lower) | (wide(upper) << 32); }
U rotated(U a, unsigned by) { return (a << by) | (a >> (32 - by)); }

using Two = std::array<U, 2>;
using Four = std::array<U, 4>;

/// Threefry-2x32 of 20 rounds; the key is put in after every fourth.
Two threefry(Two x, Two key) {
  constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Graph& g = *x[0].g;
  const U keys[] = {key[0], key[1], number(g, 0x1BD11BDA) ^ key[0] ^ key[1]};
  x = {x[0] + keys[0], x[1] + keys[1]};
  for (unsigned block = 0; block < 5; ++block) {
    for (const unsigned rotation : kRotations[block % 2]) {
      x[0] = x[0] + x[1];
      x[1] = rotated(x[1], rotation) ^ x[0];
    }
    x[0] = x[0] + keys[(block + 1) % 3];
    x[1] = x[1] + keys[(block + 2) % 3] + number(g, block + 1);
  }
  return x;
}

/// Philox-4x32 of 10 rounds.
Four philox(Four x, Two key) {
  Graph& g = *x[0].g;
  for (int round = 0; round < 10; ++round) {
    const U first = wide(x[0]) * 0xD2511F53, second = wide(x[2]) * 0xCD9E8D57;
    x = {high(second) ^ x[1] ^ key[0], low(second), high(first) ^ x[3] ^ key[1], low(first)};
    key = {key[0] + number(g, 0x9E3779B9), key[1] + number(g, 0xBB67AE85)};
  }
  return x;
}

/// 128 bits plus 64.
Two sum(Two counter, U add) {
  const U lower = counter[0] + add;
  const NodeId carry = lower.g->compare(Predicate::ult, lower.id, counter[0].id);
  return {lower, {lower.g, lower.g->select(carry, (counter[1] + same(lower, 1)).id, counter[1].id)}};
}

struct Generator {
  Evaluator& evaluator;
  Ref ref;
  const ir::Shape& bits;
  bool is_philox;
  int64_t words;  ///< of u64 in the state

  Graph& g() const { return evaluator.graph(); }
  base::Result<U> state(int64_t word) const {
    ASSIGN_OR_RETURN(const NodeId node, evaluator.value(evaluator.operand(ref, 0), {}, {Index{word, {}}}));
    return U{&g(), node};
  }
  int width() const { return bits_of(bits.type); }

  /// The counter of Philox: two words behind the key, or the one behind it below the key.
  base::Result<Two> counter() const {
    ASSIGN_OR_RETURN(const U lower, state(1));
    ASSIGN_OR_RETURN(const U upper, state(words >= 3 ? 2 : 0));
    return Two{lower, upper};
  }

  /// The dimension along which ThreeFry's two numbers alternate.
  size_t split() const {
    size_t largest = 0;
    for (size_t d = 0; d < bits.dims.size(); ++d) {
      if (bits.dims[d] % 2 == 0) return d;
      if (bits.dims[d] > bits.dims[largest]) largest = d;
    }
    return largest;
  }
  std::vector<int64_t> halves() const {
    std::vector<int64_t> sizes = bits.dims;
    if (!sizes.empty()) sizes[split()] = base::ceil_div(sizes[split()], 2);
    return sizes;
  }
  int64_t counters() const {
    const int64_t count = ir::elements(bits);
    if (is_philox) return base::ceil_div(width() > 32 ? 2 * count : count, 4);
    if (width() > 32) return count;
    int64_t product = 1;
    for (const int64_t size : halves()) product *= size;
    return product;
  }

  base::Result<NodeId> threefry_bits(const Place& place) const {
    ASSIGN_OR_RETURN(const U key, state(0));
    ASSIGN_OR_RETURN(const U begin, state(1));
    Index which{}, at{};
    if (width() > 32) {
      at = linearise(bits.dims, place);
    } else if (!place.empty()) {
      const auto [half, second] = g().terms.divide(place[split()], 2);
      Place where = place;
      where[split()] = half;
      at = linearise(halves(), where), which = second;
    }
    const U counter = begin + U{&g(), g().index(Reg::i64, at)};
    const Two x = threefry({low(counter), high(counter)}, {low(key), high(key)});
    if (width() > 32) return joined(x[0], x[1]).id;
    return g().select(evaluator.in_range(which, 0, 1), x[0].id, x[1].id);
  }

  base::Result<NodeId> philox_bits(const Place& place) const {
    ASSIGN_OR_RETURN(const U key, state(0));
    ASSIGN_OR_RETURN(const Two begin, counter());
    const bool doubled = width() > 32;
    const auto [vector, which] = g().terms.divide(linearise(bits.dims, place), doubled ? 2 : 4);
    const Two at = sum(begin, {&g(), g().index(Reg::i64, vector)});
    const Four x = philox({low(at[0]), high(at[0]), low(at[1]), high(at[1])}, {low(key), high(key)});
    if (doubled) return g().select(evaluator.in_range(which, 0, 1), joined(x[0], x[1]).id, joined(x[2], x[3]).id);
    NodeId result = x[3].id;
    for (int64_t k = 3; k-- > 0;) result = g().select(evaluator.in_range(which, 0, k + 1), x[static_cast<size_t>(k)].id, result);
    return result;
  }

  /// The key stays; the counter has gone on.
  base::Result<NodeId> new_state(const Index& word) const {
    ASSIGN_OR_RETURN(const U key, state(0));
    const U steps{&g(), g().integer(Reg::i64, counters())};
    Two after{key, key};
    if (is_philox) {
      ASSIGN_OR_RETURN(const Two begin, counter());
      after = sum(begin, steps);
    } else {
      ASSIGN_OR_RETURN(const U begin, state(1));
      after[0] = begin + steps;
    }
    const NodeId counter = g().select(evaluator.in_range(word, 0, 2), after[0].id, after[1].id);
    return g().select(evaluator.in_range(word, 0, 1), key.id, counter);
  }
};

}  // namespace

base::Result<NodeId> random_bits(Evaluator& evaluator, Ref ref, const std::vector<int64_t>& path, const Place& place) {
  const ir::Shape& result = evaluator.shape(ref);
  const ir::Shape& state = evaluator.shape(evaluator.operand(ref, 0));
  const ir::Shape& bits = result.is_tuple() && result.elements.size() == 2 ? result.elements[1] : result;
  const auto algorithm = ir::attr_text(evaluator.module(), evaluator.instr(ref), "algorithm");
  if (!bits.is_array() || ir::is_complex(bits.type) || state.rank() != 1 || state.type != ir::Type::u64 || state.dims[0] < 2)
    return evaluator.unsupported(ref, "its state is not u64[2] or u64[3], or its bits are complex");
  const bool is_philox = !algorithm || *algorithm != "rng_three_fry";  // rng_default: what XLA's CPU compiler takes
  const Generator generator{evaluator, ref, bits, is_philox, state.dims[0]};
  if (result.is_tuple() && !path.empty() && path[0] == 0) return generator.new_state(place[0]);
  ASSIGN_OR_RETURN(const NodeId drawn, is_philox ? generator.philox_bits(place) : generator.threefry_bits(place));
  return from_pattern(evaluator.graph(), drawn, bits.type);
}

}  // namespace kernel
