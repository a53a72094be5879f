// Batches: element types decide which of the vectors of Values are in use; bounds and doubts take memory only once there are any.
#include "replay/reference/values.h"

#include <algorithm>
#include <cstring>

#include "replay/element.h"

namespace replay::reference {

Kind kind_of(ir::Type type) {
  if (ir::is_complex(type)) return Kind::complex;
  return ir::is_float(type) ? Kind::real : Kind::integer;
}

Values zeros(ir::Type type, size_t n) {
  Values out;
  out.type = type;
  const Kind kind = kind_of(type);
  if (kind == Kind::integer)
    out.integer.resize(n);
  else
    out.re.resize(n);
  if (kind == Kind::complex) out.im.resize(n);
  return out;
}

size_t size(const Values& values) { return std::max(values.re.size(), values.integer.size()); }

void set_bound(Values& values, size_t i, double bound) {
  if (values.bound.empty()) {
    if (bound == 0) return;
    values.bound.resize(size(values));
  }
  values.bound[i] = bound;
}

void set_unsure(Values& values, size_t i) {
  if (values.unsure.empty()) values.unsure.resize(size(values));
  values.unsure[i] = 1;
}

void spread_unsure(Values& to, const Values& from) {
  if (from.unsure.empty()) return;
  const size_t n = size(to), m = from.unsure.size();
  for (size_t i = 0; i < n; ++i) {
    if (from.unsure[m == 1 ? 0 : i] != 0) set_unsure(to, i);
  }
}

namespace {

template <typename T>
void take_into(std::vector<T>& to, const std::vector<T>& from, std::span<const int64_t> positions) {
  if (from.empty()) return;
  to.resize(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) to[i] = from[static_cast<size_t>(positions[i])];
}

template <typename T>
void put_into(std::vector<T>& to, const std::vector<T>& from, std::span<const int64_t> positions) {
  for (size_t i = 0; i < from.size(); ++i) to[static_cast<size_t>(positions[i])] = from[i];
}

template <typename T>
void append_to(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

Values take(const Values& from, std::span<const int64_t> positions) {
  Values out;
  out.type = from.type;
  take_into(out.re, from.re, positions);
  take_into(out.im, from.im, positions);
  take_into(out.integer, from.integer, positions);
  take_into(out.bound, from.bound, positions);
  take_into(out.unsure, from.unsure, positions);
  return out;
}

void put(Values& to, std::span<const int64_t> positions, const Values& from) {
  if (!from.bound.empty() && to.bound.empty()) to.bound.resize(size(to));
  if (!from.unsure.empty() && to.unsure.empty()) to.unsure.resize(size(to));
  put_into(to.re, from.re, positions);
  put_into(to.im, from.im, positions);
  put_into(to.integer, from.integer, positions);
  put_into(to.bound, from.bound, positions);
  put_into(to.unsure, from.unsure, positions);
  for (const int64_t at : positions) {  // what had a bound or a doubt and is overwritten by an exact value
    if (from.bound.empty() && !to.bound.empty()) to.bound[static_cast<size_t>(at)] = 0;
    if (from.unsure.empty() && !to.unsure.empty()) to.unsure[static_cast<size_t>(at)] = 0;
  }
}

Values repeat(const Values& from, size_t i, size_t n) {
  Values out = zeros(from.type, n);
  if (!out.re.empty()) std::fill(out.re.begin(), out.re.end(), from.re[i]);
  if (!out.im.empty()) std::fill(out.im.begin(), out.im.end(), from.im[i]);
  if (!out.integer.empty()) std::fill(out.integer.begin(), out.integer.end(), from.integer[i]);
  if (bound_at(from, i) != 0) out.bound.assign(n, from.bound[i]);
  if (unsure_at(from, i)) out.unsure.assign(n, 1);
  return out;
}

void append(Values& to, const Values& more) {
  const size_t before = size(to), added = size(more);
  if (!more.bound.empty() && to.bound.empty()) to.bound.resize(before);
  if (!more.unsure.empty() && to.unsure.empty()) to.unsure.resize(before);
  append_to(to.re, more.re);
  append_to(to.im, more.im);
  append_to(to.integer, more.integer);
  append_to(to.bound, more.bound);
  append_to(to.unsure, more.unsure);
  if (!to.bound.empty()) to.bound.resize(before + added);
  if (!to.unsure.empty()) to.unsure.resize(before + added);
}

uint64_t bits_at(const Values& values, size_t i) {
  if (kind_of(values) == Kind::integer) return static_cast<uint64_t>(values.integer[i]);
  std::byte bytes[16] = {};
  store_real(values.type, bytes, 0, values.re[i]);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  if (values.type != ir::Type::c64) return bits;
  store_real(values.type, bytes, 0, values.im[i], 1);
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

void set_bits(Values& values, size_t i, uint64_t bits) {
  std::byte bytes[16] = {};
  std::memcpy(bytes, &bits, sizeof bits);
  if (kind_of(values) == Kind::integer) {
    values.integer[i] = load_integer(values.type, bytes, 0);
    return;
  }
  values.re[i] = load_real(values.type, bytes, 0);
  if (values.type == ir::Type::c64) values.im[i] = load_real(values.type, bytes, 0, 1);
}

}  // namespace replay::reference
