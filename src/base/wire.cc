// A tag is number << 3 | type; types 0, 1, 2 and 5 are in use.
#include "src/base/wire.h"

namespace base {
namespace {

/// A varint at the start of `bytes`, and its length; length 0: none stands there.
struct Varint {
  uint64_t value = 0;
  size_t length = 0;
};

Varint read_varint(std::string_view bytes) {
  Varint result;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    result.value |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      result.length = i + 1;
      return result;
    }
  }
  return {};
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::optional<WireField> WireReader::fail(std::string_view what) {
  wrong_ = what;
  return std::nullopt;
}

std::optional<uint64_t> WireReader::varint() {
  const Varint read = read_varint(bytes_.substr(at_));
  if (read.length == 0) return std::nullopt;
  at_ += read.length;
  return read.value;
}

std::optional<WireField> WireReader::next() {
  if (at_ >= bytes_.size() || !wrong_.empty()) return std::nullopt;
  WireField field;
  field.at = at();
  const auto tag = varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0) return fail("no field begins here");
  field.number = static_cast<uint32_t>(*tag >> 3);
  const auto wire = *tag & 7;
  if (wire == 0) {
    const auto value = varint();
    if (!value) return fail("a number does not end");
    field.value = *value;
    return field;
  }
  if (wire == 1 || wire == 5) {
    const size_t size = wire == 1 ? 8 : 4;
    if (bytes_.size() - at_ < size) return fail("a number is cut");
    field.type = wire == 1 ? WireField::Type::fixed64 : WireField::Type::fixed32;
    field.value = little_endian(bytes_.substr(at_, size));
    at_ += size;
    return field;
  }
  if (wire != 2) return fail("a field has a type that is not in use");
  const auto size = varint();
  if (!size || *size > bytes_.size() - at_) return fail("a field is longer than what is left");
  field.type = WireField::Type::bytes;
  field.bytes = bytes_.substr(at_, static_cast<size_t>(*size));
  at_ += field.bytes.size();
  return field;
}

std::optional<uint64_t> WireNumbers::next() {
  if (size_ > rest_.size()) return std::nullopt;
  const Varint read = size_ == 0 ? read_varint(rest_) : Varint{rest_.empty() ? 0 : little_endian(rest_.substr(0, size_)), size_};
  if (read.length == 0) return std::nullopt;
  rest_.remove_prefix(read.length);
  return read.value;
}

}  // namespace base
