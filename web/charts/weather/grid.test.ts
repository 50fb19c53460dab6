import assert from "node:assert/strict";
import { test } from "node:test";
import type { Windows } from "../../api/generated.ts";
import { ms, unixMs } from "../../api/time.ts";
import { gridCells, rowAt } from "./grid.ts";

const windows: Windows = {
  start: [0, 10, 30].map(unixMs),
  n_due: [10, 3, 10],
  n_seen: [10, 3, 10],
  q50: [ms(1), null, ms(2)],
  q50_lower: [ms(1), null, ms(2)],
  q50_upper: [ms(1), null, ms(2)],
  q90: [null, null, null],
  max: [null, null, null],
  baseline: [null, null, ms(1)],
  slowdown: [null, null, 2],
  slowdown_lower: [null, null, 1.8],
  slowdown_upper: [null, null, 2.2],
  slow: [false, false, true],
  host_busy: [false, false, false],
};

const span = { from: unixMs(0), to: unixMs(60), window: ms(10), asOf: unixMs(45) };

test("what a hanging operation keeps from being measured says so", () => {
  const cells = gridCells(windows, span, { due: unixMs(15), age: ms(10) });
  assert.deepEqual(
    cells.map((c) => c.kind),
    ["learning", "open", "open", "known", "future", "future"],
  );
});

test("a window that is not over yet is not blamed for its few operations", () => {
  const cells = gridCells(windows, { ...span, asOf: unixMs(15) }, null);
  assert.equal(cells[1]?.kind, "future");
});

test("every interval in view has a cell and says why it has no number", () => {
  const cells = gridCells(windows, span, null);
  assert.deepEqual(
    cells.map((c) => c.kind),
    ["learning", "few", "missing", "known", "future", "future"],
  );
  assert.deepEqual(
    cells.map((c) => c.filling),
    [false, false, false, false, true, true],
  );
});

test("a time finds its window, or none", () => {
  assert.equal(rowAt(windows, unixMs(39), ms(10)), 2);
  assert.equal(rowAt(windows, unixMs(25), ms(10)), null);
});
