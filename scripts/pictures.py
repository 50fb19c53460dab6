"""Make the pictures of the documentation.

::

    scripts/pictures.py            all of them
    scripts/pictures.py figures    those of docs/figures.md and of compare: made data, from a printed seed
    scripts/pictures.py bench      a metadata benchmark on a fresh ext4, and on a store with one server
    scripts/pictures.py readme     the demo's plot on this machine's disk
    scripts/pictures.py page       pages as their tests see them
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.sheet import waiting_sheet
from iosonde.bench.adaptive.words import verdict_line
from iosonde.bench.metadata.sheets import bench_sheets
from iosonde.bench.metadata.spec import Spec
from iosonde.bench.runs.store import StoredRun, read_runs
from iosonde.connectors.source import Settings
from iosonde.drawing.render_sheet import save_sheet
from iosonde.drawing.sheet import Sheet
from iosonde.ingest.answers import Question, import_files
from iosonde.jobs.climate.climate import climate
from iosonde.jobs.climate.figure import climate_figure
from iosonde.jobs.climate.render import save_climate
from iosonde.jobs.climate.words import say_event
from iosonde.jobs.umami.diagram import umami
from iosonde.jobs.umami.figure import umami_figure
from iosonde.jobs.umami.render import save_umami
from iosonde.model.runs import RunRow
from iosonde.weather.store import Store

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.metadata import ext4  # noqa: E402
from benchmarks.truth.bench.adaptive_live import measured, one_server  # noqa: E402
from tests.kit.jobs.climates_made import runs  # noqa: E402
from tests.kit.jobs.jobs_made import simulated  # noqa: E402
from tests.kit.page.browser import CHROMIUM  # noqa: E402
from tests.kit.samples.latencies import closed_loop, gathered  # noqa: E402
from tests.kit.samples.made import Trouble, made  # noqa: E402

IMAGES = ROOT / "docs/images"
COLOURS = 128
PANELS_PX, EVENT_PX, JOB_PX, FLEET_PX = 1030, 905, 1240, 700
"""Of screenshots: what the pictures show of their height; their foot has the path of a store."""
SEED = 20190620
START_S = 1_791_676_800
"""Sunday 2026-10-11, 00:00 UTC."""
HOUR, DAY = 3600, 86_400
PHASES = (
    ("IOREasy write", 60, 7, {"data_read": 30.0, "data_write": 100.0, "md_create": 4.0}),
    ("MDEasy write", 69, 5, {"md_create": 20.0, "md_stat": 5.0}),
    ("IORHard write", 76, 7, {"data_read": 15.0, "data_write": 50.0}),
    ("MDHard write", 85, 5, {"md_create": 600.0, "md_read": 60.0, "md_delete": 200.0}),
    ("Find", 92, 3, {"md_stat": 9.0}),
    ("IOREasy read", 97, 6, {"data_read": 90.0}),
)
"""A benchmark's phases: name, begin and length in minutes, and how much slower they made what."""


def small(source: Path, name: str, height: int | None = None) -> None:
    """Save the top of a picture with few colours: text and lines need no more."""
    with Image.open(source) as picture:
        top = picture.convert("RGB").crop((0, 0, picture.width, height or picture.height))
        top.quantize(COLOURS).save(IMAGES / name, optimize=True)


def figures(folder: Path) -> None:
    """Every kind of figure, and a report, from made data."""
    rng = np.random.default_rng(SEED)
    print(f"made data from seed {SEED}")
    _benchmark(folder, rng)
    _hosts(folder, rng)
    store = _weeks(folder, rng)
    for kind in ("statistics", "timeline", "slowdown"):
        _figure(folder, kind, store, ("/work",), (0, 18 * DAY))
    _figure(
        folder, "slowdown", store, ("/work", "--dark"), (0, 18 * DAY), name="figure-slowdown-dark"
    )
    _report(folder, store)
    _bursts(folder)
    _densities(folder)
    _comparison(folder, rng)
    _umami(folder)
    _climate(folder)


def _umami(folder: Path) -> None:
    """A simulated job whose servers were busy with others, in light and dark."""
    found = umami_figure(umami(simulated(), "30"))
    found = replace(found, subtitle=f"{found.subtitle} (simulated)")
    for name, dark in (("umami", False), ("umami-dark", True)):
        save_umami(found, folder / f"{name}.png", dark=dark, zone=UTC)
        small(folder / f"{name}.png", f"{name}.png")


