import assert from "node:assert/strict";
import { test } from "node:test";
import { roundUp, stairs } from "./stairs.ts";

const BOX = { left: 10, top: 0, width: 30, height: 100 };

test("a level a bin, a gap where there is none", () => {
  assert.equal(stairs([0, 0.5, null], 1, BOX), "M10.0 100.0H20.0L20.0 50.0H30.0");
  assert.equal(stairs([null, 2], 1, BOX), "M25.0 0.0H40.0");
  assert.equal(stairs([], 1, BOX), "");
});

test("an axis ends at a round number", () => {
  assert.deepEqual([1, 1.1, 3, 450, 5000].map(roundUp), [1, 2, 5, 500, 5000]);
});
