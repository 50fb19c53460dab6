import assert from "node:assert/strict";
import { test } from "node:test";
import { unixMs } from "../../api/time.ts";
import { eventAddress, NOW, readEventAddress } from "./event_address.ts";

test("an address of an event comes back as it was", () => {
  const id = { ...NOW, event: "login2:/work & more:slow-1795001400333333332" };
  const at = { event: null, target: "/work/OST0001", at: unixMs(Date.UTC(2026, 8, 5, 0, 30)), model: true };
  for (const address of [NOW, id, at, { ...at, ...id, target: "/work" }]) assert.deepEqual(readEventAddress(eventAddress(address)), address);
});

test("an instant without an offset is UTC, one that is none is left out", () => {
  assert.equal(readEventAddress("#page=event&at=2026-09-05T00:30")?.at, Date.UTC(2026, 8, 5, 0, 30));
  assert.deepEqual(readEventAddress("#page=event&at=yesterday&target="), NOW);
  for (const hash of ["", "#page=jobs", "#host=a&target=b"]) assert.equal(readEventAddress(hash), null);
});
