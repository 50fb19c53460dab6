// What the server says of itself: the counts of all targets, what its probes cost, the glossary.
import { getJson } from "./client.ts";
import { factor, list, number, record, text } from "./decode.ts";

/** What all targets amount to. `fleet`: this node or the storage, where the server says so; "" otherwise. */
export interface Summary {
  readonly counts: string;
  readonly fleet: string;
}

export function decodeSummary(value: unknown): Summary {
  const raw = record(value, "status");
  const fleet = raw["fleet"] === undefined || raw["fleet"] === null ? {} : record(raw["fleet"], "status.fleet");
  const sentence = (fleet as Record<string, unknown>)["sentence"];
  return { counts: text(raw["summary"], "status.summary"), fleet: typeof sentence === "string" ? sentence : "" };
}

export const fetchSummary = async (zone: string | null, signal: AbortSignal): Promise<Summary> =>
  decodeSummary(await getJson(`api/status?limit=1${zone === null ? "" : `&${new URLSearchParams({ zone }).toString()}`}`, signal));

const MOST_PROBES = 1000;

export interface ProbeCost {
  readonly host: string;
  readonly target: string;
  readonly opsPerS: number | null;
  readonly bytesPerS: number | null;
  readonly storedBytes: number | null;
  readonly sentence: string;
}

export interface Costs {
  /** Of all probes; "": none runs. */
  readonly sentence: string;
  /** Probes that run; the list has at most MOST_PROBES of them. */
  readonly total: number;
  readonly probes: readonly ProbeCost[];
}

export function decodeCosts(value: unknown): Costs {
  const raw = record(value, "cost");
  const probes = list(raw["probes"], "cost.probes").map((one, i) => {
    const where = `cost.probes[${i}]`;
    const probe = record(one, where);
    return {
      host: text(probe["host"], `${where}.host`),
      target: text(probe["target"], `${where}.target`),
      opsPerS: factor(probe["ops_per_s"], `${where}.ops_per_s`),
      bytesPerS: factor(probe["bytes_per_s"], `${where}.bytes_per_s`),
      storedBytes: factor(probe["stored_bytes"], `${where}.stored_bytes`),
      sentence: text(probe["sentence"], `${where}.sentence`),
    };
  });
  return { sentence: text(raw["sentence"], "cost.sentence"), total: number(raw["total"], "cost.total"), probes };
}

export const fetchCosts = async (signal: AbortSignal): Promise<Costs> => decodeCosts(await getJson(`api/about/cost?limit=${MOST_PROBES}`, signal));

export interface GlossarySection {
  readonly title: string;
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
}

export function decodeGlossary(value: unknown): GlossarySection[] {
  return list(record(value, "glossary")["sections"], "glossary.sections").map((one, i) => {
    const where = `glossary.sections[${i}]`;
    const raw = record(one, where);
    const words = list(raw["words"], `${where}.words`).map((pair) => {
      const row = record(pair, where);
      return { word: text(row["word"], `${where}.word`), meaning: text(row["meaning"], `${where}.meaning`) };
    });
    return { title: text(raw["title"], `${where}.title`), words };
  });
}

export const fetchGlossary = async (signal: AbortSignal): Promise<GlossarySection[]> => decodeGlossary(await getJson("api/about/glossary", signal));
