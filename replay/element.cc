// Elements by type: memcpy for the native types, arithmetic on f64 bits for f16 and bf16, the general coder for the rest.
// Rounding to a format with m mantissa bits is done on the f64 pattern: add half of the last kept place (minus one where it is even),
// cut; below the smallest normal the sum with a large constant makes the FPU round at the fixed place of subnormals.
#include "replay/element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace replay {
namespace {

template <typename T>
T at(const std::byte* from, int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <typename T>
void put(std::byte* to, int64_t index, T value) {
  std::memcpy(to + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// A binary format with infinities, as constants of the rounding on f64.
struct Ieee {
  int mantissa;
  double min_normal, max_finite, step_magic;  ///< step_magic: 1.5·2^52·(smallest subnormal)
};
constexpr Ieee kHalf{10, 0x1p-14, 65504.0, 1.5 * 0x1p28};
constexpr Ieee kBrain{7, 0x1p-126, 0x1.fep127, 1.5 * 0x1p-81};

double round_ieee(const Ieee& format, double value) {
  const double magnitude = std::fabs(value);
  if (!(magnitude < std::numeric_limits<double>::infinity())) return value;
  double rounded;
  if (magnitude < format.min_normal) {
    rounded = (magnitude + format.step_magic) - format.step_magic;
  } else {
    const int cut = 52 - format.mantissa;
    auto bits = std::bit_cast<uint64_t>(magnitude);
    bits += ((bits >> cut) & 1) + (uint64_t{1} << (cut - 1)) - 1;
    rounded = std::bit_cast<double>(bits & ~((uint64_t{1} << cut) - 1));
    if (rounded > format.max_finite) rounded = std::numeric_limits<double>::infinity();
  }
  return std::copysign(rounded, value);
}

float decode_half(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // As f32 bits without the difference of the biases; the product with 2^112 puts it back and makes subnormals right.
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f));
}

uint32_t mask_of(int bits) { return bits >= 8 ? 0xffu : (1u << bits) - 1; }

double load_small(ir::Type type, const std::byte* from, int64_t index) {
  if (type == ir::Type::f16) return static_cast<double>(decode_half(at<uint16_t>(from, index)));
  if (type == ir::Type::bf16) return static_cast<double>(std::bit_cast<float>(uint32_t{at<uint16_t>(from, index)} << 16));
  const base::FloatFormat& format = *ir::info(type).small;
  return base::decode(at<uint8_t>(from, index) & mask_of(format.bits()), format);
}

void store_small(ir::Type type, std::byte* to, int64_t index, double value) {
  if (type == ir::Type::f16) return put(to, index, f16_bits(static_cast<float>(round_ieee(kHalf, value))));
  if (type == ir::Type::bf16) return put(to, index, bf16_bits(static_cast<float>(round_ieee(kBrain, value))));
  put(to, index, static_cast<uint8_t>(base::encode(value, *ir::info(type).small)));
}

}  // namespace

double round_to(ir::Type type, double value) {
  switch (type) {
    case ir::Type::f64:
    case ir::Type::c128:
      return value;
    case ir::Type::f32:
    case ir::Type::c64:
      return static_cast<double>(static_cast<float>(value));
    case ir::Type::f16:
      return round_ieee(kHalf, value);
    case ir::Type::bf16:
      return round_ieee(kBrain, value);
    default:
      break;
  }
  const base::FloatFormat* small = ir::info(type).small;
  return small == nullptr ? value : base::decode(base::encode(value, *small), *small);
}

void round_all(ir::Type type, std::span<double> values) {
  if (type == ir::Type::f64 || type == ir::Type::c128) return;
  if (type == ir::Type::f32 || type == ir::Type::c64) {
    for (double& v : values) v = static_cast<double>(static_cast<float>(v));
  } else if (type == ir::Type::f16 || type == ir::Type::bf16) {
    const Ieee format = type == ir::Type::f16 ? kHalf : kBrain;
    for (double& v : values) v = round_ieee(format, v);
  } else {
    for (double& v : values) v = round_to(type, v);
  }
}

double ulp(ir::Type type, double value) {
  int mantissa = 0, lowest = 0;  // lowest: exponent of the smallest normal
  if (const base::FloatFormat* small = ir::info(type).small) {
    mantissa = small->mantissa;
    lowest = (small->has_sign ? 1 : 0) - small->bias;
  } else if (type == ir::Type::f32 || type == ir::Type::c64) {
    mantissa = 23, lowest = -126;
  } else if (type == ir::Type::f64 || type == ir::Type::c128) {
    mantissa = 52, lowest = -1022;
  } else {
    return 0;
  }
  const double magnitude = std::fabs(value);
  if (!(magnitude < std::numeric_limits<double>::infinity())) return 0;
  const auto biased = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52);
  const int exponent = (biased - 1023 > lowest ? biased - 1023 : lowest) - mantissa;
  if (exponent < -1022) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

double load_real(ir::Type type, const std::byte* from, int64_t index, int part) {
  switch (type) {
    case ir::Type::f32:
      return static_cast<double>(at<float>(from, index));
    case ir::Type::f64:
      return at<double>(from, index);
    case ir::Type::c64:
      return static_cast<double>(at<float>(from, 2 * index + part));
    case ir::Type::c128:
      return at<double>(from, 2 * index + part);
    default:
      break;
  }
  if (ir::is_small_float(type)) return load_small(type, from, index);
  const int64_t value = load_integer(type, from, index);
  return type == ir::Type::u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

int64_t load_integer(ir::Type type, const std::byte* from, int64_t index) {
  switch (ir::info(type).bits) {
    case 8:
      return wrap(type, at<int8_t>(from, index));
    case 16:
      return wrap(type, at<int16_t>(from, index));
    case 32:
      return wrap(type, at<int32_t>(from, index));
    case 64:
      return at<int64_t>(from, index);
    default:
      return 0;
  }
}

void store_real(ir::Type type, std::byte* to, int64_t index, double value, int part) {
  switch (type) {
    case ir::Type::f32:
      return put(to, index, static_cast<float>(value));
    case ir::Type::f64:
      return put(to, index, value);
    case ir::Type::c64:
      return put(to, 2 * index + part, static_cast<float>(value));
    case ir::Type::c128:
      return put(to, 2 * index + part, value);
    default:
      break;
  }
  if (ir::is_small_float(type)) store_small(type, to, index, value);
}

void store_integer(ir::Type type, std::byte* to, int64_t index, int64_t value) {
  const int64_t wrapped = wrap(type, value);
  switch (ir::info(type).bits) {
    case 8:
      return put(to, index, static_cast<int8_t>(wrapped));
    case 16:
      return put(to, index, static_cast<int16_t>(wrapped));
    case 32:
      return put(to, index, static_cast<int32_t>(wrapped));
    case 64:
      return put(to, index, wrapped);
    default:
      return;
  }
}

int64_t wrap(ir::Type type, int64_t value) {
  const ir::TypeInfo& info = ir::info(type);
  if (info.kind == ir::TypeInfo::Kind::pred) return value != 0;
  const int spare = 64 - info.significant_bits;
  if (spare <= 0 || spare >= 64) return value;
  const uint64_t shifted = static_cast<uint64_t>(value) << spare;
  if (info.kind == ir::TypeInfo::Kind::signed_) return static_cast<int64_t>(shifted) >> spare;
  return static_cast<int64_t>(shifted >> spare);
}

}  // namespace replay
