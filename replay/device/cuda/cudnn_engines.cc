// The order of the calls is cuDNN's: tensors, a convolution and what follows it, operations over them, a graph, its heuristics' list of
// engines with their settings, a plan of one of these. All of it is made while a replay's plan is prepared.
#include "replay/device/cuda/cudnn_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;
using Attr = CudnnAttribute;

constexpr int64_t kArrayAlignment = 16;  ///< bytes, of all arrays: the widest access of a GPU

Result<Descriptor> window_of(const CudnnTable& table, const ConvolutionGraph& g) {
  ASSIGN_OR_RETURN(Descriptor made, Descriptor::make(table, DescriptorKind::convolution));
  RETURN_IF_ERROR(made.set(Attr::places, static_cast<int64_t>(g.strides.size())));
  RETURN_IF_ERROR(made.set(Attr::convolution_sums, g.sums));
  RETURN_IF_ERROR(made.set_number(Attr::convolution_mode, g.turned ? 0 : 1, ValueKind::convolution_mode));
  RETURN_IF_ERROR(made.set(Attr::pad_before, g.pad_before));
  RETURN_IF_ERROR(made.set(Attr::pad_after, g.pad_after));
  RETURN_IF_ERROR(made.set(Attr::strides, g.strides));
  RETURN_IF_ERROR(made.set(Attr::dilations, g.dilations));
  RETURN_IF_ERROR(made.finalize());
  return made;
}

constexpr int kAddition = 0, kClipping = 100;  ///< cudnnPointwiseMode_t

/// What the three operations call their operands.
struct OperationRow {
  DescriptorKind kind;
  Attr x, w, y, convolution, alpha, beta;
};
constexpr OperationRow kOperations[] = {
    {DescriptorKind::forward, Attr::forward_x, Attr::forward_w, Attr::forward_y, Attr::forward_convolution, Attr::forward_alpha,
     Attr::forward_beta},
    {DescriptorKind::gradient_of_input, Attr::input_dx, Attr::input_w, Attr::input_dy, Attr::input_convolution, Attr::input_alpha,
     Attr::input_beta},
    {DescriptorKind::gradient_of_weights, Attr::weights_x, Attr::weights_dw, Attr::weights_dy, Attr::weights_convolution,
     Attr::weights_alpha, Attr::weights_beta},
};

/// Makes descriptors one after another; all are kept with the graph that refers to them.
class Builder {
 public:
  Builder(const CudnnTable& table, const ConvolutionGraph& convolution) : table_(table), g_(convolution) {}
  Result<OperationGraph> build(const CudnnTarget& target);

 private:
  Result<void*> keep(Result<Descriptor> made) {
    if (!made.ok()) return made.error();
    graph_.parts.push_back(*std::move(made));
    return graph_.parts.back().handle();
  }
  Result<Descriptor> tensor(int64_t id, const GraphTensor& tensor, bool is_virtual) const;
  Result<void*> array(ArrayId id, const GraphTensor& of) { return keep(tensor(static_cast<int64_t>(id), of, false)); }
  Result<void*> between();
  Result<Descriptor> convolution(void* sums);
  Result<Descriptor> pointwise(const GraphStep& step) const;
  Result<Descriptor> operation(const GraphStep& step, void* from, void* to);

  const CudnnTable& table_;
  const ConvolutionGraph& g_;
  OperationGraph graph_;
  int64_t next_id_ = 100;  ///< of what is not in memory
};

Result<Descriptor> Builder::tensor(int64_t id, const GraphTensor& tensor, bool is_virtual) const {
  ASSIGN_OR_RETURN(Descriptor made, Descriptor::make(table_, DescriptorKind::tensor));
  RETURN_IF_ERROR(made.set(Attr::tensor_id, id));
  RETURN_IF_ERROR(made.set(Attr::tensor_type, tensor.type));
  RETURN_IF_ERROR(made.set(Attr::tensor_dims, tensor.dims));
  RETURN_IF_ERROR(made.set(Attr::tensor_strides, tensor.strides));
  RETURN_IF_ERROR(made.set(Attr::tensor_alignment, kArrayAlignment));
  if (is_virtual) RETURN_IF_ERROR(made.set(Attr::tensor_is_virtual, ValueKind::flag, &is_virtual));
  RETURN_IF_ERROR(made.finalize());
  return made;
}

