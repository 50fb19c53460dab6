import assert from "node:assert/strict";
import { test } from "node:test";
import type { Umami } from "../../api/generated.ts";
import { inMs } from "../../api/get.ts";
import { umamiFigure } from "../../api/jobs.ts";
import { crossPath, crossSize, linePath, nearest, places, starPath, step, xOf, yOf } from "./umami_geometry.ts";

const ROW = {
  metric: "mds_cpu_mean_percent", label: "mean MDS CPU", unit: "%", role: "bad", sign: "--", value: 10, value_text: "10%",
  rank: "highest of 4", n: 3, flags: [], values: [2, null, 4, 10], low: 0, high: 20, ticks: [10], tick_texts: ["10"], box: null,
  outliers: [2, 4],
};
const FIGURE = {
  title: "Job 4", subtitle: "", times_s: [100, 110, 120, 200], place: 3, since_s: 100, until_s: 200, dated: true, rows: [ROW], gaps: [], caption: [],
};
const RAW = {
  figure: FIGURE,
  verdict: "slow", sentence: "job 4 was slower", evidence: [], rejected: "", history: "", notes: [], file_system: "work", motif: "ior read",
};
const figure = umamiFigure(inMs(RAW) as Umami);
const row = figure.rows[0] ?? assert.fail("no row");
const AREA = { left: 10, top: 0, width: 100, height: 50 };

test("values and times fill the area, high values at the top", () => {
  assert.equal(yOf(row, AREA, 20), 0);
  assert.equal(yOf(row, AREA, 0), 50);
  assert.equal(xOf(figure, AREA, 0), 10);
  assert.equal(xOf(figure, AREA, 3), 110);
});

test("a missing value is a gap, not a zero", () => {
  const points = places(figure, row, AREA);
  assert.deepEqual(points[1], null);
  assert.equal(linePath(points), "M10 45M30 40L110 25");
  assert.equal((crossPath(points, 3, 2).match(/M/g) ?? []).length, 4, "two runs, two strokes each");
});

test("no line crosses weeks without a run, and crosses do not fuse", () => {
  const points = places(figure, row, AREA);
  assert.equal(linePath(points, [3]), "M10 45M30 40M110 25");
  const close = [0, 3, 6, 9].map((x) => ({ x, y: 0 }));
  assert.ok(2 * crossSize(close) < 4, "half as wide as they are apart, or hardly visible");
  assert.equal(crossSize([{ x: 0, y: 0 }, { x: 50, y: 0 }]), 3.2);
});

test("the cursor goes over what is known", () => {
  const points = places(figure, row, AREA);
  assert.equal(nearest(points, 21), 2);
  assert.equal(nearest([null], 21), null);
  assert.equal(step(row, 0, 1), 2);
  assert.equal(step(row, 2, -1), 0);
  assert.equal(step(row, 3, 1), 3);
  assert.match(starPath({ x: 5, y: 5 }, 5), /^M5 0L/);
});
