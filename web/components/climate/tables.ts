// The changes as a table, and the climates in words: for people who cannot see the panes, and for who wants the numbers.
import type { DrawnClimate } from "../../api/climate.ts";
import { formatChance } from "../../charts/shared/format.ts";
import { utcDay, utcDays } from "../../charts/climate/utc.ts";
import { h } from "../shared/dom.ts";
import { folded, tableElement } from "../shared/table.ts";

const HEAD = ["date", "between", "file system", "motif", "before", "after", "ratio", "n", "q"];

/** As `iosonde climate` prints it. */
export function changesTable(climate: DrawnClimate): HTMLElement {
  const rows = climate.changes.map((one) => [
    utcDay(one.at),
    utcDays(one.earliest, one.latest),
    one.file_system,
    one.motif,
    one.before.toFixed(2),
    one.after.toFixed(2),
    one.ratio === null ? "" : `${one.ratio.toFixed(2)}x`,
    `${one.n_before} + ${one.n_after}`,
    formatChance(one.q) + (one.own.length > 0 ? " *" : ""),
  ]);
  const own = climate.changes.some((one) => one.own.length > 0) ? h("p", {}, "* the jobs themselves did something else afterwards") : null;
  return folded("The changes as a table", tableElement({ head: HEAD, rows }), own);
}

/** The stretches of each file system. */
export function climatesInWords(climate: DrawnClimate): HTMLElement {
  const parts = climate.places.flatMap((place) => [
    h("p", {}, place.sentence),
    h("ul", { class: "bullets" }, ...(place.bands.length > 1 ? place.bands.map((one) => h("li", {}, one.sentence)) : [])),
  ]);
  return h("details", { class: "numbers surface climate-words" }, h("summary", {}, "The climates in words"), ...parts);
}
