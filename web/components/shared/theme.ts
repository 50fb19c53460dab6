// Light, dark, or as the system says. The choice is kept in this browser only.
import { h, setAttribute, setText } from "./dom.ts";

export type Theme = "auto" | "light" | "dark";

const ORDER: readonly Theme[] = ["auto", "light", "dark"];
const KEY = "iosonde-theme"; // public/theme.js applies it before the first paint

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return ORDER.find((t) => t === value) ?? "auto";
  } catch {
    return "auto"; // storage is forbidden: the system's theme it is
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Not kept over a reload; nothing else depends on it.
  }
}

/** Whether the page is dark now, by choice or by the system. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? window.matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

/** A button that goes auto, light, dark; `changed` after every change of what is shown, the system's included. */
export function themeButton(changed: () => void): HTMLButtonElement {
  let theme = stored();
  const button = h("button", { type: "button", class: "quiet theme" });
  const apply = (): void => {
    setAttribute(document.documentElement, "data-theme", theme === "auto" ? null : theme);
    setText(button, `Theme: ${theme}`);
    changed();
  };
  button.addEventListener("click", () => {
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "auto";
    store(theme);
    apply();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  apply();
  return button;
}
