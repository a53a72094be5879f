// Ops whose places are values: slices with run-time starts, gather, scatter. Starts are clamped so that the box stays inside; updates of a
// scatter that do not fit are dropped. Scatter is computed from its result: the list of indices is turned around once.
#include <algorithm>

#include "replay/reference/combiner.h"
#include "replay/reference/ops.h"
#include "src/base/contains.h"

namespace replay::reference {
namespace {

/// The clamped starts of a box, and whether they are sure.
struct Starts {
  Indices at;
  bool sure = true;
};

/// Operands first… are one scalar a dimension, or (old form) one vector.
Starts starts_of(const Call& call, size_t first, const ir::Shape& array, const std::vector<int64_t>& box) {
  Starts starts;
  const bool vector = call.instr.operands.size() == first + 1 && call.operand_shape(first).rank() == 1;
  for (size_t d = 0; d < array.dims.size() && !call.in.failed(); ++d) {
    const Values start = vector ? *call.operand(first, Indices{static_cast<int64_t>(d)}) : call.scalar(first + d);
    if (start.integer.empty()) {
      call.fail("has a start that is no integer");
      break;
    }
    const bool huge = start.type == ir::Type::u64 && start.integer[0] < 0;
    const int64_t room = std::max<int64_t>(0, array.dims[d] - (d < box.size() ? box[d] : 0));
    starts.at.push_back(huge ? room : std::clamp<int64_t>(start.integer[0], 0, room));
    starts.sure = starts.sure && !unsure_at(start, 0);
  }
  starts.at.resize(array.dims.size());
  return starts;
}

Batch doubtful(const Batch& values, bool sure) {
  if (sure) return values;
  Values out = *values;
  out.unsure.assign(size(out), 1);
  return share(std::move(out));
}

}  // namespace

Batch dynamic_slice(const Call& call) {
  const ir::Shape& from = call.operand_shape(0);
  if (from.rank() != call.shape.rank()) return call.fail("has another rank than its operand");
  const Starts starts = starts_of(call, 1, from, call.shape.dims);
  const Indices strides = row_major(from.dims);
  int64_t base = 0;
  for (size_t d = 0; d < strides.size(); ++d) base += starts.at[d] * strides[d];
  return doubtful(call.operand(0, affine(call.shape.dims, strides, base, *call.at)), starts.sure);
}

Batch dynamic_update_slice(const Call& call) {
  const ir::Shape& box = call.operand_shape(1);
  if (box.rank() != call.shape.rank()) return call.fail("has an update of another rank");
  const Starts starts = starts_of(call, 2, call.shape, box.dims);
  const Indices strides = row_major(box.dims);
  Indices inside, places, outside, rest;
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    int64_t sum = 0;
    bool in = true;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t place = at[d] - starts.at[d];
      in = in && place >= 0 && place < box.dims[d];
      sum += place * strides[d];
    }
    (in ? inside : outside).push_back(static_cast<int64_t>(i));
    (in ? places : rest).push_back(in ? sum : (*call.at)[i]);
  }
  Values out = zeros(call.shape.type, call.count());
  if (!inside.empty()) put(out, inside, *call.operand(1, std::move(places)));
  if (!outside.empty()) put(out, outside, *call.operand(0, std::move(rest)));
  return doubtful(share(std::move(out)), starts.sure);
}

namespace {

/// Dimensions 0 … rank-1 that are in none of the lists.
Indices others(int rank, const Indices& a, const Indices& b = {}) {
  Indices out;
  for (int64_t d = 0; d < rank; ++d) {
    if (!base::contains(a, d) && !base::contains(b, d)) out.push_back(d);
  }
  return out;
}

bool within(const Indices& list, int rank) {
  return std::all_of(list.begin(), list.end(), [&](int64_t d) { return d >= 0 && d < rank; });
}

/// Strides in the array of indices for the batch coordinates of a gather's result or a scatter's updates, and of the index vector.
struct IndexArray {
  Indices batch_strides;      ///< in order of the batch dimensions
  Indices batch_dims;         ///< which dimension of the index array each is
  int64_t vector_stride = 0;  ///< 0: the indices are scalars
};
IndexArray index_array(const ir::Shape& indices, int64_t vector_dim) {
  const Indices strides = row_major(indices.dims);
  IndexArray out;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == vector_dim)
      out.vector_stride = strides[static_cast<size_t>(d)];
    else {
      out.batch_strides.push_back(strides[static_cast<size_t>(d)]);
      out.batch_dims.push_back(d);
    }
  }
  return out;
}

