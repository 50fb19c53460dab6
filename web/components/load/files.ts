// A load to keep: the picture as it is seen, its cells as a table.
import { h } from "../shared/dom.ts";

/** `picture`: makes the PNG; `cells`: the address of the table. */
export function loadFiles(name: string, picture: () => Promise<Blob | null>, cells: string): HTMLElement {
  const png = h("button", { type: "button", class: "quiet", "aria-label": "The picture as PNG" }, "PNG");
  png.addEventListener("click", () => {
    void picture().then((blob) => {
      if (blob === null) return;
      const link = h("a", { href: URL.createObjectURL(blob), download: name });
      link.click();
      window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    });
  });
  return h("p", { class: "downloads" }, "The picture as ", png, "; its cells as ", h("a", { href: cells, download: true, "aria-label": "The cells as CSV" }, "CSV"));
}
