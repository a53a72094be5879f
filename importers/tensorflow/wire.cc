// Wire types: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes; groups (3, 4) are used by nothing that we read.
#include "importers/tensorflow/wire.h"

#include <algorithm>
#include <cstring>

namespace importers::tensorflow {

bool take_number(std::string_view& bytes, size_t size, uint64_t& number) {
  number = 0;
  if (size > 0) {
    if (bytes.size() < size) return false;
    std::memcpy(&number, bytes.data(), size);
    bytes.remove_prefix(size);
    return true;
  }
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Wire::next() {
  if (rest_.empty() || !ok_) return false;
  uint64_t key = 0, size = 0;
  bytes_ = {};
  ok_ = take_number(rest_, 0, key) && key >> 3 != 0 && key >> 3 <= UINT32_MAX;
  if (!ok_) return false;
  field_ = static_cast<uint32_t>(key >> 3);
  is_bytes_ = (key & 7) == 2;
  switch (key & 7) {
    case 0:
      return ok_ = take_number(rest_, 0, number_);
    case 1:
      return ok_ = take_number(rest_, 8, number_);
    case 5:
      return ok_ = take_number(rest_, 4, number_);
    case 2:
      ok_ = take_number(rest_, 0, size) && size <= rest_.size();
      if (!ok_) return false;
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    default:
      return ok_ = false;
  }
}

}  // namespace importers::tensorflow
