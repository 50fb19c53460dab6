// The same as files: pictures by the server's renderer, records as a table.
import { h } from "./dom.ts";

const PICTURES = [["svg", "SVG"], ["png", "PNG"], ["pdf", "PDF"]] as const;

/** `what` is the picture of, `records` what the table has; `link`: the address of a form. */
export function downloads(what: string, records: string, link: (more: Readonly<Record<string, string>>) => string): HTMLElement {
  const file = (words: string, name: string, more: Readonly<Record<string, string>>): HTMLElement =>
    h("a", { href: link(more), download: true, "aria-label": `${words} as ${name}` }, name);
  const sharp = { png: { scale: "2" }, svg: {}, pdf: {} };
  return h(
    "p",
    { class: "downloads" },
    `${what} as `,
    ...PICTURES.flatMap(([format, name]) => [file(what, name, { format, ...sharp[format] }), format === "pdf" ? "; " : ", "]),
    `${records} as `,
    file(records, "CSV", { format: "csv" }),
  );
}
