// Windows: reduce-window combines the places of a window one after another, each for all results at once; select-and-scatter picks one.
#include <algorithm>

#include "replay/reference/combiner.h"
#include "replay/reference/ops.h"

namespace replay::reference {
namespace {

/// A window of all dimensions, with its strides in the array that it moves over.
struct Window {
  std::vector<ir::WindowDim> dims;
  Indices sizes, strides;
  int64_t places = 1;
};

base::Result<Window> window_of(const Call& call, const ir::Shape& over) {
  ASSIGN_OR_RETURN(std::vector<ir::WindowDim> dims, ir::attr_window(call.module(), call.instr));
  if (dims.empty()) dims.resize(over.dims.size());
  if (dims.size() != over.dims.size()) return base::Error{"has a window of another rank than its operand"};
  Window window{std::move(dims), {}, row_major(over.dims), 1};
  for (const ir::WindowDim& dim : window.dims) {
    window.sizes.push_back(dim.size);
    window.places *= dim.size;
  }
  return window;
}

/// The element of the array under `place` of the window at result `at`; −1 in the padding or between dilated elements.
int64_t element_under(const Window& window, const ir::Shape& over, const Indices& at, const Indices& place) {
  int64_t sum = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    const ir::WindowDim& dim = window.dims[d];
    const int64_t dilated = at[d] * dim.stride + place[d] * dim.window_dilation - dim.pad_low;
    if (dilated < 0 || dilated % dim.base_dilation != 0 || dilated / dim.base_dilation >= over.dims[d]) return -1;
    sum += dilated / dim.base_dilation * window.strides[d];
  }
  return sum;
}

}  // namespace

Batch reduce_window(const Call& call) {
  const size_t inputs = call.instr.operands.size() / 2;
  if (inputs == 0 || call.instr.calls.empty()) return call.fail("lacks operands or its computation");
  const ir::Shape& over = call.operand_shape(0);
  const auto window = window_of(call, over);
  if (!window.ok()) return call.fail(window.error().message);
  if (over.rank() != call.shape.rank()) return call.fail("has a result of another rank");
  std::vector<Indices> results;
  Walker walker(call.shape.dims);
  for (const int64_t index : *call.at) results.push_back(walker.move_to(index));
  std::vector<Values> acc;
  acc.reserve(inputs);
  for (size_t k = 0; k < inputs; ++k) acc.push_back(repeat(call.scalar(inputs + k), 0, call.count()));
  Combiner combiner(call.in, call.instr.calls[0]);
  Walker places(window->sizes);
  for (int64_t w = 0; w < window->places && !call.in.failed(); ++w) {
    const Indices& place = places.move_to(w);
    Indices lanes, elements;
    for (size_t i = 0; i < results.size(); ++i) {
      const int64_t element = element_under(*window, over, results[i], place);
      if (element < 0) continue;
      lanes.push_back(static_cast<int64_t>(i));
      elements.push_back(element);
    }
    if (lanes.empty()) continue;
    call.in.in_scope([&] {
      std::vector<Values> x;
      x.reserve(inputs);
      for (size_t k = 0; k < inputs; ++k) x.push_back(*call.operand(k, elements));
      if (!call.in.failed()) combiner.combine(acc, lanes, x);
    });
  }
  combiner.finish(acc);
  return share(std::move(acc[std::min(static_cast<size_t>(call.leaf), inputs - 1)]));
}

std::vector<Values> select_and_scatter(const Call& call) {
  const ir::Shape& over = call.operand_shape(0);
  const ir::Shape& source = call.operand_shape(1);
  const auto window = window_of(call, over);
  const auto selects = ir::attr_calls(call.module(), call.instr, "select"), scatters = ir::attr_calls(call.module(), call.instr, "scatter");
  if (!window.ok()) return call.fail(window.error().message), std::vector<Values>();
  if (selects.empty() || scatters.empty() || source.rank() != over.rank())
    return call.fail("lacks its computations or has a source of another rank"), std::vector<Values>();
  const Batch x = call.whole(0), from = call.whole(1);
  const auto n = static_cast<size_t>(ir::elements(source));
  // The picked element of each window: −1 as long as there is none.
  Indices picked(n, -1);
  Walker places(window->sizes);
  for (int64_t w = 0; w < window->places && !call.in.failed(); ++w) {
    const Indices place = places.move_to(w);
    Indices lanes, old, now;
    Walker walker(source.dims);
    for (size_t i = 0; i < n; ++i) {
      const int64_t element = element_under(*window, over, walker.move_to(static_cast<int64_t>(i)), place);
      if (element < 0) continue;
      if (picked[i] < 0) {
        picked[i] = element;
        continue;
      }
      lanes.push_back(static_cast<int64_t>(i));
      old.push_back(picked[i]);
      now.push_back(element);
    }
    if (lanes.empty()) continue;
    const auto keep = call.in.run_lanes(selects[0], {share(take(*x, old)), share(take(*x, now))});
    if (keep.size() != 1 || keep[0].integer.size() != lanes.size()) break;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (keep[0].integer[i] == 0) picked[static_cast<size_t>(lanes[i])] = now[i];
    }
  }
  std::vector<Values> out{repeat(call.scalar(2), 0, static_cast<size_t>(ir::elements(over)))};
  Combiner combiner(call.in, scatters[0]);
  for (size_t i = 0; i < n && !call.in.failed(); ++i) {
    if (picked[i] >= 0) combiner.combine(out, {picked[i]}, {take(*from, Indices{static_cast<int64_t>(i)})});
  }
  combiner.finish(out);
  return out;
}

}  // namespace replay::reference
