import assert from "node:assert/strict";
import { test } from "node:test";
import { KNOBS, placeOf, stepped, valueAt } from "./knobs.ts";

test("every knob's limits and start can be reached", () => {
  for (const knob of KNOBS) {
    for (const value of [knob.least, knob.start, knob.most]) assert.equal(valueAt(knob, placeOf(knob, value)), value, knob.name);
  }
});

test("a key goes to the next number, and never beyond a limit", () => {
  for (const knob of KNOBS) {
    let value = knob.least;
    for (let i = 0; i < 300 && value < knob.most; i += 1) {
      const next = stepped(knob, value, 1);
      assert.ok(next > value, `${knob.name}: ${next} after ${value}`);
      value = next;
    }
    assert.equal(value, knob.most);
    assert.equal(stepped(knob, knob.most, 1), knob.most);
    assert.equal(stepped(knob, knob.least, -1), knob.least);
  }
});
