// Who may import whom. Layers, lowest first: api < charts < components < pages; a file may import from its own layer
// and from lower ones. Rooms, the folders in a layer: a file may import from its own room and from shared/; what
// stands beside the rooms (pages/main.ts) from all. Nothing imports in a circle, types included. Also the house
// limit: no file has more than 250 lines, except what a script writes.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

const LAYERS = ["api", "charts", "components", "pages"];
const ROOMS = ["weather", "jobs", "climate", "load", "runs", "simulate", "about"];
const SHARED = "shared";
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
const imports = new Map();
let count = 0;

function read(path) {
  count += 1;
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n").length - 1;
  if (lines > MAX_LINES && !text.startsWith("// Generated")) problems.push(`${path}: ${lines} lines; at most ${MAX_LINES}`);
  return text;
}

/** The room of a file, null: it stands beside the rooms. */
function roomOf(path) {
  const [, room, file] = path.split(sep);
  return file === undefined ? null : room;
}

function check(path, target) {
  const [layer, other] = [path, target].map((one) => one.split(sep)[0]);
  if (LAYERS.indexOf(other) > LAYERS.indexOf(layer)) problems.push(`${path}: imports ${target}, but ${layer} lies below ${other}`);
  const [room, from] = [roomOf(path), roomOf(target)];
  if (room !== null && from !== null && from !== room && from !== SHARED) problems.push(`${path}: imports ${target} of another room`);
}

/** The first circle that is met from `path` on, or null. */
function circle(path, way, done) {
  if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
  if (done.has(path)) return null;
  for (const target of imports.get(path) ?? []) {
    const found = circle(target, [...way, path], done);
    if (found !== null) return found;
  }
  done.add(path);
  return null;
}

for (const path of files("styles")) read(path);
for (const layer of LAYERS) {
  for (const path of files(layer)) {
    const room = roomOf(path);
    if (room !== null && room !== SHARED && !ROOMS.includes(room)) problems.push(`${path}: there is no room ${room}`);
    const targets = [...read(path).matchAll(IMPORT)].map(([, target]) => normalize(join(dirname(path), target)));
    imports.set(path, targets);
    for (const target of targets) if (LAYERS.includes(target.split(sep)[0])) check(path, target);
  }
}
const done = new Set();
for (const path of imports.keys()) {
  const found = circle(path, [], done);
  if (found === null) continue;
  problems.push(`imports in a circle: ${found.join(" -> ")}`);
  break;
}
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`layers: ${count} files, no upward import, none from another room, no circle, none over ${MAX_LINES} lines`);
