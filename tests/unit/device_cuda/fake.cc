// The fake is opened where the build put it, with a cache of machine code of its own.
#include "tests/unit/device_cuda/fake.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "replay/element.h"
#include "replay/prepare.h"
#include "replay/reference/reference.h"
#include "replay/rewrite.h"

namespace replay::cuda {
namespace {

void* open_fake(const char* file) {
  constexpr std::string_view kKnown[] = {"libcuda.so.1",      "libcupti.so.13", "libnvrtc.so.13",
                                         "libcublasLt.so.13", "libcudnn.so.9",  "libnvidia-ml.so.1"};
  return std::ranges::find(kKnown, file) != std::end(kKnown)
             ? dlopen((std::string(BINARY_DIR "/tests/fake_gpu/") + file).c_str(), RTLD_NOW | RTLD_LOCAL)
             : nullptr;
}
void* find_in_fake(void* library, const char* symbol) { return dlsym(library, symbol); }
std::string why_not() {
  const char* text = dlerror();
  return text != nullptr ? text : "not there";
}

template <typename F>
F* symbol(const char* name) {
  void* library = open_fake("libcuda.so.1");
  EXPECT_NE(library, nullptr) << why_not();
  return reinterpret_cast<F*>(dlsym(library, name));
}

base::Status replay(const std::string& text, const Request& request, Replayed& out) {
  DeviceOptions options;
  options.mode = request.mode;
  options.cold = request.cold;
  options.autotune = request.autotune;
  ASSIGN_OR_RETURN(const auto loaded, plan_on_fake(text, options));
  const auto& device = loaded->device;
  Plan& plan = *loaded->plan;
  for (const Step* step : plan.steps) out.names.push_back(step->name);
  RETURN_IF_ERROR(replay::prepare(plan, *device));
  for (const Step* step : plan.steps) {
    out.classes.push_back(device->class_of(step->id, step->cls));
    out.skipped.push_back(step->cls == Class::skip ? step->why : "");
  }
  out.kernels = device->kernels();
  out.device = device->describe();
  RETURN_IF_ERROR(load_inputs(plan, *device, {}));
  EngineOptions engine_options;
  engine_options.verify = request.verify;
  engine_options.repeat_short = false;
  const std::atomic<bool> stop{false};
  Engine engine(plan, *device, engine_options, stop);
  ASSIGN_OR_RETURN(out.outcome, engine.run(*measure::exactly(request.passes), out.kept));
  return out.outcome.error.empty() ? base::Status() : base::Error{out.outcome.error};
}

/// Numbers between -1 and 1 in every parameter.
std::vector<Tensor> some_arguments(const ir::Module& module) {
  std::vector<Tensor> made;
  const ir::Computation& entry = module.comp(module.entry);
  for (const ir::InstrId id : entry.parameters) {
    Tensor array{module.shape(entry.instrs[static_cast<size_t>(id)]), {}, {}};
    array.data.resize(static_cast<size_t>(ir::bytes(array.shape)));
    for (int64_t k = 0; k < ir::elements(array.shape); ++k)
      store_real(array.shape.type, array.data.data(), k, static_cast<double>((k * 5 + id) % 9 - 4) / 4);
    made.push_back(std::move(array));
  }
  return made;
}

std::vector<Tensor> leaves_of(Tensor value) { return value.shape.is_tuple() ? value.elements : std::vector<Tensor>{std::move(value)}; }

base::Result<std::vector<Tensor>> rewritten_and_run(const ir::Module& module, Products products) {
  ASSIGN_OR_RETURN(const auto runs, rewritten(module, products));
  if (runs == nullptr) return base::Error{"is not rewritten"};
  ASSIGN_OR_RETURN(Tensor value, reference::Evaluator(*runs, Rounding::each).run(runs->entry, some_arguments(module)));
  return leaves_of(std::move(value));
}

}  // namespace

std::string apart_and_whole(const std::string& text) {
  const auto module = importers::hlo::parse(text, "test");
  if (!module.ok()) return module.error().message;
  const auto apart = rewritten_and_run(*module, Products::apart), whole = rewritten_and_run(*module, Products::whole);
  if (!apart.ok() || !whole.ok()) return (apart.ok() ? whole : apart).error().message;
  if (apart->size() != whole->size()) return "other results";
  for (size_t leaf = 0; leaf < apart->size(); ++leaf)
    for (int64_t k = 0; k < ir::elements((*apart)[leaf].shape); ++k) {
      const auto value = [&](const Tensor& array) { return load_real(array.shape.type, array.data.data(), k); };
      const double a = value((*apart)[leaf]), b = value((*whole)[leaf]);
      if (!(std::fabs(a - b) <= 1e-3)) return std::to_string(a) + " and " + std::to_string(b) + " at " + std::to_string(k);
    }
  return "";
}

base::Result<std::unique_ptr<OnFake>> plan_on_fake(const std::string& text, DeviceOptions options, ChooseParts parts) {
  auto made = std::make_unique<OnFake>();
  ASSIGN_OR_RETURN(made->module, importers::hlo::parse(text, "test"));
  options.threads = 2;
  ASSIGN_OR_RETURN(made->device, open_with(options, fake_opener()));
  PlanOptions how;
  how.rounding = Rounding::each;
  how.target = made->device->target();
  how.device_class = "cuda";
  how.accepts = made->device->accepts();
  how.arranges = made->device->arranges();
  how.parts = std::move(parts);
  ASSIGN_OR_RETURN(Plan plan, make_plan(made->module, how));
  made->plan.emplace(std::move(plan));
  return made;
}

const char* const kProgram = R"(HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT r = f32[] add(a, b) }
normal { x = f32[24,40] parameter(0)
 zero = f32[] constant(0)
 s = f32[24] reduce(x, zero), dimensions={1}, to_apply=add
 sb = f32[24,40] broadcast(s), dimensions={0}
 ROOT r = f32[24,40] subtract(x, sb) }
condition { p = (s32[], f32[24,40]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(3)
 ROOT r = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[24,40]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[24,40] get-tuple-element(p), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[24,40] add(x, x)
 ROOT r = (s32[], f32[24,40]) tuple(j, y) }
ENTRY e { a = f32[24,70] parameter(0)
 b = f32[70,40] parameter(1)
 d = f32[24,40] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 f = f32[24,40] fusion(d), kind=kInput, calls=normal
 start = s32[] constant(0)
 t = (s32[], f32[24,40]) tuple(start, f)
 w = (s32[], f32[24,40]) while(t), condition=condition, body=body
 g = f32[24,40] get-tuple-element(w), index=1
 h = f32[40,24] transpose(g), dimensions={1,0}
 ROOT r = (f32[24,40], f32[40,24]) tuple(g, h) }
)";

std::string left_behind(const std::string& report) {
  const size_t at = report.find("left behind");
  return at == std::string::npos ? "" : report.substr(at);
}

const Opener& fake_opener() {
  static constexpr Opener kOpener{open_fake, find_in_fake, why_not};
  setenv("PROFILE_CACHE", BINARY_DIR "/tests/fake_cubins", 1);
  return kOpener;
}

void plan_fake(const std::string& words) {
  symbol<void()>("fake_cupti_reset")();
  symbol<void(const char*)>("fake_gpu_plan")(words.c_str());
}

std::string fake_report() { return symbol<const char*()>("fake_gpu_report")(); }

int64_t fake_calls(const std::string& report, const std::string& function) {
  std::istringstream lines(report);
  std::string name;
  for (int64_t count = 0; lines >> name >> count;)
    if (name == function) return count;
  return 0;
}

Replayed replay_on_fake(const std::string& text, const Request& request) {
  Replayed out;
  if (const base::Status done = replay(text, request, out); !done.ok()) out.error = done.error();
  return out;
}

}  // namespace replay::cuda
