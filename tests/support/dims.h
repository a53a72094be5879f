// The sizes of a module as unknowns: which are equal, which are products or sums of others, which must stay.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "src/ir/module.h"

namespace support {

/// A dimension of a leaf of an instruction's result, as a number.
using Dim = int;

class Dims {
 public:
  explicit Dims(const ir::Module& module);

  const ir::Module& module() const { return module_; }
  Dim of(ir::InstrRef at, size_t leaf, size_t dim) const;
  /// Of an array, or of a leaf of a tuple.
  std::vector<Dim> of(ir::InstrRef at, size_t leaf = 0) const;
  size_t leaves(ir::InstrRef at) const;
  int64_t size(Dim dim) const { return size_[static_cast<size_t>(dim)]; }

  void same(Dim a, Dim b);
  void same(std::span<const Dim> a, std::span<const Dim> b);
  void fix(Dim dim) { fixed_[static_cast<size_t>(root(dim))] = true; }
  void fix(ir::InstrRef at);
  /// whole = constant + Σ parts, or Π parts.
  enum class Kind : uint8_t { sum, product };
  void combine(Dim whole, Kind kind, std::vector<Dim> parts, int64_t constant = 0);

  /// Smaller sizes by the rules of shrunk(), each dimension's by its number.
  std::vector<int64_t> solve(int64_t most_elements);

 private:
  struct Combination {
    Dim whole;
    Kind kind;
    std::vector<Dim> parts;
    int64_t constant;
    bool operator==(const Combination&) const = default;
  };
  Dim root(Dim dim) const;
  bool is_fixed(Dim dim) const { return fixed_[static_cast<size_t>(root(dim))]; }
  void fix(const Combination& combination);
  std::map<Dim, Combination> settle();
  bool in_circle(const std::map<Dim, Combination>& by_whole, Dim from) const;
  int64_t value(const std::map<Dim, Combination>& by_whole, Dim dim) const;
  /// The base unknowns that a dimension is made of.
  void bases(const std::map<Dim, Combination>& by_whole, Dim dim, std::vector<Dim>& found) const;
  bool halve_one(const std::map<Dim, Combination>& by_whole, std::span<const Dim> slow_first);

  const ir::Module& module_;
  std::vector<std::vector<std::vector<Dim>>> first_;  ///< [computation][instruction][leaf]: number of its first dimension
  std::vector<std::vector<Dim>> arrays_;              ///< dimensions of each, slow ones first
  std::vector<int64_t> size_, now_;
  mutable std::vector<Dim> parent_;
  std::vector<bool> fixed_;
  std::vector<Combination> combinations_;
};

}  // namespace support
