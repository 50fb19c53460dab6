// Local times or UTC. The choice is kept in this browser only; the page is drawn anew after it.
import { unixMs } from "../../api/time.ts";
import { showsUtc, showUtc, zoneName } from "../../charts/shared/zone.ts";
import { h } from "./dom.ts";

const KEY = "iosonde-zone";

/** Before anything is drawn: what this browser chose last. */
export function recallZone(): void {
  try {
    showUtc(localStorage.getItem(KEY) === "utc");
  } catch {
    // Storage is forbidden: local times it is.
  }
}

/** A button that changes between local times and UTC. `changed`: after the choice was kept. */
export function zoneButton(changed: () => void): HTMLButtonElement {
  const words = `Times: ${showsUtc() ? "UTC" : `local (${zoneName(unixMs(Date.now()))})`}`;
  const button = h("button", { type: "button", class: "quiet zone", title: showsUtc() ? "show local times" : "show UTC" }, words);
  button.addEventListener("click", () => {
    try {
      localStorage.setItem(KEY, showsUtc() ? "local" : "utc");
    } catch {
      // Not kept over a reload.
    }
    changed();
  });
  return button;
}
