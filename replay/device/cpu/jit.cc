// The adapter of LLVM's ORC: text → verified module → IR passes → object → linked symbols.
//
// Each compile has a context and a TargetMachine of its own, so compiles run in parallel and only linking takes ORC's lock. What LLVM
// would print or die of becomes an Error: diagnostics of a context go to a handler, errors of the session to a reporter, and fatal errors
// (an instruction that cannot be selected) to an exception that ends that compile only.
#include "replay/device/cpu/jit.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <omp.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "src/base/hash.h"

namespace replay::cpu {
namespace {

using base::Error;
using base::Result;
using base::Status;

#if LLVM_VERSION_MAJOR >= 18
constexpr auto kObjectFile = llvm::CodeGenFileType::ObjectFile;
constexpr auto kAssemblyFile = llvm::CodeGenFileType::AssemblyFile;
#else
constexpr auto kObjectFile = llvm::CGFT_ObjectFile;
constexpr auto kAssemblyFile = llvm::CGFT_AssemblyFile;
#endif
using FileType = llvm::CodeGenFileType;

/// What report_fatal_error would have died of.
struct Fatal {
  std::string reason;
};

[[noreturn]] void throw_fatal(void*, const char* reason, bool) { throw Fatal{reason}; }

/// Once a process: registers the native target; makes fatal errors exceptions; loads glibc's vector functions (Debian's libm does not
/// load them by itself). A machine without libmvec gets an Error from the first kernel that needs it.
void initialise_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(throw_fatal);
    // Loop strength reduction takes half of the time to generate code; x86 addresses base + index·scale for nothing.
    const char* const words[] = {"profile", "-disable-lsr"};
    llvm::cl::ParseCommandLineOptions(2, words, "", &llvm::nulls());
    dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL);
  });
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// Runs what enters LLVM; what LLVM would die of becomes the Error of this call (and the few strings that LLVM held then are lost).
template <typename Function>
auto guarded(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const Fatal& fatal) {
    return Error{fmt::format("llvm: {}", one_line(fatal.reason))};
  }
}

Error error_of(llvm::Error error, std::string_view what) {
  return {fmt::format("llvm: {}: {}", what, one_line(llvm::toString(std::move(error))))};
}

/// Keeps the first error that a context reports.
struct Diagnostics : llvm::DiagnosticHandler {
  std::string* first;
  explicit Diagnostics(std::string* text) : first(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !first->empty()) return true;
    llvm::raw_string_ostream out(*first);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }
};

Status optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& pipeline) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, pipeline)) return error_of(std::move(error), "passes");
  passes.run(module, modules);
  return {};
}

Result<std::string> emit(llvm::Module& module, llvm::TargetMachine& machine, FileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type)) return Error{"llvm: this target cannot emit code; report it as a bug"};
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

Result<std::unique_ptr<llvm::Module>> parse(const std::string& ir, llvm::LLVMContext& context, llvm::TargetMachine& machine) {
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(ir, error, context);
  if (!module)
    return Error{fmt::format("llvm-ir:{}:{}: {}", error.getLineNo(), error.getColumnNo() + 1, one_line(error.getMessage().str()))};
  module->setDataLayout(machine.createDataLayout());
  module->setTargetTriple(machine.getTargetTriple().str());
  std::string broken;
  llvm::raw_string_ostream out(broken);
  if (llvm::verifyModule(*module, &out)) return Error{fmt::format("llvm-ir: {}", one_line(out.str()))};
  return module;
}

/// Bytes of machine code in an object.
int64_t text_bytes(const std::string& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  uint64_t bytes = 0;
  for (const auto& section : (*file)->sections())
    if (section.isText()) bytes += section.getSize();
  return static_cast<int64_t>(bytes);
}

using TargetBuilder = llvm::orc::JITTargetMachineBuilder;

