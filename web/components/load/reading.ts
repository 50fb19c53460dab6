// What the cursor points at, in words: the column, its rates in the cell, the jobs behind it.
import type { Load, JobLoads, Series } from "../../api/generated.ts";
import type { LoadCells } from "../../api/load.ts";
import { OPS } from "../../api/model.ts";
import type { Op } from "../../api/model.ts";
import { after, unixMs } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import type { LoadCursor } from "../../charts/load/overlay.ts";
import { formatRate } from "../../charts/load/rate_axis.ts";
import { formatInstant, formatSpan } from "../../charts/shared/format.ts";
import { formatFactor } from "../../charts/shared/format.ts";

export interface Pointed {
  /** null: the total. */
  readonly name: string | null;
  readonly from: UnixMs;
  readonly to: UnixMs;
  readonly words: string;
}

/** The cell and column at the cursor; null: nothing is drawn there. */
export function pointed(load: Load, { values, cells }: LoadCells, cursor: LoadCursor, slowdown: Series | null, words: ReadonlyMap<Op, string>): Pointed | null {
  const cell = Math.floor((cursor.at - load.begin) / load.step);
  if (cell < 0 || cell >= cells) return null;
  const from = unixMs(load.begin + cell * load.step);
  const to = after(from, load.step);
  const row = cursor.column === null ? 0 : cursor.column + 1;
  const column = row === 0 ? null : (load.columns[row - 1] ?? null);
  const rows = load.columns.length + 1;
  const covered = values[2 * rows * cells + cell] ?? 0;
  const mean = values[2 * row * cells + cell] ?? 0;
  const most = values[(2 * row + 1) * cells + cell] ?? 0;
  const who = column === null ? "all nodes" : named(load.noun, column.name);
  const rate = covered === 0 ? "no records" : `${formatRate(mean)}/s${load.step > load.recorded.step ? `, at most ${formatRate(most)}/s` : ""}`;
  const slow = slowdown === null ? "" : slowWords(slowdown, from, words);
  return { name: column?.name ?? null, from, to, words: `${formatInstant(from, load.step < 60_000)} (${formatSpan(load.step)}), ${who}: ${rate}${slow}` };
}

/** An alias says what it is. */
const named = (noun: string, name: string): string => (name.startsWith(`${noun}-`) ? name : `${noun} ${name === "" ? "(no name)" : name}`);

function slowWords(series: Series, at: UnixMs, words: ReadonlyMap<Op, string>): string {
  const found = OPS.flatMap((op) => {
    const windows = series.ops[op]?.windows;
    const row = windows?.start.findIndex((start) => start <= at && at < after(start, series.window)) ?? -1;
    const factor = row < 0 ? null : (windows?.slowdown[row] ?? null);
    return factor === null || windows?.slow[row] !== true ? [] : [`${words.get(op) ?? op} ${formatFactor(factor)}`];
  });
  return found.length === 0 ? "" : `; slow on ${series.target}: ${found.join(", ")}`;
}

/** `jobs 4711 (app, 12 nodes, 320/s), 4712 (...) and 3 more`. */
export function jobWords(found: JobLoads, kind: string): string {
  const some = found.jobs.filter((one) => one.mean_per_s > 0);
  if (some.length === 0) return found.total === 0 ? "no job ran" : `${found.total} jobs ran without operations`;
  const each = some.map((one) => {
    const about = [kind === "name" ? "" : one.name, kind === "user" ? "" : one.user, `${one.nodes} node${one.nodes === 1 ? "" : "s"}`, `${formatRate(one.mean_per_s)}/s`];
    return `${one.job_id} (${about.filter((word) => word !== "").join(", ")})`;
  });
  const more = found.total - some.length;
  return `job${some.length > 1 ? "s" : ""} ${each.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
