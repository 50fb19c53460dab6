import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_RUN, readRunsAddress, runsAddress } from "./address.ts";

test("an address of runs comes back as it was", () => {
  const address = { kind: "bandwidth", target: "/work & more", run: "r#1", against: "r#2" };
  assert.deepEqual(readRunsAddress(runsAddress(address)), address);
  assert.deepEqual(readRunsAddress(runsAddress(NO_RUN)), NO_RUN);
  assert.deepEqual(readRunsAddress("#/runs?against=x"), NO_RUN);
  for (const hash of ["", "#page=jobs&run=1", "#/run"]) assert.equal(readRunsAddress(hash), null);
});
