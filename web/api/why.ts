// Why it is slow, and events in a range, as the server says them: sentences, standings, instants.
import { getJson } from "./client.ts";
import { column, instant, list, number, orNull, record, text } from "./decode.ts";
import { OPS } from "./model.ts";
import type { Op, TargetKey } from "./model.ts";
import { nsText, unixMs } from "./time.ts";
import type { UnixMs } from "./time.ts";

export const STANDINGS = ["found", "ruled out", "not known"] as const;
export type Standing = (typeof STANDINGS)[number];

/** A line of the evidence. `link`: what it is about; "" where it is about none. */
export interface WhyLine {
  readonly link: string;
  readonly standing: Standing;
  readonly text: string;
}

/** The slow stretch. `end` null: it goes on; it was looked at until `seen`. */
export interface WhyStretch extends TargetKey {
  readonly op: Op | null;
  readonly begin: UnixMs;
  readonly end: UnixMs | null;
  readonly seen: UnixMs;
}

export interface WhyAnswer {
  readonly verdict: string;
  readonly sentence: string;
  readonly lines: readonly WhyLine[];
  /** The event's id; null: there is no event yet. */
  readonly event: string | null;
  readonly stretch: WhyStretch | null;
  /** Jobs whose load explains it. */
  readonly jobs: readonly string[];
  /** Other targets that were slow in the same time. */
  readonly others: readonly string[];
}

/** An event's id, or a target and an instant; without both: what is slow now. */
export interface WhyQuery {
  readonly event: string | null;
  readonly target: string | null;
  readonly at: UnixMs | null;
  /** Fits the queue model, which takes seconds. */
  readonly model: boolean;
}

function line(value: unknown, where: string): WhyLine {
  const raw = record(value, where);
  const standing = STANDINGS.find((one) => one === raw["standing"]) ?? "not known";
  return { link: text(raw["link"], `${where}.link`), standing, text: text(raw["text"], `${where}.text`) };
}

function stretch(value: unknown, where: string): WhyStretch {
  const raw = record(value, where);
  return {
    host: text(raw["host"], `${where}.host`),
    target: text(raw["target"], `${where}.target`),
    op: OPS.find((op) => op === raw["op"]) ?? null,
    begin: instant(raw["begin_ns"], `${where}.begin_ns`),
    end: orNull(raw["end_ns"], (v) => instant(v, `${where}.end_ns`)),
    seen: instant(raw["seen_until_ns"], `${where}.seen_until_ns`),
  };
}

/** The jobs of a load that was found; of one that was ruled out or is not known none. */
function jobsOf(links: Record<string, unknown>): string[] {
  const load = record(links["load"], "why.links.load");
  if (load["standing"] !== "found") return [];
  const culprits = list(record(load["fact"], "why.links.load.fact")["culprits"], "why.links.load.fact.culprits");
  return culprits.map((one) => text(record(one, "culprit")["job"], "culprit.job"));
}

export function decodeWhy(value: unknown): WhyAnswer {
  const raw = record(value, "why");
  const links = record(raw["links"], "why.links");
  const slowness = record(links["slowness"], "why.links.slowness");
  return {
    verdict: text(raw["verdict"], "why.verdict"),
    sentence: text(raw["sentence"], "why.sentence"),
    lines: list(raw["lines"], "why.lines").map((one, i) => line(one, `why.lines[${i}]`)),
    event: orNull(raw["event"], (v) => text(v, "why.event")),
    stretch: slowness["standing"] === "found" ? stretch(slowness["fact"], "why.links.slowness.fact") : null,
    jobs: jobsOf(links),
    others: column(raw, "others", "why", text),
  };
}

export async function fetchWhy(query: WhyQuery, zone: string | null, signal: AbortSignal): Promise<WhyAnswer> {
  const params = new URLSearchParams();
  if (query.event !== null) params.set("event", query.event);
  else {
    if (query.target !== null) params.set("target", query.target);
    if (query.at !== null) params.set("at_ns", nsText(query.at));
  }
  if (query.model) params.set("model", "true");
  if (zone !== null) params.set("zone", zone);
  return decodeWhy(await getJson(`api/why?${params.toString()}`, signal));
}

/** One event of a target; `end` null: it lasts, or nobody saw its end. */
export interface StoredEvent {
  /** null: it is neither a slow stretch nor a hang, so nothing can say why. */
  readonly id: string | null;
  readonly kind: string;
  readonly target: string | null;
  /** null: it is about all operations. */
  readonly op: Op | null;
  readonly begin: UnixMs;
  readonly end: UnixMs | null;
  readonly text: string;
}

export interface StoredEvents {
  readonly n: number;
  /** The newest first. */
  readonly events: readonly StoredEvent[];
  /** Sentences about what was not judged in the range. */
  readonly notJudged: readonly string[];
}

function event(value: unknown, where: string): StoredEvent {
  const raw = record(value, where);
  return {
    id: orNull(raw["id"], (v) => text(v, `${where}.id`)),
    kind: text(raw["kind"], `${where}.kind`),
    target: orNull(raw["target"], (v) => text(v, `${where}.target`)),
    op: OPS.find((op) => op === raw["op"]) ?? null,
    begin: unixMs(number(raw["time"], `${where}.time`)),
    end: orNull(raw["timeEnd"], (v) => unixMs(number(v, `${where}.timeEnd`))),
    text: text(raw["text"], `${where}.text`),
  };
}

export function decodeEvents(value: unknown): StoredEvents {
  const raw = record(value, "events");
  const every = list(raw["annotations"], "events.annotations").map((one, i) => event(one, `events.annotations[${i}]`));
  const notJudged = list(raw["not_judged"], "events.not_judged").map((one, i) => text(one, `events.not_judged[${i}]`));
  return { n: number(raw["total"], "events.total"), events: every.reverse(), notJudged };
}

/** The newest events of a target as a host saw it, at most `limit`. */
export async function fetchEvents(key: TargetKey, from: UnixMs, to: UnixMs, limit: number, zone: string | null, signal: AbortSignal): Promise<StoredEvents> {
  const params = new URLSearchParams({ host: key.host, target: key.target, limit: String(limit) });
  params.set("from", String(Math.floor(from)));
  params.set("to", String(Math.ceil(to)));
  if (zone !== null) params.set("zone", zone);
  return decodeEvents(await getJson(`api/annotations?${params.toString()}`, signal));
}
