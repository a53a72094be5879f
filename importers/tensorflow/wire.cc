// Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes; groups (3, 4) are used by nothing that we read.
#include "importers/tensorflow/wire.h"

#include <algorithm>
#include <cstring>

namespace importers::tensorflow {

bool Wire::varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Wire::fixed(size_t size) {
  if (rest_.size() < size) return false;
  number_ = 0;
  std::memcpy(&number_, rest_.data(), size);
  rest_.remove_prefix(size);
  return true;
}

bool Wire::next() {
  if (rest_.empty() || !ok_) return false;
  uint64_t key = 0, size = 0;
  bytes_ = {};
  ok_ = varint(key) && key >> 3 != 0 && key >> 3 <= UINT32_MAX;
  if (!ok_) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  is_bytes_ = (key & 7) == 2;
  switch (key & 7) {
    case 0:
      return ok_ = varint(number_);
    case 1:
      return ok_ = fixed(8);
    case 5:
      return ok_ = fixed(4);
    case 2:
      ok_ = varint(size) && size <= rest_.size();
      if (!ok_) return false;
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    default:
      return ok_ = false;
  }
}

}  // namespace importers::tensorflow
