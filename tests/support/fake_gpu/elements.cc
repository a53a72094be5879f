// Floats of a byte or two are the bits of the program's own conversions.
#include "tests/support/fake_gpu/elements.h"

#include "src/base/small_float.h"

namespace fake_gpu {
namespace {

const std::map<int, size_t> kBytes{{kF32, 4},  {kF64, 8},  {kF16, 2},  {kS8, 1},  {kS32, 4},
                                   {kBf16, 2}, {kE4m3, 1}, {kE5m2, 1}, {kC64, 8}, {kC128, 16}};
const std::map<int, base::FloatFormat> kSmall{{kF16, base::kF16}, {kBf16, base::kBf16}, {kE4m3, base::kF8e4m3fn}, {kE5m2, base::kF8e5m2}};

template <typename T>
void write_as(Address at, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(reinterpret_cast<void*>(at), &typed, sizeof typed);
}

}  // namespace

const std::map<int, size_t>& element_bytes() { return kBytes; }

double read(int type, Address array, int64_t element) {
  const size_t bytes = kBytes.at(type);
  const Address at = array + static_cast<Address>(element) * bytes;
  if (const auto format = kSmall.find(type); format != kSmall.end())
    return base::decode(static_cast<uint32_t>(bytes == 2 ? read_as<uint16_t>(at) : read_as<uint8_t>(at)), format->second);
  if (type == kF64) return read_as<double>(at);
  return type == kF32 ? read_as<float>(at) : type == kS8 ? read_as<int8_t>(at) : read_as<int32_t>(at);
}
void write(int type, Address array, int64_t element, double value) {
  const size_t bytes = kBytes.at(type);
  const Address at = array + static_cast<Address>(element) * bytes;
  if (const auto format = kSmall.find(type); format != kSmall.end()) {
    const uint32_t bits = base::encode(static_cast<float>(value), format->second);
    return bytes == 2 ? write_as<uint16_t>(at, bits) : write_as<uint8_t>(at, bits);
  }
  if (type == kF64) return write_as<double>(at, value);
  if (type == kF32) return write_as<float>(at, value);
  type == kS8 ? write_as<int8_t>(at, value) : write_as<int32_t>(at, value);
}

namespace {
/// The type of the parts; -1: a real type.
int part_of(int type) { return type == kC64 ? kF32 : type == kC128 ? kF64 : -1; }
}  // namespace

std::complex<double> read_complex(int type, Address array, int64_t element) {
  const int part = part_of(type);
  if (part < 0) return read(type, array, element);
  return {read(part, array, 2 * element), read(part, array, 2 * element + 1)};
}
void write_complex(int type, Address array, int64_t element, std::complex<double> value) {
  const int part = part_of(type);
  if (part < 0) return write(type, array, element, value.real());
  write(part, array, 2 * element, value.real());
  write(part, array, 2 * element + 1, value.imag());
}

}  // namespace fake_gpu
