// The shader of the load: every pixel of a column is one fetch of its slot and a few of its cells.
export const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

/** A pixel's column shows the mean of the cells that it covers, and a line at their largest: the line survives any zoom. */
export const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2D;
uniform sampler2D rates;   // x: cell, y: row; mean and largest
uniform sampler2D marks;   // x: cell; part with records, part in the band
uniform sampler2D slots;   // x: pixel; row (-1: none), pixels from its left edge, rate of a pixel, makes half
uniform int cells;
uniform int firstRow;      // of the texture that is drawn into
uniform float firstCell;   // cell at the lower edge of that row
uniform float cellsPerRow;
uniform vec3 ground, grid, fill, tint, line, halfFill, halfTint, halfLine, band, hatch;
out vec4 colour;

void main() {
  float row = gl_FragCoord.y - 0.5 - float(firstRow);
  float low = firstCell + row * cellsPerRow;
  float high = low + cellsPerRow;
  int from = int(floor(low));
  int until = max(from + 1, int(ceil(high - 1e-4)));
  vec4 slot = texelFetch(slots, ivec2(int(gl_FragCoord.x), 0), 0);
  int column = int(slot.x);
  vec2 mark = vec2(0.0);
  float mean = 0.0, most = 0.0, seen = 0.0;
  for (int i = 0; i < 16; i += 1) {
    int cell = from + i;
    if (cell >= until) break;
    if (cell < 0 || cell >= cells) continue;
    float part = cellsPerRow < 1.0 ? 1.0 : min(high, float(cell) + 1.0) - max(low, float(cell));
    vec2 here = texelFetch(marks, ivec2(cell, 0), 0).xy;
    mark = vec2(mark.x + here.x * part, max(mark.y, here.y));
    seen += part;
    if (column >= 0) {
      vec2 rate = texelFetch(rates, ivec2(cell, column), 0).xy;
      mean += rate.x * part;
      most = max(most, rate.y);
    }
  }
  vec3 back = ground;
  bool known = seen > 0.0 && mark.x > 0.0;
  if (mark.y > 0.0) back = mix(ground, band, 0.35 + 0.65 * mark.y);
  if (!known && seen > 0.0 && mod(gl_FragCoord.x + row + float(int(firstCell / max(cellsPerRow, 1e-6)) % 8), 8.0) < 1.0) back = hatch;
  colour = vec4(back, 1.0);
  if (column < 0 || seen == 0.0) return;
  bool hot = slot.w > 0.5 && mark.y > 0.0;
  float right = slot.y + 1.0;
  float meanPx = mean / seen / slot.z, mostPx = most / slot.z;
  if (slot.y < 1.0) colour = vec4(grid, 1.0);
  if (most <= 0.0) return;
  if (slot.y < max(meanPx, 0.5)) colour = vec4(hot ? halfFill : fill, 1.0);
  else if (slot.y < mostPx) colour = vec4(hot ? halfTint : tint, 1.0);
  if (mostPx >= slot.y && mostPx <= right && mostPx > 1.0) colour = vec4(hot ? halfLine : line, 1.0);
}`;
