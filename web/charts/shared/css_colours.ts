// Colours of the style sheet, as canvases need them: resolved.

export interface CssColours {
  /** The colour of a custom property, as `rgb(...)`. */
  readonly colour: (name: string) => string;
  readonly font: string;
}

/** The colours that hold inside `parent` now. Ask again when the theme changes. */
export function cssColours(parent: Element): CssColours {
  // A custom property comes back as it was written; as the colour of an element it comes back resolved.
  const read = (name: string): string => {
    const probe = document.createElement("span");
    parent.append(probe);
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return { colour: read, font: getComputedStyle(parent).fontFamily };
}
