import assert from "node:assert/strict";
import { test } from "node:test";
import { floorTo, msFromNs, nsText, seconds, unixMs } from "./time.ts";

test("an instant survives the border to a microsecond", () => {
  const ns = 1_760_000_123_456_789_000;
  assert.ok(Math.abs(Number(nsText(unixMs(msFromNs(ns)))) - ns) < 2000);
});

test("the API gets integers, never an exponent or a fraction", () => {
  assert.match(nsText(unixMs(1_760_000_123_456.789)), /^\d{19}$/);
});

test("durations keep fractions of a millisecond", () => {
  assert.equal(msFromNs(1500), 0.0015);
});

test("floorTo counts from the epoch, as the server does", () => {
  assert.equal(floorTo(unixMs(1_760_000_123_456), seconds(10)), 1_760_000_120_000);
});
