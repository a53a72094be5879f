// The JIT: code that runs, and errors that stay values.
#include "replay/device/cpu/jit.h"

#include <gtest/gtest.h>

#include <cmath>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace replay::cpu {
namespace {

using Entry = void (*)(void* const*, int64_t, int64_t, void*, int64_t);

std::unique_ptr<Jit> make(const JitOptions& options = {}) {
  auto jit = Jit::make(options);
  EXPECT_TRUE(jit.ok()) << jit.error().message;
  return *std::move(jit);
}

/// out[0] = value.
Source constant(int value) {
  return {"define void @k(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) {\n  %p = load ptr, ptr %args\n  store i32 " +
              std::to_string(value) + ", ptr %p\n  ret void\n}\n",
          {"k"}};
}

int run(const Code& code) {
  int out = -1;
  void* args[] = {&out};
  reinterpret_cast<Entry>(code.entries[0])(args, 0, 1, nullptr, 0);
  return out;
}

/// Compiles what must fail; nothing may be printed.
std::string failure(Jit& jit, const Source& source) {
  testing::internal::CaptureStderr();
  auto code = jit.compile(source);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(code.ok());
  return code.ok() ? "" : code.error().message;
}

TEST(Jit, RunsWhatItCompiles) {
  auto jit = make();
  auto code = jit->compile(constant(42));
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(run(*code), 42);
  EXPECT_GT(code->code_bytes, 0);
  EXPECT_GT(code->compile_ns, 0);
  EXPECT_FALSE(code->cached);
}

TEST(Jit, SeveralSymbolsOfOneModule) {
  auto jit = make();
  auto code = jit->compile({"define i32 @one() { ret i32 1 }\ndefine i32 @two() { ret i32 2 }\n", {"two", "one"}});
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(reinterpret_cast<int (*)()>(code->entries[0])(), 2);
  EXPECT_EQ(reinterpret_cast<int (*)()>(code->entries[1])(), 1);
}

TEST(Jit, EqualSourcesAreCompiledOnce) {
  auto jit = make();
  auto first = jit->compile(constant(1)), second = jit->compile(constant(1)), other = jit->compile(constant(2));
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_TRUE(second->cached);
  EXPECT_EQ(first->entries, second->entries);
  EXPECT_FALSE(other->cached);
}

TEST(Jit, KeyDependsOnProcessorAndPasses) {
  const auto host = make(), haswell = make({.cpu = "haswell"}), plain = make({.passes = ""});
  EXPECT_NE(host->key(constant(1)), haswell->key(constant(1)));
  EXPECT_NE(host->key(constant(1)), plain->key(constant(1)));
  EXPECT_EQ(host->key(constant(1)), make()->key(constant(1)));
}

TEST(Jit, KernelsMayUseTheSameNames) {
  auto jit = make();
  auto a = jit->compile(constant(7)), b = jit->compile(constant(8));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(run(*a), 7);
  EXPECT_EQ(run(*b), 8);
}

TEST(Jit, ParallelCompileEqualsSerial) {
  auto serial = make(), parallel = make();
  std::vector<Source> sources;
  for (int i = 0; i < 24; ++i) sources.push_back(constant(i));
  sources[5].ir = "define void @k( {";
  auto codes = parallel->compile(sources, 4);
  for (int i = 0; i < 24; ++i) {
    const auto u = static_cast<size_t>(i);
    auto expected = serial->object(sources[u].ir), got = parallel->object(sources[u].ir);
    ASSERT_EQ(codes[u].ok(), i != 5);
    if (i == 5) continue;
    EXPECT_EQ(*expected, *got);
    EXPECT_EQ(run(*codes[u]), i);
  }
}

TEST(Jit, AnErrorBelongsToItsSourceNotToTheGroup) {
  auto jit = make();
  std::vector<Source> sources;
  for (int i = 0; i < 6; ++i) sources.push_back(constant(i));
  sources[1] = {"declare void @no_such_function()\ndefine void @k() {\n  call void @no_such_function()\n  ret void\n}\n", {"k"}};
  sources[3].symbols = {"absent"};
  const auto codes = jit->compile(sources, 1);
  for (const size_t i : {0, 2, 4, 5}) {
    ASSERT_TRUE(codes[i].ok()) << codes[i].error().message;
    EXPECT_EQ(run(*codes[i]), static_cast<int>(i));
  }
  ASSERT_FALSE(codes[1].ok() || codes[3].ok());
  EXPECT_NE(codes[1].error().message.find("no_such_function"), std::string::npos);
  EXPECT_NE(codes[3].error().message.find("absent"), std::string::npos);
}

TEST(Jit, EqualSourcesOfOneCallShareTheirCode) {
  auto jit = make();
  const std::vector<Source> sources = {constant(1), constant(2), constant(1)};
  const auto codes = jit->compile(sources, 2);
  ASSERT_TRUE(codes[0].ok() && codes[1].ok() && codes[2].ok());
  EXPECT_EQ(codes[0]->entries, codes[2]->entries);
  EXPECT_NE(codes[0]->entries, codes[1]->entries);
}

TEST(Jit, FunctionsAndConstantsOfAGroupStayApart) {
  auto jit = make();
  const auto source = [](int value) {
    return Source{"@c = private unnamed_addr constant i32 " + std::to_string(value) +
                      "\ndefine internal i32 @inner(ptr %p) noinline {\n  %x = load i32, ptr %p\n  ret i32 %x\n}\n"
                      "define i32 @k() {\n  %x = call i32 @inner(ptr @c)\n  ret i32 %x\n}\n",
                  {"k"}};
  };
  const std::vector<Source> sources = {source(5), source(6), source(7)};
  const auto codes = jit->compile(sources, 1);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(codes[i].ok()) << codes[i].error().message;
    EXPECT_EQ(reinterpret_cast<int (*)()>(codes[i]->entries[0])(), static_cast<int>(i) + 5);
    EXPECT_GT(codes[i]->code_bytes, 0);
  }
}