/// What one operation hands to the next.
Result<void*> Builder::between() { return keep(tensor(next_id_++, {g_.sums, g_.y.dims, g_.y.strides}, true)); }

/// Factors are in the type of the sums.
Result<Descriptor> Builder::convolution(void* sums) {
  const OperationRow& row = kOperations[static_cast<size_t>(g_.gradient)];
  ASSIGN_OR_RETURN(void* const x, array(ArrayId::x, g_.x));
  ASSIGN_OR_RETURN(void* const w, array(ArrayId::w, g_.w));
  ASSIGN_OR_RETURN(void* const window, keep(window_of(table_, g_)));
  ASSIGN_OR_RETURN(Descriptor made, Descriptor::make(table_, row.kind));
  const std::pair<Attr, void*> operands[] = {{row.x, x}, {row.w, w}, {row.y, sums}, {row.convolution, window}};
  for (const auto& [which, handle] : operands) RETURN_IF_ERROR(made.set_pointer(which, handle, ValueKind::descriptor));
  for (const auto& [which, factor] : {std::pair{row.alpha, 1.0F}, std::pair{row.beta, 0.0F}}) {
    const double wide = factor;
    RETURN_IF_ERROR(g_.sums == CudnnType::f64 ? made.set_real(which, wide) : made.set(which, ValueKind::single, &factor));
  }
  RETURN_IF_ERROR(made.finalize());
  return made;
}

Result<Descriptor> Builder::pointwise(const GraphStep& step) const {
  const bool clip = step.kind == GraphStep::Kind::clip;
  ASSIGN_OR_RETURN(Descriptor made, Descriptor::make(table_, DescriptorKind::pointwise));
  RETURN_IF_ERROR(made.set_number(Attr::pointwise_mode, clip ? kClipping : kAddition, ValueKind::pointwise_mode));
  RETURN_IF_ERROR(made.set(Attr::pointwise_sums, g_.sums));
  if (clip) {
    RETURN_IF_ERROR(made.set_real(Attr::relu_lower, 0));
    if (std::isfinite(step.upper)) RETURN_IF_ERROR(made.set_real(Attr::relu_upper, step.upper));
    if (step.slope != 0) RETURN_IF_ERROR(made.set_real(Attr::relu_slope, step.slope));
  }
  RETURN_IF_ERROR(made.finalize());
  return made;
}

Result<Descriptor> Builder::operation(const GraphStep& step, void* from, void* to) {
  ASSIGN_OR_RETURN(void* const how, keep(pointwise(step)));
  ASSIGN_OR_RETURN(Descriptor made, Descriptor::make(table_, DescriptorKind::pointwise_operation));
  RETURN_IF_ERROR(made.set_pointer(Attr::operation_pointwise, how, ValueKind::descriptor));
  RETURN_IF_ERROR(made.set_pointer(Attr::operation_x, from, ValueKind::descriptor));
  RETURN_IF_ERROR(made.set_pointer(Attr::operation_y, to, ValueKind::descriptor));
  if (step.kind != GraphStep::Kind::clip) {
    const bool bias = step.kind == GraphStep::Kind::add_bias;
    ASSIGN_OR_RETURN(void* const added, bias ? array(ArrayId::bias, g_.bias) : array(ArrayId::side, g_.y));
    RETURN_IF_ERROR(made.set_pointer(Attr::operation_b, added, ValueKind::descriptor));
    const auto alpha1 = static_cast<float>(step.alpha1), alpha2 = static_cast<float>(step.alpha2);
    RETURN_IF_ERROR(made.set(Attr::operation_alpha1, ValueKind::single, &alpha1));
    RETURN_IF_ERROR(made.set(Attr::operation_alpha2, ValueKind::single, &alpha2));
  }
  RETURN_IF_ERROR(made.finalize());
  return made;
}

