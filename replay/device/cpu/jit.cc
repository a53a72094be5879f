// The adapter of LLVM's ORC: text → verified module → IR passes → object → linked symbols.
//
// What LLVM sets up for a module (the target, 150 passes, a dylib) takes as long as compiling a small kernel, so kernels are compiled in
// groups: each is parsed alone, its entries get a number, and the group is linked to one module. Each group has a context, and while it is
// compiled a TargetMachine, of its own, so groups run in parallel and only linking takes ORC's lock.
//
// What LLVM would print or die of becomes an Error: diagnostics of a context go to a handler, errors of the session to a reporter, and
// fatal errors (an instruction that cannot be selected) to an exception that ends that compile only. A group that fails is compiled again
// one by one, so that the error is that of the kernel that has it.
#include "replay/device/cpu/jit.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

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

using Machine = std::unique_ptr<llvm::TargetMachine>;

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

/// Bytes of the functions in an object, by name.
std::map<std::string, int64_t> sizes_of_functions(const std::string& object) {
  std::map<std::string, int64_t> sizes;
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return sizes;
  }
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(file->get());
  if (elf == nullptr) return sizes;
  for (const auto& symbol : elf->symbols()) {
    auto name = symbol.getName();
    if (name)
      sizes[name->str()] = static_cast<int64_t>(symbol.getSize());
    else
      llvm::consumeError(name.takeError());
  }
  return sizes;
}

/// A symbol's address as the versions return it.
#if LLVM_VERSION_MAJOR >= 17
void* pointer_of(const llvm::orc::ExecutorSymbolDef& symbol) { return symbol.getAddress().toPtr<void*>(); }
#else
void* pointer_of(const llvm::JITEvaluatedSymbol& symbol) { return llvm::jitTargetAddressToPointer<void*>(symbol.getAddress()); }
#endif

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

/// Sources that are compiled together, by index.
using Group = std::vector<size_t>;

constexpr size_t kGroupBytes = 48 << 10;  ///< of text: more gains nothing, and leaves the other threads less
constexpr size_t kSourceBytes = 4 << 10;  ///< text that takes as long as what a source costs beside its text

/// Largest first, so that small ones fill the time until the last thread is done; as many for each thread.
std::vector<Group> grouped(std::span<const Source> sources, std::vector<size_t> indices, int threads) {
  const auto size = [&](size_t i) { return sources[i].ir.size() + kSourceBytes; };
  std::ranges::stable_sort(indices, std::greater<>(), size);
  size_t all = 0;
  for (const size_t i : indices) all += size(i);
  const auto workers = static_cast<size_t>(std::max(1, threads));
  const size_t count = (all / kGroupBytes + workers) / workers * workers;
  std::vector<Group> groups;
  size_t filled = 0;
  for (const size_t i : indices) {
    if (groups.empty() || filled + size(i) > all / count + kSourceBytes) groups.emplace_back(), filled = 0;
    groups.back().push_back(i);
    filled += size(i);
  }
  return groups;
}

std::string numbered(const std::string& symbol, size_t number) { return fmt::format("{}.{}", symbol, number); }

}  // namespace

struct Jit::Impl {
  explicit Impl(TargetBuilder target) : builder(std::move(target)) {}

  TargetBuilder builder;
  std::string cpu, features, passes;
  int lanes = 0;
  bool avx512 = false;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mutex mutex;  ///< of all below
  std::string reports;
  int dylibs = 0;
  std::map<std::string, Code> cache;
  std::vector<Machine> machines;  ///< that no compile uses now: one costs 1 ms with all that it sets up when it is first used

  Result<Machine> take_machine();
  Result<std::unique_ptr<llvm::Module>> join(std::span<const Source* const> sources, llvm::LLVMContext& context,
                                             llvm::TargetMachine& machine) const;
  Result<std::string> translate(std::span<const Source* const> sources, FileType type);
  Result<llvm::orc::JITDylib*> link(const std::string& object);
  Result<std::vector<void*>> look_up(llvm::orc::JITDylib& dylib, std::span<const std::string> symbols);
  Result<std::vector<Code>> build(std::span<const Source* const> sources);
  void build(std::span<const Source> sources, const Group& group, std::vector<Result<Code>>& codes);
  std::optional<Code> cached(const std::string& key);
  Status start_session();
};

Result<Machine> Jit::Impl::take_machine() {
  {
    std::lock_guard lock(mutex);
    if (!machines.empty()) {
      Machine machine = std::move(machines.back());
      machines.pop_back();
      return machine;
    }
  }
  auto target = builder;  // createTargetMachine is not const in all versions
  auto machine = target.createTargetMachine();
  if (!machine) return error_of(machine.takeError(), "target");
  return std::move(*machine);
}

/// One module; the symbols of source i end in ".i".
Result<std::unique_ptr<llvm::Module>> Jit::Impl::join(std::span<const Source* const> sources, llvm::LLVMContext& context,
                                                      llvm::TargetMachine& machine) const {
  std::unique_ptr<llvm::Module> all;
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSIGN_OR_RETURN(auto module, parse(sources[i]->ir, context, machine));
    for (const std::string& symbol : sources[i]->symbols)
      if (auto* function = module->getFunction(symbol)) function->setName(numbered(symbol, i));
    for (auto& function : *module)  // 512-bit registers are off by default on most processors that have them
      if (!function.isDeclaration() && lanes == 16) function.addFnAttr("prefer-vector-width", "512");
    if (!all)
      all = std::move(module);
    else if (llvm::Linker::linkModules(*all, std::move(module)))
      return Error{"llvm: kernels that cannot be in one module"};
  }
  return all;
}