TEST(Jit, SyntaxErrorHasLineAndColumn) {
  auto jit = make();
  EXPECT_EQ(failure(*jit, {"define void @k() {\n  %x = fad float 1.0, 2.0\n  ret void\n}\n", {"k"}}).substr(0, 13), "llvm-ir:2:8: ");
}

TEST(Jit, InvalidModuleIsAnError) {
  auto jit = make();
  const auto message = failure(*jit, {"define void @k(i1 %c) {\na:\n  br i1 %c, label %b, label %d\nb:\n  %x = add i32 1, 2\n  br label "
                                      "%d\nd:\n  %y = add i32 %x, 1\n  ret void\n}\n",
                                      {"k"}});
  EXPECT_NE(message.find("dominate"), std::string::npos) << message;
}

TEST(Jit, UnresolvedSymbolIsNamed) {
  auto jit = make();
  const auto message =
      failure(*jit, {"declare void @no_such_function()\ndefine void @k() {\n  call void @no_such_function()\n  ret void\n}\n", {"k"}});
  EXPECT_NE(message.find("no_such_function"), std::string::npos) << message;
}

TEST(Jit, MissingEntryIsNamed) {
  auto jit = make();
  auto source = constant(1);
  source.symbols = {"absent"};
  const auto message = failure(*jit, source);
  EXPECT_NE(message.find("absent"), std::string::npos) << message;
}

TEST(Jit, WhatCannotBeSelectedIsAnErrorAndTheNextCompileWorks) {
#if defined(__SANITIZE_ADDRESS__)
  __lsan::ScopedDisabler allow_leaks;  // LLVM would end the process here and cleans nothing up: some strings are lost
#endif
  auto jit = make();
  const auto message =
      failure(*jit, {"declare void @llvm.nvvm.barrier0()\ndefine void @k() {\n  call void @llvm.nvvm.barrier0()\n  ret void\n}\n", {"k"}});
  EXPECT_NE(message.find("elect"), std::string::npos) << message;
  auto code = jit->compile(constant(3));
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(run(*code), 3);
}

