// Every message names the option, what it was given, and what it takes.
#include "ui/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "src/base/text.h"
#include "ui/layout.h"
#include "ui/panel.h"

namespace ui {
namespace {

constexpr int kLeastSide = 64, kMostSide = 16384;
constexpr double kMost_ns = 9e18;
constexpr std::string_view kAllPanels = "all";

base::Error wrong(std::string_view option, std::string_view given, std::string_view wanted) {
  return {fmt::format("{} '{}': {}", option, base::escaped(given), wanted), base::Exit::wrong_use};
}

struct Unit {
  std::string_view name;
  double ns;
};
constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1}};

std::optional<int64_t> parse_time(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const auto* known = std::ranges::find(kUnits, unit, &Unit::name);
  if (error != std::errc() || known == std::end(kUnits) || !std::isfinite(value) || std::abs(value * known->ns) > kMost_ns) return {};
  return static_cast<int64_t>(value * known->ns);
}

template <typename Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& row : table) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace

base::Result<std::pair<int, int>> parse_size(const std::string& text) {
  int width = 0, height = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || std::min(width, height) < kLeastSide ||
      std::max(width, height) > kMostSide)
    return wrong("--size", text, "write it as WIDTHxHEIGHT, 64 to 16384 each, like 1280x800");
  return std::pair{width, height};
}

base::Result<TimeRange> parse_range(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const auto begin = parse_time(std::string_view(text).substr(0, dots)), end = parse_time(std::string_view(text).substr(dots + 2));
    if (begin && end && *begin < *end) return TimeRange{*begin, *end};
  }
  return wrong("--range", text, "write it as BEGIN..END on the run's clock, like 10ms..25.5ms");
}

base::Status check(const Arguments& arguments) {
  if (arguments.panel == kAllPanels && arguments.screenshot.empty()) return wrong("--panel", arguments.panel, "needs --screenshot");
  if (!arguments.panel.empty() && arguments.panel != kAllPanels && find_panel(arguments.panel) == nullptr)
    return wrong("--panel", arguments.panel, "there is no such panel; there are " + names_of(panels()));
  if (!arguments.theme.empty() && arguments.theme != "dark" && arguments.theme != "light")
    return wrong("--theme", arguments.theme, "dark or light");
  if (!arguments.layout.empty() && std::ranges::find(presets(), arguments.layout, &Preset::name) == presets().end() &&
      !parse_layout(arguments.layout).ok())
    return wrong("--layout", arguments.layout, "there is no such layout; there are " + names_of(presets()));
  if (arguments.run < 0) return wrong("--run", std::to_string(arguments.run), "runs are numbered from 1; `profile list DB` shows them");
  return {};
}

std::vector<Shot> shots_of(const Arguments& arguments) {
  if (arguments.panel != kAllPanels) return {{arguments.panel, arguments.screenshot}};
  const std::filesystem::path path = arguments.screenshot;
  const auto named = [&](std::string_view name) {
    return (path.parent_path() / fmt::format("{}_{}{}", path.stem().string(), name, path.extension().string())).string();
  };
  std::vector<Shot> shots;
  for (const PanelKind& kind : panels()) shots.push_back({std::string(kind.name), named(kind.name)});
  shots.push_back({"", named("layout")});
  return shots;
}

std::vector<std::string> databases_or_default(const Arguments& arguments) {
  std::error_code unknown;
  if (arguments.databases.empty() && std::filesystem::exists("profile.db", unknown)) return {"profile.db"};
  return arguments.databases;
}

}  // namespace ui
