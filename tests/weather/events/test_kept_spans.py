"""Results of spans that are over: the same as found anew, and never of other samples."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from iosonde.engine.layout.segments import parquet_segments, rollup_segments
from iosonde.model.frames import SlowdownQuery
from iosonde.weather.events.timeline import happened
from iosonde.weather.samples.operations import Operations
from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
HOUR, DAY = 3600, 86_400
TROUBLES = (
    Trouble("md_create", 10 * HOUR, 11 * HOUR, 4.0),
    Trouble("md_create", 23 * HOUR, 25 * HOUR, 3.0),
    Trouble("data_read", 30 * HOUR, 30 * HOUR + 900, 10.0, share=0.3),
)
OPS = ("data_read", "md_create")
LONG = 52 * HOUR


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    root = tmp_path_factory.mktemp("kept")
    made(root, np.random.default_rng(3), START, LONG, TROUBLES, ops=OPS)
    return root


@pytest.fixture
def root(sampled, tmp_path):
    shutil.copytree(sampled, tmp_path / "store")
    return tmp_path / "store"


def slow(root):
    query = SlowdownQuery(since_ns=START, until_ns=START + LONG * SECOND)
    return happened(Store(root), query, START + LONG * SECOND).slow


def kept(root):
    return sorted((root / "judged").rglob("*.npz"))


@pytest.fixture
def reads(monkeypatch):
    """How many operations are read."""
    seen: list[int] = []
    original = Store.operations

    def operations(self, series, since_ns, until_ns) -> dict[object, Operations]:
        seen.append((until_ns - since_ns) // SECOND)
        return original(self, series, since_ns, until_ns)

    monkeypatch.setattr(Store, "operations", operations)
    return seen


def test_kept_spans_give_the_same_events_and_read_the_last_hours_only(root, reads):
    first = slow(root)
    assert len(first) == len(TROUBLES)
    assert [path.stem[:13] for path in kept(root)] == [
        *("2026-09-07-10", "2026-09-08-10", "2026-09-09T00"),
    ]
    assert sum(reads) > 2 * DAY
    reads.clear()
    assert slow(root) == first
    assert 0 < sum(reads) <= 2 * HOUR, "what is not over, and an hour before it"


def test_a_day_that_is_over_takes_the_place_of_its_parts(root, reads):
    def until(hours):
        query = SlowdownQuery(since_ns=START, until_ns=START + hours * HOUR * SECOND)
        return happened(Store(root), query, START + hours * HOUR * SECOND).slow

    growing = [until(hours) for hours in range(9, 24, 2)]
    assert [len(events) for events in growing[:2]] == [0, 1]
    assert len({event.start_ns for events in growing for event in events}) == 1
    parts = [path.stem[10:13] for path in kept(root)]
    assert parts == ["T00", "T03", "T06", "T09", "T12", "T15", "T18"]
    reads.clear()
    until(24)
    assert [path.stem[10:13] for path in kept(root)] == ["-10"]
    assert sum(reads) == 25 * HOUR


def test_a_day_whose_samples_changed_is_found_anew(root, reads):
    slow(root)
    reads.clear()
    gone = [
        segment.path
        for segment in (*parquet_segments(root), *rollup_segments(root))
        if "date=2026-09-08" in str(segment.path)
    ]
    assert gone
    for path in gone:
        path.unlink()
    events = slow(root)
    assert all(event.start_ns < START + DAY * SECOND for event in events)
    assert len(events) == 2


def test_a_damaged_file_and_a_store_that_cannot_be_written_change_nothing(root):
    first = slow(root)
    one, other, part = kept(root)
    one.write_bytes(one.read_bytes()[:100])
    other.write_bytes(b"")
    part.write_bytes(part.read_bytes()[100:])
    assert slow(root) == first
    shutil.rmtree(root / "judged")
    (root / "judged").write_text("in the way")
    assert slow(root) == first


@pytest.mark.parametrize(("at", "byte"), [(6, 0xFF), (8, 0x01)], ids=["version", "password"])
def test_an_archive_that_says_it_is_another_kind_changes_nothing(root, at, byte):
    first = slow(root)
    path = kept(root)[0]
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\x01\x02") + at] = byte
    path.write_bytes(whole)
    assert slow(root) == first
