// Words that the page and the server share.
import type { About, Target } from "./generated.ts";

export const OPS = ["data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete"] as const;
export type Op = (typeof OPS)[number];

export type Severity = Target["severity"];

export type TargetKey = Pick<Target, "host" | "target">;

export const sameTarget = (a: TargetKey | null, b: TargetKey | null): boolean =>
  a !== null && b !== null && a.host === b.host && a.target === b.target;

/** The plural noun of each operation, as the sentences say it. */
export const wordsOf = (about: About | null): ReadonlyMap<Op, string> =>
  new Map(OPS.map((op) => [op, about?.op_words[op] ?? op] as const));
