// The changes as a table, and the climates in words: for people who cannot see the panes, and for who wants the numbers.
import type { Climate } from "../../api/climate.ts";
import { formatChance } from "../../charts/shared/format.ts";
import { utcDay, utcDays } from "../../charts/climate/utc.ts";
import { h } from "../shared/dom.ts";
import { folded, tableElement } from "../shared/table.ts";

const HEAD = ["date", "between", "file system", "motif", "before", "after", "ratio", "n", "q"];

/** As `iosonde climate` prints it. */
export function changesTable(climate: Climate): HTMLElement {
  const rows = climate.changes.map((one) => [
    utcDay(one.at),
    utcDays(one.earliest, one.latest),
    one.fileSystem,
    one.motif,
    one.before.toFixed(2),
    one.after.toFixed(2),
    one.ratio === null ? "" : `${one.ratio.toFixed(2)}x`,
    `${one.nBefore} + ${one.nAfter}`,
    formatChance(one.q) + (one.own ? " *" : ""),
  ]);
  const own = climate.changes.some((one) => one.own) ? h("p", {}, "* the jobs themselves did something else afterwards") : null;
  return folded("The changes as a table", tableElement({ head: HEAD, rows }), own);
}

/** The stretches of each file system. */
export function climatesInWords(climate: Climate): HTMLElement {
  const parts = climate.places.flatMap((place) => [
    h("p", {}, place.sentence),
    h("ul", { class: "bullets" }, ...(place.stretches.length > 1 ? place.stretches.map((one) => h("li", {}, one.sentence)) : [])),
  ]);
  return h("details", { class: "numbers surface climate-words" }, h("summary", {}, "The climates in words"), ...parts);
}