def _climate(folder: Path) -> None:
    """A simulated year of three programs on two file systems: an upgrade of both, and a full one in between."""
    rng = np.random.default_rng(SEED)
    full = ((90, -0.9), (130, 0.0))
    series = {
        ("scratch", "ior shared write"): (*full, (220, 0.25)),
        ("scratch", "vpic shared write"): full,
        ("scratch", "hacc fpp read"): ((220, 0.2),),
        ("work", "ior shared write"): ((220, 0.3),),
        ("work", "vpic shared write"): ((0, 0.0),),
        ("work", "hacc fpp read"): ((220, 0.2),),
    }
    found = climate(runs(rng, series))
    drawn = climate_figure(found, [say_event(event) for event in found.events])
    drawn = replace(drawn, title=f"{drawn.title} (simulated)")
    for name, dark in (("climate", False), ("climate-dark", True)):
        save_climate(drawn, folder / f"{name}.png", width_in=10, dark=dark)
        small(folder / f"{name}.png", f"{name}.png")


def _bursts(folder: Path) -> None:
    """20 s of ten ranks that stat, read, delete and create as fast as they can, and wait three times."""
    rng = np.random.default_rng(SEED)
    stalls = ((3.0, 0.8), (8.0, 0.5), (13.0, 1.0))
    rows = closed_loop(rng, 20, stalls=stalls, slow_share=0.002)
    store = folder / "bursts"
    store.mkdir()
    named = Settings(target="mdw", started_ns=START_S * 10**9)
    import_files(store, Question([gathered(folder / "mdw.csv", rows)], named), 0)
    for more, name in (((), "figure-bursts"), (("--dark",), "figure-bursts-dark")):
        ops = ("--op", "md_create", "--op", "md_read")
        _figure(folder, "bursts", store, ("mdw", *ops, *more), (-1, 60), name=name)


def _densities(folder: Path) -> None:
    """A minute of ten ranks on two file systems: one commits a journal more often, and stalls three times."""
    rng = np.random.default_rng(SEED)
    store = folder / "densities"
    store.mkdir()
    stalls = ((12.0, 0.8), (27.0, 0.3), (44.0, 1.5))
    for name, share, its in (("lustre", 0.25, stalls), ("nvme", 0.02, ())):
        rows = closed_loop(rng, 60, stalls=its, slow_share=share)
        named = Settings(target=name, started_ns=START_S * 10**9)
        import_files(store, Question([gathered(folder / f"{name}.csv", rows)], named), 0)
    for more, name in (((), "figure-density"), (("--dark",), "figure-density-dark")):
        _figure(folder, "density", store, more, (-1, 70), name=name)
    _figure(folder, "points", store, ("lustre", "--sparse"), (-0.5, 62), name="figure-sparse")


def _comparison(folder: Path, rng: np.random.Generator) -> None:
    """Two days: a cache that hits more often, slower writes, more slow creates, the rest as before."""
    store = folder / "compare"
    changed = [
        Trouble("data_write", 0, DAY, 1.5),
        Trouble("md_create", 0, DAY, 6.0, 0.06),
        Trouble("md_stat", 0, DAY, 0.7),
    ]
    for day, (troubles, cached) in enumerate((([], 0.3), (changed, 0.4))):
        begin = (START_S + day * DAY) * 10**9
        made(store, rng, begin, DAY, troubles, period_s=20, cached=cached)
    for more, name in (((), "compare-shifts"), (("--dark",), "compare-shifts-dark")):
        path = folder / f"{name}.png"
        sides = ("2026-10-11", "2026-10-12", "--target", "/work")
        _iosonde("compare", *sides, "--store", store, "--plot", path, *more)
        small(path, f"{name}.png")


def _benchmark(folder: Path, rng: np.random.Generator) -> None:
    """Two hours of two file systems, one of them under a benchmark, its reads partly cached."""
    troubles = [
        Trouble(op, minute * 60, (minute + length) * 60, factor, 0.9)
        for _, minute, length, more in PHASES
        for op, factor in more.items()
    ]
    store = folder / "benchmark"
    made(store, rng, START_S * 10**9, 2 * HOUR, troubles, sigma=0.5, cached=0.25)
    made(store, rng, START_S * 10**9, 2 * HOUR, target="/home", sigma=0.2)
    named = [
        f"--phase={name} @{START_S + begin * 60}-@{START_S + (begin + length) * 60}"
        for name, begin, length, _ in PHASES
    ]
    _figure(folder, "points", store, (), (58 * 60, 68 * 60))
    _figure(folder, "phases", store, ("/work", "--expected=median", *named), (55 * 60, 108 * 60))


def _hosts(folder: Path, rng: np.random.Generator) -> None:
    """An hour from five hosts, the third a little slower."""
    store = folder / "hosts"
    for host in range(1, 6):
        slow = [Trouble("data_read", 0, HOUR, 1.5)] if host == 3 else []
        slow += [Trouble(op, 0, HOUR, 12.0, 0.03) for op in ("data_write", "md_create")]
        made(store, rng, START_S * 10**9, HOUR, slow, host=f"node{host}", sigma=0.4)
    _figure(folder, "hosts", store, (), (0, HOUR))


