// Every rule is one move: a label for each step that is still alone, and the k-th of `before` with a label is the k-th of `after` with it.
// Labels are hashes of 64 bits, sorted; a pair is kept only where what they were made of is equal, so that a collision costs a match and
// never makes a wrong one.
#include "src/report/match.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "src/base/hash.h"

namespace report {
namespace {

using Field = std::string Identity::*;

struct Labelled {
  uint64_t label;
  int32_t index;
  auto operator<=>(const Labelled&) const = default;
};

/// One side of the comparison.
struct Side {
  std::span<const Identity> steps;
  std::vector<int32_t> partner;  ///< index on the other side; -1: none yet
};

enum class Neighbour : uint8_t { before, after };

class Matcher {
 public:
  Matcher(std::span<const Identity> before, std::span<const Identity> after)
      : before_{before, std::vector<int32_t>(before.size(), -1)},
        after_{after, std::vector<int32_t>(after.size(), -1)},
        matches_(after.size()) {}

  std::vector<Match> run() {
    by_fields(MatchedBy::key, std::array{&Identity::key, &Identity::name, &Identity::computation});
    by_fields(MatchedBy::key, std::array{&Identity::key});
    by_fields(MatchedBy::name, std::array{&Identity::name, &Identity::computation, &Identity::opcode, &Identity::kind, &Identity::shape});
    by_fields(MatchedBy::name, std::array{&Identity::name, &Identity::opcode, &Identity::kind, &Identity::shape});
    by_fields(MatchedBy::name_other_shape, std::array{&Identity::name, &Identity::computation, &Identity::opcode, &Identity::kind});
    by_fields(MatchedBy::name_other_shape, std::array{&Identity::name, &Identity::opcode, &Identity::kind});
    if (!anything_) return std::move(matches_);
    by_place(Neighbour::before);
    by_place(Neighbour::after);
    return std::move(matches_);
  }

 private:
  /// Steps whose first field is empty have no label.
  void by_fields(MatchedBy rule, std::span<const Field> fields) {
    const auto labels = [&](const Side& side) {
      return labelled(side, [&](size_t i) -> std::pair<bool, uint64_t> {
        if ((side.steps[i].*fields[0]).empty()) return {false, 0};
        uint64_t label = 0;
        for (const Field field : fields) label = combined(label, base::hash64(side.steps[i].*field));
        return {true, label};
      });
    };
    const auto equal = [&](int32_t b, int32_t a) {
      return std::ranges::all_of(fields, [&](Field field) { return at(before_, b).*field == at(after_, a).*field; });
    };
    pair(rule, labels(before_), labels(after_), equal);
  }

  /// Steps between the same two matched ones: told by the nearest match before (or after) them, named by its index in `after`.
  void by_place(Neighbour where) {
    const std::vector<int32_t> near_before = nearest(before_, where, [&](size_t i) { return before_.partner[i]; });
    const std::vector<int32_t> near_after = nearest(after_, where, [](size_t i) { return static_cast<int32_t>(i); });
    const auto label = [](const Side& side, const std::vector<int32_t>& near) {
      return labelled(side, [&](size_t i) -> std::pair<bool, uint64_t> {
        const Identity& step = side.steps[i];
        const uint64_t what = combined(combined(base::hash64(step.opcode), base::hash64(step.kind)), base::hash64(step.shape));
        return {true, combined(what, static_cast<uint64_t>(near[i] + 1))};
      });
    };
    const auto equal = [&](int32_t b, int32_t a) {
      const auto what = [](const Identity& step) { return std::tie(step.opcode, step.kind, step.shape); };
      return near_before[static_cast<size_t>(b)] == near_after[static_cast<size_t>(a)] && what(at(before_, b)) == what(at(after_, a));
    };
    pair(MatchedBy::neighbours, label(before_, near_before), label(after_, near_after), equal);
  }

  static const Identity& at(const Side& side, int32_t index) { return side.steps[static_cast<size_t>(index)]; }
  static uint64_t combined(uint64_t a, uint64_t b) { return (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu; }

  /// Sorted by label, then by place.
  template <typename Label>
  static std::vector<Labelled> labelled(const Side& side, Label label_of) {
    std::vector<Labelled> labels;
    for (size_t i = 0; i < side.steps.size(); ++i) {
      if (side.partner[i] >= 0) continue;
      if (const auto [has, label] = label_of(i); has) labels.push_back({label, static_cast<int32_t>(i)});
    }
    std::ranges::sort(labels);
    return labels;
  }

  /// Of each step the name of the nearest matched one; -1: there is none.
  template <typename Name>
  static std::vector<int32_t> nearest(const Side& side, Neighbour where, Name name) {
    std::vector<int32_t> found(side.steps.size(), -1);
    int32_t last = -1;
    for (size_t k = 0; k < found.size(); ++k) {
      const size_t i = where == Neighbour::before ? k : found.size() - 1 - k;
      if (side.partner[i] >= 0) last = name(i);
      found[i] = last;
    }
    return found;
  }

  template <typename Equal>
  void pair(MatchedBy rule, const std::vector<Labelled>& before, const std::vector<Labelled>& after, Equal equal) {
    for (size_t b = 0, a = 0; b < before.size() && a < after.size();) {
      if (before[b].label != after[a].label) {
        before[b].label < after[a].label ? ++b : ++a;
        continue;
      }
      if (equal(before[b].index, after[a].index)) keep(rule, before[b].index, after[a].index);
      ++b, ++a;
    }
  }

  void keep(MatchedBy rule, int32_t before, int32_t after) {
    before_.partner[static_cast<size_t>(before)] = after;
    after_.partner[static_cast<size_t>(after)] = before;
    matches_[static_cast<size_t>(after)] = {before, rule};
    anything_ = true;
  }

  Side before_, after_;
  std::vector<Match> matches_;
  bool anything_ = false;
};

}  // namespace

std::string_view text(MatchedBy rule) {
  switch (rule) {
    case MatchedBy::nothing:
      return "";
    case MatchedBy::key:
      return "key";
    case MatchedBy::name:
      return "name";
    case MatchedBy::name_other_shape:
      return "name, other shape";
    case MatchedBy::neighbours:
      return "neighbours";
  }
  return "";
}

std::vector<Match> match(std::span<const Identity> before, std::span<const Identity> after) { return Matcher(before, after).run(); }

}  // namespace report
