"""One server with something on every page of the web page, and the addresses of these pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import system
from iosonde.model.units import iso_time
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.kit.commands import run
from tests.kit.jobs import load_made
from tests.kit.jobs.climates_made import together
from tests.kit.page.browser import AT_WORK, past
from tests.kit.runs.stored_run import put_run
from tests.kit.samples import stores

JOB = "12"
PAGES = {
    "weather": (AT_WORK, ".panels[data-loaded=true] a.event-label"),
    "event": (
        f"#page=event&target=/work&at={iso_time(stores.NOW - 2 * stores.MINUTE)}",
        ".event-chart[data-loaded]",
    ),
    "about": ("#page=about", "main h2"),
    "jobs": ("#page=jobs", ".list-items a"),
    "job": (f"#page=jobs&job={JOB}&history=all", f"[data-job='{JOB}'] .umami-star"),
    "load": ("#page=load", ".load-body[data-slowdown]"),
    "runs": ("#page=runs", ".runs-list a"),
    "run": ("#page=runs&run=slow-ost", ".run-picture img"),
    "two runs": ("#page=runs&run=slow-ost&against=healthy", ".run-verdict"),
    "simulate": ("#page=simulate", "[data-loaded] .trace h3"),
    "climate": ("#page=climate", "[data-loaded=true] .climate-dots"),
}
"""Name: address, and what stands there once it is drawn."""


def furnish(root: Path, place: Path) -> None:
    """Weather of two targets, a healthy and a slow bandwidth run, a metadata run measured in ``place``."""
    stores.simulate(root, 25 * stores.MINUTE, *past())
    stores.say_it_runs(root, stores.NOW - 2 * stores.SECOND)
    machine = system(18)
    put_run(root, machine, with_ost(healthy(machine), np.array([3]), 0.5), run_id="slow-ost")
    put_run(root, machine, healthy(machine), run_id="healthy")
    small = ("-n", "2", "-D", "2", "-P", "40", "-I", "40", "-R", "2", "--samples")
    assert run("bench", "metadata", str(place), *small, store=root) == 0


@contextmanager
def serving_all(root: Path) -> Iterator[str]:
    """The address of a server over a furnished store, a year of jobs and two days of load; its clock stands still."""
    jobs, load = together(), load_made.history()
    options = {"loads": lambda: load, "jobs": lambda: jobs, "names": Pseudonyms(None)}
    with stores.running(root, clock=lambda: stores.NOW, **options) as (address, _):
        yield address
