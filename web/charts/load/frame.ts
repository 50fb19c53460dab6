// Where the parts of the load's picture are: time axis, slowdown, total, columns; names below. CSS pixels.
import type { Load } from "../../api/generated.ts";
import { roomFor, slots } from "./layout.ts";
import type { Slot } from "./layout.ts";

export interface LoadFrame {
  readonly width: number;
  /** Of the part that shows time, without the names below and the heads above. */
  readonly height: number;
  readonly head: number;
  readonly foot: number;
  readonly strip: { readonly left: number; readonly width: number };
  /** What WebGL draws: the total, then the columns. */
  readonly plot: { readonly left: number; readonly width: number };
  readonly total: Slot;
  /** From the left edge of the plot. */
  readonly columns: readonly Slot[];
}

const NARROW = 620;
const AFTER_TOTAL = 10;

interface Sizes {
  readonly gutter: number;
  readonly strip: number;
  readonly total: number;
  readonly height: number;
}

const sizes = (width: number, height: number): Sizes =>
  width < NARROW ? { gutter: 46, strip: 24, total: 40, height } : { gutter: 62, strip: 42, total: 92, height };

const columnsWidth = (width: number, { gutter, strip, total }: Sizes): number => width - gutter - strip - 8 - total - AFTER_TOTAL;

/** How many columns to ask for. */
export const columnsFor = (width: number): number => roomFor(columnsWidth(width, sizes(width, 0)));

/** `usual`: by column, the rate that its width shows; what is above it is cut at the column's end. */
export function loadFrame(width: number, height: number, load: Load | null, own: boolean, usual: readonly number[]): LoadFrame {
  const size = sizes(width, height);
  const left = size.gutter + size.strip + 8;
  const begin = size.total + AFTER_TOTAL;
  const most = load?.columns.map((one, i) => (own ? one.most_per_s : (usual[i] ?? one.most_per_s))) ?? [];
  return {
    width,
    height,
    head: 20,
    foot: 104,
    strip: { left: size.gutter, width: size.strip },
    plot: { left, width: Math.max(10, width - left) },
    total: { left: 0, width: size.total, perPixel: Math.max(load?.most_per_s ?? 1, 1e-9) / size.total },
    columns: slots(most, columnsWidth(width, size), own).map((slot) => ({ ...slot, left: slot.left + begin })),
  };
}
