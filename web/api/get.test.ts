import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Answers } from "./generated.ts";
import { ApiError, get, inMs, paramsOf } from "./get.ts";

/** What a real server on the loopback answers next. */
let next = { status: 200, body: "", version: "1.0" };
const server = createServer((_, response) => response.writeHead(next.status, { "x-iosonde-version": next.version }).end(next.body));

before(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
after(() => server.close());

const asked = (): Promise<unknown> => {
  const { port } = server.address() as AddressInfo;
  return get(`http://127.0.0.1:${port}/api/runs` as keyof Answers, paramsOf({ limit: 1, kind: null }), new AbortController().signal);
};

test("nanoseconds of an answer are milliseconds of the page, rates stay", () => {
  const answer = { begin_ns: 2e6, steps: [{ due_ns: [1e6, null], cpu_ns_per_s: 5, words: ["a"] }], end_ns: null };
  assert.deepEqual(inMs(answer), { begin: 2, steps: [{ due: [1, null], cpu_ns_per_s: 5, words: ["a"] }], end: null });
});

test("another version, a proxy's page and a refusal each say what is wrong", async () => {
  next = { ...next, body: '{"n":0,"began_ns":1000000}' };
  assert.deepEqual(await asked(), { n: 0, began: 1 });
  next = { ...next, version: "2.0" };
  await assert.rejects(asked, (e) => e instanceof ApiError && e.message === "the server now runs iosonde 2.0, this page is from 1.0; reload the page");
  next = { status: 200, body: "<html>Sign in</html>", version: "1.0" };
  await assert.rejects(asked, (e) => e instanceof ApiError && e.message.includes("is not JSON"));
  next = { status: 404, body: '{"error":{"what":"there is no run","expected":"","try":"iosonde bench"}}', version: "1.0" };
  await assert.rejects(asked, (e) => e instanceof ApiError && e.status === 404 && e.message === "there is no run; iosonde bench");
});
