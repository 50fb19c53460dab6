import assert from "node:assert/strict";
import { test } from "node:test";
import type { Load } from "../../api/generated.ts";
import { usualRates } from "./usual.ts";

test("a short peak does not make a column wide, and cells without records do not count", () => {
  const cells = 200;
  const steady = new Float32Array(cells).fill(10);
  const peak = new Float32Array(cells);
  peak[7] = 1000;
  const recorded = new Float32Array(cells).fill(1, 0, 150);
  const rows = [steady, steady, steady, steady, peak, peak, recorded, recorded];
  const values = new Float32Array(rows.length * cells);
  rows.forEach((row, i) => values.set(row, i * cells));
  const load = { columns: [{ most_per_s: 12 }, { most_per_s: 1000 }] } as unknown as Load;
  assert.deepEqual(usualRates(load, { values, cells }), [10, 50]);
});