/// Small code model and position independence: a JIT's default, the large model, costs a movabs for each constant and call.
Result<TargetBuilder> target_builder(const std::string& cpu) {
  auto host = TargetBuilder::detectHost();
  if (!host) return error_of(host.takeError(), "this processor");
  host->setCodeModel(llvm::CodeModel::Small);
  host->setRelocationModel(llvm::Reloc::PIC_);
  if (cpu.empty()) return std::move(*host);
  std::string unknown;
  const auto* target = llvm::TargetRegistry::lookupTarget(host->getTargetTriple().str(), unknown);
  if (!target) return Error{fmt::format("llvm: {}", unknown)};
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(host->getTargetTriple().str(), "", ""));
  if (!info || !info->isCPUStringValid(cpu))
    return Error{fmt::format("cpu: LLVM {} knows no processor '{}'; `llc -mcpu=help` lists them", LLVM_VERSION_STRING, cpu)};
  host->setCPU(cpu);
  host->getFeatures() = llvm::SubtargetFeatures();
  return std::move(*host);
}

}  // namespace

struct Jit::Impl {
  explicit Impl(TargetBuilder target) : builder(std::move(target)) {}

  struct Linked {
    llvm::orc::JITDylib* dylib;
    int64_t compile_ns, code_bytes;
  };

  TargetBuilder builder;
  std::string cpu, features, passes;
  int lanes = 0;
  bool avx512 = false;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mutex mutex;  ///< of all below
  std::string reports;
  int dylibs = 0;
  std::map<std::string, Linked> cache;

  Result<std::string> translate(const std::string& ir, FileType type) const;
  Result<llvm::orc::JITDylib*> link(const std::string& object);
  Result<std::vector<void*>> look_up(llvm::orc::JITDylib& dylib, std::span<const std::string> symbols);
  Result<Linked> build(const Source& source);
  std::optional<Linked> cached(const std::string& key);
  Status start_session();
};

Result<std::string> Jit::Impl::translate(const std::string& ir, FileType type) const {
  auto target = builder;  // createTargetMachine is not const in all versions
  auto machine = target.createTargetMachine();
  if (!machine) return error_of(machine.takeError(), "target");
  std::string diagnosed;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(&diagnosed));
  ASSIGN_OR_RETURN(auto module, parse(ir, context, **machine));
  for (auto& function : *module)  // 512-bit registers are off by default on most processors that have them
    if (!function.isDeclaration() && lanes == 16) function.addFnAttr("prefer-vector-width", "512");
  if (!passes.empty()) RETURN_IF_ERROR(optimise(*module, **machine, passes));
  auto bytes = emit(*module, **machine, type);
  if (!diagnosed.empty()) return Error{fmt::format("llvm: {}", one_line(diagnosed))};
  return bytes;
}

Status Jit::Impl::start_session() {
  auto session = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create();
  if (!session) return error_of(session.takeError(), "session");
  jit = std::move(*session);
  jit->getExecutionSession().setErrorReporter([this](llvm::Error error) {
    std::lock_guard lock(mutex);
    reports += (reports.empty() ? "" : "; ") + llvm::toString(std::move(error));
  });
  const char prefix = jit->getDataLayout().getGlobalPrefix();
  auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process) return error_of(process.takeError(), "symbols of the process");
  jit->getMainJITDylib().addGenerator(std::move(*process));
  return {};
}

Result<llvm::orc::JITDylib*> Jit::Impl::link(const std::string& object) {
  std::unique_lock lock(mutex);
  const std::string name = fmt::format("kernel{}", dylibs++);
  lock.unlock();
  auto& dylib = jit->getExecutionSession().createBareJITDylib(name);
  dylib.addToLinkOrder(jit->getMainJITDylib());
  if (auto error = jit->addObjectFile(dylib, llvm::MemoryBuffer::getMemBufferCopy(object, name))) return error_of(std::move(error), "link");
  return &dylib;
}

Result<std::vector<void*>> Jit::Impl::look_up(llvm::orc::JITDylib& dylib, std::span<const std::string> symbols) {
  std::vector<void*> entries;
  for (const auto& symbol : symbols) {
    auto address = jit->lookup(dylib, symbol);
    if (!address) {
      Error error = error_of(address.takeError(), symbol);
      std::lock_guard lock(mutex);
      if (!reports.empty()) error.message += "; " + one_line(std::exchange(reports, ""));
      return error;
    }
    entries.push_back(address->toPtr<void*>());
  }
  return entries;
}

