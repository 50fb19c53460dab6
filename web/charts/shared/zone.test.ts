import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { formatClock, formatDate, formatInstant } from "./format.ts";
import { tickLabels, tickStep, timeTicks } from "./time_ticks.ts";
import { midnight, showUtc, zoneName } from "./zone.ts";

const at = (text: string): ReturnType<typeof unixMs> => unixMs(Date.parse(text));

test("in UTC every time is UTC, whatever the browser's zone", () => {
  showUtc(true);
  const t = at("2026-03-29T23:30:05Z");
  assert.equal(formatDate(t), "2026-03-29");
  assert.equal(formatClock(t, true), "23:30:05");
  assert.equal(formatInstant(t), "2026-03-29 23:30 UTC");
  assert.equal(midnight(t), at("2026-03-29T00:00Z"));
  assert.equal(midnight(t, 1), at("2026-03-30T00:00Z"));
  const step = tickStep(at("2026-03-28T00:00Z"), at("2026-04-03T12:00Z"), 7);
  const ticks = timeTicks(at("2026-03-28T00:00Z"), at("2026-04-03T12:00Z"), step);
  assert.deepEqual(tickLabels(ticks, step).slice(0, 2), ["2026-03-28", "2026-03-29"]);
  assert.ok(ticks.every((tick) => tick % 86_400_000 === 0), "no hour is lost to summer time");
  showUtc(false);
});

test("a zone is said as what it is ahead of UTC", () => {
  const offset = -new Date(at("2026-03-29T23:30:05Z")).getTimezoneOffset();
  const name = zoneName(at("2026-03-29T23:30:05Z"));
  if (offset === 0) assert.equal(name, "UTC");
  else assert.match(name, /^UTC[+-]\d{1,2}(:\d\d)?$/);
});
