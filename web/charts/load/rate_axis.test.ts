import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRate, formatShare, nearestEdge, rateOfX, rateTicks, stepEdge, xOfRate } from "./rate_axis.ts";

const axis = { width: 1000, most: 10_000 };

test("a rate's place leads back to it", () => {
  for (const rate of [0, 0.5, 1, 3, 100, 9999]) assert.ok(Math.abs(rateOfX(axis, xOfRate(axis, rate)) - rate) < 1e-6 * Math.max(1, rate));
  assert.equal(xOfRate(axis, 1e9), 1000);
});

test("ticks are powers of ten, with more where there is room", () => {
  assert.deepEqual(rateTicks({ width: 200, most: 1000 }), [0, 1, 10, 100, 1000]);
  assert.ok(rateTicks(axis).includes(5000));
});

test("a band moves from edge to edge", () => {
  const edges = [0, 1, 10, 100, 1000];
  assert.equal(nearestEdge(edges, { width: 1000, most: 1000 }, 990), 1000);
  assert.equal(stepEdge(edges, 10, 1), 100);
  assert.equal(stepEdge(edges, 1000, 1), 1000);
  assert.equal(stepEdge(edges, 0, -1), 0);
});

test("rates are short", () => {
  assert.deepEqual([0, 0.25, 42, 3500, 35_000, 1_250_000, 2e9].map(formatRate), ["0", "0.25", "42", "3500", "35 k", "1.25 M", "2 G"]);
  assert.deepEqual([0.62, 0.05, 0.0001, 0].map(formatShare), ["62%", "5.0%", "< 0.1%", "0.0%"]);
});