Result<Jit::Impl::Linked> Jit::Impl::build(const Source& source) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const std::string object, translate(source.ir, kObjectFile));
  ASSIGN_OR_RETURN(auto* dylib, link(object));
  RETURN_IF_ERROR(look_up(*dylib, source.symbols));
  const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
  return Linked{dylib, spent.count(), text_bytes(object)};
}

std::optional<Jit::Impl::Linked> Jit::Impl::cached(const std::string& key) {
  std::lock_guard lock(mutex);
  const auto found = cache.find(key);
  return found == cache.end() ? std::nullopt : std::optional(found->second);
}

Jit::Jit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Jit::~Jit() = default;

Result<std::unique_ptr<Jit>> Jit::make(const JitOptions& options) {
  initialise_once();
  ASSIGN_OR_RETURN(auto builder, target_builder(options.cpu));
  builder.getFeatures().AddFeature("prefer-256-bit", false);
  auto machine = builder.createTargetMachine();
  if (!machine) return error_of(machine.takeError(), "target");
  const auto* info = (*machine)->getMCSubtargetInfo();
  if (!(*machine)->getTargetTriple().isX86() || !info->checkFeatures("+avx2,+fma,+f16c"))
    return Error{fmt::format("cpu: the processor ({}) lacks AVX2, FMA or F16C; use --device reference", builder.getCPU()),
                 base::Exit::missing_capability};
  const int widest = info->checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq") ? 16 : 8;
  if (options.lanes != 0 && options.lanes != 8 && options.lanes != widest)
    return Error{fmt::format("cpu: {} lanes asked for, {} has {}; use 8 or {}", options.lanes, builder.getCPU(), widest, widest)};

  auto impl = std::make_unique<Impl>(builder);
  impl->cpu = builder.getCPU();
  impl->features = builder.getFeatures().getString();
  impl->passes = options.passes;
  impl->avx512 = widest == 16;
  impl->lanes = options.lanes ? options.lanes : widest;
  RETURN_IF_ERROR(impl->start_session());
  return std::unique_ptr<Jit>(new Jit(std::move(impl)));
}

Result<std::string> Jit::object(const std::string& ir) const {
  return guarded([&] { return impl_->translate(ir, kObjectFile); });
}

Result<std::string> Jit::assembly(const std::string& ir) const {
  return guarded([&] { return impl_->translate(ir, kAssemblyFile); });
}

std::string Jit::key(const Source& source) const {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n", version(), cpu(), features(), lanes(), impl_->passes);
  for (const auto& symbol : source.symbols) all += symbol + '\n';
  return base::hash128_hex(all + source.ir);
}

Result<Code> Jit::compile(const Source& source) {
  const std::string id = key(source);
  auto linked = impl_->cached(id);
  const bool hit = linked.has_value();
  if (!hit) {
    ASSIGN_OR_RETURN(linked, guarded([&] { return impl_->build(source); }));
    std::lock_guard lock(impl_->mutex);
    impl_->cache.emplace(id, *linked);
  }
  ASSIGN_OR_RETURN(auto entries, impl_->look_up(*linked->dylib, source.symbols));
  return Code{std::move(entries), linked->compile_ns, linked->code_bytes, hit};
}

std::vector<Result<Code>> Jit::compile(std::span<const Source> sources, int threads) {
  std::vector<Result<Code>> codes(sources.size(), Result<Code>(Code{}));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t i = 0; i < sources.size(); ++i) codes[i] = compile(sources[i]);
  return codes;
}

const std::string& Jit::cpu() const { return impl_->cpu; }
const std::string& Jit::features() const { return impl_->features; }
int Jit::lanes() const { return impl_->lanes; }
bool Jit::has_avx512() const { return impl_->avx512; }
std::string Jit::version() { return LLVM_VERSION_STRING; }

}  // namespace replay::cpu
