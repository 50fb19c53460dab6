// What all targets amount to, and which ones are searched for. The server sends them worst first.
import type { Severity, Target } from "../../api/model.ts";

/** Worst first, in the words of `iosonde now`. */
const WORDS: readonly (readonly [Severity, string])[] = [
  ["hung", "hanging or failing"],
  ["slow", "slow"],
  ["unknown", "unknown"],
  ["info", "without a verdict"],
  ["ok", "as usual"],
];

/** "3 targets: 1 hanging or failing, 2 as usual"; of one target its card says it all. */
export function summary(targets: readonly Target[]): string {
  if (targets.length < 2) return "";
  const parts = WORDS.flatMap(([severity, word]) => {
    const n = targets.filter((t) => t.severity === severity).length;
    return n === 0 ? [] : [`${n} ${word}`];
  });
  return `${targets.length} targets: ${parts.join(", ")}`;
}

/** Whether a target has all words in its name, host or sentence. */
export function matches(target: Target, words: string): boolean {
  const text = `${target.host} ${target.target} ${target.sentence}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
