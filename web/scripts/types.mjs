// TypeScript types of the API's answers: /openapi.json on stdin, api/generated.ts on stdout.
//
// Types are as `get` returns them: a member `begin_ns` of the JSON is `begin`, an instant (UnixMs) or a duration (Ms),
// which the format of its schema says.
import { text } from "node:stream/consumers";
import { compile } from "json-schema-to-typescript";

const HEAD = `// Generated from /openapi.json by scripts/types.mjs (\`make types\`); do not edit.
import type { Ms, UnixMs, UnixS } from "./time.ts";
`;
const BRANDS = { ns: "Ms", "unix-ns": "UnixMs", "unix-ms": "UnixMs", "unix-s": "UnixS" };
const NS = /_ns$/;
const bare = (name) => name.replaceAll("Json", "");

/** The schema without titles, which would become types, and with names and numbers as the page has them. */
function onPage(schema, place) {
  if (Array.isArray(schema)) return schema.map((one) => onPage(one, place));
  if (typeof schema !== "object" || schema === null) return schema;
  const { title: _title, properties, required, propertyNames, prefixItems, format, $ref, ...rest } = schema;
  if ($ref !== undefined) return { $ref: bare($ref.replace("#/components/schemas/", "#/definitions/")) };
  const made = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, name === "const" || name === "enum" ? value : onPage(value, place)]));
  if (format in BRANDS) return { tsType: BRANDS[format] };
  if (propertyNames?.enum !== undefined) {
    const { $ref: value, type } = schema.additionalProperties;
    return { ...made, tsType: `Partial<Record<${propertyNames.enum.map((key) => `"${key}"`).join(" | ")}, ${bare(value?.split("/").at(-1) ?? type)}>>` };
  }
  if (schema.type === "integer" && NS.test(place)) throw new Error(`${place} is neither an instant nor a duration: its schema has no format`);
  if (prefixItems !== undefined) return { ...made, items: onPage(prefixItems, place) };
  if (properties === undefined) return made;
  const renamed = Object.entries(properties).map(([name, value]) => [name.replace(NS, ""), onPage(value, name)]);
  if (new Set(renamed.map(([name]) => name)).size < renamed.length) throw new Error(`${place}: two members have one name`);
  return { ...made, additionalProperties: false, properties: Object.fromEntries(renamed), required: required?.map((name) => name.replace(NS, "")) };
}

const { components, paths } = JSON.parse(await text(process.stdin));
const schemas = Object.entries(components.schemas);
const definitions = Object.fromEntries(schemas.map(([name, schema]) => [bare(name), onPage(schema, name)]));
if (Object.keys(definitions).length < schemas.length) throw new Error("two objects of the description have one name without Json");
const answers = Object.entries(paths).map(([path, { get }]) => [path.slice(1), get.responses["200"].content["application/json"]?.schema]);
const properties = Object.fromEntries(answers.filter(([, schema]) => schema !== undefined).map(([path, schema]) => [path, onPage(schema, path)]));
const whole = { title: "Answers", description: "The answers by path.", type: "object", additionalProperties: false, properties, required: Object.keys(properties), definitions };
const types = await compile(whole, "Answers", { bannerComment: "", style: { printWidth: 140 }, unreachableDefinitions: true });
const USES = /\n \*(?:\n \*)? This interface was referenced by[^\n]*\n \* via the `definition` "[^"]*"\./g;
process.stdout.write(HEAD + types.replace(USES, "").replace(/\/\*\*\n \*\/\n/g, ""));
