// Triangles by edge functions at pixel centres with the top-left rule (no seam between the two halves of a rectangle), colour times the
// atlas's coverage (bilinear, as on a card: text that was scaled stays whole), blended in 8 bits. Rectangles of one colour, which are most
// of a frame, are filled row by row.
#include "ui/raster.h"

#include <fmt/format.h>
#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "src/base/text.h"

namespace ui {
namespace {

struct Clip {
  int x0, y0, x1, y1;
};

struct Atlas {
  const uint8_t* coverage = nullptr;
  int width = 0, height = 0;
  int texel(int x, int y) const { return coverage[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)]; }
  /// In 256ths of a texel: where pixels lie on texels the rounding of floats does not blur them.
  int at(float u, float v) const {
    const int x = static_cast<int>(std::lround(u * static_cast<float>(width) * 256)) - 128;
    const int y = static_cast<int>(std::lround(v * static_cast<float>(height) * 256)) - 128;
    const int left = x >> 8, top = y >> 8, right_part = x & 255, lower_part = y & 255;
    const auto row = [&](int at_y) { return texel(left, at_y) * (256 - right_part) + texel(left + 1, at_y) * right_part; };
    return (row(top) * (256 - lower_part) + row(top + 1) * lower_part + (1 << 15)) >> 16;
  }
};

struct Color {
  int r, g, b, a;
};
Color unpack(ImU32 c) {
  return {static_cast<int>(c >> IM_COL32_R_SHIFT & 255), static_cast<int>(c >> IM_COL32_G_SHIFT & 255),
          static_cast<int>(c >> IM_COL32_B_SHIFT & 255), static_cast<int>(c >> IM_COL32_A_SHIFT & 255)};
}

void blend(uint8_t* pixel, const Color& color, int alpha) {
  const int ink[3] = {color.r, color.g, color.b};
  for (int i = 0; i < 3; ++i) pixel[i] = static_cast<uint8_t>((ink[i] * alpha + pixel[i] * (255 - alpha) + 127) / 255);
}

float edge(ImVec2 a, ImVec2 b, ImVec2 p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }
/// Of two triangles that share an edge, one owns the pixels on it.
bool owns(ImVec2 a, ImVec2 b) { return a.y == b.y ? b.x < a.x : b.y < a.y; }

Color mixed(const std::array<const ImDrawVert*, 3>& v, float w0, float w1, float w2) {
  if (v[0]->col == v[1]->col && v[1]->col == v[2]->col) return unpack(v[0]->col);
  const Color a = unpack(v[0]->col), b = unpack(v[1]->col), c = unpack(v[2]->col);
  const auto mix = [&](int x, int y, int z) {
    return static_cast<int>(static_cast<float>(x) * w0 + static_cast<float>(y) * w1 + static_cast<float>(z) * w2 + 0.5f);
  };
  return {mix(a.r, b.r, c.r), mix(a.g, b.g, c.g), mix(a.b, b.b, c.b), mix(a.a, b.a, c.a)};
}

struct Painter {
  Picture& out;
  Atlas atlas;
  ImVec2 origin;

  ImVec2 place(const ImDrawVert& v) const { return {v.pos.x - origin.x, v.pos.y - origin.y}; }

  void triangle(std::array<const ImDrawVert*, 3> v, const Clip& clip) const {
    std::array<ImVec2, 3> p = {place(*v[0]), place(*v[1]), place(*v[2])};
    float area = edge(p[0], p[1], p[2]);
    if (area == 0 || !std::isfinite(area)) return;
    if (area < 0) std::swap(v[1], v[2]), std::swap(p[1], p[2]), area = -area;
    const auto [left, right] = std::minmax({p[0].x, p[1].x, p[2].x});
    const auto [top, bottom] = std::minmax({p[0].y, p[1].y, p[2].y});
    const int x0 = std::max(clip.x0, static_cast<int>(std::max(left, -1.f))), y0 = std::max(clip.y0, static_cast<int>(std::max(top, -1.f)));
    const int x1 = static_cast<int>(std::min(static_cast<float>(clip.x1), right + 1)),
              y1 = static_cast<int>(std::min(static_cast<float>(clip.y1), bottom + 1));
    const bool flat = v[0]->uv.x == v[1]->uv.x && v[0]->uv.y == v[1]->uv.y && v[1]->uv.x == v[2]->uv.x && v[1]->uv.y == v[2]->uv.y;
    for (int y = y0; y < y1; ++y) {
      for (int x = x0; x < x1; ++x) pixel(v, p, area, {static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f}, flat);
    }
  }

