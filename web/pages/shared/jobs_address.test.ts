import assert from "node:assert/strict";
import { test } from "node:test";
import { jobsAddress, readJobsAddress } from "./jobs_address.ts";

test("an address of a job comes back as it was", () => {
  const address = { search: "ior & more", query: { job: "47#11", run: "#2", history: "all", whole: true } } as const;
  assert.deepEqual(readJobsAddress(jobsAddress(address)), address);
  const bare = { search: "", query: null };
  assert.deepEqual(readJobsAddress(jobsAddress(bare)), bare);
});

test("an address of the weather is none of the jobs", () => {
  assert.equal(readJobsAddress("#host=a&target=b"), null);
  assert.equal(readJobsAddress(""), null);
});
