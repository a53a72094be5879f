// The wire format of protobuf, read without a schema: numbered fields, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace base {

struct WireField {
  enum class Type : uint8_t { varint, fixed64, bytes, fixed32 } type = Type::varint;
  uint32_t number = 0;
  uint64_t value = 0;      ///< of varint and fixed
  std::string_view bytes;  ///< of bytes: a string, a message, packed numbers
  size_t at = 0;           ///< offset of its tag in the text that the reader was made of, plus the reader's offset
  bool is_bytes() const { return type == Type::bytes; }
  int64_t integer() const { return static_cast<int64_t>(value); }
};

/// The fields of one message in order. Groups (long out of use) count as damage.
class WireReader {
 public:
  /// `offset`: where `bytes` begin in the file, for places.
  explicit WireReader(std::string_view bytes, size_t offset = 0) : bytes_(bytes), offset_(offset) {}
  /// Nothing at the end, and where the bytes are no message: see wrong().
  std::optional<WireField> next();
  /// What is wrong at at(); empty: nothing.
  std::string_view wrong() const { return wrong_; }
  size_t at() const { return offset_ + at_; }
  /// Where the bytes of a field begin in the file.
  size_t offset_of(const WireField& field) const { return offset_ + static_cast<size_t>(field.bytes.data() - bytes_.data()); }

 private:
  std::optional<uint64_t> varint();
  std::optional<WireField> fail(std::string_view what);
  std::string_view bytes_;
  size_t offset_, at_ = 0;
  std::string_view wrong_;
};

/// The numbers of a packed field: varints, or `size` bytes each.
class WireNumbers {
 public:
  explicit WireNumbers(std::string_view packed, size_t size = 0) : rest_(packed), size_(size) {}
  /// Nothing at the end, and where the bytes are cut: see left().
  std::optional<uint64_t> next();
  size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  size_t size_;
};

}  // namespace base
