// The third move in C: the same flat lists as text that any C11 compiler with _Float16 takes. It says what a list means, lane by lane,
// with nothing left to a library of vectors; tests run it beside LLVM's code, so that lowering and schedules stay free of either.
#pragma once

#include <string>
#include <string_view>

#include "replay/kernel/list.h"
#include "replay/kernel/nest.h"

namespace kernel {

/// Collects the functions of a kernel. Options that the text needs: -ffp-contract=off -fno-strict-aliasing; it links with libm.
class CModule {
 public:
  explicit CModule(const Lowered& lowered) : lowered_(lowered) {}
  /// void symbol(void* const* args, int64_t begin, int64_t end, void* scratch, int64_t thread)
  void add(const List& list, std::string_view symbol);
  /// The text of several kernels may stand in one file if their symbols differ.
  std::string text() const;

 private:
  const Lowered& lowered_;
  std::string functions_;
};

}  // namespace kernel
