// Sort (stable, whatever comparator) and top-k.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "replay/reference/ops.h"
#include "replay/reference/sort_keys.h"

namespace replay::reference {
namespace {

/// Lines along one dimension of an array: where each begins, and the step along it.
struct Lines {
  Indices bases;
  int64_t step = 1, length = 0;
};
Lines lines_of(const ir::Shape& shape, size_t along) {
  const Indices strides = row_major(shape.dims);
  Lines lines;
  lines.step = strides[along];
  lines.length = shape.dims[along];
  Indices dims = shape.dims;
  dims[along] = 1;
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  Indices list(static_cast<size_t>(lines.length == 0 ? 0 : count));
  std::iota(list.begin(), list.end(), 0);
  lines.bases = affine(dims, strides, 0, list);
  return lines;
}

/// A pair of elements to compare.
struct Question {
  int64_t left, right;
};

/// All lines at once, bottom up: each round asks for one comparison of every merge that is under way, so the comparator runs on lanes. Late
/// rounds have few merges: each is cut into pieces that are merged side by side, where its output crosses multiples of a piece's length.
class MergeSort {
 public:
  template <typename Ask>
  static Indices order(size_t lines, size_t length, const Ask& ask) {
    Indices from(lines * length), to(lines * length);
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int64_t>(i);
    for (size_t width = 1; width < length; width *= 2) {
      std::vector<Merge> merges;
      for (size_t line = 0; line < lines; ++line) {
        for (size_t a = 0; a < length; a += 2 * width) {
          const size_t begin = line * length + a, middle = line * length + std::min(a + width, length),
                       end = line * length + std::min(a + 2 * width, length);
          merges.push_back({begin, middle, middle, end, begin});
        }
      }
      std::vector<Merge> parts = pieces(merges, std::max(kLeastPiece, from.size() / kPieces), from, ask);
      run(parts, from, to, ask);
      std::swap(from, to);
    }
    return from;
  }

 private:
  static constexpr size_t kPieces = 2048, kLeastPiece = 64;  ///< merges at once; outputs of one

  struct Merge {
    size_t left, left_end, right, right_end, out;
    size_t size() const { return left_end - left + right_end - right; }
  };
  /// How many of the first `outputs` elements of a merge come from its left side: between low and high.
  struct Cut {
    size_t merge, outputs, low, high;
  };

  /// Every cut of every merge by bisection, all at once. Of equals the left ones come first.
  template <typename Ask>
  static std::vector<Cut> cuts_of(const std::vector<Merge>& merges, size_t piece, const Indices& from, const Ask& ask) {
    std::vector<Cut> cuts;
    for (size_t i = 0; i < merges.size(); ++i) {
      const size_t lefts = merges[i].left_end - merges[i].left, rights = merges[i].right_end - merges[i].right;
      for (size_t outputs = piece; outputs < merges[i].size(); outputs += piece)
        cuts.push_back({i, outputs, outputs > rights ? outputs - rights : 0, std::min(outputs, lefts)});
    }
    for (bool open = !cuts.empty(); open;) {
      std::vector<Question> questions;
      std::vector<Cut*> asked;
      for (Cut& cut : cuts) {
        if (cut.low == cut.high) continue;
        const size_t middle = (cut.low + cut.high) / 2;
        questions.push_back({from[merges[cut.merge].right + cut.outputs - 1 - middle], from[merges[cut.merge].left + middle]});
        asked.push_back(&cut);
      }
      open = !asked.empty();
      const std::vector<bool> right_first = open ? ask(questions) : std::vector<bool>();
      for (size_t i = 0; i < asked.size(); ++i) {
        const size_t middle = (asked[i]->low + asked[i]->high) / 2;
        (right_first[i] ? asked[i]->high : asked[i]->low) = right_first[i] ? middle : middle + 1;
      }
    }
    return cuts;
  }

