import assert from "node:assert/strict";
import { test } from "node:test";
import { readSimulateAddress, simulateAddress, START } from "./address.ts";

test("an address of a simulation comes back as it was", () => {
  const query = { knobs: { ...START.knobs, queue: 7, writers: 0 }, discipline: "fair" as const };
  assert.deepEqual(readSimulateAddress(simulateAddress(query)), query);
  assert.deepEqual(readSimulateAddress("#page=simulate"), START);
  assert.deepEqual(readSimulateAddress("#/simulate?queue=7&discipline=fair&writers=0"), query);
  for (const hash of ["", "#page=runs", "#/simulated"]) assert.equal(readSimulateAddress(hash), null);
});

test("what does not fit is as at the start", () => {
  for (const wrong of ["queue=0", "queue=1e9", "queue=4.5", "queue=x", "discipline=lifo"]) {
    assert.deepEqual(readSimulateAddress(`#page=simulate&${wrong}`), START);
  }
});
