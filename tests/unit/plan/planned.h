// A text as a plan, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "importers/hlo/hlo.h"
#include "replay/plan.h"

namespace replay {

/// The plan points into the module.
struct Planned {
  ir::Module module;
  Plan plan;

  const Step& step(const std::string& name) const {
    const auto it = std::ranges::find_if(plan.steps, [&](const Step* s) { return s->name == name; });
    EXPECT_NE(it, plan.steps.end()) << name;
    return **it;
  }
  BufferId root(BufferId id) const {
    const BufferId alias = plan.buffers[static_cast<size_t>(id)].alias_of;
    return alias >= 0 ? alias : id;
  }
};

inline std::unique_ptr<Planned> planned(const std::string& text) {
  auto module = importers::hlo::parse(text, "test.hlo");
  EXPECT_TRUE(module.ok()) << module.error().message;
  auto out = std::make_unique<Planned>();
  out->module = *std::move(module);
  auto plan = make_plan(out->module, {});
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  out->plan = *std::move(plan);
  return out;
}

}  // namespace replay
