// What keys and pointers do to the picture of a load.
import { moved, timeAt, zoomed } from "../../charts/load/layout.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";
import type { UnixMs } from "../../api/time.ts";

export interface Moves {
  readonly span: () => TimeSpan;
  readonly recorded: () => TimeSpan;
  /** Height of the part that shows time, CSS pixels. */
  readonly height: () => number;
  /** Goes to a span; `settled`: nobody is still dragging. */
  readonly go: (span: TimeSpan, settled: boolean) => void;
  readonly point: (x: number, y: number) => void;
  readonly step: (columns: number, cells: number) => void;
  readonly clear: () => void;
  readonly open: () => void;
}

const CLOSER = 0.6;
const WHEEL = 0.0016;

/** Arrows go over columns and cells, page keys over time, plus and minus zoom. */
export function listenKeys(host: HTMLElement, on: Moves): void {
  const middle = (): UnixMs => timeAt(on.span(), 2, 1);
  host.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const go: Record<string, () => void> = {
      ArrowLeft: () => on.step(-1, 0),
      ArrowRight: () => on.step(1, 0),
      ArrowUp: () => on.step(0, 1),
      ArrowDown: () => on.step(0, -1),
      PageUp: () => on.go(moved(on.span(), 0.5, on.recorded()), true),
      PageDown: () => on.go(moved(on.span(), -0.5, on.recorded()), true),
      "+": () => on.go(zoomed(on.span(), middle(), CLOSER, on.recorded()), true),
      "=": () => on.go(zoomed(on.span(), middle(), CLOSER, on.recorded()), true),
      "-": () => on.go(zoomed(on.span(), middle(), 1 / CLOSER, on.recorded()), true),
      Home: () => on.go(on.recorded(), true),
      Enter: () => on.open(),
      Escape: () => on.clear(),
    };
    const move = go[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  });
}

/** Dragging pans, the wheel pans, with Ctrl or two fingers it zooms; a pointer that does not drag points. */
export function listenPointers(host: HTMLElement, on: Moves): void {
  const fingers = new Map<number, number>();
  let start: { span: TimeSpan; y: number; apart: number } | null = null;
  const place = (event: MouseEvent): { x: number; y: number } => {
    const box = host.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const middle = (): number => [...fingers.values()].reduce((sum, y) => sum + y, 0) / Math.max(1, fingers.size);
  const apart = (): number => Math.max(8, Math.max(...fingers.values()) - Math.min(...fingers.values()));
  const begin = (): void => {
    start = fingers.size === 0 ? null : { span: on.span(), y: middle(), apart: apart() };
  };
  host.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, place(event).y);
    host.setPointerCapture(event.pointerId);
    begin();
  });
  host.addEventListener("pointermove", (event) => {
    const { x, y } = place(event);
    if (!fingers.has(event.pointerId) || start === null) return on.point(x, y);
    fingers.set(event.pointerId, y);
    const panned = moved(start.span, (middle() - start.y) / on.height(), on.recorded());
    const about = timeAt(panned, on.height(), middle());
    on.go(fingers.size > 1 ? zoomed(panned, about, start.apart / apart(), on.recorded()) : panned, false);
  });
  const end = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    on.go(on.span(), fingers.size === 0);
    const { x, y } = place(event);
    if (fingers.size === 0) on.point(x, y);
    begin();
  };
  host.addEventListener("pointerup", end);
  host.addEventListener("pointercancel", end);
  host.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaMode === 0 ? event.deltaY : event.deltaY * 30;
      const about = timeAt(on.span(), on.height(), place(event).y);
      const to = event.ctrlKey || event.metaKey ? zoomed(on.span(), about, Math.exp(pixels * WHEEL), on.recorded()) : moved(on.span(), -pixels / on.height(), on.recorded());
      on.go(to, false);
    },
    { passive: false },
  );
  host.addEventListener("dblclick", (event) => on.go(zoomed(on.span(), timeAt(on.span(), on.height(), place(event).y), 0.25, on.recorded()), true));
}
