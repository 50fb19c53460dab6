// Layers of the page, lowest first: api < charts < components < pages. A file may import from its own layer
// and from lower ones. Also the house limit: no file of ours has more than 250 lines.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

const LAYERS = ["api", "charts", "components", "pages"];
const MAX_LINES = 250;
const IMPORT = /(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (/\.(ts|css)$/.test(entry.name)) yield path;
  }
}

const problems = [];
let count = 0;

function read(path) {
  count += 1;
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n").length - 1;
  if (lines > MAX_LINES) problems.push(`${path}: ${lines} lines; at most ${MAX_LINES}`);
  return text;
}

for (const path of files("styles")) read(path);
for (const [level, layer] of LAYERS.entries()) {
  for (const path of files(layer)) {
    const text = read(path);
    for (const [, target] of text.matchAll(IMPORT)) {
      const other = normalize(join(dirname(path), target)).split(sep)[0];
      const at = LAYERS.indexOf(other);
      if (at > level) problems.push(`${path}: imports ${target}, but ${layer} lies below ${other}`);
    }
  }
}
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`layers: ${count} files, no upward import, none over ${MAX_LINES} lines`);
