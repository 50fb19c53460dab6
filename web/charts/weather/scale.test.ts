import assert from "node:assert/strict";
import { test } from "node:test";
import { ms } from "../../api/time.ts";
import { parseRgb, RAMP_AT, rampColour } from "../shared/ramp.ts";
import { densityAlpha, inkOn, logExtent, logTicks } from "./scale.ts";

test("a log axis holds every positive value, whatever else is there", () => {
  const extent = logExtent([null, 0, -1, 0.9, 40]);
  assert.ok(extent.min <= 0.9 && extent.max >= 40);
  assert.deepEqual(extent, { min: 0.5, max: 50 });
});

test("an empty axis is still an axis", () => {
  assert.deepEqual(logExtent([null]), { min: 0.1, max: 100 });
});

test("ticks lie inside the axis and are not too many", () => {
  for (const [min, max] of [[0.5, 50], [0.001, 10_000], [2, 5], [1, 2]] as const) {
    const ticks = logTicks({ min: ms(min), max: ms(max) }, 6);
    assert.ok(ticks.length >= 2 && ticks.length <= 7, `${min}..${max}: ${ticks.join(" ")}`);
    assert.ok(ticks.every((t) => t >= min * 0.999 && t <= max * 1.001));
  }
});

const stops = [0, 17, 34, 68, 136, 255].map((v) => parseRgb(`rgb(${v}, ${v}, ${v})`));

test("the ramp stands still below 1 and above its end, and grows between", () => {
  assert.equal(rampColour(0.2, stops), "rgb(0, 0, 0)");
  assert.equal(rampColour(100, stops), "rgb(255, 255, 255)");
  assert.equal(rampColour(RAMP_AT[2], stops), "rgb(34, 34, 34)");
  const grey = (f: number): number => Number(rampColour(f, stops).match(/\d+/)?.[0]);
  for (let f = 1; f < 16; f *= 1.1) assert.ok(grey(f * 1.1) >= grey(f));
});

test("ink contrasts", () => {
  assert.equal(inkOn("rgb(255, 240, 200)"), "#000");
  assert.equal(inkOn("rgb(90, 10, 80)"), "#fff");
  assert.equal(inkOn("rgb(208, 115, 39)"), "#000", "white would have a contrast of 3.4");
});

test("one operation in a dense picture is visible, none is not", () => {
  assert.equal(densityAlpha(0, 100), 0);
  assert.ok(densityAlpha(1, 1000) >= 0.15);
  assert.ok(densityAlpha(1000, 1000) > 0.75);
});
