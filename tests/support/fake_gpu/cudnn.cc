// cuDNN's graphs of a convolution and what follows it: descriptors as they are set, looked at when they are finalized as the library looks
// at them, and convolutions that the host computes by sizes and strides, in f64. Heuristics name four engines in mode A and one as the
// fallback:
//
//   engine  notes         workspace               operations of the GPU
//   28      tensor cores  0                       1
//   7       -             1 TiB                   1
//   1       -             the result, in f32      2
//   4       Winograd      0                       1
//   38      -             0                       1, half as long as the others
//   0       -             0                       1, as the fallback, twice as long
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/support/fake_gpu/elements.h"
#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {
namespace {

constexpr int kNotInitialized = 1001, kBadParam = 2000, kNotFinalized = 2004, kUnsupported = 3000, kExecution = 5000;
// kinds of descriptors and names of attributes, as cudnn_backend.h numbers them
constexpr int kPointwise = 0, kConvolution = 1, kEngine = 2, kConfiguration = 3, kHeuristics = 4, kPlan = 5, kForward = 10, kWeights = 11,
              kInput = 12, kPointwiseOperation = 13, kGraph = 15, kArguments = 16, kTensor = 17;
constexpr int kResults = 202, kConfigurationEngine = 300, kPlanWorkspace = 402, kEngineNumber = 1301, kEngineNotes = 1303;

struct EngineRow {
  int64_t number;
  std::vector<int> notes;
  bool large, staged;  ///< workspace: 1 TiB; the result
  int64_t percent;     ///< of the usual duration
};
const std::vector<EngineRow> kBest{{28, {0}, false, false, 100},
                                   {7, {}, true, false, 100},
                                   {1, {}, false, true, 100},
                                   {4, {5}, false, false, 100},
                                   {38, {}, false, false, 50}};
const std::vector<EngineRow> kFallback{{0, {}, false, false, 200}};

/// Attributes by number, as bytes, with the type that each was set by.
struct Node {
  int kind = 0;
  bool finalized = false;
  std::map<int, std::pair<int, std::string>> set;
  const EngineRow* row = nullptr;  ///< of engines and their configurations
  void* graph = nullptr;           ///< of configurations

  bool has(int attribute) const { return set.contains(attribute); }
  template <typename T>
  std::vector<T> all(int attribute) const {
    const auto found = set.find(attribute);
    std::vector<T> values(found == set.end() ? 0 : found->second.second.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), found->second.second.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T>
  T get(int attribute, T otherwise = T()) const {
    const std::vector<T> values = all<T>(attribute);
    return values.empty() ? otherwise : values[0];
  }
};
std::map<void*, Node> nodes;
std::string said;

int wrong(int code, std::string why) {
  said = std::move(why);
  return code;
}
Node* node(void* which) {
  const auto found = nodes.find(which);
  return found == nodes.end() ? nullptr : &found->second;
}
Node* whole(void* which, int kind) {
  Node* found = node(which);
  return found != nullptr && found->finalized && found->kind == kind ? found : nullptr;
}

/// cudnnBackendAttributeType_t: bytes of a value.
const std::map<int, size_t> kValueBytes{{0, 8}, {1, 4}, {2, 1}, {3, 8}, {4, 4}, {5, 8}, {6, 8}, {7, 4}, {8, 4}, {11, 4}, {14, 4}, {15, 8}};
/// The type that an attribute is set by.
const std::map<int, int> kTypes{{0, 14},   {1, 1},    {3, 5},    {4, 5},    {5, 5},    {100, 1},  {101, 7},  {102, 3},  {103, 3},
                                {104, 3},  {105, 3},  {106, 3},  {200, 8},  {201, 15}, {400, 0},  {401, 15}, {702, 15}, {703, 15},
                                {704, 15}, {705, 15}, {708, 15}, {709, 15}, {710, 15}, {711, 15}, {714, 15}, {715, 15}, {716, 15},
                                {717, 15}, {750, 15}, {751, 15}, {752, 15}, {753, 15}, {754, 4},  {755, 4},  {800, 0},  {801, 15},
                                {900, 3},  {901, 1},  {902, 3},  {903, 3},  {906, 3},  {907, 2},  {1000, 3}, {1001, 6}, {1003, 6}};
/// Attributes that a kind cannot be finalized without.
const std::map<int, std::vector<int>> kNeeded{{kPointwise, {0, 1}},
                                              {kConvolution, {100, 101, 102, 103, 104, 105, 106}},
                                              {kHeuristics, {200, 201}},
                                              {kPlan, {400, 401}},
                                              {kForward, {700, 701, 702, 703, 704, 705}},
                                              {kInput, {706, 707, 708, 709, 710, 711}},
                                              {kWeights, {712, 713, 714, 715, 716, 717}},
                                              {kPointwiseOperation, {750, 751, 753}},
                                              {kGraph, {800, 801}},
                                              {kArguments, {1000, 1001, 1003}},
                                              {kTensor, {900, 901, 902, 903, 906}}};
/// Factors are in the type of the sums.
bool takes(int attribute, int type) {
  const bool factor = attribute == 700 || attribute == 701 || attribute == 706 || attribute == 707 || attribute == 712 || attribute == 713;
  const auto known = kTypes.find(attribute);
  return factor ? type == 4 || type == 5 : known != kTypes.end() && known->second == type;
}

/// cudnnDataType_t as cudaDataType_t.
int element_type(int type) {
  const std::map<int, int> known{{0, kF32}, {1, kF64}, {2, kF16}, {9, kBf16}};
  const auto found = known.find(type);
  return found == known.end() ? -1 : found->second;
}

struct Array {
  int type = 0;
  int64_t id = 0;
  std::vector<int64_t> dims, strides;
  bool is_virtual = false;
  Address at = 0;

