import assert from "node:assert/strict";
import { test } from "node:test";
import type { Severity, Target } from "../../api/model.ts";
import { unixMs } from "../../api/time.ts";
import { matches, summary } from "./targets.ts";

const target = (name: string, severity: Severity): Target => ({
  host: "login2", target: name, slug: name, sentence: `${name} is ${severity}`, severity, kind: severity,
  period: null, window: null, notes: [], heard: null, asOf: unixMs(0), ops: [],
});

const three = [target("/a", "ok"), target("/b", "unknown"), target("/c", "hung"), target("/d", "slow"), target("/e", "ok")];

test("a line says how many are how, the worst first", () => {
  assert.equal(summary(three), "5 targets: 1 hanging or failing, 1 slow, 1 unknown, 2 as usual");
  assert.equal(summary([target("/a", "slow")]), "");
});

test("a target is found by words of its host, name and sentence", () => {
  assert.ok(matches(three[2]!, "LOGIN2 hung"));
  assert.ok(matches(three[2]!, ""));
  assert.ok(!matches(three[2]!, "login3"));
});
