// LLVM IR text to machine code in this process. No other file includes LLVM headers; LLVM 16 to 20 differ only inside jit.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/result.h"

namespace replay::cpu {

/// IR passes for text whose vectors are explicit. No instcombine: it moves fpext below compares and selects, and every f16 value is then
/// converted again for each of its uses (softmax: 38 conversions instead of 6, half the speed).
inline constexpr const char* kPasses = "function(mem2reg,early-cse,loop-mssa(licm),dce)";

struct JitOptions {
  std::string cpu{};             ///< a processor as LLVM names it ("haswell"); empty: this one with all its features
  int lanes = 0;                 ///< f32 elements of a vector register, 8 or 16; 0: what the processor has
  std::string passes = kPasses;  ///< in the words of `opt -passes=`
};

/// A module to compile and the functions to look up in it.
struct Source {
  std::string ir;
  std::vector<std::string> symbols;
};

/// Machine code of one Source; different sources may use the same names.
struct Code {
  std::vector<void*> entries;  ///< in the order of Source::symbols; live as long as the Jit
  int64_t compile_ns = 0;      ///< parse to lookup, a share of its group's; from the cache: what it took then
  int64_t code_bytes = 0;      ///< machine code of the entries without its constants
  bool cached = false;
};

/// Errors are one line: "llvm-ir:12:7: expected type"; nothing is printed, nothing aborts. All members but make() may be called from
/// several threads at once.
class Jit {
 public:
  /// Errors: a processor that LLVM does not know, or one without AVX2, FMA and F16C.
  static base::Result<std::unique_ptr<Jit>> make(const JitOptions& options = {});
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// A relocatable ELF object.
  base::Result<std::string> object(const std::string& ir) const;
  /// The same code as text.
  base::Result<std::string> assembly(const std::string& ir) const;
  /// Compiles, links and looks up; equal sources are compiled once in the life of the Jit.
  base::Result<Code> compile(const Source& source);
  /// The same for many, in groups on `threads` threads of the OpenMP pool; results in the order of the sources.
  std::vector<base::Result<Code>> compile(std::span<const Source> sources, int threads);

  /// Identity of a Source: hash of text, symbols, processor, features, passes and LLVM version.
  std::string key(const Source& source) const;

  const std::string& cpu() const;       ///< "znver3"
  const std::string& features() const;  ///< "+avx2,-avx512f,…"
  int lanes() const;
  bool has_avx512() const;       ///< 32 vector registers, of 16 lanes or used as 8
  static std::string version();  ///< "19.1.7"

 private:
  struct Impl;
  explicit Jit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace replay::cpu
