import assert from "node:assert/strict";
import { test } from "node:test";
import { climateParams, drawnClimate } from "../../api/climate.ts";
import type { Climate } from "../../api/generated.ts";
import { inMs } from "../../api/get.ts";
import { dots, dotsPath, nearestDot, nextChange, nextRun, segmentAt, span, xAt, yAt } from "./geometry.ts";

const S = 1e9;
const CHANGE = {
  file_system: "work", motif: "ior read", at_ns: 130 * S, earliest_ns: 120 * S, latest_ns: 130 * S, before: 0.8, after: 0.4, ratio: 0.5,
  n_before: 2, n_after: 2, q: 0.01, own: [], sentence: "ior read on work fell",
};
const segment = (start: number, end: number, median: number): object =>
  ({ start_ns: start * S, end_ns: end * S, n: 2, median, mad: 0, peak: 1, of_own_peak_ratio: null });
const RAW = {
  n: 4, file_systems: ["work"], motifs: ["ior read"], sentence: "1 lasting change in 1 series", changes: [CHANGE],
  events: [{ at_ns: 130 * S, earliest_ns: 120 * S, latest_ns: 130 * S, sentence: "it fell", along: [], changes: [CHANGE] }],
  series: [{ file_system: "work", motif: "ior read", segments: [segment(110, 120, 0.8), segment(130, 140, 0.4)] }],
  climates: [{ file_system: "work", sentence: "work: one climate", regimes: [{ sentence: "climate A on work" }] }],
  runs: [[["1", ""], ["2", "a"], ["3", ""], ["4", ""]]],
  figure: {
    motifs: ["ior read", "vpic write"], since_s: 100, until_s: 200, caption: ["dots: runs"],
    columns: [{
      place: 0, file_system: "work", bands: [{ name: "A", climate: 0, start_s: 100, end_s: 200 }],
      panes: [{ series: 0, motif: "ior read", times_s: [110, 120, 130, 140], values: [0.8, null, 0.4, 0.42], levels: [], shifts: [{ rose: false }] }, null],
    }],
  },
};
const climate = drawnClimate(inMs(RAW) as Climate);
const series = climate.places[0]?.series[0] ?? assert.fail("no series");
const AREA = { left: 10, top: 0, width: 100, height: 105 };

test("what is said of a series and of each run comes together", () => {
  assert.deepEqual(series.runs[1], { job: "2", run: "a" });
  assert.equal(series.changes[0]?.rose, false);
  assert.equal(climate.places[0]?.series[1], null);
  assert.equal(climate.places[0]?.bands[0]?.sentence, "climate A on work");
  assert.equal(segmentAt(series, 2)?.median, 0.4);
});

test("times and values fill the area; missing values have no dot", () => {
  assert.equal(xAt(climate, AREA, series.times[0] ?? climate.since), 20);
  assert.equal(yAt(AREA, 1), 5);
  const points = dots(climate, series, AREA);
  assert.equal(points[1], null);
  assert.equal(dotsPath(points), "M20 25h0M40 65h0M50 63h0");
  assert.equal(nearestDot(points, 31, 60), 2);
  assert.equal(nearestDot([null], 1, 1), null);
});

test("an interval stays within the area and can be seen", () => {
  assert.deepEqual(span(climate, AREA, climate.since, climate.until), { x: 10, width: 100 });
  assert.deepEqual(span(climate, AREA, climate.until, climate.until), { x: 108, width: 2 });
});

test("the cursor goes over what is known, and to changes", () => {
  assert.equal(nextRun(series, 0, 1), 2);
  assert.equal(nextRun(series, 0, -1), 0);
  assert.equal(nextChange(series, 0, 1), 2);
  assert.equal(nextChange(series, 3, -1), 2);
  assert.equal(nextChange(series, 2, 1), 2);
});

test("a question names what is chosen only, days as instants", () => {
  const query = { fileSystem: "", motif: null, since: "1970-01-02", until: null };
  assert.equal(climateParams(query, { format: "csv" }).toString(), "format=csv&file_system=&since_ns=86400000000000");
});
