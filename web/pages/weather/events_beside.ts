// The events of the target and range in view: asked for when these change, and now and then while live.
import type { Annotation } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { errorText } from "../../components/shared/error_line.ts";
import type { Op, TargetKey } from "../../api/model.ts";
import { after, before, between, floorTo, hours, minutes } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import { fetchEvents } from "../../api/why.ts";
import type { EventMark } from "../../components/weather/event_marks.ts";
import { EventList } from "../../components/weather/event_list.ts";
import { eventAddress, NOW } from "../shared/event_address.ts";

const MOST = 50;
/** The server answers no range of more than 92 days. */
const LONGEST = hours(24 * 91);

const reason = (event: Annotation): string => eventAddress({ ...NOW, event: event.id });

export class EventsBeside {
  readonly list = new EventList(reason);
  private asked = "";
  private of = "";
  private readonly found: (events: readonly Annotation[]) => void;
  private readonly asking = new Latest();

  /** `found`: called with the events of the target in view, none while another target's are asked for. */
  constructor(found: (events: readonly Annotation[]) => void) {
    this.found = found;
  }

  show(key: TargetKey | null, from: UnixMs, to: UnixMs, zone: string | null): void {
    if (key === null) return;
    const begin = between(from, to) > LONGEST ? before(to, LONGEST) : from;
    // A live view moves with each second. It asks once a minute, by whole minutes: others ask the same then.
    const [first, last] = [floorTo(begin, minutes(1)), after(floorTo(to, minutes(1)), minutes(1))];
    const wanted = JSON.stringify([key, first, last, zone]);
    if (wanted === this.asked) return;
    this.asked = wanted;
    const of = JSON.stringify(key);
    if (of !== this.of) {
      this.found([]);
      this.list.say("Working: looking for events ...");
    }
    this.of = of;
    const signal = this.asking.next();
    fetchEvents(key, first, last, MOST, zone, signal)
      .then((found) => {
        if (signal.aborted) return;
        this.list.show(found);
        this.found(found.events);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.list.say(errorText(error));
      });
  }
}

/** As a panel of `op` shows them. */
export const marksOf = (events: readonly Annotation[], op: Op): EventMark[] =>
  events
    .filter((event) => event.op === null || event.op === op)
    .map((event) => ({
      key: `${event.id ?? event.time} ${event.text}`,
      begin: event.time,
      end: event.timeEnd,
      label: event.kind.replaceAll("_", " "),
      sentence: event.text,
      href: event.id === null ? null : reason(event),
    }));
