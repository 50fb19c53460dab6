// The pages beside the weather, each with an address of its own, and the links between them.
import { h, setAttribute } from "../components/shared/dom.ts";
import type { About } from "../api/generated.ts";
import { ABOUT, AboutPage, isAbout } from "./about/page.ts";
import { ClimatePage } from "./climate/page.ts";
import { ALL, climateAddress, readClimateAddress } from "./shared/climate_address.ts";
import { JobsPage } from "./jobs/page.ts";
import { readLoadAddress, loadAddress, WHOLE } from "./load/address.ts";
import { LoadPage } from "./load/page.ts";
import { NO_RUN, readRunsAddress, runsAddress } from "./runs/address.ts";
import { RunsPage } from "./runs/page.ts";
import { jobsAddress, readJobsAddress } from "./shared/jobs_address.ts";
import { eventAddress, NOW, readEventAddress } from "./shared/event_address.ts";
import { readSimulateAddress, simulateAddress, START } from "./simulate/address.ts";
import { SimulatePage } from "./simulate/page.ts";
import type { RoomPage } from "./shared/room_page.ts";
import { EventPage } from "./weather/event_page.ts";
import type { Known } from "./weather/event_page.ts";

/** What the pages know of the server and its targets. */
export interface KnownHere extends Omit<Known, "zone"> {
  readonly about: About | null;
}

interface Kind {
  readonly words: string;
  readonly href: string;
  readonly named: (hash: string) => boolean;
  readonly make: (zone: () => string | null, known: KnownHere) => RoomPage;
}

const KINDS: readonly Kind[] = [
  { words: "Why", href: eventAddress(NOW), named: (hash) => readEventAddress(hash) !== null, make: (zone, known) => new EventPage({ ...known, zone }) },
  { words: "Jobs", href: jobsAddress({ search: "", query: null }), named: (hash) => readJobsAddress(hash) !== null, make: (zone) => new JobsPage(zone) },
  { words: "Load", href: loadAddress(WHOLE), named: (hash) => readLoadAddress(hash) !== null, make: (zone) => new LoadPage(zone) },
  { words: "Runs", href: runsAddress(NO_RUN), named: (hash) => readRunsAddress(hash) !== null, make: (zone) => new RunsPage(zone) },
  { words: "Climate", href: climateAddress(ALL), named: (hash) => readClimateAddress(hash) !== null, make: () => new ClimatePage() },
  { words: "Simulate", href: simulateAddress(START), named: (hash) => readSimulateAddress(hash) !== null, make: () => new SimulatePage() },
  { words: "About", href: ABOUT, named: isAbout, make: (_, known) => new AboutPage(known.about) },
];

const kindOf = (hash: string): Kind | null => KINDS.find((kind) => kind.named(hash)) ?? null;

/** The page that stands in the weather's place, if the address names one. */
export class Beside {
  page: RoomPage | null = null;
  private kind: Kind | null = null;
  private readonly zone: () => string | null;
  private readonly known: KnownHere;

  /** `zone`: the reader's, as far as the server knows it. */
  constructor(zone: () => string | null, known: KnownHere) {
    this.zone = zone;
    this.known = known;
  }

  /** Goes where an address says; true if another page (or none) stands there now. */
  turn(hash: string): boolean {
    const kind = kindOf(hash);
    const changed = kind !== this.kind;
    if (changed) {
      this.page?.close();
      this.kind = kind;
      this.page = kind?.make(this.zone, this.known) ?? null;
    }
    this.page?.show(hash);
    return changed;
  }
}

/** Links to all pages; the current one is marked. */
export class PageLinks {
  readonly element = h("nav", { class: "pages", "aria-label": "Pages" });
  private readonly weather = h("a", { href: "#" }, "Now");
  private readonly others = KINDS.map((kind) => ({ kind, link: h("a", { href: kind.href }, kind.words) }));

  constructor() {
    this.element.append(this.weather, ...this.others.map(({ link }) => link));
  }

  /** `back`: the address of the weather as it was left. */
  show(back: string | null): void {
    const here = kindOf(location.hash);
    if (back !== null) this.weather.href = back;
    for (const { kind, link } of this.others) setAttribute(link, "aria-current", kind === here ? "page" : null);
    setAttribute(this.weather, "aria-current", here === null ? "page" : null);
  }
}
