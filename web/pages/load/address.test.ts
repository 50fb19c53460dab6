import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { loadAddress, readLoadAddress, WHOLE } from "./address.ts";

test("an address of a load comes back as it was", () => {
  const span = { from: unixMs(Date.parse("2026-09-01T00:00:00Z")), to: unixMs(Date.parse("2026-09-01T00:10:00.5Z")) };
  const address = { by: "nodes", span, band: { low: 0, high: 1000 }, target: { host: "a & b", target: "/work" }, own: true } as const;
  assert.deepEqual(readLoadAddress(loadAddress(address)), address);
  assert.deepEqual(readLoadAddress(loadAddress(WHOLE)), WHOLE);
  assert.ok(loadAddress(address).includes("from=2026-09-01T00:00:00.000Z"));
});

test("what nobody can look at is left out", () => {
  assert.deepEqual(readLoadAddress("#/load?by=moon&from=now&to=then&low=9&high=3&host=a"), WHOLE);
  assert.deepEqual(readLoadAddress("#page=load&from=2026-09-02&to=2026-09-01"), WHOLE);
  for (const hash of ["", "#page=jobs", "#host=a&target=b", "#/loads"]) assert.equal(readLoadAddress(hash), null);
});