Result<std::string> Jit::Impl::translate(std::span<const Source* const> sources, FileType type) {
  ASSIGN_OR_RETURN(Machine machine, take_machine());
  std::string diagnosed;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(&diagnosed));
  ASSIGN_OR_RETURN(auto module, join(sources, context, *machine));
  if (!passes.empty()) RETURN_IF_ERROR(optimise(*module, *machine, passes));
  auto bytes = emit(*module, *machine, type);
  if (!diagnosed.empty()) return Error{fmt::format("llvm: {}", one_line(diagnosed))};
  std::lock_guard lock(mutex);
  machines.push_back(std::move(machine));
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

/// All in one query: each is a walk over the link order.
Result<std::vector<void*>> Jit::Impl::look_up(llvm::orc::JITDylib& dylib, std::span<const std::string> symbols) {
  llvm::orc::SymbolLookupSet names;
  for (const auto& symbol : symbols) names.add(jit->mangleAndIntern(symbol));
  auto found = jit->getExecutionSession().lookup(llvm::orc::makeJITDylibSearchOrder(&dylib), std::move(names));
  if (!found) {
    Error error = error_of(found.takeError(), "link");
    std::lock_guard lock(mutex);
    if (!reports.empty()) error.message += "; " + one_line(std::exchange(reports, ""));
    return error;
  }
  std::vector<void*> entries;
  for (const auto& symbol : symbols) entries.push_back(pointer_of(found->find(jit->mangleAndIntern(symbol))->second));
  return entries;
}

/// A group's time is shared out by text.
Result<std::vector<Code>> Jit::Impl::build(std::span<const Source* const> sources) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const std::string object, translate(sources, kObjectFile));
  ASSIGN_OR_RETURN(auto* dylib, link(object));
  std::vector<std::string> symbols;
  size_t text = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const auto& symbol : sources[i]->symbols) symbols.push_back(numbered(symbol, i));
    text += sources[i]->ir.size() + kSourceBytes;
  }
  ASSIGN_OR_RETURN(const auto entries, look_up(*dylib, symbols));
  const double spent_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  const auto sizes = sizes_of_functions(object);
  std::vector<Code> codes;
  size_t next = 0;
  for (const Source* source : sources) {
    Code& code = codes.emplace_back();
    code.compile_ns = std::llround(spent_ns * static_cast<double>(source->ir.size() + kSourceBytes) / static_cast<double>(text));
    for (size_t k = 0; k < source->symbols.size(); ++k, ++next) {
      code.entries.push_back(entries[next]);
      const auto size = sizes.find(symbols[next]);
      code.code_bytes += size == sizes.end() ? 0 : size->second;
    }
  }
  return codes;
}

/// Fills in the codes of the group.
void Jit::Impl::build(std::span<const Source> sources, const Group& group, std::vector<Result<Code>>& codes) {
  std::vector<const Source*> members;
  for (const size_t i : group) members.push_back(&sources[i]);
  auto built = guarded([&] { return build(members); });
  if (!built.ok() && group.size() > 1) {
    for (const size_t i : group) build(sources, {i}, codes);
    return;
  }
  for (size_t k = 0; k < group.size(); ++k) codes[group[k]] = built.ok() ? Result<Code>(std::move((*built)[k])) : built.error();
}

std::optional<Code> Jit::Impl::cached(const std::string& key) {
  std::lock_guard lock(mutex);
  const auto found = cache.find(key);
  if (found == cache.end()) return std::nullopt;
  Code code = found->second;
  code.cached = true;
  return code;
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
  const Source source{ir, {}};
  const Source* const sources[] = {&source};
  return guarded([&] { return impl_->translate(sources, kObjectFile); });
}

Result<std::string> Jit::assembly(const std::string& ir) const {
  const Source source{ir, {}};
  const Source* const sources[] = {&source};
  return guarded([&] { return impl_->translate(sources, kAssemblyFile); });
}

std::string Jit::key(const Source& source) const {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n", version(), cpu(), features(), lanes(), impl_->passes);
  for (const auto& symbol : source.symbols) all += symbol + '\n';
  return base::hash128_hex(all + source.ir);
}

Result<Code> Jit::compile(const Source& source) { return std::move(compile(std::span(&source, 1), 1)[0]); }

std::vector<Result<Code>> Jit::compile(std::span<const Source> sources, int threads) {
  std::vector<Result<Code>> codes;
  std::vector<std::string> keys;
  std::map<std::string, size_t> fresh;  // where a key stands that is not in the cache
  std::vector<size_t> missing;
  for (const Source& source : sources) {
    keys.push_back(key(source));
    const auto cached = impl_->cached(keys.back());
    codes.emplace_back(cached.value_or(Code{}));
    if (!cached && fresh.emplace(keys.back(), keys.size() - 1).second) missing.push_back(keys.size() - 1);
  }
  const std::vector<Group> groups = grouped(sources, missing, threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t g = 0; g < groups.size(); ++g) impl_->build(sources, groups[g], codes);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto at = fresh.find(keys[i]);
    if (at != fresh.end() && at->second != i) codes[i] = codes[at->second];
  }
  std::lock_guard lock(impl_->mutex);
  for (const size_t i : missing)
    if (codes[i].ok()) impl_->cache.emplace(keys[i], *codes[i]);
  return codes;
}

const std::string& Jit::cpu() const { return impl_->cpu; }
const std::string& Jit::features() const { return impl_->features; }
int Jit::lanes() const { return impl_->lanes; }
bool Jit::has_avx512() const { return impl_->avx512; }
std::string Jit::version() { return LLVM_VERSION_STRING; }

}  // namespace replay::cpu