  template <typename Ask>
  static std::vector<Merge> pieces(const std::vector<Merge>& merges, size_t piece, const Indices& from, const Ask& ask) {
    std::vector<Merge> parts;
    const std::vector<Cut> cuts = cuts_of(merges, piece, from, ask);
    auto cut = cuts.begin();
    for (size_t i = 0; i < merges.size(); ++i) {
      Merge rest = merges[i];
      size_t lefts = 0, outputs = 0;  // before the piece
      for (; cut != cuts.end() && cut->merge == i; ++cut) {
        // A comparator that is no order may give cuts that run backwards: whatever it says, every element is put out once.
        const size_t next = std::clamp(cut->low, lefts, lefts + cut->outputs - outputs);
        const size_t rights = cut->outputs - outputs - (next - lefts);
        if (rights > rest.right_end - rest.right) continue;
        parts.push_back({rest.left, rest.left + next - lefts, rest.right, rest.right + rights, rest.out});
        rest.left += next - lefts, rest.right += rights, rest.out += cut->outputs - outputs;
        lefts = next, outputs = cut->outputs;
      }
      parts.push_back(rest);
    }
    return parts;
  }

  template <typename Ask>
  static void run(std::vector<Merge>& merges, const Indices& from, Indices& to, const Ask& ask) {
    while (!merges.empty()) {
      std::vector<Question> questions;
      std::vector<Merge> open;
      for (Merge& m : merges) {
        if (m.left == m.left_end || m.right == m.right_end) {
          std::copy(from.begin() + static_cast<ptrdiff_t>(m.right), from.begin() + static_cast<ptrdiff_t>(m.right_end),
                    std::copy(from.begin() + static_cast<ptrdiff_t>(m.left), from.begin() + static_cast<ptrdiff_t>(m.left_end),
                              to.begin() + static_cast<ptrdiff_t>(m.out)));
          continue;
        }
        questions.push_back({from[m.right], from[m.left]});
        open.push_back(m);
      }
      if (open.empty()) return;
      const std::vector<bool> right_first = ask(questions);
      for (size_t i = 0; i < open.size(); ++i) {
        Merge& m = open[i];
        to[m.out++] = from[right_first[i] ? m.right++ : m.left++];
      }
      merges = std::move(open);
    }
  }
};

/// Positions, line by line, in stable order of their keys.
Indices ordered(const Lines& lines, const std::vector<uint64_t>& keys) {
  std::vector<std::pair<uint64_t, int64_t>> line(static_cast<size_t>(lines.length));
  Indices order;
  order.reserve(keys.size());
  for (size_t first = 0; first < keys.size(); first += line.size()) {
    for (size_t i = 0; i < line.size(); ++i) line[i] = {keys[first + i], static_cast<int64_t>(first + i)};
    std::ranges::sort(line);
    for (const auto& [key, position] : line) order.push_back(position);
  }
  return order;
}

/// Sorted places of the elements of `lines`, as positions line by line.
Indices sorted_places(const Lines& lines, const Indices& order) {
  Indices places(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto length = static_cast<size_t>(lines.length), at = static_cast<size_t>(order[i]);
    places[i] = lines.bases[at / length] + static_cast<int64_t>(at % length) * lines.step;
  }
  return places;
}

}  // namespace

std::vector<Values> sort(const Call& call) {
  const Indices dims = ir::attr_dims(call.module(), call.instr, "dimensions");
  const ir::Shape& shape = call.operand_shape(0);
  const int64_t along = dims.empty() ? shape.rank() - 1 : dims[0];
  if (along < 0 || along >= shape.rank() || call.instr.calls.empty())
    return call.fail("lacks its dimension or its computation"), std::vector<Values>();
  const Lines lines = lines_of(shape, static_cast<size_t>(along));
  const size_t inputs = call.instr.operands.size();
  std::vector<Batch> arrays;
  for (size_t k = 0; k < inputs; ++k) {
    if (call.operand_shape(k).dims != shape.dims) return call.fail("has operands of different sizes"), std::vector<Values>();
    arrays.push_back(call.whole(k));
  }
  Indices all(lines.bases.size() * static_cast<size_t>(lines.length));
  std::iota(all.begin(), all.end(), 0);
  const Indices places = sorted_places(lines, all);
  bool unsure = false;
  const auto ask = [&](const std::vector<Question>& questions) {
    Indices left, right;
    for (const Question& q : questions) {
      left.push_back(places[static_cast<size_t>(q.left)]);
      right.push_back(places[static_cast<size_t>(q.right)]);
    }
    std::vector<Batch> arguments;
    for (const Batch& array : arrays) {
      arguments.push_back(share(take(*array, left)));
      arguments.push_back(share(take(*array, right)));
    }
    std::vector<bool> answers(questions.size());
    const auto made = call.in.run_lanes(call.instr.calls[0], arguments);
    for (size_t i = 0; i < answers.size() && made.size() == 1; ++i) {
      answers[i] = made[0].integer[i] != 0;
      unsure = unsure || unsure_at(made[0], i);
    }
    return answers;
  };
  const auto keys = sort_keys(call, arrays, places);
  const Indices order = keys ? ordered(lines, *keys) : MergeSort::order(lines.bases.size(), static_cast<size_t>(lines.length), ask);
  const Indices from = sorted_places(lines, order);
  std::vector<Values> out;
  for (const Batch& array : arrays) {
    Values sorted = zeros(array->type, size(*array));
    put(sorted, places, take(*array, from));
    if (unsure) sorted.unsure.assign(size(sorted), 1);
    out.push_back(std::move(sorted));
  }
  return out;
}

std::vector<Values> largest(const Call& call, int64_t k, Order order) {
  const ir::Shape& shape = call.operand_shape(0);
  if (shape.rank() == 0 || k < 0 || k > shape.dims.back()) return call.fail("has a k that its operand lacks"), std::vector<Values>();
  const Batch x = call.whole(0);
  const auto length = static_cast<size_t>(shape.dims.back()), lines = length == 0 ? 0 : size(*x) / length;
  const bool is_unsigned = ir::info(shape.type).kind == ir::TypeInfo::Kind::unsigned_;
  const auto less = [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    if (kind_of(*x) != Kind::integer) return (std::isnan(x->re[j]) && !std::isnan(x->re[i])) || x->re[i] < x->re[j];  // NaN is largest
    if (is_unsigned) return static_cast<uint64_t>(x->integer[i]) < static_cast<uint64_t>(x->integer[j]);
    return x->integer[i] < x->integer[j];
  };
  Indices picked;
  Values places = zeros(ir::Type::s32, 0);
  for (size_t line = 0; line < lines; ++line) {
    Indices places_of_line(length);
    std::iota(places_of_line.begin(), places_of_line.end(), static_cast<int64_t>(line * length));
    std::stable_sort(places_of_line.begin(), places_of_line.end(),
                     [&](int64_t a, int64_t b) { return order == Order::ascending ? less(a, b) : less(b, a); });
    for (int64_t i = 0; i < k; ++i) {
      picked.push_back(places_of_line[static_cast<size_t>(i)]);
      places.integer.push_back(places_of_line[static_cast<size_t>(i)] - static_cast<int64_t>(line * length));
    }
  }
  std::vector<Values> out;
  out.push_back(take(*x, picked));
  if (!out[0].bound.empty()) places.unsure.assign(size(places), 1);
  out.push_back(std::move(places));
  return out;
}

std::vector<Values> topk(const Call& call) {
  const auto wanted = ir::attr_text(call.module(), call.instr, "largest");
  const int64_t k = ir::attr_int(call.module(), call.instr, "k").value_or(0);
  return largest(call, k, wanted && *wanted == "false" ? Order::ascending : Order::descending);
}

}  // namespace replay::reference