  size_t bytes() const {
    int64_t last = 0;
    for (size_t k = 0; k < dims.size(); ++k) last += (dims[k] - 1) * strides[k];
    return static_cast<size_t>(last + 1) * element_bytes().at(type);
  }
};
Array array_of(const Node& n) {
  return {element_type(n.get<int>(901)), n.get<int64_t>(906), n.all<int64_t>(902), n.all<int64_t>(903), n.get<char>(907) != 0, 0};
}

struct Window {
  bool turned = false;
  std::vector<int64_t> before, after, strides, dilations;
};
struct Step {  ///< pointwise: y = f(alpha1·x + alpha2·b)
  bool activates = false;
  double alpha1 = 1, alpha2 = 1, lower = 0, upper = std::numeric_limits<double>::infinity(), slope = 0;
  Array b;
};
struct Conv {
  int kind = kForward;
  Array x, w, y;
  Window window;
  std::vector<Step> steps;
  Array result;  ///< of the last operation
};

/// The attributes of x, w, y and the window, by kind of operation.
const std::map<int, std::array<int, 4>> kOperandNames{
    {kForward, {704, 703, 705, 702}}, {kInput, {710, 709, 711, 708}}, {kWeights, {716, 715, 717, 714}}};

Array operand(const Node& operation, int attribute) {
  const Node* found = whole(operation.get<void*>(attribute), kTensor);
  return found == nullptr ? Array{-1, 0, {}, {}, false, 0} : array_of(*found);
}

/// Nothing may be left of an operation: operand missing, sizes that do not go together.
bool read_convolution(const Node& operation, Conv& c) {
  const std::array<int, 4> names = kOperandNames.at(operation.kind);
  c.kind = operation.kind;
  c.x = operand(operation, names[0]), c.w = operand(operation, names[1]), c.y = operand(operation, names[2]);
  const Node* window = whole(operation.get<void*>(names[3]), kConvolution);
  if (c.x.type < 0 || c.w.type < 0 || c.y.type < 0 || window == nullptr) return false;
  c.window = {window->get<int>(101) == 0, window->all<int64_t>(105), window->all<int64_t>(104), window->all<int64_t>(103),
              window->all<int64_t>(102)};
  const auto places = static_cast<size_t>(window->get<int64_t>(106));
  bool fits = c.x.dims.size() == places + 2 && c.w.dims.size() == places + 2 && c.y.dims.size() == places + 2 && places >= 2;
  fits = fits && c.x.dims[0] == c.y.dims[0] && c.y.dims[1] == c.w.dims[0] && c.x.dims[1] % c.w.dims[1] == 0 &&
         c.w.dims[0] % (c.x.dims[1] / c.w.dims[1]) == 0;
  for (size_t k = 0; fits && k < places; ++k) {
    const int64_t padded = c.x.dims[k + 2] + c.window.before[k] + c.window.after[k], reach = (c.w.dims[k + 2] - 1) * c.window.dilations[k];
    fits = c.window.before[k] >= 0 && c.window.after[k] >= 0 && (padded - reach - 1) / c.window.strides[k] + 1 == c.y.dims[k + 2];
  }
  c.result = operation.kind == kForward ? c.y : operation.kind == kInput ? c.x : c.w;
  return fits;
}

bool read_step(const Node& operation, Conv& c) {
  const Node* how = whole(operation.get<void*>(750), kPointwise);
  const Array x = operand(operation, 751), y = operand(operation, 753);
  if (how == nullptr || x.type < 0 || y.type < 0 || x.id != c.result.id || !x.is_virtual || x.dims != y.dims) return false;
  Step step;
  step.activates = how->get<int>(0) == 100;
  step.lower = how->get<double>(3, step.lower), step.upper = how->get<double>(4, step.upper), step.slope = how->get<double>(5, 0);
  step.alpha1 = operation.get<float>(754, 1), step.alpha2 = operation.get<float>(755, 1);
  if (!step.activates) {
    if (how->get<int>(0) != 0) return false;
    step.b = operand(operation, 752);
    if (step.b.type < 0 || step.b.dims.size() != x.dims.size()) return false;
    for (size_t k = 0; k < x.dims.size(); ++k)
      if (step.b.dims[k] != x.dims[k] && step.b.dims[k] != 1) return false;
  }
  c.result = y;
  c.steps.push_back(step);
  return true;
}

/// A convolution, then steps in a row. False: another graph.
bool read_graph(const Node& graph, Conv& c) {
  const std::vector<void*> operations = graph.all<void*>(801);
  for (size_t k = 0; k < operations.size(); ++k) {
    const Node* operation = node(operations[k]);
    if (operation == nullptr || !operation->finalized) return false;
    if (k == 0 ? !kOperandNames.contains(operation->kind) || !read_convolution(*operation, c)
               : operation->kind != kPointwiseOperation || !read_step(*operation, c))
      return false;
  }
  return !operations.empty() && !c.result.is_virtual && (operations.size() == 1 || c.kind == kForward);
}

size_t workspace_of(const EngineRow& row, const Conv& c) {
  size_t elements = 1;
  for (const int64_t size : c.result.dims) elements *= static_cast<size_t>(size);
  return row.large ? size_t{1} << 40 : row.staged ? elements * 4 : 0;
}

/// To the next place of a box; false: there is none.
bool advance(std::vector<int64_t>& at, const std::vector<int64_t>& sizes) {
  for (size_t k = sizes.size(); k-- > 0;) {
    if (++at[k] < sizes[k]) return true;
    at[k] = 0;
  }
  return false;
}

/// Calls f(place in x, in w, in y) for every product.
template <typename F>
void products(const Conv& c, const F& f) {
  const size_t places = c.window.strides.size();
  std::vector<int64_t> sizes(c.y.dims.begin(), c.y.dims.end());
  sizes.insert(sizes.end(), c.w.dims.begin() + 1, c.w.dims.end());
  std::vector<int64_t> at(sizes.size());
  const int64_t per_group = c.w.dims[0] / (c.x.dims[1] / c.w.dims[1]);
  do {
    const int64_t feature = at[places + 2];
    int64_t x = at[0] * c.x.strides[0] + (at[1] / per_group * c.w.dims[1] + feature) * c.x.strides[1];
    int64_t w = at[1] * c.w.strides[0] + feature * c.w.strides[1], y = at[0] * c.y.strides[0] + at[1] * c.y.strides[1];
    bool inside = true;
    for (size_t k = 0; inside && k < places; ++k) {
      const int64_t tap = at[places + 3 + k], place = at[k + 2] * c.window.strides[k] + tap * c.window.dilations[k] - c.window.before[k];
      inside = place >= 0 && place < c.x.dims[k + 2];
      x += place * c.x.strides[k + 2], y += at[k + 2] * c.y.strides[k + 2];
      w += (c.window.turned ? c.w.dims[k + 2] - 1 - tap : tap) * c.w.strides[k + 2];
    }
    if (inside) f(x, w, y);
  } while (advance(at, sizes));
}

/// Calls f(place in the array, coordinates) for every element.
template <typename F>
void elements(const Array& array, const F& f) {
  std::vector<int64_t> at(array.dims.size());
  do {
    int64_t place = 0;
    for (size_t k = 0; k < at.size(); ++k) place += at[k] * array.strides[k];
    f(place, at);
  } while (advance(at, array.dims));
}

double followed(const Conv& c, double x, const std::vector<int64_t>& at) {
  for (const Step& step : c.steps) {
    if (step.activates) {
      x = x < step.lower ? step.slope * (x - step.lower) + step.lower : std::min(x, step.upper);
      continue;
    }
    int64_t place = 0;
    for (size_t k = 0; k < at.size(); ++k) place += step.b.dims[k] == 1 ? 0 : at[k] * step.b.strides[k];
    x = step.alpha1 * x + step.alpha2 * read(step.b.type, step.b.at, place);
  }
  return x;
}

/// All elements up to the last; none of what is not in memory.
std::vector<double> loaded(const Array& array) {
  std::vector<double> values;
  if (array.at == 0) return values;
  for (size_t k = 0; k < array.bytes() / element_bytes().at(array.type); ++k)
    values.push_back(read(array.type, array.at, static_cast<int64_t>(k)));
  return values;
}

void convolve(const Conv& c) {
  const Array& from = c.kind == kForward ? c.y : c.kind == kInput ? c.x : c.w;
  const std::vector<double> xs = loaded(c.x), ws = loaded(c.w), ys = c.kind == kForward ? std::vector<double>() : loaded(c.y);
  std::vector<double> sums(from.bytes() / element_bytes().at(from.type), 0);
  const auto at = [](const std::vector<double>& values, int64_t place) { return values[static_cast<size_t>(place)]; };
  products(c, [&](int64_t x, int64_t w, int64_t y) {
    if (c.kind == kForward) sums[static_cast<size_t>(y)] += at(xs, x) * at(ws, w);
    if (c.kind == kInput) sums[static_cast<size_t>(x)] += at(ys, y) * at(ws, w);
    if (c.kind == kWeights) sums[static_cast<size_t>(w)] += at(xs, x) * at(ys, y);
  });
  elements(from, [&](int64_t place, const std::vector<int64_t>& coordinates) {
    int64_t to = 0;
    for (size_t k = 0; k < coordinates.size(); ++k) to += coordinates[k] * c.result.strides[k];
    write(c.result.type, c.result.at, to, followed(c, at(sums, place), coordinates));
  });
}

/// The addresses that the arguments give to arrays by their ids; false: one is missing, lies elsewhere or badly.
bool bind(const Node& arguments, Conv& c) {
  const std::vector<int64_t> ids = arguments.all<int64_t>(1000);
  const std::vector<Address> pointers = arguments.all<Address>(1001);
  std::vector<Array*> arrays{&c.x, &c.w, &c.y, &c.result};
  for (Step& step : c.steps)
    if (!step.activates) arrays.push_back(&step.b);
  for (Array* array : arrays) {
    if (array->is_virtual) continue;
    const auto found = std::ranges::find(ids, array->id);
    if (found == ids.end() || pointers.size() != ids.size()) return false;
    array->at = pointers[static_cast<size_t>(found - ids.begin())];
    if (array->at % 16 != 0 || !Gpu::inside(array->at, array->bytes())) return false;
  }
  return true;
}

int finalize_tensor(const Node& n) {
  const Array a = array_of(n);
  const bool sound = a.type >= 0 && a.dims.size() == a.strides.size() && a.dims.size() >= 4 && a.dims.size() <= 5 &&
                     std::ranges::all_of(a.dims, [](int64_t size) { return size > 0; });
  return sound ? 0 : wrong(kBadParam, "a tensor's type, sizes or strides are wrong");
}

int finalize(Node& n) {
  for (const int attribute : kNeeded.contains(n.kind) ? kNeeded.at(n.kind) : std::vector<int>{})
    if (!n.has(attribute)) return wrong(kBadParam, "attribute " + std::to_string(attribute) + " is not set");
  Conv c;
  if (n.kind == kTensor) return finalize_tensor(n);
  if (kOperandNames.contains(n.kind) && !read_convolution(n, c)) return wrong(kBadParam, "sizes of a convolution do not fit");
  if (n.kind == kGraph && !Gpu::get().has(Thing::library, n.get<void*>(800))) return wrong(kBadParam, "the graph has no handle");
  if (n.kind == kGraph && !read_graph(n, c)) return wrong(kUnsupported, "no engine has this pattern");
  if (n.kind == kHeuristics && whole(n.get<void*>(201), kGraph) == nullptr) return wrong(kNotFinalized, "the graph is not finalized");
  if (n.kind == kPlan && (node(n.get<void*>(401)) == nullptr || node(n.get<void*>(401))->row == nullptr))
    return wrong(kBadParam, "the plan has no configuration");
  return 0;
}

template <typename T>
int give(const std::vector<T>& values, int64_t room, int64_t* count, void* to) {
  *count = static_cast<int64_t>(values.size());
  if (to != nullptr) std::memcpy(to, values.data(), sizeof(T) * static_cast<size_t>(std::min<int64_t>(room, *count)));
  return 0;
}

/// Into descriptors that the caller has made.
int give_configurations(const Node& heuristics, int64_t room, int64_t* count, void* const* to) {
  const auto& rows = heuristics.get<int>(200) == 3 ? kBest : kFallback;
  *count = static_cast<int64_t>(rows.size());
  for (size_t k = 0; to != nullptr && k < std::min(rows.size(), static_cast<size_t>(room)); ++k) {
    Node* made = node(to[k]);
    if (made == nullptr || made->kind != kConfiguration) return wrong(kBadParam, "no descriptor of a configuration");
    made->row = &rows[k], made->graph = heuristics.get<void*>(201), made->finalized = true;
  }
  return 0;
}

int run_plan(const Node& plan, const Node& arguments) {
  const Node* configuration = node(plan.get<void*>(401));
  const Node* graph = configuration == nullptr ? nullptr : whole(configuration->graph, kGraph);
  Conv c;
  if (graph == nullptr || !read_graph(*graph, c)) return wrong(kBadParam, "what the plan was made of is gone");
  if (!bind(arguments, c)) return wrong(kBadParam, "an array is missing, or lies elsewhere");
  const EngineRow& row = *configuration->row;
  const size_t bytes = workspace_of(row, c);
  if (bytes > 0 && !Gpu::inside(arguments.get<Address>(1003), bytes)) return wrong(kExecution, "the workspace is too small");
  const int64_t duration_ns = (2000 + static_cast<int64_t>(c.result.bytes() / 64)) * row.percent / 100;
  return Gpu::get().put_call(row.staged ? 2 : 1, duration_ns, [c] { convolve(c); });
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

#define CALLED_DNN() \
  if (const int asked_for = Gpu::get().called(__func__, Gpu::Library::other); asked_for != 0) return wrong(asked_for, "as the test asks")

extern "C" {
size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(int code) {
  const std::map<int, const char*> names{{kNotInitialized, "CUDNN_STATUS_NOT_INITIALIZED"},
                                         {kBadParam, "CUDNN_STATUS_BAD_PARAM"},
                                         {kNotFinalized, "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED"},
                                         {kUnsupported, "CUDNN_STATUS_NOT_SUPPORTED"},
                                         {kExecution, "CUDNN_STATUS_EXECUTION_FAILED"}};
  const auto found = names.find(code);
  return found == names.end() ? "CUDNN_UNKNOWN_STATUS" : found->second;
}
void cudnnGetLastErrorString(char* text, size_t bytes) {
  std::strncpy(text, said.c_str(), bytes);
  said.clear();
}
int cudnnCreate(void** handle) {
  CALLED_DNN();
  if (Gpu::get().things[Thing::context].empty()) return wrong(kNotInitialized, "there is no context");
  return *handle = Gpu::get().add(Thing::library), 0;
}
int cudnnDestroy(void* handle) {
  CALLED_DNN();
  return Gpu::get().remove(Thing::library, handle) ? 0 : kBadParam;
}
int cudnnSetStream(void* handle, void* stream) {
  CALLED_DNN();
  return Gpu::get().has(Thing::library, handle) && Gpu::get().has(Thing::stream, stream) ? 0 : wrong(kBadParam, "no stream");
}
int cudnnBackendCreateDescriptor(int kind, void** made) {
  CALLED_DNN();
  *made = Gpu::get().add(Thing::description);
  nodes[*made] = Node{kind, false, {}, nullptr, nullptr};
  return 0;
}
int cudnnBackendDestroyDescriptor(void* which) {
  nodes.erase(which);
  return Gpu::get().remove(Thing::description, which) ? 0 : kBadParam;
}
int cudnnBackendSetAttribute(void* which, int attribute, int type, int64_t count, const void* values) {
  CALLED_DNN();
  Node* n = node(which);
  if (n == nullptr || n->finalized || values == nullptr || !takes(attribute, type))
    return wrong(kBadParam, "attribute " + std::to_string(attribute) + " does not take this");
  n->set[attribute] = {type, std::string(static_cast<const char*>(values), static_cast<size_t>(count) * kValueBytes.at(type))};
  return 0;
}
int cudnnBackendGetAttribute(void* which, int attribute, int type, int64_t room, int64_t* count, void* values) {
  CALLED_DNN();
  const Node* n = node(which);
  if (n == nullptr || !n->finalized) return wrong(kNotFinalized, "a descriptor that is not finalized tells nothing");
  if (attribute == kResults && type == 15) return give_configurations(*n, room, count, static_cast<void* const*>(values));
  if (attribute == kPlanWorkspace && type == 3) {
    const Node* configuration = node(n->get<void*>(401));
    Conv c;
    read_graph(*node(configuration->graph), c);
    return give(std::vector{static_cast<int64_t>(workspace_of(*configuration->row, c))}, room, count, values);
  }
  if (attribute == kConfigurationEngine && type == 15) {
    Node* engine = room == 1 ? node(*static_cast<void**>(values)) : nullptr;
    if (engine == nullptr || engine->kind != kEngine) return wrong(kBadParam, "no descriptor of an engine");
    engine->row = n->row, engine->finalized = true;
    return *count = 1, 0;
  }
  if (attribute == kEngineNumber && type == 3) return give(std::vector{n->row->number}, room, count, values);
  if (attribute == kEngineNotes && type == 11) return give(n->row->notes, room, count, values);
  return wrong(kBadParam, "attribute " + std::to_string(attribute) + " cannot be asked for");
}
int cudnnBackendFinalize(void* which) {
  CALLED_DNN();
  Node* n = node(which);
  if (n == nullptr) return wrong(kBadParam, "no descriptor");
  if (const int failed = finalize(*n); failed != 0) return failed;
  n->finalized = true;
  return 0;
}
int cudnnBackendExecute(void* handle, void* plan, void* arguments) {
  CALLED_DNN();
  const Node *p = whole(plan, kPlan), *a = whole(arguments, kArguments);
  if (!Gpu::get().has(Thing::library, handle) || p == nullptr || a == nullptr) return wrong(kBadParam, "no plan, or no arguments");
  return run_plan(*p, *a);
}
}
