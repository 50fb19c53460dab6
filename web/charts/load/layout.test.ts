import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { GAP, held, NARROWEST, slotAt, slots, timeAt, yOf, zoomed } from "./layout.ts";

const span = (from: number, to: number): { from: ReturnType<typeof unixMs>; to: ReturnType<typeof unixMs> } => ({ from: unixMs(from), to: unixMs(to) });

test("columns have one scale, fill the width, and none vanishes", () => {
  const found = slots([900, 300, 1, 0], 400, false);
  const [first, second, third, fourth] = found;
  assert.ok(first !== undefined && second !== undefined && third !== undefined && fourth !== undefined);
  assert.equal(first.perPixel, second.perPixel);
  assert.ok(Math.abs(first.width - 3 * second.width) < 1e-9);
  assert.equal(third.width, NARROWEST);
  assert.equal(fourth.width, NARROWEST);
  assert.ok(Math.abs(fourth.left + fourth.width + GAP - 400) < 1e-9);
  assert.equal(slotAt(found, second.left + 1), 1);
  assert.equal(slotAt(found, 500), null);
});

test("with scales of their own columns are equally wide", () => {
  const found = slots([900, 9], 206, true);
  assert.deepEqual(found.map((slot) => slot.width), [100, 100]);
  assert.deepEqual(found.map((slot) => slot.perPixel), [9, 0.09]);
});

test("columns without any rate have places, too", () => {
  assert.equal(slots([0, 0], 100, false).length, 2);
  assert.equal(slots([], 100, false).length, 0);
});

test("time goes up", () => {
  const seen = span(0, 1000);
  assert.equal(yOf(seen, 500, unixMs(1000)), 0);
  assert.equal(yOf(seen, 500, unixMs(0)), 500);
  assert.equal(timeAt(seen, 500, 250), 500);
});

test("zooming keeps the place of the pointer, and stays within the records", () => {
  const recorded = span(0, 100_000);
  const near = zoomed(span(0, 100_000), unixMs(20_000), 0.5, recorded);
  assert.deepEqual([near.from, near.to], [10_000, 60_000]);
  assert.deepEqual(zoomed(near, unixMs(20_000), 100, recorded), recorded);
  const second = zoomed(near, unixMs(20_000), 1e-9, recorded);
  assert.equal(second.to - second.from, 1000);
  assert.deepEqual(held(span(-500, 500), recorded), span(0, 1000));
});
