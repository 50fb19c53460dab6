// Which run is looked at, and which one it is compared with, in the address after the #.
export interface RunsAddress {
  readonly kind: string | null;
  readonly target: string | null;
  readonly run: string | null;
  /** The run that `run` is judged against. */
  readonly against: string | null;
}

export const NO_RUN: RunsAddress = { kind: null, target: null, run: null, against: null };

/** null: the address is not that of runs. */
export function readRunsAddress(hash: string): RunsAddress | null {
  const params = new URLSearchParams(hash.replace(/^#\/runs(?:\?|$)/, "#page=runs&").replace(/^#/, ""));
  if (params.get("page") !== "runs") return null;
  const run = params.get("run");
  return { kind: params.get("kind"), target: params.get("target"), run, against: run === null ? null : params.get("against") };
}

export function runsAddress(address: RunsAddress): string {
  const params = new URLSearchParams({ page: "runs" });
  for (const name of ["kind", "target", "run", "against"] as const) {
    const value = address[name];
    if (value !== null) params.set(name, value);
  }
  return `#${params.toString()}`;
}
