import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerClock } from "../../api/clock.ts";
import { minutes, seconds, unixMs } from "../../api/time.ts";
import { Choice } from "./choice.ts";

function at(): { choice: Choice; tick: (by: number) => void } {
  let now = 0;
  const clock = new ServerClock(() => now, unixMs(1_800_000_000_000));
  return { choice: new Choice(clock, "10m", null), tick: (by) => (now += by) };
}

test("the view follows the server's clock until it is stopped", () => {
  const { choice, tick } = at();
  tick(1000);
  assert.deepEqual(choice.span, { from: 1_799_999_401_000, to: 1_800_000_001_000 });
  choice.stop();
  tick(5000);
  assert.equal(choice.span.to, 1_800_000_001_000);
  assert.ok(choice.paused);
  choice.follow("2m");
  assert.equal(choice.span.to, 1_800_000_006_000);
  assert.equal(choice.length, minutes(2));
});

test("stepping back and on again ends live", () => {
  const { choice } = at();
  const live = choice.span;
  choice.step(-1);
  assert.equal(choice.span.to, live.from);
  assert.ok(choice.paused);
  choice.step(1);
  assert.ok(!choice.paused);
});

test("a picked window holds as long as it fits", () => {
  const { choice } = at();
  choice.window = seconds(10);
  assert.equal(choice.usedWindow(seconds(1)), seconds(10));
  choice.follow("24h");
  assert.equal(choice.usedWindow(seconds(1)), minutes(15));
});
