// Which launches of a plan a library runs, by what algorithm; the others get kernels of our own, with a reason.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/device/cuda/cublas.h"
#include "replay/device/cuda/cudnn.h"
#include "replay/device/cuda/prepare.h"

namespace replay::cuda {

/// The libraries of a device, opened when a plan first has work for them: that alone takes a second. A GPU's context is current.
class Libraries {
 public:
  explicit Libraries(const Opener& opener, int trials = 0) : opener_(opener), trials_(trials) {}
  /// Error: why there is none.
  base::Result<const Cublas*> cublas();
  base::Result<Cudnn*> cudnn();
  /// "cuBLASLt 13.1, cuDNN 9.19", of those that are open; "": none.
  std::string text() const;
  /// Choices that are timed for each distinct call; 0: none.
  int trials() const { return trials_; }

 private:
  const Opener& opener_;
  int trials_;
  std::optional<base::Result<std::unique_ptr<Cublas>>> cublas_;
  std::optional<base::Result<std::unique_ptr<Cudnn>>> cudnn_;
};

class Routines {
 public:
  /// Buffers have their memory already.
  Routines(const Gpu& gpu, Libraries& libraries, Prepared& ready) : gpu_(gpu), libraries_(libraries), ready_(ready) {}
  /// Describes every launch that a library may have, lets the library choose, and runs each distinct one once, on whatever its buffers
  /// hold. A library that refuses is no error. Error: the GPU's, with the step.
  base::Status choose(const Plan& plan);
  /// Nothing: no library runs it.
  std::optional<RoutineLaunch> of(const Launch& launch) const;
  /// The record of a launch that has one, into records().
  size_t record_of(const Launch& launch) const;
  /// "" for launches that no library was asked for.
  std::string why_not(const Launch& launch) const;
  const std::vector<model::KernelRecord>& records() const { return records_; }

 private:
  /// What was found out of launches that differ in nothing but their addresses.
  struct Kind {
    std::string why;  ///< not empty: refused
    int64_t operations = 0;
    int rank = 0;  ///< of the choice that ran
    size_t record = 0;
    bool tried = false;
  };
  struct Entry {
    std::shared_ptr<Routine> routine;  ///< null: refused
    std::string key;
    std::string_view step;
  };
  struct Asked {
    std::string key, name;
    base::Result<std::unique_ptr<Routine>> routine;
  };

  Asked ask(const Gemm& gemm);
  Asked ask(const LibraryCall& call);
  void add(const Launch& launch, std::string_view step);
  int64_t workspace_of(Routine& routine) const;
  base::Status settle(Entry& entry, Kind& kind);
  base::Result<bool> try_out(Entry& entry, Kind& kind);
  base::Status tune(Entry& entry, Kind& kind);
  base::Result<double> time(const Routine& routine) const;
  base::Result<int64_t> operations_of(const Routine& routine);
  Address address(BufferId buffer) const { return buffer < 0 ? 0 : ready_.address(buffer); }

  const Gpu& gpu_;
  Libraries& libraries_;
  Prepared& ready_;
  std::map<const Launch*, Entry> entries_;
  std::vector<const Launch*> order_;
  std::map<std::string, Kind> kinds_;
  std::vector<model::KernelRecord> records_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace replay::cuda
