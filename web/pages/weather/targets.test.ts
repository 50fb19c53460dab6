import assert from "node:assert/strict";
import { test } from "node:test";
import type { Target } from "../../api/generated.ts";
import { unixMs } from "../../api/time.ts";
import { isFleet } from "../../components/weather/matrix.ts";
import { matches } from "./targets.ts";

const target = (host: string, name: string): Target => ({
  host, target: name, slug: name, sentence: `${name} is hung`, severity: "hung", kind: "hung", brief: "hanging", slowdown: null,
  as_of: unixMs(0), state: { period: null, window: null, notes: [], written: null, ops: [] },
});

test("a target is found by words of its host, name and sentence", () => {
  const one = target("login2", "/c");
  assert.ok(matches(one, "LOGIN2 hung"));
  assert.ok(matches(one, ""));
  assert.ok(!matches(one, "login3"));
});

test("a grid needs a target that several hosts watch", () => {
  assert.ok(!isFleet([target("a", "/x"), target("a", "/y"), target("b", "/z")]));
  assert.ok(isFleet([target("a", "/x"), target("b", "/x")]));
});
