import assert from "node:assert/strict";
import { test } from "node:test";
import { seconds } from "../../api/time.ts";
import { readAddress, writeAddress } from "./address.ts";

test("an address comes back as it was written", () => {
  const address = { key: { host: "login2", target: "/data/a b&c" }, range: "1h", window: seconds(10) };
  assert.deepEqual(readAddress(writeAddress(address)), address);
});

test("nonsense becomes the default, never an error", () => {
  assert.deepEqual(readAddress("#range=never&window_s=0.3&host=x"), { key: null, range: "10m", window: null });
  assert.deepEqual(readAddress(""), { key: null, range: "10m", window: null });
});
