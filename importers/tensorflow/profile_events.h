// Events of TensorFlow's profiler (XProf), from its trace JSON or its XSpace: which operator each belongs to.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "importers/tensorflow/log.h"

namespace importers::tensorflow {

struct ProfileEvent {
  std::string_view plane;       ///< "/device:GPU:0", "/host:CPU"
  std::string_view line;        ///< "Stream #13(Compute,MemcpyD2D)", "tf_Compute/123"
  std::string_view name;        ///< of the kernel, or "dense/MatMul:MatMul" on the host
  std::string_view annotation;  ///< "dense/MatMul:MatMul", of a kernel: what launched it
  std::string_view hlo;         ///< instruction of an XLA module
  std::string_view group;       ///< the step that it belongs to; empty: none
  int64_t begin_ns = 0, duration_ns = 0;
};

class ProfileEvents {
 public:
  ProfileEvents(const Input& input, std::string_view format) : log_(input, format, "events") {}

  /// Before the events of a plane: its lines. Aggregates of kernels ("TensorFlow Ops") count only where there are no kernels.
  void add_line(std::string_view plane, std::string_view line);
  void add(const ProfileEvent& event);
  void note(std::string code, std::string text) { log_.note(std::move(code), std::move(text)); }
  base::Result<model::Imported> finish();

 private:
  int32_t operator_of(const ProfileEvent& event, bool accelerator);

  Log log_;
  std::map<std::string, bool, std::less<>> kernels_;    ///< by plane: are there lines of kernels?
  std::map<std::string, int32_t, std::less<>> passes_;  ///< by group
  int64_t passed_over_ = 0;
};

}  // namespace importers::tensorflow
