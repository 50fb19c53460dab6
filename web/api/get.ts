// The one place where an answer of the server becomes a value of the page. No other address is ever contacted.
import type { Answers, Error as Refusal } from "./generated.ts";
import { msFromNs } from "./time.ts";

/** The server refused, or could not be reached, or is another one. `message` is fit for people. */
export class ApiError extends Error {
  readonly status: number | null;
  constructor(message: string, status: number | null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

const scaled = (value: unknown): unknown => (typeof value === "number" ? msFromNs(value) : Array.isArray(value) ? value.map(scaled) : value);

/** The JSON as `generated.ts` has it: a member `begin_ns` is `begin`, in ms. */
export function inMs(value: unknown): unknown {
  if (Array.isArray(value)) return typeof value[0] === "number" || typeof value[0] === "string" ? value : value.map(inMs);
  if (typeof value !== "object" || value === null) return value;
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name.endsWith("_ns")) made[name.slice(0, -3)] = scaled(member);
    else made[name] = inMs(member);
  }
  return made;
}

/** The server's own words about a refusal, as one sentence; a proxy's page has none. */
export function refusalText(body: unknown, status: number): string {
  const { what, expected, try: hint } = (body as Partial<Refusal> | null)?.error ?? { what: "", expected: "", try: "" };
  return [what, expected, hint].filter((part) => typeof part === "string" && part !== "").join("; ") || `the server answered ${status}`;
}

/** The server's version when it first answered this page. */
let version: string | null = null;

/** Raises ApiError where another version of iosonde answers than the one that this page is from. */
function expectVersion(answered: string | null): void {
  version ??= answered;
  if (answered !== null && answered !== version) {
    throw new ApiError(`the server now runs iosonde ${answered}, this page is from ${version}; reload the page`, null);
  }
}

/** An answer of any form. */
export async function fetched(url: string, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ApiError("the iosonde server does not answer; is `iosonde serve` still running?", null);
  }
  if (!response.ok) throw new ApiError(refusalText(await response.json().catch(() => null), response.status), response.status);
  expectVersion(response.headers.get("x-iosonde-version"));
  return response;
}

export const urlOf = (path: string, params: URLSearchParams): string => (params.size === 0 ? path : `${path}?${params.toString()}`);

/** The parameters that are not null, as text. */
export const paramsOf = (values: Readonly<Record<string, string | number | boolean | null>>): URLSearchParams =>
  new URLSearchParams(Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])));

/** The answer of a route. */
export async function get<P extends keyof Answers>(path: P, params: URLSearchParams, signal: AbortSignal): Promise<Answers[P]> {
  const response = await fetched(urlOf(path, params), signal);
  const body: unknown = await response.json().catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new ApiError(`the answer to ${path} is not JSON: not iosonde answered, but something before it; is there a proxy?`, response.status);
  });
  return inMs(body) as Answers[P];
}
