// The same as files: a small menu at a chart. The server draws pictures and writes tables.
import { isDark } from "./theme.ts";
import { h } from "./dom.ts";

const PICTURES = [["svg", "SVG"], ["png", "PNG"], ["pdf", "PDF"]] as const;

export type FileLink = (more: Readonly<Record<string, string>>) => string;

/** `what` is the picture of, `records` what the table has; `link`: the address of a form. */
export function saveMenu(what: string, records: string, link: FileLink): HTMLElement {
  const file = (words: string, name: string, more: () => Readonly<Record<string, string>>): HTMLElement => {
    const anchor = h("a", { download: true, "aria-label": `${words} as ${name}` }, name);
    // An address holds the span in view and the theme: those of the moment when it is used.
    const renew = (): void => {
      anchor.href = link(more());
    };
    for (const event of ["pointerdown", "keydown", "focus", "click"] as const) anchor.addEventListener(event, renew);
    renew();
    return h("li", {}, anchor);
  };
  const looks = (): Record<string, string> => ({ theme: isDark() ? "dark" : "light" });
  const pictures = PICTURES.map(([format, name]) => file(what, name, () => ({ format, ...looks(), ...(format === "png" ? { scale: "2" } : {}) })));
  const table = file(records, "CSV", () => ({ format: "csv" }));
  const menu = h("details", { class: "save" }, h("summary", { "aria-label": `Save ${what}` }, "Save"), h("ul", {}, ...pictures, table));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (!(event.relatedTarget instanceof Node && menu.contains(event.relatedTarget))) menu.open = false;
  });
  return menu;
}
