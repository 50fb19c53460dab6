import assert from "node:assert/strict";
import { test } from "node:test";
import { ms } from "../../api/time.ts";
import { formatChance, formatAge, formatDuration, formatSlowdown, formatSpan, formatTick } from "./format.ts";

test("durations have three digits and a unit", () => {
  const cases: [number, string][] = [
    [0.0000412, "41 ns"],
    [0.0412, "41.2 µs"],
    [4.123, "4.12 ms"],
    [99.97, "100 ms"],
    [412, "412 ms"],
    [999.9, "1.00 s"],
    [12_340, "12.3 s"],
    [125_000, "2 min 5 s"],
    [7_500_000, "2 h 5 min"],
  ];
  for (const [value, text] of cases) assert.equal(formatDuration(ms(value)), text);
  assert.equal(formatDuration(null), "n/a");
});

test("ticks are short", () => {
  assert.equal(formatTick(ms(0.05)), "50 µs");
  assert.equal(formatTick(ms(1)), "1 ms");
  assert.equal(formatTick(ms(2000)), "2 s");
});

test("a slowdown carries its interval; unknown is n/a, never a number", () => {
  assert.equal(formatSlowdown(3.14, 2.81, 3.42), "3.1x (2.8-3.4)");
  assert.equal(formatSlowdown(12.4, 9.96, 13.2), "12x (10-13)");
  assert.equal(formatSlowdown(1.0, null, null), "1.0x");
  assert.equal(formatSlowdown(null, null, null), "n/a");
});

test("ages and spans", () => {
  assert.equal(formatAge(ms(400)), "just now");
  assert.equal(formatAge(ms(4200)), "4 s ago");
  assert.equal(formatAge(ms(180_000)), "3 min ago");
  assert.equal(formatSpan(ms(10_000)), "10 s");
  assert.equal(formatSpan(ms(300_000)), "5 min");
  assert.equal(formatSpan(ms(90_000)), "90 s");
  assert.equal(formatSpan(ms(86_400_000)), "24 h");
  assert.equal(formatSpan(ms(604_800_000)), "7 d");
});

test("chances are printed as the terminal prints them", () => {
  const said = [0.05, 0.0163, 0.00097, 0.00041, 7.04e-5, 4e-27, 1e-120].map(formatChance);
  assert.deepEqual(said, ["0.05", "0.016", "0.001", "0.0004", "7e-05", "4e-27", "< 1e-99"]);
});