TEST(Jit, InlineAssemblyErrorIsAnError) {
  auto jit = make();
  const auto message = failure(*jit, {"define void @k() {\n  call void asm \"no_such_mnemonic\", \"\"()\n  ret void\n}\n", {"k"}});
  EXPECT_NE(message.find("no_such_mnemonic"), std::string::npos) << message;
}

TEST(Jit, UnknownPassIsAnError) {
  auto jit = make({.passes = "function(no-such-pass)"});
  EXPECT_NE(failure(*jit, constant(1)).find("no-such-pass"), std::string::npos);
}

TEST(Jit, UnknownProcessorIsAnError) {
  testing::internal::CaptureStderr();
  auto jit = Jit::make({.cpu = "pentium-9000"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(jit.ok());
  EXPECT_NE(jit.error().message.find("pentium-9000"), std::string::npos);
  EXPECT_FALSE(Jit::make({.cpu = "nehalem"}).ok());
  EXPECT_FALSE(Jit::make({.cpu = "haswell", .lanes = 16}).ok());
  EXPECT_FALSE(Jit::make({.lanes = 5}).ok());
}

TEST(Jit, VectorFunctionsOfTheMathLibrary) {
  auto jit = make();
  auto code = jit->compile({R"(
declare <8 x float> @_ZGVdN8v_erff(<8 x float>)
define void @k(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) {
  %p = load ptr, ptr %args
  %x = load <8 x float>, ptr %p, align 4
  %y = call <8 x float> @_ZGVdN8v_erff(<8 x float> %x)
  store <8 x float> %y, ptr %p, align 4
  ret void
})",
                            {"k"}});
  ASSERT_TRUE(code.ok()) << code.error().message;
  float x[8] = {0, 0.5f, -1, 2, -3, 1e-10f, 0.1f, 9};
  void* args[] = {x};
  reinterpret_cast<Entry>(code->entries[0])(args, 0, 1, nullptr, 0);
  const float of[8] = {0, 0.5f, -1, 2, -3, 1e-10f, 0.1f, 9};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(x[i], std::erf(of[i]), 1e-6f);
}

const char* kWide = R"(
define void @k(ptr %args, i64 %begin, i64 %end, ptr %scratch, i64 %thread) {
  %p = load ptr, ptr %args
  %x = load <16 x float>, ptr %p, align 4
  %y = fadd <16 x float> %x, %x
  store <16 x float> %y, ptr %p, align 4
  ret void
})";

TEST(Jit, WideVectorsStayWide) {
  auto jit = make();
  if (jit->lanes() != 16) GTEST_SKIP() << "this processor has no AVX-512";
  EXPECT_NE(jit->assembly(kWide)->find("zmm"), std::string::npos);
  for (const char* cpu : {"skylake-avx512", "sapphirerapids", "znver4"})
    EXPECT_NE(make({.cpu = cpu})->assembly(kWide)->find("zmm"), std::string::npos) << cpu;
}

TEST(Jit, CodeForAnOlderProcessorRunsHere) {
  auto jit = make({.cpu = "haswell"});
  EXPECT_EQ(jit->lanes(), 8);
  EXPECT_EQ(jit->cpu(), "haswell");
  EXPECT_EQ(jit->assembly(kWide)->find("zmm"), std::string::npos);
  auto code = jit->compile(constant(9));
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(run(*code), 9);
}

TEST(Jit, HalfPrecisionIsConvertedNotComputed) {
  auto jit = make();
  auto text = jit->assembly(R"(
define void @k(ptr %p) {
  %h = load <8 x half>, ptr %p, align 2
  %x = fpext <8 x half> %h to <8 x float>
  %y = fadd <8 x float> %x, %x
  %g = fptrunc <8 x float> %y to <8 x half>
  store <8 x half> %g, ptr %p, align 2
  ret void
})");
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("vaddps"), std::string::npos) << *text;
}

}  // namespace
}  // namespace replay::cpu
