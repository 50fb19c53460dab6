// The page of an empty store: what to run, and where this server looks.
import type { About } from "../../api/generated.ts";
import { h } from "../../components/shared/dom.ts";
import { severityIcon } from "../../components/weather/icons.ts";

const command = (text: string): HTMLElement => h("pre", {}, h("code", {}, text));

export function emptyPage(about: About | null): HTMLElement {
  const where =
    about === null
      ? h("p", {}, "This server's store holds no target.")
      : h("p", {}, "This server reads the store ", h("code", {}, about.store), ", and there is no target in it.");
  return h(
    "section",
    { class: "empty surface", "aria-labelledby": "empty-title" },
    severityIcon("info"),
    h("h2", { id: "empty-title" }, "Nothing is being watched yet"),
    where,
    h("p", {}, "Watch a directory on the storage you care about. It needs no root, and writes only into a folder of its own there:"),
    command("iosonde probe /path/to/a/directory"),
    h("p", {}, "Or see it work first: a demonstration that slows a directory down with a load of its own, and finds it out:"),
    command("iosonde demo"),
    h("p", { class: "hint" }, "If a probe runs but uses another store, start the server with the same ", h("code", {}, "--store"), ". This page notices by itself when a target appears."),
  );
}
