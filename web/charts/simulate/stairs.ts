// Traces as stairs: a level a bin, a gap where there is no number.

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The path of levels between 0 and `most`, left to right, for the attribute `d`. */
export function stairs(levels: readonly (number | null)[], most: number, box: Box): string {
  const wide = box.width / Math.max(1, levels.length);
  const parts: string[] = [];
  let drawn = false;
  levels.forEach((level, i) => {
    if (level === null) {
      drawn = false;
      return;
    }
    const y = (box.top + box.height * (1 - Math.min(1, level / most))).toFixed(1);
    parts.push(`${drawn ? "L" : "M"}${(box.left + i * wide).toFixed(1)} ${y}H${(box.left + (i + 1) * wide).toFixed(1)}`);
    drawn = true;
  });
  return parts.join("");
}

/** The next 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-12)));
  return [1, 2, 5, 10].map((step) => step * power).find((one) => one >= value * 0.999) ?? value;
}
