// Progress and interrupts.
#include "src/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "src/base/text.h"
#include "src/cli/output.h"

namespace cli {
namespace {

std::atomic<bool> g_stop{false};  // a signal handler can reach nothing else

std::atomic<bool> g_quiet{false};

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void on_interrupt(int) {
  g_stop = true;
  for (const int signal : kInterrupts) std::signal(signal, SIG_DFL);
  constexpr std::string_view kSaid = "\nStopping; what was measured is kept. Once more ends at once.\n";
  if (!g_quiet && ::write(STDERR_FILENO, kSaid.data(), kSaid.size()) < 0) return;  // nobody is there to read it
}

constexpr std::string_view kStages[] = {"warming up", "verifying", "measuring"};

}  // namespace

const std::atomic<bool>& stop_requested() { return g_stop; }

void catch_interrupts(Verbosity verbosity) {
  g_quiet = verbosity == Verbosity::quiet;
  for (const int signal : kInterrupts) {
    if (std::signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);  // of nohup, or of a shell's background
  }
}

ProgressLine::ProgressLine(Verbosity verbosity) : verbosity_(verbosity), terminal_(draws(STDERR_FILENO)) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const replay::Progress& progress) {
  if (verbosity_ == Verbosity::quiet) return;
  const auto now = Clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(30000))) return;
  last_ = now;
  const std::string_view stage = kStages[static_cast<size_t>(progress.stage)];
  const std::string pass = progress.stage == replay::Progress::Stage::measure ? fmt::format(", pass {}", progress.pass + 1) : "";
  const std::string left = progress.left_s > 0 ? fmt::format(", at most {} left", base::human_seconds(progress.left_s)) : "";
  const std::string text = fmt::format("{}{}: step {} of {}{}", stage, pass, progress.step + 1, progress.steps, left);
  print_err(fmt::format("{}{}{}", terminal_ ? "\r\x1b[K" : "", text, terminal_ ? "" : "\n"));
  drawn_ = terminal_;
}

void ProgressLine::say(const std::string& text) {
  if (verbosity_ == Verbosity::quiet) return;
  clear();
  print_err(text + "\n");
}

void ProgressLine::clear() {
  if (drawn_) print_err("\r\x1b[K");
  drawn_ = false;
}

}  // namespace cli
