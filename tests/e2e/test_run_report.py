"""The page of a run in a browser: it asks nobody, fits a phone, is dark where the reader is, and shows one picture."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import system
from tests.kit.commands import run
from tests.kit.page.browser import Visit
from tests.kit.runs.stored_run import put_run, write_topology

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, machine = tmp_path_factory.mktemp("run"), system(18)
    put_run(made / "store", machine, with_ost(healthy(machine), np.array([3]), 0.5))
    topology = write_topology(machine, made / "topology.csv")
    words = ("report", "made-run", "--topology", str(topology), "-o", str(made / "run.html"))
    assert run(*words, store=made / "store") == 0
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_of_a_run_fits_and_needs_nobody(chromium, folder, shots, scheme, width):
    view = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page = Visit(chromium, f"file://{folder}", "run.html", **view)
    assert page.requested == [f"file://{folder}/run.html"]
    assert page.complaints == []
    assert page.overflow() == 0
    seen = page.page.locator(".picture svg:visible")
    assert seen.count() == 1
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = [int(part) for part in ground[4:-1].split(",")]
    assert (min(light) > 200) == (scheme == "light")
    assert "OST0003 is slow" in page.page.inner_text("main")
    page.shot(shots, f"run-report-{scheme}-{width}")
    page.close()
