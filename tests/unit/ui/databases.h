// Databases for the viewer's tests, made once and kept in the build folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ui {

/// "mnist", "bert", "llama", "resnet50": the samples, replayed on the null device by build/profile, or the program that PROFILE_PROGRAM
/// names. "fused": MNIST with its fusions beside their parts. "twice": MNIST, two runs. "empty": a file without a run. "no_steps": a run
/// without steps. "interrupted", "running": such runs. "recorded": times of a log. "hostile": names with "##", "%s", NUL, bytes that are no
/// UTF-8, 1 MB of text; times of 0 and 1e18 ns, numbers that are no numbers. "no_file", "foreign", "damaged", "older", "newer",
/// "not_a_database", "zero_bytes": cannot be opened.
std::string sample(std::string_view name);

std::span<const std::string_view> good_samples();
std::span<const std::string_view> bad_samples();

}  // namespace ui
