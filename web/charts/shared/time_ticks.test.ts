import assert from "node:assert/strict";
import { test } from "node:test";
import { hours, minutes, seconds, unixMs } from "../../api/time.ts";
import { tickLabels, tickStep, timeTicks } from "./time_ticks.ts";

const noon = unixMs(new Date(2026, 10, 21, 12, 0, 7).getTime());

test("ticks are round local times", () => {
  const to = unixMs(noon + hours(1));
  const step = tickStep(noon, to, 5);
  assert.equal(step, minutes(15));
  assert.deepEqual(tickLabels(timeTicks(noon, to, step), step), ["12:15", "12:30", "12:45", "13:00"]);
});

test("short spans show seconds", () => {
  const to = unixMs(noon + minutes(2));
  const step = tickStep(noon, to, 5);
  assert.equal(step, seconds(30));
  assert.equal(tickLabels(timeTicks(noon, to, step), step)[0], "12:00:30");
});

test("midnight is its date", () => {
  const to = unixMs(noon + hours(24));
  const step = tickStep(noon, to, 5);
  assert.ok(tickLabels(timeTicks(noon, to, step), step).includes("11-22"));
});
