"""An upgrade keeps the store: what version 647f689 wrote (roll-ups and baselines of version 1) is read as it was meant.

``tests/kit/samples/older_store.tar.xz`` holds three hours of one target, an operation each 10 s: reads took four times
as long for half an hour from two hours on. Three segments are sealed, one is still in the spool.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest

from iosonde.engine.states import read_states
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.answers import event_log
from iosonde.weather.events.told import told_events
from iosonde.weather.series.stretches import with_stretches
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.harness import AGENT
from tests.kit.samples.makers import LATENCY, SECOND, START, simulated

HOURS = 3
FAULT_NS = START + 7200 * SECOND
FAULT = {"op": "data_read", "after": "7200s", "for": "1800s", "multiply": 4.0}
END_NS = START + HOURS * 3600 * SECOND
FILES = Path(__file__).parents[1] / "kit/samples/older_store.tar.xz"


@pytest.fixture
def older(tmp_path):
    """The store, and nothing in it of this version."""
    with tarfile.open(FILES) as archive:
        # Python before 3.11.4 (Debian 12) has no filters.
        options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path, **options)
    (rollup, *_) = sorted(tmp_path.rglob("rollups/**/*.parquet"))
    versions = {state["schema_version"] for state in read_states(tmp_path)}
    assert (versions, len(list(tmp_path.rglob("*.spool"))), rollup.exists()) == ({1}, 1, True)
    assert not list(tmp_path.rglob("*.baseline"))
    return tmp_path


def test_every_sample_is_there_once(older):
    samples = Store(older).samples(("due_ns", "op", "outcome"))
    assert len(samples["due_ns"]) == HOURS * 360 * len(LATENCY.keys() - {"sigma"})
    for op in LATENCY.keys() - {"sigma"}:
        due_ns = np.sort(samples["due_ns"][samples["op"] == op])
        assert (np.diff(due_ns) == 10 * SECOND).all()
    assert set(samples["outcome"]) == {"ok"}


def slow_events(root: Path) -> list[tuple[int, int, float]]:
    """Begin, end and median slowdown of each slow event."""
    log = event_log(root, (None, None), END_NS)
    found = told_events(root, log, (None, None), END_NS).slow
    return [(event.start_ns, event.end_ns, event.median) for event in found]


def test_its_slow_half_hour_is_found(older):
    ((began_ns, ended_ns, slowdown),) = slow_events(older)
    assert abs(began_ns - FAULT_NS) <= 60 * SECOND
    assert abs(ended_ns - FAULT_NS - 1800 * SECOND) <= 120 * SECOND
    assert slowdown == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("gone", [["samples", "spool"], ["samples", "spool", "rollups"]])
def test_what_outlives_raw_samples_is_read_too(older, gone):
    for name in gone:
        shutil.rmtree(older / name)
    length_ns = (120 if "rollups" in gone else 600) * SECOND
    query = SlowdownQuery(window_ns=length_ns)
    windows = with_stretches(Store(older), query, END_NS).windows
    reads = windows["op"] == "data_read"
    inside = (windows["start_ns"] >= FAULT_NS) & (
        windows["start_ns"] + length_ns <= FAULT_NS + 1800 * SECOND
    )
    q50_ns = windows["q50_ns"]
    usual_ns = q50_ns[reads & (windows["start_ns"] + length_ns <= FAULT_NS)]
    assert np.nanmedian(q50_ns[reads & inside]) / np.nanmedian(usual_ns) == pytest.approx(
        4.0, rel=0.1
    )


def test_the_agent_goes_on_with_what_it_had_learnt(older, tmp_path_factory):
    """Three hours of baselines of version 1: it judges from the first minutes on, where a new store still learns."""
    target = {"path": "/work", "backend": "null", "latency": LATENCY, "period": "10s"}
    stages = {}
    for name, root in (("older", older), ("new", tmp_path_factory.mktemp("new"))):
        simulated(root, 600, target=[target], window="120s")
        (state,) = read_states(root)
        stages[name] = {op["stage"] for op in state["ops"]}
    assert stages == {"older": {"early"}, "new": {"learning"}}


def test_both_commands_read_its_states(older, capsys):
    assert run("now", store=older) == 0
    sentence = capsys.readouterr().out
    assert "/work has no probe since" in sentence
    done = subprocess.run(
        [AGENT, "now", "--json", "--store", older], capture_output=True, text=True, check=True
    )
    (found,) = json.loads(done.stdout)["targets"]
    assert found["sentence"] in sentence


def test_it_is_sealed_by_this_version(older):
    before = Store(older).samples(("due_ns",))
    assert run("store", "seal", store=older) == 0
    assert not list(older.rglob("*.spool"))
    assert np.array_equal(
        np.sort(before["due_ns"]), np.sort(Store(older).samples(("due_ns",))["due_ns"])
    )
    assert len(slow_events(older)) == 1
