import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL, climateAddress, readClimateAddress } from "./climate_address.ts";

test("an address of a climate comes back as it was", () => {
  const query = { fileSystem: "", motif: "ior & more #1", since: "2017-02-01", until: null };
  const address = { query, on: "2017-08-04" };
  assert.deepEqual(readClimateAddress(climateAddress(address)), address);
  assert.deepEqual(readClimateAddress(climateAddress(ALL)), ALL);
  for (const on of ["2017-08-04.2", "2017-08-04.13"]) assert.equal(readClimateAddress(climateAddress({ ...ALL, on }))?.on, on);
  for (const on of ["2017-08-04.", "2017-08-04.0", "2017-08-04 12", "today", ""]) assert.equal(readClimateAddress(climateAddress({ ...ALL, on }))?.on, null, on);
});

test("an address that people type is read, days that are none are left out", () => {
  assert.deepEqual(readClimateAddress("#/climate"), ALL);
  const read = readClimateAddress("#/climate?file_system=work&since=yesterday&until=2017-13-01");
  assert.deepEqual(read, { ...ALL, query: { ...ALL.query, fileSystem: "work" } });
});

test("other addresses are none of a climate", () => {
  for (const hash of ["", "#page=jobs&motif=a", "#host=a&target=b", "#/climates"]) assert.equal(readClimateAddress(hash), null);
});
