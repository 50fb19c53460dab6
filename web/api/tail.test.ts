import assert from "node:assert/strict";
import { test } from "node:test";
import type { Points } from "./generated.ts";
import { Tail } from "./tail.ts";
import { ms, unixMs } from "./time.ts";

const rows = (...dues: number[]): { data_read: Points } => ({
  data_read: {
    due: dues.map(unixMs),
    response: dues.map((d) => ms(d / 100)),
    held_up: dues.map(() => false),
    service: dues.map(() => null),
    outcome: dues.map(() => "ok"),
  },
});

test("a row that comes twice is there once", () => {
  const tail = new Tail();
  tail.add({ as_of: unixMs(10), ops: rows(1, 2) });
  tail.add({ as_of: unixMs(11), ops: rows(2, 3) });
  assert.deepEqual(tail.points("data_read", unixMs(0), null).due, [1, 2, 3]);
});

test("rows the series already has, and rows before the view, are left out", () => {
  const tail = new Tail();
  tail.add({ as_of: unixMs(10), ops: rows(1, 2, 3) });
  const known = rows(2).data_read;
  assert.deepEqual(tail.points("data_read", unixMs(2), known).due, [3]);
});

test("a newer series covers what was visible before it was read", () => {
  const tail = new Tail();
  tail.add({ as_of: unixMs(10), ops: rows(1) });
  tail.add({ as_of: unixMs(20), ops: rows(2) });
  tail.covered(unixMs(10));
  assert.equal(tail.size, 1);
  assert.deepEqual(tail.points("data_read", unixMs(0), null).due, [2]);
});
