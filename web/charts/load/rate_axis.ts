// The axis of total rates: logarithmic from 1 operation a second on; what is below has a strip of its own at the left.
const LEAST = 1;
const STRIP = 0.05;

export interface RateAxis {
  readonly width: number;
  /** The last edge of the bins. */
  readonly most: number;
}

export function xOfRate(axis: RateAxis, rate: number): number {
  const strip = axis.width * STRIP;
  if (rate <= LEAST) return strip * Math.max(0, rate);
  return Math.min(axis.width, strip + ((axis.width - strip) * Math.log(rate)) / Math.log(axis.most));
}

export function rateOfX(axis: RateAxis, x: number): number {
  const strip = axis.width * STRIP;
  if (x <= strip) return Math.max(0, x / strip);
  return Math.exp((Math.min(1, (x - strip) / (axis.width - strip))) * Math.log(axis.most));
}

/** Powers of ten, with 2 and 5 between them where there is room. */
export function rateTicks(axis: RateAxis): number[] {
  const decades = Math.log10(axis.most);
  const steps = axis.width / decades > 150 ? [1, 2, 5] : [1];
  const found: number[] = [0];
  for (let power = 0; power <= decades; power += 1) {
    for (const step of steps) if (step * 10 ** power <= axis.most) found.push(step * 10 ** power);
  }
  return found;
}

/** The edge nearest to a rate: a band begins and ends at edges of bins. */
export const nearestEdge = (edges: readonly number[], axis: RateAxis, x: number): number =>
  edges.reduce((best, edge) => (Math.abs(xOfRate(axis, edge) - x) < Math.abs(xOfRate(axis, best) - x) ? edge : best), edges[0] ?? 0);

/** The edge `by` places further; stays within the edges. */
export function stepEdge(edges: readonly number[], rate: number, by: number): number {
  const at = edges.findIndex((edge) => edge >= rate * (1 - 1e-6));
  return edges[Math.max(0, Math.min(edges.length - 1, (at < 0 ? edges.length - 1 : at) + by))] ?? rate;
}

/** 3,500 and 12.5 M: short. */
export function formatRate(rate: number): string {
  for (const [size, word] of [[1e9, " G"], [1e6, " M"], [1e4, " k"]] as const) if (rate >= size) return `${Number((rate / (word === " k" ? 1e3 : size)).toPrecision(3))}${word}`;
  if (rate >= 100) return rate.toFixed(0);
  return rate === 0 ? "0" : String(Number(rate.toPrecision(2)));
}

/** 62%, 0.3%. */
export const formatShare = (share: number): string => (share > 0 && share < 0.001 ? "< 0.1%" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}%`);
