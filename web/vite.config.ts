// The page is built into the Python package, so that users need no Node.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import type { Plugin } from "vite";

const API = process.env["IOSONDE_API"] ?? "http://127.0.0.1:8765";

/** The server answers with the glossary of the documentation, which an installed copy has from here only. */
const glossary: Plugin = {
  name: "glossary",
  apply: "build",
  generateBundle() {
    const source = readFileSync(new URL("../docs/glossary.md", import.meta.url), "utf8");
    this.emitFile({ type: "asset", fileName: "glossary.md", source });
  },
};

export default defineConfig({
  base: "./",
  plugins: [glossary],
  build: {
    outDir: "../src/iosonde/serve/static",
    emptyOutDir: true,
    target: "es2022",
    // No data: or blob: URLs and no inline script: the server's content security policy forbids them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": API } },
});