Result<OperationGraph> Builder::build(const CudnnTarget& target) {
  ASSIGN_OR_RETURN(void* const y, array(ArrayId::y, g_.y));
  std::vector<void*> operations;
  void* last = y;
  if (!g_.steps.empty()) {
    ASSIGN_OR_RETURN(last, between());
  }
  ASSIGN_OR_RETURN(operations.emplace_back(), keep(convolution(last)));
  for (const GraphStep& step : g_.steps) {
    void* to = y;
    if (&step != &g_.steps.back()) {
      ASSIGN_OR_RETURN(to, between());
    }
    ASSIGN_OR_RETURN(operations.emplace_back(), keep(operation(step, last, to)));
    last = to;
  }
  ASSIGN_OR_RETURN(graph_.graph, Descriptor::make(table_, DescriptorKind::graph));
  RETURN_IF_ERROR(
      graph_.graph.set(Attr::graph_operations, ValueKind::descriptor, operations.data(), static_cast<int64_t>(operations.size())));
  if (target.handle != nullptr) RETURN_IF_ERROR(graph_.graph.set_pointer(Attr::graph_handle, target.handle, ValueKind::handle));
  RETURN_IF_ERROR(graph_.graph.finalize());
  return std::move(graph_);
}

struct NumericalNote {
  int number;
  const char* name;
  bool imprecise, imprecise_for_f32;  ///< left out: of all, of f32
};
/// cudnnBackendNumericalNote_t. Tensor cores take f32 as TF32; Winograd's kernels lose digits in the differences that they form.
constexpr NumericalNote kNotes[] = {
    {0, "tensor cores", false, true}, {1, "rounded operands", false, true},   {2, "sums in fewer bits", true, true},
    {3, "FFT", false, false},         {4, "not deterministic", false, false}, {5, "Winograd", true, true},
    {6, "Winograd 4x4", true, true},  {7, "Winograd 6x6", true, true},        {8, "Winograd 13x13", true, true},
};
constexpr int kHeuristics[] = {3, 2};  ///< cudnnBackendHeurMode_t: A, fallback

}  // namespace

Result<Descriptor> Descriptor::make(const CudnnTable& table, DescriptorKind kind) {
  Descriptor made;
  made.table_ = &table;
  RETURN_IF_ERROR(table.call(table.make, static_cast<int>(kind), &made.handle_));
  return made;
}

Status Descriptor::set(CudnnAttribute which, ValueKind kind, const void* values, int64_t count) {
  return table_->call(table_->set, handle_, static_cast<int>(which), static_cast<int>(kind), count, values);
}

Result<int64_t> Descriptor::get(CudnnAttribute which, ValueKind kind, void* values, int64_t room) const {
  int64_t count = 0;
  RETURN_IF_ERROR(table_->call(table_->get, handle_, static_cast<int>(which), static_cast<int>(kind), room, &count, values));
  return count;
}

Status Descriptor::finalize() { return table_->call(table_->finalize, handle_); }

Result<OperationGraph> describe(const CudnnTable& table, const CudnnTarget& target, const ConvolutionGraph& convolution) {
  return Builder(table, convolution).build(target);
}

bool Engines::has(size_t rank) {
  while (plans_.size() <= rank) {
    if (next_ == configurations_.size()) {
      if (modes_ == std::size(kHeuristics)) return false;
      if (const Status listed = list(kHeuristics[modes_++]); !listed.ok()) why_ = listed.error().message;
      continue;
    }
    auto plan = plan_of(configurations_[next_++]);
    if (plan.ok())
      plans_.push_back(*std::move(plan));
    else
      why_ = plan.error().message;
  }
  return true;
}

