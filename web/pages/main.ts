// Starts the page: asks who the server is, which targets there are, then shows weather or the empty page.
import "uplot/dist/uPlot.min.css";
import "../styles/shared/tokens.css";
import "../styles/shared/page.css";
import "../styles/shared/nav.css";
import "../styles/shared/search.css";
import "../styles/shared/surface.css";
import "../styles/shared/tables.css";
import "../styles/shared/fields.css";
import "../styles/shared/charts.css";
import "../styles/shared/list.css";
import "../styles/shared/save.css";
import "../styles/weather/empty.css";
import "../styles/weather/cards.css";
import "../styles/weather/pickers.css";
import "../styles/weather/panels.css";
import "../styles/weather/legend.css";
import "../styles/weather/matrix.css";
import "../styles/weather/events.css";
import "../styles/weather/marks.css";
import "../styles/weather/figures.css";
import "../styles/jobs/beside.css";
import "../styles/about/about.css";
import "../styles/jobs/jobs.css";
import "../styles/jobs/umami.css";
import "../styles/climate/climate.css";
import "../styles/climate/events.css";
import "../styles/climate/strip.css";
import "../styles/load/load.css";
import "../styles/runs/runs.css";
import "../styles/simulate/simulate.css";
import type { About, Target } from "../api/generated.ts";
import { firstTargets } from "../api/client.ts";
import { get, paramsOf } from "../api/get.ts";
import { ServerClock } from "../api/clock.ts";
import { unixMs } from "../api/time.ts";
import { h, setText } from "../components/shared/dom.ts";
import { SearchBox } from "../components/shared/search_box.ts";
import { LiveState } from "../components/weather/live_state.ts";
import { themeButton } from "../components/shared/theme.ts";
import { recallZone, zoneButton } from "../components/shared/zone.ts";
import { showsUtc } from "../charts/shared/zone.ts";
import { readAddress, writeAddress } from "./weather/address.ts";
import { Beside, PageLinks } from "./beside.ts";
import { finder } from "./search.ts";
import { emptyPage } from "./weather/empty.ts";
import { Session } from "./weather/session.ts";
import type { Change } from "./weather/session.ts";
import { Weather } from "./weather/page.ts";

function start(root: HTMLElement, about: About | null): void {
  const clock = new ServerClock(() => performance.now(), unixMs(Date.now()));
  const session = new Session(clock, readAddress(location.hash), (change) => changed(change));
  const live = new LiveState(() => (session.choice.paused ? session.resume() : session.pause()));
  const main = h("main", { id: "main" });
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const links = new PageLinks();
  let weather: Weather | null = null;
  const targets = (): readonly Target[] => session.targets;
  const word = (op: string): string => Object.entries(about?.op_words ?? {}).find(([name]) => name === op)?.[1] ?? op;
  const beside = new Beside(() => session.zone, { about, targets, word });
  const search = new SearchBox("Find targets and jobs", finder(targets));
  let drawn = false;

  const theme = themeButton(() => weather?.recolour());
  const zone = zoneButton(() => location.reload());
  root.replaceChildren(
    h(
      "header",
      { class: "top" },
      h("h1", {}, "iosonde"),
      h("p", { class: "tagline" }, "the weather station for shared storage"),
      links.element,
      h("div", { class: "top-right" }, search.element, live.element, zone, theme),
    ),
    error,
    main,
    h("footer", { class: "foot" }, about === null ? "iosonde" : `iosonde ${about.version}, store ${about.store}`),
  );

  /** Another page where the address says so; the weather goes on behind it. */
  function turn(): boolean {
    const changed = beside.turn(location.hash);
    links.show(beside.page === null ? null : writeAddress(session.address));
    live.element.hidden = beside.page !== null;
    if (beside.page !== null) {
      if (changed) main.replaceChildren(beside.page.element);
      return true;
    }
    if (changed) {
      if (weather === null) page();
      else main.replaceChildren(weather.element);
      schedule();
    }
    return false;
  }

  function page(): void {
    if (beside.page !== null) return;
    if (session.targets.length === 0) {
      weather = null;
      main.replaceChildren(emptyPage(about));
    } else if (weather === null) {
      weather = new Weather(session, clock, about);
      main.replaceChildren(weather.element);
      weather.mount();
    }
  }

  function changed(change: Change): void {
    if (change === "targets") {
      const fits = (session.targets.length === 0) === (weather === null) && main.childElementCount > 0;
      if (!fits) page();
      weather?.showTargets();
    } else if (change === "error") {
      const lines = [...(session.error === null ? [] : [session.error]), ...session.trouble];
      error.hidden = lines.length === 0;
      setText(error, lines.join("\n"));
    } else if (change === "choice") {
      const address = writeAddress(session.address);
      if (beside.page === null) history.replaceState(null, "", address);
      links.show(address);
    }
    const lost = session.feedState === "lost";
    live.show(lost ? "lost" : session.choice.paused ? "paused" : session.feedState);
    if (beside.page !== null) return;
    if (change === "targets" && session.key === null) document.title = "iosonde";
    else if (session.target !== null) document.title = `${session.target.sentence} - iosonde`;
    schedule();
  }

  /** At most one drawing a frame, however much changed. */
  function schedule(): void {
    if (drawn || beside.page !== null) return;
    drawn = true;
    requestAnimationFrame(() => {
      drawn = false;
      weather?.showSeries();
    });
  }

  turn();
  live.show("connecting");
  begin(session).catch(() => undefined);
  window.setInterval(() => {
    if (document.hidden) return;
    session.tick(performance.now());
    if (beside.page === null) weather?.tickCards();
    if (!session.choice.paused) schedule();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return session.wake();
    session.sleep();
    if (beside.page === null) document.title = "iosonde"; // it would grow old unseen
  });
  window.addEventListener("hashchange", () => {
    if (!turn()) session.adopt(readAddress(location.hash));
  });
}

/** First targets by a plain request, so that the page stands before the feed does. */
async function begin(session: Session): Promise<void> {
  try {
    const signal = new AbortController().signal;
    const { zone, targets } = await firstTargets(showsUtc(), signal);
    session.zone = zone;
    session.setTargets(targets);
    if (session.key !== null && targets.length > 0) session.choose(session.key);
    else if (targets.length === 0) session.listen();
  } catch (error) {
    session.fail(error);
    session.listen();
  }
}

const root = document.getElementById("app");
if (root !== null) {
  recallZone();
  get("api/about", paramsOf({}), new AbortController().signal)
    .catch(() => null)
    .then((about) => start(root, about))
    .catch((error: unknown) => console.error(error));
}
