import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { bracketed, labelPlaces } from "./brackets.ts";

const at = (begin: number, end: number | null) => bracketed({ begin: unixMs(begin), end: end === null ? null : unixMs(end) }, unixMs(100), unixMs(200));

test("an event within the axis has both ends", () => {
  assert.deepEqual(at(120, 150), { left: 0.2, right: 0.5, cut: false, open: false });
});

test("what goes on or leaves the axis is open there", () => {
  assert.deepEqual(at(150, null), { left: 0.5, right: 1, cut: false, open: true });
  assert.deepEqual(at(50, 300), { left: 0, right: 1, cut: true, open: true });
  assert.deepEqual(at(50, 150), { left: 0, right: 0.5, cut: true, open: false });
});

test("what lies outside is not drawn", () => {
  assert.equal(at(10, 90), null);
  assert.equal(at(210, null), null);
});

test("labels never overlap and never leave the axis", () => {
  assert.deepEqual(labelPlaces([[0, 30], [10, 30], [40, 30], [390, 30]], 400), [0, null, 40, 370]);
  assert.deepEqual(labelPlaces([[5, 30]], 20), [0]);
});
