// The library is told addresses only when a convolution runs, so one plan serves all convolutions that are alike.
#include "replay/device/cuda/cudnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace replay::cuda {
namespace {

using base::Error;
using base::Result;
using base::Status;

std::string text_of_version(const CudnnTable& table) {
  const size_t number = table.version();
  return fmt::format("{}.{}", number / 10000, number % 10000 / 100);
}

class ConvolutionCall final : public Routine {
 public:
  ConvolutionCall(const CudnnTable& table, void* handle, std::shared_ptr<Engines> engines, const ConvolutionMemory& memory)
      : table_(table), handle_(handle), engines_(std::move(engines)) {
    const std::pair<ArrayId, Address> all[] = {
        {ArrayId::x, memory.x}, {ArrayId::w, memory.w}, {ArrayId::y, memory.y}, {ArrayId::bias, memory.bias}, {ArrayId::side, memory.side}};
    for (const auto& [id, address] : all) {
      if (address == 0) continue;
      ids_.push_back(static_cast<int64_t>(id));
      pointers_.push_back(reinterpret_cast<void*>(address));  // of the GPU
    }
  }

  Status run(void* stream, Address workspace) const override;
  int64_t workspace_bytes() const override { return plan().workspace_bytes; }
  std::string implementation() const override {
    return fmt::format("cuDNN {}: configuration {} of {}, engine {}{}, workspace {} B", text_of_version(table_), plan().number,
                       engines_->configurations(), plan().engine, plan().notes, plan().workspace_bytes);
  }
  bool next() override { return engines_->has(chosen_ + 1) ? (++chosen_, true) : false; }
  void take(int rank) override { chosen_ = static_cast<size_t>(rank); }

 private:
  const ExecutionPlan& plan() const { return engines_->at(chosen_); }

  const CudnnTable& table_;
  void* handle_;
  std::shared_ptr<Engines> engines_;
  std::vector<int64_t> ids_;
  std::vector<void*> pointers_;
  size_t chosen_ = 0;
};

/// As frameworks do it, the arguments are put together for each call.
Status ConvolutionCall::run(void* stream, Address workspace) const {
  ASSIGN_OR_RETURN(Descriptor arguments, Descriptor::make(table_, DescriptorKind::arguments));
  const auto count = static_cast<int64_t>(ids_.size());
  RETURN_IF_ERROR(arguments.set(CudnnAttribute::argument_ids, ids_));
  RETURN_IF_ERROR(arguments.set(CudnnAttribute::argument_pointers, ValueKind::pointer, pointers_.data(), count));
  void* const place = reinterpret_cast<void*>(plan().workspace_bytes > 0 ? workspace : 0);
  RETURN_IF_ERROR(arguments.set_pointer(CudnnAttribute::argument_workspace, place, ValueKind::pointer));
  RETURN_IF_ERROR(arguments.finalize());
  RETURN_IF_ERROR(table_.call(table_.set_stream, handle_, stream));
  return table_.call(table_.execute, handle_, plan().plan.handle(), arguments.handle());
}

Result<CudnnTable> load(const Opener& opener) {
  const Opened library = open_library(Library::cudnn, opener);
  if (library.handle == nullptr) return Error{fmt::format("no cuDNN ({})", library.why)};
  CudnnTable table;
  const char* missing = fill(table, library.handle, opener);
  const auto find = [&](auto& address, const char* symbol) {
    address = reinterpret_cast<std::remove_reference_t<decltype(address)>>(opener.find(library.handle, symbol));
    if (address == nullptr && missing == nullptr) missing = symbol;
  };
  find(table.version, "cudnnGetVersion");
  find(table.name_of, "cudnnGetErrorString");
  find(table.last_error, "cudnnGetLastErrorString");
  if (missing != nullptr) return Error{fmt::format("cuDNN {} has no function {}", library.file, missing)};
  return table;
}

}  // namespace

/// The library's words over several lines are one here, and no more than a sentence or two.
Error CudnnTable::failure(const char* symbol, int code) const {
  std::array<char, 256> words{};
  last_error(words.data(), words.size() - 1);
  std::string text(words.data());
  std::ranges::replace(text, '\n', ' ');
  return {fmt::format("{}: {} ({}){}{}", symbol, name_of(code), code, text.empty() ? "" : ", ", text)};
}

Result<std::unique_ptr<Cudnn>> Cudnn::open(const Opener& opener) {
  ASSIGN_OR_RETURN(const CudnnTable table, load(opener));
  std::unique_ptr<Cudnn> made(new Cudnn(table));
  RETURN_IF_ERROR(table.call(table.create, &made->target_.handle));
  return made;
}

Result<std::unique_ptr<Cudnn>> Cudnn::open_for(const Opener& opener, const std::string& device) {
  ASSIGN_OR_RETURN(const CudnnTable table, load(opener));
  std::unique_ptr<Cudnn> made(new Cudnn(table));
  ASSIGN_OR_RETURN(made->target_.device, Descriptor::make(made->table_, DescriptorKind::device));
  RETURN_IF_ERROR(
      made->target_.device.set(CudnnAttribute::device_text, ValueKind::text, device.data(), static_cast<int64_t>(device.size())));
  RETURN_IF_ERROR(made->target_.device.finalize());
  return made;
}

Cudnn::~Cudnn() {
  known_.clear();  // descriptors go before the handle that they were made with
  if (target_.handle != nullptr) table_.destroy.address(target_.handle);
}

std::string Cudnn::version() const { return text_of_version(table_); }

Result<std::unique_ptr<Routine>> Cudnn::convolution(const ConvolutionGraph& graph, const ConvolutionMemory& memory,
                                                    int64_t workspace_bytes) {
  std::shared_ptr<Engines>& engines = known_[fmt::format("{} {}", workspace_bytes, text_of(graph))];
  if (engines == nullptr) {
    ASSIGN_OR_RETURN(OperationGraph described, describe(table_, target_, graph));
    engines = std::make_shared<Engines>(table_, target_, std::move(described), graph.x.type, workspace_bytes);
  }
  if (!engines->has(0)) return Error{engines->why_none()};
  return std::unique_ptr<Routine>(std::make_unique<ConvolutionCall>(table_, target_.handle, engines, memory));
}

}  // namespace replay::cuda
