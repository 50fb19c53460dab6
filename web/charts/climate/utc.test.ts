import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { utcDays, utcMinute, utcTicks } from "./utc.ts";

const at = (text: string): ReturnType<typeof unixMs> => unixMs(Date.parse(text));

test("ticks of a year are begins of months", () => {
  const ticks = utcTicks(at("2017-02-10T00:00Z"), at("2018-02-20T00:00Z"), 300);
  assert.deepEqual(ticks.map((t) => t.label), ["2017-04", "2017-07", "2017-10", "2018-01"]);
  assert.ok(ticks.every((t) => new Date(t.at).toISOString().endsWith("-01T00:00:00.000Z")));
});

test("ticks of weeks are days, of decades years", () => {
  assert.deepEqual(utcTicks(at("2026-10-10T12:00Z"), at("2026-10-13T12:00Z"), 240).map((t) => t.label), ["2026-10-11", "2026-10-12", "2026-10-13"]);
  assert.deepEqual(utcTicks(at("1999-06-01T00:00Z"), at("2012-06-01T00:00Z"), 180).map((t) => t.label), ["2000", "2005", "2010"]);
});

test("there are never more than there is room for", () => {
  for (let days = 2; days < 3000; days = Math.ceil(days * 1.3)) {
    const n = utcTicks(at("2017-02-10T00:00Z"), at(new Date(Date.UTC(2017, 1, 10 + days)).toISOString()), 180).length;
    assert.ok(n >= 1 && n <= 5, `${n} ticks in ${days} days`);
  }
});

test("dates are those of the sentences", () => {
  assert.equal(utcDays(at("2017-07-17T23:59Z"), at("2017-08-04T00:00Z")), "2017-07-17 .. 2017-08-04");
  assert.equal(utcDays(at("2017-07-17T01:00Z"), at("2017-07-17T23:59Z")), "2017-07-17");
  assert.equal(utcMinute(at("2017-07-17T23:59:30Z")), "2017-07-17 23:59");
});
