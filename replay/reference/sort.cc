// Sort (stable, whatever comparator) and top-k.
#include <algorithm>
#include <numeric>

#include "replay/reference/ops.h"

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
  Indices dims = shape.dims, steps = strides;
  dims[along] = 1;
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  Indices list(static_cast<size_t>(lines.length == 0 ? 0 : count));
  std::iota(list.begin(), list.end(), 0);
  lines.bases = affine(dims, steps, 0, list);
  return lines;
}

/// A pair of elements to compare.
struct Question {
  int64_t left, right;
};

/// All lines at once, bottom up: each round asks for one comparison of every merge that is under way, so the comparator runs on lanes.
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
      run(merges, from, to, ask);
      std::swap(from, to);
    }
    return from;
  }

 private:
  struct Merge {
    size_t left, left_end, right, right_end, out;
  };

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
  const Indices order = MergeSort::order(lines.bases.size(), static_cast<size_t>(lines.length), ask);
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

std::vector<Values> topk(const Call& call) {
  const ir::Shape& shape = call.operand_shape(0);
  const int64_t k = ir::attr_int(call.module(), call.instr, "k").value_or(0);
  const auto largest = ir::attr_text(call.module(), call.instr, "largest");
  if (shape.rank() == 0 || k < 0 || k > shape.dims.back()) return call.fail("has a k that its operand lacks"), std::vector<Values>();
  const Batch x = call.whole(0);
  const bool up = largest && *largest == "false";
  const auto length = static_cast<size_t>(shape.dims.back()), lines = length == 0 ? 0 : size(*x) / length;
  const auto key = [&](size_t i) {
    return kind_of(*x) == Kind::integer ? static_cast<double>(x->integer[i]) : std::isnan(x->re[i]) ? INFINITY : x->re[i];
  };
  Indices picked;
  Values indices = zeros(ir::Type::s32, 0);
  for (size_t line = 0; line < lines; ++line) {
    Indices order(length);
    std::iota(order.begin(), order.end(), static_cast<int64_t>(line * length));
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return up ? key(static_cast<size_t>(a)) < key(static_cast<size_t>(b)) : key(static_cast<size_t>(a)) > key(static_cast<size_t>(b));
    });
    for (int64_t i = 0; i < k; ++i) {
      picked.push_back(order[static_cast<size_t>(i)]);
      indices.integer.push_back(order[static_cast<size_t>(i)] - static_cast<int64_t>(line * length));
    }
  }
  std::vector<Values> out;
  out.push_back(take(*x, picked));
  if (!out[0].bound.empty()) indices.unsure.assign(size(indices), 1);
  out.push_back(std::move(indices));
  return out;
}

}  // namespace replay::reference
