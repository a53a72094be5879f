// The lines and marks of a roofline. Measured limits are solid, published ones dashed, those of caches dotted; each has its name and rate.
#pragma once

#include <imgui.h>

#include <span>
#include <vector>

#include "ui/plot.h"
#include "ui/roofline_data.h"
#include "ui/roofline_marks.h"

namespace ui {

/// The ceilings that are drawn: of a cache level the faster way, of published products those that limit a step of the run.
std::vector<Ceiling> drawn_ceilings(const Roofline& roof);

/// `strip`: the frame of steps without flops, where memory's limits are level; nullptr: there is none.
void draw_ceilings(const Roofline& roof, const Frame& main, const Frame* strip);
/// Names with a line to their limit, in the empty corners beside the roof, over the points. Those that find no room in the view are left
/// out. Returns the places that they take.
std::vector<Box> name_ceilings(const Roofline& roof, const Frame& main);

/// `colors` by RoofMark::word; `edge` goes around large marks. Costs a frame at most some ms, however many there are.
void draw_marks(ImDrawList& draw, std::span<const RoofMark> marks, std::span<const ImU32> colors, ImU32 edge);

}  // namespace ui