bool fits(const ir::GatherDims& dims, const Call& call) {
  const int from = call.operand_shape(0).rank(), list = call.operand_shape(1).rank();
  const auto batch = list - (dims.index_vector_dim < list ? 1 : 0);
  const size_t slice_dims = static_cast<size_t>(from) - dims.collapsed_slice_dims.size() - dims.operand_batching_dims.size();
  return within(dims.offset_dims, call.shape.rank()) && within(dims.collapsed_slice_dims, from) && within(dims.start_index_map, from) &&
         within(dims.operand_batching_dims, from) && within(dims.start_indices_batching_dims, list) &&
         dims.slice_sizes.size() == static_cast<size_t>(from) && dims.offset_dims.size() == slice_dims &&
         dims.operand_batching_dims.size() == dims.start_indices_batching_dims.size() &&
         call.shape.rank() == batch + static_cast<int>(dims.offset_dims.size());
}

}  // namespace

Batch gather(const Call& call) {
  const ir::GatherDims dims = ir::attr_gather(call.module(), call.instr);
  if (!fits(dims, call)) return call.fail("has dimensions that do not fit its operands");
  const ir::Shape& from = call.operand_shape(0);
  const IndexArray array = index_array(call.operand_shape(1), dims.index_vector_dim);
  const Indices strides = row_major(from.dims), batch = others(call.shape.rank(), dims.offset_dims);
  const Indices window = others(from.rank(), dims.collapsed_slice_dims, dims.operand_batching_dims);
  const size_t components = dims.start_index_map.size();
  // Where each result's index vector begins, and the offset inside its slice.
  Indices index_at(call.count()), offset(call.count(), 0);
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < call.count(); ++i) {
    const Indices& at = walker.move_to((*call.at)[i]);
    int64_t place = 0;
    for (size_t b = 0; b < batch.size(); ++b) place += at[static_cast<size_t>(batch[b])] * array.batch_strides[b];
    index_at[i] = place;
    for (size_t w = 0; w < window.size(); ++w)
      offset[i] += at[static_cast<size_t>(dims.offset_dims[w])] * strides[static_cast<size_t>(window[w])];
    for (size_t k = 0; k < dims.operand_batching_dims.size(); ++k) {
      const auto which =
          std::find(array.batch_dims.begin(), array.batch_dims.end(), dims.start_indices_batching_dims[k]) - array.batch_dims.begin();
      offset[i] += at[static_cast<size_t>(batch[static_cast<size_t>(which)])] * strides[static_cast<size_t>(dims.operand_batching_dims[k])];
    }
  }
  std::vector<uint8_t> unsure(call.count(), 0);
  for (size_t c = 0; c < components; ++c) {
    Indices places = index_at;
    for (int64_t& place : places) place += static_cast<int64_t>(c) * array.vector_stride;
    const Batch starts = call.gathered(1, places);
    if (starts->integer.empty() && call.count() > 0) return call.fail("has indices that are no integers");
    const auto d = static_cast<size_t>(dims.start_index_map[c]);
    const int64_t room = std::max<int64_t>(0, from.dims[d] - dims.slice_sizes[d]);
    for (size_t i = 0; i < call.count(); ++i) {
      const bool huge = starts->type == ir::Type::u64 && starts->integer[i] < 0;
      offset[i] += (huge ? room : std::clamp<int64_t>(starts->integer[i], 0, room)) * strides[d];
      unsure[i] = unsure[i] | static_cast<uint8_t>(unsure_at(*starts, i));
    }
  }
  Batch made = call.operand(0, std::move(offset));
  if (!base::contains(Indices(unsure.begin(), unsure.end()), 1)) return made;
  Values out = *made;
  for (size_t i = 0; i < unsure.size(); ++i) {
    if (unsure[i] != 0) set_unsure(out, i);
  }
  return share(std::move(out));
}

