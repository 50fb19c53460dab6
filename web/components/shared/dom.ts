// A few lines instead of a framework: elements are made once and changed in place.

export type Child = Node | string | null;
export type Attributes = Readonly<Record<string, string | boolean | null>>;

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const child of children) if (child !== null) element.append(child);
}

/** An HTML element. `true` sets an empty attribute, `false` and null leave it out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

export function setAttribute(element: Element, name: string, value: string | boolean | null): void {
  if (value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}

/** Changes the text only when it differs, so that a live region speaks only when there is news. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
