// The events of the target and range in view: asked for when these change, and now and then while live.
import type { TargetKey } from "../../api/model.ts";
import { after, before, between, floorTo, hours, minutes } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import { fetchEvents } from "../../api/why.ts";
import { EventList } from "../../components/weather/event_list.ts";
import { eventAddress, NOW } from "../shared/event_address.ts";

const MOST = 50;
/** The server answers no range of more than 92 days. */
const LONGEST = hours(24 * 91);

export class EventsBeside {
  readonly list = new EventList((event) => eventAddress({ ...NOW, event: event.id }));
  private asked = "";
  private asking = new AbortController();

  show(key: TargetKey | null, from: UnixMs, to: UnixMs, zone: string | null): void {
    if (key === null) return;
    const begin = between(from, to) > LONGEST ? before(to, LONGEST) : from;
    // A live view moves with each second. It asks once a minute, by whole minutes: others ask the same then.
    const [first, last] = [floorTo(begin, minutes(1)), after(floorTo(to, minutes(1)), minutes(1))];
    const wanted = JSON.stringify([key, first, last, zone]);
    if (wanted === this.asked) return;
    this.asked = wanted;
    this.asking.abort();
    const signal = (this.asking = new AbortController()).signal;
    fetchEvents(key, first, last, MOST, zone, signal)
      .then((found) => {
        if (!signal.aborted) this.list.show(found);
      })
      .catch((error: unknown) => {
        if (!signal.aborted) this.list.say(error instanceof Error ? error.message : String(error));
      });
  }
}
