import assert from "node:assert/strict";
import { test } from "node:test";
import { seconds, unixMs } from "../../api/time.ts";
import { readAddress, writeAddress } from "./address.ts";

test("an address comes back as it was written", () => {
  const address = { key: { host: "login2", target: "/data/a b&c" }, range: "1h", window: seconds(10), span: null };
  assert.deepEqual(readAddress(writeAddress(address)), address);
});

test("nonsense becomes the default, never an error", () => {
  assert.deepEqual(readAddress("#range=never&window_s=0.3&host=x"), { key: null, range: "10m", window: null, span: null });
  assert.deepEqual(readAddress(""), { key: null, range: "10m", window: null, span: null });
});

test("an address of a span says when in absolute time", () => {
  const span = { from: unixMs(Date.parse("2026-11-22T15:37:00Z")), to: unixMs(Date.parse("2026-11-22T15:52:30Z")) };
  const address = { key: { host: "a", target: "/b" }, range: "10m", window: null, span };
  assert.ok(writeAddress(address).endsWith("from=2026-11-22T15:37:00.000Z&to=2026-11-22T15:52:30.000Z"));
  assert.deepEqual(readAddress(writeAddress(address)), address);
  assert.deepEqual(readAddress("#from=2026-11-22T15:37&to=2026-11-22T15:52:30").span, span, "UTC where no offset is given");
  assert.deepEqual(readAddress("#from=2026-11-22T16:37%2B01:00&to=2026-11-22T15:52:30Z").span, span);
  for (const bad of ["#from=2026-11-22T15:37Z", "#from=x&to=y", "#from=2026-11-22T16:00Z&to=2026-11-22T15:00Z"]) assert.equal(readAddress(bad).span, null, bad);
});
