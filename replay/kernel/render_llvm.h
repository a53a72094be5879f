// The third move for CPUs: flat lists as LLVM IR text (LLVM 16 to 20), one function per part.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "replay/kernel/kernel.h"
#include "replay/kernel/list.h"
#include "replay/kernel/nest.h"

namespace kernel {

/// Collects the functions of a kernel; declarations and constants stand once.
class LlvmModule {
 public:
  LlvmModule(const Lowered& lowered, const Target& target) : lowered_(lowered), target_(target) {}
  /// void symbol(ptr args, i64 begin, i64 end, ptr scratch, i64 thread)
  void add(const List& list, std::string_view symbol);
  std::string text() const;

 private:
  int own_scope(int array) const;     ///< of the function that is being added
  int other_scopes(int array) const;  ///< the same
  bool may_share(int a, int b) const;
  void define_scopes(const std::set<int>& arrays);
  std::string address(int array) const;

  const Lowered& lowered_;
  const Target& target_;
  std::string declarations_, functions_, metadata_;
  int metadata_count_ = 2;  ///< of numbers in use; text() defines the first two
  friend class LlvmFunction;
};

}  // namespace kernel
