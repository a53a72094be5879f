// cuBLASLt: products that the host computes, element by element in f64, from what descriptions say. What the real library takes unseen and
// fails at later (leading dimensions, alignments that were promised, memory that is not there) is looked at here. Where a sum is long and
// the workspace allows it, the first choice splits the sum: two operations of the GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <vector>

#include "tests/support/fake_gpu/elements.h"
#include "tests/support/fake_gpu/gpu.h"

namespace fake_gpu {
namespace {

constexpr int kNotInitialized = 1, kInvalid = 7, kMapping = 11, kUnsupported = 15;

struct Choice {
  uint64_t words[8];  ///< id, tile, split of the sum, stages, alignments of A, B, C, D in 16 bits each
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

/// Attributes by number, as bytes.
struct Description {
  std::map<int, std::vector<char>> set;
  std::array<int64_t, 4> made{};  ///< what it was made from

  template <typename T>
  T get(int attribute, T otherwise) const {
    const auto found = set.find(attribute);
    if (found != set.end()) std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
};
std::map<void*, Description> descriptions;

/// Sizes of the attributes that are known, as cublasLt.h says.
const std::map<int, size_t> kProductSizes{{3, 4}, {4, 4}, {7, 4}, {8, 8}, {11, 8}, {12, 8}, {13, 8}, {17, 8}, {18, 8}, {20, 8}, {26, 4}};
const std::map<int, size_t> kMatrixSizes{{5, 4}, {6, 8}};
const std::map<int, size_t> kPreferenceSizes{{1, 8}, {5, 4}, {6, 4}, {7, 4}, {8, 4}};

Description* find(void* which) {
  const auto found = descriptions.find(which);
  return found == descriptions.end() ? nullptr : &found->second;
}

int make(void** made, std::array<int64_t, 4> from) {
  *made = Gpu::get().add(Thing::description);
  descriptions[*made] = {{}, from};
  return 0;
}
int drop(void* which) {
  descriptions.erase(which);
  return Gpu::get().remove(Thing::description, which) ? 0 : kInvalid;
}
int set(void* which, int attribute, const void* value, size_t bytes, const std::map<int, size_t>& sizes) {
  Description* description = find(which);
  const auto size = sizes.find(attribute);
  if (description == nullptr || value == nullptr || size == sizes.end() || size->second != bytes) return kInvalid;
  const char* from = static_cast<const char*>(value);
  description->set[attribute].assign(from, from + bytes);
  return 0;
}

struct Matrix {
  int type = 0;
  int64_t rows = 0, columns = 0, ld = 0, stride = 0;
  int32_t batch = 1;
  Address at = 0;

