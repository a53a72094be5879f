// Equal sizes are one unknown (union and find). What is given by two different combinations, or by itself in a circle, stays as it is.
#include "tests/support/dims.h"

#include <algorithm>
#include <utility>

namespace support {
namespace {

constexpr int64_t kStep = 32;    ///< sizes keep their remainder by it
constexpr int64_t kLong = 4096;  ///< fast dimensions become no longer than this: half of it is still a row for a whole block
constexpr int64_t kShort = 8;    ///< slow dimensions stay longer than this while another can give

/// About half of n; n where it is as small as it gets.
int64_t half(int64_t n) {
  const int64_t step = n > 2 * kStep ? kStep : n > 8 ? 4 : 2;
  if (n <= step + 1) return n;
  const int64_t less = n / 2;
  return less + ((n - less) % step + step) % step;
}

std::vector<ir::Leaf> arrays_of(const ir::Shape& shape) {
  std::vector<ir::Leaf> all = ir::leaves(shape);
  std::erase_if(all, [](const ir::Leaf& leaf) { return !leaf.shape->is_array(); });
  return all;
}

}  // namespace

Dims::Dims(const ir::Module& module) : module_(module) {
  for (const ir::Computation& comp : module.computations) {
    auto& instrs = first_.emplace_back();
    for (const ir::Instr& instr : comp.instrs) {
      auto& leaves = instrs.emplace_back();
      for (const ir::Leaf& leaf : arrays_of(module.shape(instr))) {
        const auto first = static_cast<Dim>(size_.size());
        leaves.push_back(first);
        size_.insert(size_.end(), leaf.shape->dims.begin(), leaf.shape->dims.end());
        auto& array = arrays_.emplace_back();
        for (const int64_t d : ir::minor_to_major(*leaf.shape)) array.insert(array.begin(), first + static_cast<Dim>(d));
      }
    }
  }
  parent_.resize(size_.size());
  for (size_t k = 0; k < parent_.size(); ++k) parent_[k] = static_cast<Dim>(k);
  fixed_.resize(size_.size());
  now_ = size_;
}

size_t Dims::leaves(ir::InstrRef at) const { return first_[static_cast<size_t>(at.comp)][static_cast<size_t>(at.instr)].size(); }

Dim Dims::of(ir::InstrRef at, size_t leaf, size_t dim) const {
  return first_[static_cast<size_t>(at.comp)][static_cast<size_t>(at.instr)].at(leaf) + static_cast<Dim>(dim);
}

std::vector<Dim> Dims::of(ir::InstrRef at, size_t leaf) const {
  const auto leaves = arrays_of(module_.shape(module_.instr(at.comp, at.instr)));
  std::vector<Dim> all;
  for (size_t d = 0; d < leaves.at(leaf).shape->dims.size(); ++d) all.push_back(of(at, leaf, d));
  return all;
}

Dim Dims::root(Dim dim) const {
  auto& parent = parent_[static_cast<size_t>(dim)];
  return parent == dim ? dim : parent = root(parent);
}

void Dims::same(Dim a, Dim b) {
  if (size(a) != size(b)) return fix(a), fix(b);
  const Dim from = root(a), to = root(b);
  if (from == to) return;
  parent_[static_cast<size_t>(from)] = to;
  if (fixed_[static_cast<size_t>(from)]) fixed_[static_cast<size_t>(to)] = true;
}

void Dims::same(std::span<const Dim> a, std::span<const Dim> b) {
  for (size_t k = 0; k < std::min(a.size(), b.size()); ++k) same(a[k], b[k]);
}

void Dims::fix(ir::InstrRef at) {
  for (size_t leaf = 0; leaf < leaves(at); ++leaf)
    for (const Dim dim : of(at, leaf)) fix(dim);
}

void Dims::fix(const Combination& combination) {
  fix(combination.whole);
  for (const Dim part : combination.parts) fix(part);
}

void Dims::combine(Dim whole, Kind kind, std::vector<Dim> parts, int64_t constant) {
  combinations_.push_back({whole, kind, std::move(parts), constant});
}

/// One combination for each unknown that is one; the others are fixed.
std::map<Dim, Dims::Combination> Dims::settle() {
  for (Combination& c : combinations_) {
    c.whole = root(c.whole);
    for (Dim& part : c.parts) part = root(part);
    std::ranges::sort(c.parts);
  }
  std::map<Dim, Combination> by_whole;
  for (const Combination& c : combinations_) {
    const auto [found, fresh] = by_whole.emplace(c.whole, c);
    if (!fresh && found->second != c) fix(c), fix(found->second);
  }
  for (const auto& [whole, c] : by_whole)
    if (in_circle(by_whole, whole)) fix(c);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Combination& c : combinations_) {
      if (!is_fixed(c.whole) || std::ranges::all_of(c.parts, [&](Dim part) { return is_fixed(part); })) continue;
      fix(c);
      changed = true;
    }
  }
  std::erase_if(by_whole, [&](const auto& entry) { return is_fixed(entry.first); });
  return by_whole;
}

