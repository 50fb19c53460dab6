// The page is built into the Python package, so that users need no Node.
import { defineConfig } from "vite";

const API = process.env["IOSONDE_API"] ?? "http://127.0.0.1:8765";

export default defineConfig({
  base: "./",
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