namespace {

/// A scatter turned around: windows by the place in the result where they begin.
struct Inverse {
  ir::ScatterDims dims;
  Indices update_strides;  ///< of the updates
  Indices update_batch;    ///< dimensions of the updates that are not window dimensions
  Indices window_of;       ///< per dimension of the result: dimension of the updates that runs along it, −1: inserted or batching
  Indices window_sizes;    ///< per dimension of the result
  std::unordered_map<int64_t, std::vector<int64_t>>
      windows;  ///< flat start in the result → first elements of windows in the updates, in order
  std::vector<int64_t>
      shifts;  ///< differences to the start at which an element of a window may be, over dimensions with run-time starts, flat
  std::vector<Indices> shift_places;
  bool sure = true;
};

bool fits(const ir::ScatterDims& dims, const ir::Shape& result, const ir::Shape& indices, const ir::Shape& updates) {
  const size_t windows = dims.update_window_dims.size();
  return within(dims.update_window_dims, updates.rank()) && within(dims.inserted_window_dims, result.rank()) &&
         within(dims.scatter_dims_to_operand_dims, result.rank()) && within(dims.input_batching_dims, result.rank()) &&
         within(dims.scatter_indices_batching_dims, indices.rank()) &&
         dims.input_batching_dims.size() == dims.scatter_indices_batching_dims.size() &&
         windows + dims.inserted_window_dims.size() + dims.input_batching_dims.size() == static_cast<size_t>(result.rank()) &&
         static_cast<size_t>(updates.rank()) ==
             windows + static_cast<size_t>(indices.rank()) - (dims.index_vector_dim < indices.rank() ? 1 : 0);
}

/// All offsets inside a window along the dimensions that have run-time starts.
void list_shifts(Inverse& inverse, const ir::Shape& result) {
  Indices sizes(result.dims.size(), 1);
  for (const int64_t d : inverse.dims.scatter_dims_to_operand_dims)
    sizes[static_cast<size_t>(d)] = inverse.window_sizes[static_cast<size_t>(d)];
  const Indices strides = row_major(result.dims);
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Walker walker(sizes);
  for (int64_t i = 0; i < count; ++i) {
    const Indices& place = walker.move_to(i);
    int64_t flat = 0;
    for (size_t d = 0; d < place.size(); ++d) flat += place[d] * strides[d];
    inverse.shifts.push_back(flat);
    inverse.shift_places.push_back(place);
  }
}

/// Starts of all windows, from the whole list of indices.
void list_windows(const Call& call, Inverse& inverse, const ir::Shape& indices) {
  const auto inputs = call.instr.operands.size() / 2;
  const Batch starts = call.whole(inputs);
  if (kind_of(*starts) != Kind::integer) {
    call.fail("has indices that are no integers");
    return;
  }
  const IndexArray array = index_array(indices, inverse.dims.index_vector_dim);
  Indices batch_sizes;
  for (const int64_t d : array.batch_dims) batch_sizes.push_back(indices.dims[static_cast<size_t>(d)]);
  int64_t count = 1;
  for (const int64_t size : batch_sizes) count *= size;
  const Indices strides = row_major(call.shape.dims);
  Walker walker(batch_sizes);
  for (int64_t w = 0; w < count && !call.in.failed(); ++w) {
    const Indices& at = walker.move_to(w);
    int64_t index_at = 0, first = 0, flat = 0;
    for (size_t b = 0; b < at.size(); ++b) {
      index_at += at[b] * array.batch_strides[b];
      first += at[b] * inverse.update_strides[static_cast<size_t>(inverse.update_batch[b])];
    }
    bool inside = true;
    for (size_t c = 0; c < inverse.dims.scatter_dims_to_operand_dims.size(); ++c) {
      const auto d = static_cast<size_t>(inverse.dims.scatter_dims_to_operand_dims[c]);
      const auto place = static_cast<size_t>(index_at + static_cast<int64_t>(c) * array.vector_stride);
      const int64_t start = starts->integer[place];
      inside = inside && start >= 0 && start <= call.shape.dims[d] - inverse.window_sizes[d];
      inverse.sure = inverse.sure && !unsure_at(*starts, place);
      if (inside) flat += start * strides[d];
    }
    for (size_t k = 0; k < inverse.dims.input_batching_dims.size(); ++k) {
      const auto which = std::find(array.batch_dims.begin(), array.batch_dims.end(), inverse.dims.scatter_indices_batching_dims[k]) -
                         array.batch_dims.begin();
      flat += at[static_cast<size_t>(which)] * strides[static_cast<size_t>(inverse.dims.input_batching_dims[k])];
    }
    if (inside) inverse.windows[flat].push_back(first);
  }
}

std::shared_ptr<Inverse> invert(const Call& call) {
  const auto inputs = call.instr.operands.size() / 2;
  const ir::Shape &indices = call.operand_shape(inputs), &updates = call.operand_shape(inputs + 1);
  auto inverse = std::make_shared<Inverse>();
  inverse->dims = ir::attr_scatter(call.module(), call.instr);
  if (!fits(inverse->dims, call.shape, indices, updates)) {
    call.fail("has dimensions that do not fit its operands");
    return nullptr;
  }
  inverse->update_strides = row_major(updates.dims);
  inverse->update_batch = others(updates.rank(), inverse->dims.update_window_dims);
  inverse->window_of.assign(call.shape.dims.size(), -1);
  inverse->window_sizes.assign(call.shape.dims.size(), 1);
  size_t next = 0;
  for (const int64_t d : others(call.shape.rank(), inverse->dims.inserted_window_dims, inverse->dims.input_batching_dims)) {
    const int64_t along = inverse->dims.update_window_dims[next++];
    inverse->window_of[static_cast<size_t>(d)] = along;
    inverse->window_sizes[static_cast<size_t>(d)] = updates.dims[static_cast<size_t>(along)];
  }
  list_shifts(*inverse, call.shape);
  list_windows(call, *inverse, indices);
  return inverse;
}

/// Elements of the updates that fall on a place of the result, in order of the updates.
Indices hits(const Inverse& inverse, const Indices& strides, const Indices& at) {
  Indices out;
  for (size_t s = 0; s < inverse.shifts.size(); ++s) {
    int64_t start = 0, inside = 0;
    bool possible = true;
    for (size_t d = 0; d < at.size(); ++d) {
      const bool moves = base::contains(inverse.dims.scatter_dims_to_operand_dims, static_cast<int64_t>(d));
      const bool batching = base::contains(inverse.dims.input_batching_dims, static_cast<int64_t>(d));
      const int64_t within_window = moves ? inverse.shift_places[s][d] : batching ? 0 : at[d];
      start += (at[d] - within_window) * strides[d];
      possible = possible && at[d] >= within_window && within_window < inverse.window_sizes[d];
      if (inverse.window_of[d] >= 0) inside += within_window * inverse.update_strides[static_cast<size_t>(inverse.window_of[d])];
    }
    if (!possible) continue;
    const auto it = inverse.windows.find(start);
    if (it == inverse.windows.end()) continue;
    for (const int64_t first : it->second) out.push_back(first + inside);
  }
  if (inverse.shifts.size() > 1) std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Batch scatter(const Call& call) {
  const size_t inputs = call.instr.operands.size() / 2;
  if (inputs == 0 || call.instr.calls.empty()) return call.fail("lacks operands or its computation");
  std::shared_ptr<void>& note = call.frame.notes[call.id];
  if (note == nullptr) note = invert(call);
  if (note == nullptr) return share(zeros(call.shape.type, call.count()));
  const auto& inverse = *static_cast<const Inverse*>(note.get());
  const Indices strides = row_major(call.shape.dims);
  std::vector<Indices> lists(call.count());
  size_t rounds = 0;
  Walker walker(call.shape.dims);
  for (size_t i = 0; i < lists.size(); ++i) {
    lists[i] = hits(inverse, strides, walker.move_to((*call.at)[i]));
    rounds = std::max(rounds, lists[i].size());
  }
  Combiner combiner(call.in, call.instr.calls[0]);
  std::vector<Values> sums;
  sums.reserve(inputs);
  for (size_t k = 0; k < inputs; ++k) sums.push_back(*call.operand(k, *call.at));
  for (size_t round = 0; round < rounds && !call.in.failed(); ++round) {
    Indices lanes, places;
    for (size_t i = 0; i < lists.size(); ++i) {
      if (round >= lists[i].size()) continue;
      lanes.push_back(static_cast<int64_t>(i));
      places.push_back(lists[i][round]);
    }
    std::vector<Values> updates;
    updates.reserve(inputs);
    for (size_t k = 0; k < inputs; ++k) updates.push_back(*call.operand(inputs + 1 + k, places));
    combiner.combine(sums, lanes, updates);
  }
  combiner.finish(sums, Kept::rounded);
  return doubtful(share(std::move(sums[static_cast<size_t>(call.leaf)])), inverse.sure);
}

}  // namespace replay::reference
