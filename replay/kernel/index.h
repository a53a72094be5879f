// Places in arrays: sums of loop variables times constants. What is not such a sum (a quotient that nothing divides, an index that is
// loaded) becomes a term of its own, so that an address is always constant + Σ coefficient · term.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernel {

using TermId = int32_t;
using NodeId = int32_t;

/// constant + Σ coefficient · term; terms ascend, no coefficient is 0.
struct Index {
  int64_t constant = 0;
  std::vector<std::pair<TermId, int64_t>> terms;
  bool operator==(const Index&) const = default;
};
Index operator+(const Index& a, const Index& b);
Index operator+(Index a, int64_t b);
Index operator-(const Index& a, const Index& b);
Index operator*(Index a, int64_t factor);
int64_t coefficient(const Index& index, TermId term);

struct Range {
  int64_t low = 0, high = 0;  ///< both included
};

struct Term {
  enum class Kind : uint8_t {
    variable,   ///< of a loop
    quotient,   ///< floor(base / divisor)
    remainder,  ///< base - divisor · quotient
    value,      ///< an i64 node of the graph
  } kind = Kind::variable;
  Range range;
  Index base;
  int64_t divisor = 1;
  NodeId node = -1;
};

/// All terms of one kernel, each once.
class Terms {
 public:
  /// Runs over low, low + 1, …, high.
  TermId variable(int64_t low, int64_t high);
  Index value(NodeId node, Range range);
  const Term& operator[](TermId id) const { return terms_[static_cast<size_t>(id)]; }
  size_t size() const { return terms_.size(); }

  Range range(const Index& index) const;
  /// floor(index / divisor) and the rest. Exact sums where terms or ranges allow it; otherwise terms of their own, and a wish.
  struct Divided {
    Index quotient, rest;
  };
  Divided divide(const Index& index, int64_t divisor);
  /// a·divisor·floor(x / divisor) + a·(x mod divisor) becomes a·x again.
  Index normal(const Index& index) const;

  /// The first variable that, split at a factor (inner extent), would have made a division exact.
  struct Wish {
    TermId variable = -1;
    int64_t factor = 1;
  };
  std::optional<Wish> wish;

 private:
  TermId term(Term::Kind kind, const Index& base, int64_t divisor, Range range);
  std::vector<Term> terms_;
};

/// "3 + 768·v0 + v1", "v2/512", "v2%512", "[n17]".
std::string print(const Terms& terms, const Index& index);

}  // namespace kernel