def _weeks(folder: Path, rng: np.random.Generator) -> Path:
    """18 days: a backup every Saturday night, two short troubles, one day without a probe."""
    backups = [
        Trouble(op, (day + 6) * DAY + 2 * HOUR, (day + 6) * DAY + 5.5 * HOUR, factor)
        for day in (0, 7)
        for op, factor in (("data_read", 3.0), ("md_read", 4.0), ("md_delete", 2.5))
    ]
    bursts = [
        Trouble("md_create", 9 * DAY + 10 * HOUR, 9 * DAY + 16 * HOUR, 20.0),
        Trouble("data_write", 11 * DAY, 11 * DAY + 0.7 * HOUR, 30.0),
        Trouble("data_read", 0, 18 * DAY, 20.0, 0.004),
    ]
    store = folder / "weeks"
    silent = [(4 * DAY + 8 * HOUR, 5 * DAY)]
    begin, length = START_S * 10**9, 18 * DAY
    made(store, rng, begin, length, backups + bursts, period_s=10, silent=silent, failed=2e-5)
    return store


def _figure(
    folder: Path,
    kind: str,
    store: Path,
    more: tuple[str, ...],
    span_s: tuple[float, float],
    *,
    name: str = "",
) -> None:
    name = name or f"figure-{kind}"
    path = folder / f"{name}.png"
    span = [f"--since=@{START_S + span_s[0]}", f"--until=@{START_S + span_s[1]}"]
    _iosonde("figure", kind, *more, *span, "--store", store, "-o", path, "--width", "10")
    small(path, f"{name}.png")


def _report(folder: Path, store: Path) -> None:
    """The top of a week's report, as a browser shows it."""
    span = [f"--since=@{START_S + 7 * DAY}", f"--until=@{START_S + 14 * DAY}"]
    page = folder / "report.html"
    _iosonde("report", "/work", *span, "--store", store, "-o", page)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 1200, "height": 1500})
        window.goto(page.as_uri())
        window.screenshot(path=folder / "report.png")
        browser.close()
    small(folder / "report.png", "report.png")


def _iosonde(*arguments: object) -> None:
    command = [sys.executable, "-m", "iosonde.cli.main", *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "TZ": "UTC"})


def bench(folder: Path) -> None:
    """Who is the limit of a store with one server; densities and the timeline of a fresh ext4 (needs root).

    Light and dark pictures are of the same run.
    """
    spec = Spec(data_sets=1, objects=60, iterations=12)
    waited = [
        replace(row, target="a store with one server") for row in measured(one_server(), spec, 8)
    ]
    with ext4() as place:
        sizes = ("-n", "1,2", "-D", 4, "-P", 5000, "-I", 2000, "--store", folder / "plain")
        _iosonde("bench", "metadata", place, *sizes, "--samples")
    found = adaptive(waited)
    sheet = waiting_sheet([(waited, found)], [verdict_line(found)])
    sheets: list[tuple[str, Sheet | None, float]] = [("adaptive", sheet, 9.0)]
    plain = [_renamed(run, "ext4 in memory") for run in read_runs(folder / "plain")]
    density, timeline = bench_sheets(Store(folder / "plain"), plain)
    sheets += [("bench-density", density, 12.0), ("bench-timeline", timeline, 12.0)]
    for name, one, width in sheets:
        for dark, ending in ((False, ""), (True, "-dark")):
            if one is not None:
                save_sheet(one, folder / f"{name}{ending}.png", width_in=width, dark=dark)
                small(folder / f"{name}{ending}.png", f"{name}{ending}.png")


def _renamed(run: StoredRun, target: str) -> list[RunRow]:
    """The rows of a run under a name that says more than a temporary path."""
    return [replace(row, target=target) for row in run.rows]


def readme(folder: Path) -> None:
    """Run the demo, keep what it draws."""
    binaries = Path(sys.executable).parent
    quiet = {**os.environ, "DEMO_SERVE": "0"}
    subprocess.run([binaries / "iosonde", "demo"], cwd=folder, check=True, env=quiet)
    small(folder / "iosonde-demo.png", "demo.png")


def page(folder: Path) -> None:
    """Run the page's tests, keep what they see of a target, an event, a job and a fleet."""
    shots = {**os.environ, "IOSONDE_SCREENSHOTS": str(folder)}
    tests = ("tests/e2e/test_page.py", "tests/e2e/test_pages_beside.py")
    subprocess.run(
        [Path(sys.executable).parent / "pytest", *tests], cwd=ROOT, check=True, env=shots
    )
    small(folder / "wide-light.png", "page.png", PANELS_PX)
    small(folder / "event-1440-light.png", "page-event.png", EVENT_PX)
    small(folder / "job-scheduled-1440-light.png", "page-job.png", JOB_PX)
    small(folder / "fleet-1440-light.png", "page-fleet.png", FLEET_PX)


def main() -> None:
    """Make what was asked for, or all."""
    makers = {"figures": figures, "bench": bench, "readme": readme, "page": page}
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="iosonde-pictures-") as name:
        for wanted in sys.argv[1:] or makers:
            makers[wanted](Path(name))


if __name__ == "__main__":
    main()
