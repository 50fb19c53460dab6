import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, minutes, seconds } from "../../api/time.ts";
import { autoWindow, fitting, rangeById, RANGES, suitedWindow } from "./pickers.ts";

test("auto is the range's own window at one operation a second", () => {
  for (const range of RANGES) assert.equal(autoWindow(range.length, range.window, seconds(1)), range.window);
});

test("rare operations need longer windows", () => {
  assert.equal(autoWindow(minutes(10), seconds(30), seconds(10)), minutes(5));
  assert.equal(autoWindow(hours(1), minutes(1), seconds(60)), minutes(15));
});

test("a window must fit into the range and not make more cells than a screen has room for", () => {
  assert.ok(fitting(seconds(10), hours(1)));
  assert.ok(!fitting(seconds(10), hours(24)));
  assert.ok(!fitting(hours(1), minutes(10)));
});

test("a zoomed span gets the window of the nearest longer range", () => {
  assert.equal(suitedWindow(minutes(7)), seconds(30));
});

test("ranges reach a year, and each comes out of an address again", () => {
  const longest = RANGES[RANGES.length - 1];
  assert.ok(longest !== undefined && longest.length >= hours(365 * 24));
  for (const range of RANGES) assert.equal(rangeById(range.id), range);
  for (const range of RANGES) assert.ok(fitting(range.window, range.length), range.label);
});
