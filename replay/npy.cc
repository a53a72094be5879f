// NumPy's array files: a magic, a header that is a Python dict of three known keys, the elements.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include "replay/tensor.h"
#include "src/base/file.h"
#include "src/base/text.h"

namespace replay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// "<f4"; types that numpy lacks are unsigned integers of their size.
std::string descr(ir::Type type) {
  const int64_t bytes = ir::bytes(type);
  if (type == ir::Type::pred) return "|b1";
  char kind = 'u';
  if (type == ir::Type::f16 || type == ir::Type::f32 || type == ir::Type::f64) kind = 'f';
  if (ir::is_complex(type)) kind = 'c';
  if (ir::info(type).kind == ir::TypeInfo::Kind::signed_) kind = 'i';
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
  return text;
}

/// What follows `'key':` in the dict.
std::optional<std::string_view> value_of(std::string_view dict, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string wanted = fmt::format("{0}{1}{0}", quote, key);
    const size_t at = dict.find(wanted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = trimmed(dict.substr(at + wanted.size()));
    if (rest.empty() || rest.front() != ':') return std::nullopt;
    return trimmed(rest.substr(1));
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parse_dims(std::string_view text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  std::vector<int64_t> dims;
  for (text = trimmed(text.substr(1)); !text.empty() && text.front() != ')'; text = trimmed(text)) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return std::nullopt;
    dims.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  if (text.empty()) return std::nullopt;
  return dims;
}

std::optional<Header> parse_header(std::string_view dict) {
  const auto type = value_of(dict, "descr"), order = value_of(dict, "fortran_order"), shape = value_of(dict, "shape");
  if (!type || !order || !shape || type->size() < 2 || (type->front() != '\'' && type->front() != '"')) return std::nullopt;
  const size_t end = type->find(type->front(), 1);
  const auto dims = parse_dims(*shape);
  if (end == std::string_view::npos || !dims) return std::nullopt;
  if (!order->starts_with("True") && !order->starts_with("False")) return std::nullopt;
  return Header{std::string(type->substr(1, end - 1)), order->starts_with("True"), *dims};
}

/// "<f4" of a file for an array of `type`; a void type (|V2) is what numpy writes for bf16 and the like.
bool same_type(std::string_view found, ir::Type type) {
  if (found.size() < 3) return false;
  const std::string wanted = descr(type);
  const std::string_view letters = std::string_view(wanted).substr(1);
  if (found.front() == '>') return false;
  if (found.substr(1) == letters) return true;
  return letters.front() == 'u' && found[1] == 'V' && found.substr(2) == letters.substr(1) && ir::is_small_float(type);
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

/// Splits a file into dict and elements.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) return std::nullopt;
  const auto major = static_cast<uint8_t>(bytes[6]);
  if (major < 1 || major > 3) return std::nullopt;
  const size_t width = major == 1 ? 2 : 4, begin = 8 + width;
  const uint64_t length = little_endian(bytes.substr(8, width));
  if (length > bytes.size() - begin) return std::nullopt;
  return std::pair{bytes.substr(begin, length), bytes.substr(begin + length)};
}

std::string text(std::string_view descr, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", base::escaped(descr), fmt::join(dims, ","));
}

}  // namespace

std::string npy(const Tensor& array) {
  const std::vector<int64_t>& dims = array.shape.dims;
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr(array.shape.type),
                                 fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  while ((kMagic.size() + 4 + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  out += dict;
  out.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  return out;
}

base::Result<Tensor> read_npy(const std::string& path, const ir::Shape& expected) {
  ASSIGN_OR_RETURN(const std::string bytes, base::read_file(path));
  const auto parts = split(bytes);
  const auto header = parts ? parse_header(parts->first) : std::nullopt;
  if (!header) return base::Error{fmt::format("{}: not a .npy file of one plain array; write it with numpy.save", base::escaped(path))};
  if (header->shape != expected.dims || !same_type(header->descr, expected.type)) {
    return base::Error{fmt::format("{}: holds {}, but {} ({}) is expected; convert it with numpy first", base::escaped(path),
                                   text(header->descr, header->shape), text(descr(expected.type), expected.dims),
                                   ir::print(expected, ir::LayoutPrint::without))};
  }
  Tensor out;
  out.shape = ir::array_shape(expected.type, expected.dims);
  const auto size = static_cast<size_t>(ir::bytes(out.shape));
  if (parts->second.size() != size) {
    return base::Error{fmt::format("{}: {} bytes of elements, but its header asks for {}; the file is cut off or damaged",
                                   base::escaped(path), parts->second.size(), size)};
  }
  const auto elements = std::as_bytes(std::span(parts->second));
  out.data.assign(elements.begin(), elements.end());
  if (header->fortran) {
    ir::Shape order = out.shape;
    std::reverse(order.minor_to_major.begin(), order.minor_to_major.end());
    const std::vector<std::byte> columns = out.data;
    to_logical(order, columns, out.data);
  }
  return out;
}

}  // namespace replay
