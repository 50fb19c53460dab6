// Which targets are searched for. The server sends them worst first.
import type { Target } from "../../api/generated.ts";

/** Whether a target has all words in its name, host or sentence. */
export function matches(target: Target, words: string): boolean {
  const text = `${target.host} ${target.target} ${target.sentence}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