bool Dims::in_circle(const std::map<Dim, Combination>& by_whole, Dim from) const {
  std::vector<Dim> open = by_whole.at(from).parts;
  std::vector<bool> seen(size_.size());
  while (!open.empty()) {
    const Dim at = open.back();
    open.pop_back();
    if (at == from) return true;
    if (seen[static_cast<size_t>(at)] || !by_whole.contains(at)) continue;
    seen[static_cast<size_t>(at)] = true;
    const auto& parts = by_whole.at(at).parts;
    open.insert(open.end(), parts.begin(), parts.end());
  }
  return false;
}

int64_t Dims::value(const std::map<Dim, Combination>& by_whole, Dim dim) const {
  const auto found = by_whole.find(root(dim));
  if (found == by_whole.end()) return now_[static_cast<size_t>(root(dim))];
  int64_t total = found->second.kind == Kind::product ? 1 : found->second.constant;
  for (const Dim part : found->second.parts) {
    if (found->second.kind == Kind::product)
      total *= value(by_whole, part);
    else
      total += value(by_whole, part);
  }
  return total;
}

void Dims::bases(const std::map<Dim, Combination>& by_whole, Dim dim, std::vector<Dim>& found) const {
  const auto made = by_whole.find(root(dim));
  if (made == by_whole.end()) return found.push_back(root(dim));
  for (const Dim part : made->second.parts) bases(by_whole, part, found);
}

/// Makes an array smaller: by a very long fast dimension, by its largest slow one, else by the fast one. False: it can't.
bool Dims::halve_one(const std::map<Dim, Combination>& by_whole, std::span<const Dim> slow_first) {
  const auto now = [&](Dim base) -> int64_t& { return now_[static_cast<size_t>(base)]; };
  const auto largest = [&](std::span<const Dim> dims, int64_t above) {
    std::vector<Dim> candidates;
    for (const Dim dim : dims) bases(by_whole, dim, candidates);
    Dim best = -1;
    for (const Dim base : candidates)
      if (!is_fixed(base) && now(base) > above && half(now(base)) < now(base) && (best < 0 || now(base) > now(best))) best = base;
    return best;
  };
  const auto slow = slow_first.first(slow_first.size() - 1), fast = slow_first.last(1);
  Dim best = largest(fast, kLong);
  if (best < 0) best = largest(slow, kShort);
  if (best < 0) best = largest(fast, kShort);
  if (best < 0) best = largest(slow_first, 0);
  if (best >= 0) now(best) = half(now(best));
  return best >= 0;
}

std::vector<int64_t> Dims::solve(int64_t most_elements) {
  const std::map<Dim, Combination> by_whole = settle();
  for (size_t k = 0; k < now_.size(); ++k) now_[k] = size_[static_cast<size_t>(root(static_cast<Dim>(k)))];
  for (const auto& array : arrays_) {
    const auto elements = [&] {
      int64_t product = 1;
      for (const Dim dim : array) product *= value(by_whole, dim);
      return product;
    };
    while (elements() > most_elements && halve_one(by_whole, array)) {}
  }
  std::vector<int64_t> all;
  for (size_t k = 0; k < now_.size(); ++k) all.push_back(value(by_whole, static_cast<Dim>(k)));
  return all;
}

}  // namespace support
