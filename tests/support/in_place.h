// A program whose fusion overwrites an operand, for tests of planning and of running its parts beside it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace support {

/// A step of gradient descent on `elements` floats: the new weights lie where the old ones did.
inline std::string fusion_in_place(int elements) {
  return fmt::format(R"(HloModule m, input_output_alias={{ {{0}}: (0, {{}}, may-alias) }}
body {{
  w = f32[{0}]{{0}} parameter(0)
  g = f32[{0}]{{0}} parameter(1)
  rate = f32[] constant(0.5)
  many = f32[{0}]{{0}} broadcast(rate), dimensions={{}}
  step = f32[{0}]{{0}} multiply(g, many)
  new = f32[{0}]{{0}} subtract(w, step)
  twice = f32[{0}]{{0}} add(w, w)
  ROOT t = (f32[{0}]{{0}}, f32[{0}]{{0}}) tuple(new, twice)
}}
ENTRY main {{
  w = f32[{0}]{{0}} parameter(0)
  g = f32[{0}]{{0}} parameter(1)
  f = (f32[{0}]{{0}}, f32[{0}]{{0}}) fusion(w, g), kind=kLoop, calls=body
  a = f32[{0}]{{0}} get-tuple-element(f), index=0
  b = f32[{0}]{{0}} get-tuple-element(f), index=1
  ROOT r = (f32[{0}]{{0}}, f32[{0}]{{0}}) tuple(a, b)
}})",
                     elements);
}

}  // namespace support