std::string Engines::why_none() const {
  return fmt::format("cuDNN has no engine for it of {}{}{}", configurations_.size(), why_.empty() ? "" : "; the last: ", why_);
}

Status Engines::list(int mode) {
  ASSIGN_OR_RETURN(Descriptor asked, Descriptor::make(table_, DescriptorKind::heuristics));
  RETURN_IF_ERROR(asked.set(Attr::heuristics_graph, graph_.graph));
  RETURN_IF_ERROR(asked.set_number(Attr::heuristics_mode, mode, ValueKind::heuristics_mode));
  if (target_.handle == nullptr) RETURN_IF_ERROR(asked.set(Attr::heuristics_device, target_.device));
  RETURN_IF_ERROR(asked.finalize());
  ASSIGN_OR_RETURN(const int64_t count, asked.get(Attr::heuristics_results, ValueKind::descriptor, nullptr, 0));
  std::vector<Descriptor> found;
  std::vector<void*> handles;
  for (int64_t k = 0; k < count; ++k) {
    ASSIGN_OR_RETURN(Descriptor one, Descriptor::make(table_, DescriptorKind::configuration));
    handles.push_back(one.handle());
    found.push_back(std::move(one));
  }
  ASSIGN_OR_RETURN(const int64_t given, asked.get(Attr::heuristics_results, ValueKind::descriptor, handles.data(), count));
  for (int64_t k = 0; k < std::min(given, count); ++k) configurations_.push_back(std::move(found[static_cast<size_t>(k)]));
  return {};
}

/// Error: the engine would compute less precisely than is asked for.
Status Engines::read_engine(const Descriptor& configuration, ExecutionPlan& plan) const {
  ASSIGN_OR_RETURN(const Descriptor engine, Descriptor::make(table_, DescriptorKind::engine));
  void* handle = engine.handle();
  RETURN_IF_ERROR(configuration.get(Attr::configuration_engine, ValueKind::descriptor, &handle, 1));
  RETURN_IF_ERROR(engine.get(Attr::engine_number, ValueKind::integer, &plan.engine, 1));
  std::array<int, 16> notes{};
  ASSIGN_OR_RETURN(const int64_t count, engine.get(Attr::engine_notes, ValueKind::numerical_note, notes.data(), notes.size()));
  for (const int number : std::span(notes).first(static_cast<size_t>(std::clamp<int64_t>(count, 0, notes.size())))) {
    const auto note = std::ranges::find(kNotes, number, &NumericalNote::number);
    if (note == std::end(kNotes)) continue;
    if (note->imprecise || (type_ == CudnnType::f32 && note->imprecise_for_f32))
      return Error{fmt::format("engine {} is less precise ({})", plan.engine, note->name)};
    plan.notes += fmt::format(", {}", note->name);
  }
  return {};
}

Result<ExecutionPlan> Engines::plan_of(Descriptor& configuration) {
  ExecutionPlan made;
  RETURN_IF_ERROR(read_engine(configuration, made));
  ASSIGN_OR_RETURN(made.plan, Descriptor::make(table_, DescriptorKind::plan));
  if (target_.handle != nullptr)
    RETURN_IF_ERROR(made.plan.set_pointer(Attr::plan_handle, target_.handle, ValueKind::handle));
  else
    RETURN_IF_ERROR(made.plan.set(Attr::plan_device, target_.device));
  RETURN_IF_ERROR(made.plan.set(Attr::plan_configuration, configuration));
  RETURN_IF_ERROR(made.plan.finalize());
  RETURN_IF_ERROR(made.plan.get(Attr::plan_workspace, ValueKind::integer, &made.workspace_bytes, 1));
  if (made.workspace_bytes > limit_bytes_)
    return Error{fmt::format("engine {} takes {} bytes of workspace, and {} are allowed", made.engine, made.workspace_bytes, limit_bytes_)};
  made.configuration = std::move(configuration);
  made.number = next_;
  return made;
}

}  // namespace replay::cuda