  std::complex<double> operator()(int64_t b, int64_t row, int64_t column) const {
    return read_complex(type, at, b * stride + column * ld + row);
  }
  bool is_whole() const {
    if (ld < rows || !element_bytes().contains(type)) return false;
    const int64_t last = (batch - 1) * stride + (columns - 1) * ld + rows;
    return Gpu::inside(at, static_cast<size_t>(last) * element_bytes().at(type));
  }
};
Matrix matrix_of(const Description& d, Address at) {
  return {static_cast<int>(d.made[0]), d.made[1], d.made[2], d.made[3], d.get<int64_t>(6, 0), d.get<int32_t>(5, 1), at};
}

/// A product with everything that its description holds.
struct Product {
  Matrix a, b, c, d;
  bool ta = false, tb = false;
  int64_t k = 0;
  double alpha = 1, beta = 0;
  int epilogue = 1, bias_type = 0;
  Address bias = 0, aux = 0, a_scale = 0, b_scale = 0, d_scale = 0;
  int64_t aux_ld = 0, aux_stride = 0;
};

bool f8(int type) { return type == kE4m3 || type == kE5m2; }

/// The tables of the manual, as far as this library goes.
bool supported(const Product& w, int compute) {
  const int a = w.a.type, b = w.b.type, d = w.d.type;
  if (f8(a) || f8(b))
    return compute == 68 && f8(a) && f8(b) && w.ta && !w.tb && w.d.rows % 16 == 0 && w.d.columns % 16 == 0 && w.k % 16 == 0;
  if (a != b) return false;
  if (a == kF16 || a == kBf16) return compute == 68 && (d == a || d == kF32);
  if (a == kS8) return (compute == 72 && d == kS32) || (compute == 68 && d == kF32);
  const bool narrow = a == kF32 || a == kC64, wide = a == kF64 || a == kC128;
  return a == d && ((narrow && compute == 68) || (wide && compute == 70));
}

bool fits(const Product& w) {
  const auto rows = [](const Matrix& m, bool t) { return t ? m.columns : m.rows; };
  const auto columns = [](const Matrix& m, bool t) { return t ? m.rows : m.columns; };
  const bool sizes = rows(w.a, w.ta) == w.d.rows && columns(w.b, w.tb) == w.d.columns && columns(w.a, w.ta) == rows(w.b, w.tb) &&
                     w.c.rows == w.d.rows && w.c.columns == w.d.columns;
  return sizes && w.a.batch == w.d.batch && w.b.batch == w.d.batch && w.c.batch == w.d.batch;
}

Product work_of(const Description& p, const std::array<Description*, 4>& m, const std::array<Address, 4>& at) {
  Product w{matrix_of(*m[0], at[0]), matrix_of(*m[1], at[1]), matrix_of(*m[2], at[2]), matrix_of(*m[3], at[3])};
  w.ta = p.get<int32_t>(3, 0) == 1, w.tb = p.get<int32_t>(4, 0) == 1;
  w.k = w.ta ? w.a.rows : w.a.columns;
  w.epilogue = p.get<int32_t>(7, 1), w.bias = p.get<Address>(8, 0), w.bias_type = p.get<int32_t>(26, w.d.type);
  w.aux = p.get<Address>(11, 0), w.aux_ld = p.get<int64_t>(12, 0), w.aux_stride = p.get<int64_t>(13, 0);
  w.a_scale = p.get<Address>(17, 0), w.b_scale = p.get<Address>(18, 0), w.d_scale = p.get<Address>(20, 0);
  return w;
}

double gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); }

void multiply(const Product& w) {
  const auto scale = [](Address at) { return at == 0 ? 1.0 : static_cast<double>(read_as<float>(at)); };
  const double alpha = w.alpha * scale(w.a_scale) * scale(w.b_scale), last = scale(w.d_scale);
  for (int64_t batch = 0; batch < w.d.batch; ++batch)
    for (int64_t j = 0; j < w.d.columns; ++j)
      for (int64_t i = 0; i < w.d.rows; ++i) {
        std::complex<double> sum = 0;
        for (int64_t k = 0; k < w.k; ++k)
          sum += (w.ta ? w.a(batch, k, i) : w.a(batch, i, k)) * (w.tb ? w.b(batch, j, k) : w.b(batch, k, j));
        const std::complex<double> all = alpha * sum + (w.beta != 0 ? w.beta * w.c(batch, i, j) : 0);
        if (w.epilogue == 1) {
          write_complex(w.d.type, w.d.at, batch * w.d.stride + j * w.d.ld + i, all * last);
          continue;
        }
        double x = all.real();
        if ((w.epilogue & 4) != 0) x += read(w.bias_type, w.bias, i);
        if ((w.epilogue & 128) != 0) write(w.d.type, w.aux, batch * w.aux_stride + j * w.aux_ld + i, x);
        if ((w.epilogue & 2) != 0) x = std::max(x, 0.0);
        if ((w.epilogue & 32) != 0) x = gelu(x);
        write(w.d.type, w.d.at, batch * w.d.stride + j * w.d.ld + i, x * last);
      }
}

double factor(int type, const void* from) {
  const auto at = reinterpret_cast<Address>(from);
  return type == kF64 || type == kC128 ? read_as<double>(at) : type == kS32 ? read_as<int32_t>(at) : read_as<float>(at);
}

/// Everything that a wrong description would make the GPU do.
int look_at(const Product& w, const Choice& chosen, Address workspace, size_t workspace_bytes) {
  if (!fits(w)) return kInvalid;
  for (const Matrix* m : {&w.a, &w.b, &w.c, &w.d})
    if (!m->is_whole()) return kMapping;
  const std::array<Address, 4> at{w.a.at, w.b.at, w.c.at, w.d.at};
  for (size_t k = 0; k < at.size(); ++k)
    if (at[k] % (chosen.words[4] >> (16 * k) & 0xffff) != 0) return kInvalid;
  if ((w.epilogue & 4) != 0 && !Gpu::inside(w.bias, static_cast<size_t>(w.d.rows) * element_bytes().at(w.bias_type))) return kMapping;
  if ((w.epilogue & 128) != 0 &&
      (w.aux_ld % 8 != 0 || !Gpu::inside(w.aux, static_cast<size_t>(w.aux_ld * w.d.columns) * element_bytes().at(w.d.type))))
    return kInvalid;
  const size_t needed = chosen.words[2] > 1 ? static_cast<size_t>(w.d.rows * w.d.columns * w.d.batch) * 4 : 0;
  return needed == 0 || (workspace_bytes >= needed && workspace % 256 == 0 && Gpu::inside(workspace, needed)) ? 0 : kInvalid;
}

int put(const Product& w, int64_t split) {
  const int64_t blocks = (w.d.rows + 63) / 64 * ((w.d.columns + 63) / 64) * w.d.batch;
  return Gpu::get().put_call(split, 2000 + blocks, [w] { multiply(w); });
}

}  // namespace
}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT: the functions below are C's

#define CALLED_LT() \
  if (const int asked_for = Gpu::get().called(__func__, Gpu::Library::other); asked_for != 0) return asked_for