  void pixel(const std::array<const ImDrawVert*, 3>& v, const std::array<ImVec2, 3>& p, float area, ImVec2 at, bool flat) const {
    const float e0 = edge(p[1], p[2], at), e1 = edge(p[2], p[0], at), e2 = edge(p[0], p[1], at);
    if (e0 < 0 || e1 < 0 || e2 < 0) return;
    if ((e0 == 0 && !owns(p[1], p[2])) || (e1 == 0 && !owns(p[2], p[0])) || (e2 == 0 && !owns(p[0], p[1]))) return;
    const float w0 = e0 / area, w1 = e1 / area, w2 = e2 / area;
    const Color color = mixed(v, w0, w1, w2);
    const int coverage =
        flat ? 255 : atlas.at(v[0]->uv.x * w0 + v[1]->uv.x * w1 + v[2]->uv.x * w2, v[0]->uv.y * w0 + v[1]->uv.y * w1 + v[2]->uv.y * w2);
    const int alpha = color.a * coverage / 255;
    if (alpha == 0) return;
    blend(&out.rgb[(static_cast<size_t>(at.y) * static_cast<size_t>(out.width) + static_cast<size_t>(at.x)) * 3], color, alpha);
  }

  void command(const ImDrawList& list, const ImDrawCmd& cmd) const {
    const auto cut = [](float value, int most) { return static_cast<int>(std::clamp(value, 0.f, static_cast<float>(most))); };
    const Clip clip = {cut(cmd.ClipRect.x - origin.x, out.width), cut(cmd.ClipRect.y - origin.y, out.height),
                       cut(cmd.ClipRect.z - origin.x, out.width), cut(cmd.ClipRect.w - origin.y, out.height)};
    for (unsigned i = 0; i + 2 < cmd.ElemCount; i += 3) {
      std::array<const ImDrawVert*, 3> v{};
      for (unsigned k = 0; k < 3; ++k)
        v[k] = &list.VtxBuffer[static_cast<int>(cmd.VtxOffset + list.IdxBuffer[static_cast<int>(cmd.IdxOffset + i + k)])];
      triangle(v, clip);
    }
  }
};

}  // namespace

Picture rasterise(const ImDrawData& data, ImU32 ground) {
  Picture out{static_cast<int>(data.DisplaySize.x), static_cast<int>(data.DisplaySize.y), {}};
  out.rgb.resize(static_cast<size_t>(out.width) * static_cast<size_t>(out.height) * 3);
  const Color base = unpack(ground);
  for (size_t i = 0; i < out.rgb.size(); i += 3) blend(&out.rgb[i], base, 255);
  Painter painter{out, {}, data.DisplayPos};
  unsigned char* coverage = nullptr;
  ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&coverage, &painter.atlas.width, &painter.atlas.height);
  painter.atlas.coverage = coverage;
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const ImDrawList& list = *data.CmdLists[i];
    for (const ImDrawCmd& cmd : list.CmdBuffer) {
      if (cmd.UserCallback == nullptr) painter.command(list, cmd);
    }
  }
  return out;
}

base::Status write_png(const Picture& picture, const std::string& path) {
  errno = 0;
  stbi_write_force_png_filter = 0;  // of areas of one colour filters make no smaller files, and trying them takes half of the time
  if (stbi_write_png(path.c_str(), picture.width, picture.height, 3, picture.rgb.data(), picture.width * 3) != 0) return {};
  return base::Error{fmt::format("{}: cannot be written: {}", base::escaped(path), errno != 0 ? std::strerror(errno) : "unknown reason")};
}

}  // namespace ui
