// Protobuf's binary form, field by field.
#pragma once

#include <cstdint>
#include <string_view>

namespace importers::tensorflow {

/// Takes a number off the front: a varint where `size` is 0, else that many bytes. False: cut.
bool take_number(std::string_view& bytes, size_t size, uint64_t& number);

/// A walk over the fields of one message; nested messages are walks of their own over `bytes`.
class Wire {
 public:
  explicit Wire(std::string_view text) : rest_(text) {}

  /// The next field; false at the end, and where the bytes are no protobuf (ok() tells).
  bool next();
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  /// Of varints and fixed numbers, as bits.
  uint64_t number() const { return number_; }
  int64_t integer() const { return static_cast<int64_t>(number_); }
  /// Of strings, messages and packed lists.
  std::string_view bytes() const { return bytes_; }
  bool is_bytes() const { return is_bytes_; }
  size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_, bytes_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  bool ok_ = true, is_bytes_ = false;
};

}  // namespace importers::tensorflow
