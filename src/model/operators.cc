// Rules by name: what frameworks have in common is a path of scopes that ends with the operator. Gradients get a path of their own
// around the forward one (a prefix in TensorFlow, a wrapper in JAX); it is taken off, so that both directions of a layer meet.
#include "src/model/operators.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace model {
std::string_view without_number(std::string_view word) {
  const size_t end = word.find_last_not_of("0123456789");
  return end != std::string_view::npos && end > 0 && end + 1 < word.size() && word[end] == '_' ? word.substr(0, end) : word;
}

namespace {

constexpr std::string_view kOptimizers[] = {"adam",          "adamw",          "sgd",      "momentum",      "rmsprop",
                                            "adagrad",       "adadelta",       "adamax",   "nadam",         "lamb",
                                            "lars",          "ftrl",           "lion",     "adafactor",     "adamweightdecay",
                                            "optimizer",     "shampoo",        "optimize", "lamboptimizer", "lossscaleoptimizer",
                                            "apply_updates", "apply_gradients"};
constexpr std::string_view kOptimizerTypePrefixes[] = {"ResourceApply", "ApplyAdam",   "ApplyGradientDescent",
                                                       "ApplyMomentum", "SparseApply", "ResourceSparseApply"};
constexpr std::string_view kCommunication[] = {
    "psum",        "all_gather",    "all_reduce",       "allreduce",          "reduce_scatter", "all_to_all",      "ppermute",
    "allgather",   "reducescatter", "collectivereduce", "collectivereducev2", "ncclallreduce",  "crossreplicasum", "c_allreduce_sum",
    "c_allgather", "c_broadcast"};
constexpr std::string_view kHost[] = {"xla_args", "xla_retvals", "_arg",  "_retval",        "infeed",
                                      "outfeed",  "feed",        "fetch", "iteratorgetnext"};
constexpr std::string_view kGradientParts[] = {"gradient_tape", "gradients", "backward"};
constexpr std::string_view kWrappers[] = {
    "jit", "pjit", "jvp", "transpose", "vmap", "remat", "checkpoint", "custom_jvp_call", "custom_vjp_call", "pmap"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return result;
}

bool among(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "adam_1" → "adam": the number that makes a TensorFlow scope unique.
struct Unwrapped {
  std::string_view inner;  ///< empty: nothing is left, as of jit(step)
  bool transposed = false;
};

/// "transpose(jvp(Model))" → Model, transposed. The argument of jit is the program's own name, not a part of the model.
Unwrapped unwrap(std::string_view part) {
  Unwrapped result{part, false};
  while (result.inner.ends_with(')')) {
    const size_t open = result.inner.find('(');
    if (open == std::string_view::npos) break;
    const std::string_view wrapper = result.inner.substr(0, open);
    if (!among(kWrappers, wrapper)) break;
    result.transposed |= wrapper == "transpose";
    if (wrapper == "jit" || wrapper == "pjit" || wrapper == "pmap") return {"", result.transposed};
    result.inner = result.inner.substr(open + 1, result.inner.size() - open - 2);
  }
  return result;
}

bool is_gradient_part(std::string_view part) { return among(kGradientParts, without_number(part)); }

Phase phase_of(std::span<const std::string_view> parts, std::string_view type, bool transposed) {
  const std::string last = parts.empty() ? "" : lower(without_number(parts.back()));
  const std::string low_type = lower(type);
  if (among(kHost, low_type) || among(kHost, last)) return Phase::host;
  if (among(kCommunication, low_type) || among(kCommunication, last)) return Phase::communication;
  const auto applies = [&](std::string_view prefix) { return type.starts_with(prefix); };
  if (std::any_of(std::begin(kOptimizerTypePrefixes), std::end(kOptimizerTypePrefixes), applies)) return Phase::optimizer;
  const bool gradient =
      std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return is_gradient_part(part) || part.ends_with("_grad"); });
  if (transposed || gradient || low_type.ends_with("_grad") || type.ends_with("Grad")) return Phase::backward;
  // The last component is the operator: a layer's "Momentum" would be a scope.
  const size_t scopes = parts.empty() ? 0 : parts.size() - 1;
  const bool optimizer = std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(scopes),
                                     [](std::string_view part) { return among(kOptimizers, lower(without_number(part))); });
  return optimizer ? Phase::optimizer : Phase::forward;
}

constexpr std::string_view kPhases[] = {"forward", "backward", "optimizer", "communication", "auxiliary", "host"};
constexpr std::string_view kKnown[] = {"", "given", "inferred:name", "inferred:model"};
constexpr std::string_view kLaunches[] = {"device", "host", "nothing"};
}  // namespace

std::string_view text(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }
std::string_view text(Known known) { return kKnown[static_cast<size_t>(known)]; }
std::string_view text(Launches launches) { return kLaunches[static_cast<size_t>(launches)]; }

std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size()) depth += path[i] == '(' ? 1 : path[i] == ')' ? -1 : 0;
    if (i < path.size() && (path[i] != '/' || depth > 0)) continue;
    if (i > begin) parts.push_back(path.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

namespace {

std::string_view short_name(std::string_view name, std::span<const std::string_view> parts) {
  return parts.size() < 2 ? name : name.substr(static_cast<size_t>(parts[parts.size() - 2].data() - name.data()));
}

}  // namespace

std::string_view short_name(std::string_view name) {
  const auto is_bracket = [](char c) { return c == '(' || c == ')'; };
  if (std::ranges::any_of(name, is_bracket) || name.find("//") != std::string_view::npos || name.ends_with('/'))
    return short_name(name, path_parts(name));
  const size_t last = name.rfind('/');
  if (last == std::string_view::npos || last == 0) return name;
  const size_t before = name.rfind('/', last - 1);
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

OperatorName operator_name(std::string_view name, std::string_view type) {
  const std::vector<std::string_view> parts = path_parts(name);
  OperatorName result;
  bool transposed = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Unwrapped part = unwrap(parts[i]);
    transposed |= part.transposed;
    const bool is_operator = i + 1 == parts.size();
    if (!is_operator && !part.inner.empty() && !is_gradient_part(part.inner) && result.scope.size() < kDeepestScope)
      result.scope.push_back(part.inner);
  }
  result.short_name = short_name(name, parts);
  result.phase = phase_of(parts, type, transposed);
  return result;
}

}  // namespace model