extern "C" {
size_t cublasLtGetVersion() { return 130100; }
int cublasLtCreate(void** handle) {
  CALLED_LT();
  if (Gpu::get().things[Thing::context].empty()) return kNotInitialized;
  return *handle = Gpu::get().add(Thing::library), 0;
}
int cublasLtDestroy(void* handle) {
  CALLED_LT();
  return Gpu::get().remove(Thing::library, handle) ? 0 : kInvalid;
}
int cublasLtMatmulDescCreate(void** made, int compute, int scale) {
  CALLED_LT();
  return make(made, {compute, scale});
}
int cublasLtMatmulDescDestroy(void* which) { return drop(which); }
int cublasLtMatmulDescSetAttribute(void* which, int attribute, const void* value, size_t bytes) {
  CALLED_LT();
  return set(which, attribute, value, bytes, kProductSizes);
}
int cublasLtMatrixLayoutCreate(void** made, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  CALLED_LT();
  return make(made, {type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld});
}
int cublasLtMatrixLayoutDestroy(void* which) { return drop(which); }
int cublasLtMatrixLayoutSetAttribute(void* which, int attribute, const void* value, size_t bytes) {
  CALLED_LT();
  return set(which, attribute, value, bytes, kMatrixSizes);
}
int cublasLtMatmulPreferenceCreate(void** made) {
  CALLED_LT();
  return make(made, {});
}
int cublasLtMatmulPreferenceDestroy(void* which) { return drop(which); }
int cublasLtMatmulPreferenceSetAttribute(void* which, int attribute, const void* value, size_t bytes) {
  CALLED_LT();
  return set(which, attribute, value, bytes, kPreferenceSizes);
}
int cublasLtMatmulAlgoGetHeuristic(void* handle, void* product, void* a, void* b, void* c, void* d, void* preference, int wanted,
                                   Choice* found, int* count) {
  CALLED_LT();
  *count = 0;
  const std::array<Description*, 4> matrices{find(a), find(b), find(c), find(d)};
  const Description *p = find(product), *wish = find(preference);
  if (!Gpu::get().has(Thing::library, handle) || p == nullptr || wish == nullptr || std::ranges::count(matrices, nullptr) > 0)
    return kInvalid;
  const Product w = work_of(*p, matrices, {});
  if (!fits(w) || !supported(w, static_cast<int>(p->made[0]))) return kUnsupported;
  uint64_t alignments = 0;
  for (int k = 0; k < 4; ++k) alignments |= uint64_t{wish->get<uint32_t>(5 + k, 256)} << (16 * k);
  const size_t partial = static_cast<size_t>(w.d.rows * w.d.columns * w.d.batch) * 4;
  const bool splits = w.k >= 256 && partial <= wish->get<uint64_t>(1, 0);
  for (const uint64_t split : {2, 1}) {
    if (*count == wanted || (split == 2 && !splits)) continue;
    found[(*count)++] = {{66, 20, split, 4, alignments}, split == 2 ? partial : 0, 0, 1, {}};
  }
  return 0;
}
int cublasLtMatmulAlgoConfigGetAttribute(const uint64_t* algorithm, int attribute, void* value, size_t bytes, size_t* written) {
  const std::map<int, size_t> places{{0, 0}, {1, 1}, {2, 2}, {6, 3}};
  const auto found = places.find(attribute);
  if (found == places.end() || bytes != 4) return kInvalid;
  const auto number = static_cast<int32_t>(algorithm[found->second]);
  std::memcpy(value, &number, sizeof number);
  return *written = sizeof number, 0;
}
int cublasLtMatmul(void* handle, void* product, const void* alpha, const void* a, void* a_matrix, const void* b, void* b_matrix,
                   const void* beta, const void* c, void* c_matrix, void* d, void* d_matrix, const uint64_t* algorithm, void* workspace,
                   size_t workspace_bytes, void* stream) {
  CALLED_LT();
  const std::array<Description*, 4> matrices{find(a_matrix), find(b_matrix), find(c_matrix), find(d_matrix)};
  const Description* p = find(product);
  const bool known = Gpu::get().has(Thing::library, handle) && Gpu::get().has(Thing::stream, stream);
  if (!known || p == nullptr || std::ranges::count(matrices, nullptr) > 0) return kInvalid;
  const auto at = [](const void* pointer) { return reinterpret_cast<Address>(pointer); };
  Product w = work_of(*p, matrices, {at(a), at(b), at(c), at(d)});
  w.alpha = factor(static_cast<int>(p->made[1]), alpha), w.beta = factor(static_cast<int>(p->made[1]), beta);
  Choice chosen{};
  std::memcpy(chosen.words, algorithm, sizeof chosen.words);
  if (const int wrong = look_at(w, chosen, at(workspace), workspace_bytes); wrong != 0) return wrong;
  return put(w, static_cast<int64_t>(chosen.words[2]));
}
}
