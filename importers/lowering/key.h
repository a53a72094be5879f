// Texts that tell apart what they were made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace importers::lowering {

/// Numbers and texts one after another, each in a way that nothing else begins with: equal keys come from equal parts.
class Key {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T number) { text_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add(std::string_view text) {
    add(text.size());
    text_ += text;
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    add(std::span(values));
  }
  template <typename T>
  void add(std::span<T> values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  std::string take() { return std::exchange(text_, {}); }
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }  ///< keeps its memory

 private:
  std::string text_;
};

}  // namespace importers::lowering
