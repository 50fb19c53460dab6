"""The runtime on a workload that is no metadata benchmark: sums, limits, ends, errors; threads and processes."""

from __future__ import annotations

import functools
import pickle
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.bench.runtime import rank_group
from iosonde.bench.runtime.histogram import Histogram
from iosonde.bench.runtime.rows import Label, rank_rows, total_rows
from iosonde.bench.runtime.series import BinnedSeries
from iosonde.bench.runtime.session import Session, Stonewall
from iosonde.bench.runtime.workload import PhaseKey
from iosonde.host.processes import Alone
from iosonde.model.errors import MeasureError
from tests.kit.runs.bench import Quiet
from tests.kit.runs.blocks import BIN_NS, BlockWriter

WRITE = PhaseKey("write")
BLOCK = 4096
MS = 1_000_000


class Noting(Quiet):
    """Keeps what it hears; wants an end once ``enough`` operations have ended."""

    def __init__(self, enough=None):
        self.notes, self.results, self.seen, self.enough = [], [], [], enough

    def progress(self, phase, ended, planned, failed):
        self.seen.append((phase, ended, planned, failed))

    def wanted(self):
        return self.enough is not None and bool(self.seen) and self.seen[-1][1] >= self.enough

    def note(self, text):
        self.notes.append(text)

    def result(self, result):
        self.results.append(result)


def session(folder, watch=None, *, ranks=2, processes=None, **more):
    start = functools.partial(BlockWriter, folder=folder, **more)
    here = processes or Alone()
    return Session(start, "blocks:", here, ranks, watch or Noting(), keep_records=True)


def label(ranks=2):
    return Label("run", "blocks", "host", "/work", "posix", "bulk", ranks, {"blocks": 50}, {})


def test_two_ranks_add_up_to_what_is_on_disk(tmp_path):
    watch = Noting()
    result = session(tmp_path, watch).phase(WRITE, {"blocks": 50})
    written = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert written == 2 * 50 * BLOCK
    assert watch.results == [result]
    total = result.total
    assert (total.ranks, total.ok, total.failures, total.complete) == (2, 100, 0, True)
    assert total.ops["data_write"].bytes == written
    assert len(total.ops["data_write"].latencies) == 100
    series = total.series["bytes"]
    assert (series.bin_ns, series.values.sum()) == (BIN_NS, written)
    assert [rank.series["bytes"].values.sum() for rank in result.ranks] == [written // 2] * 2
    began = min(records.columns["began_ns"].min() for records in result.records)
    assert series.first >= began // BIN_NS
    assert [len(records.columns["ended_ns"]) for records in result.records] == [50, 50]


def test_it_becomes_rows_like_any_other(tmp_path):
    result = session(tmp_path).phase(PhaseKey("write", 3), {"blocks": 50})
    whole, op = total_rows(label(), result)
    assert (whole.instrument, whole.phase, whole.ops, whole.op) == ("blocks", "write", 100, None)
    assert (op.op, op.bytes, op.outcomes) == ("data_write", 100 * BLOCK, {"ok": 100})
    assert op.min_ns <= op.q50_ns <= op.q99_ns <= op.max_ns
    assert [(row.rank, row.complete) for row in rank_rows(label(), result)] == [
        *((0, True), (0, True)),
        *((1, True), (1, True)),
    ]


def test_a_limit_ends_ranks_and_wear_out_takes_all_to_the_fastest(tmp_path):
    work = {"blocks": 100_000}
    cut = session(tmp_path, pace_s=0.001).phase(WRITE, work, Stonewall(50 * MS))
    assert cut.at_limit is cut.total
    assert cut.total.ends == {"limit": 2}
    assert 0 < cut.total.ok < 200
    worn = session(tmp_path, pace_s=0.001).phase(WRITE, work, Stonewall(50 * MS, 60_000 * MS))
    assert worn.at_limit.ok <= worn.total.ok
    assert {rank.steps for rank in worn.ranks} == {worn.at_limit.most_steps}


def test_an_end_that_is_wanted_stops_every_rank_and_the_next_phase_goes_on(tmp_path):
    watch = Noting(enough=1)
    own = session(tmp_path, watch, pace_s=0.001)
    result = own.phase(WRITE, {"blocks": 100_000})
    assert result.stopped
    assert result.total.ends == {"stopped": 2}
    assert not any(row.complete for row in rank_rows(label(), result))
    assert watch.seen[-1][0] == "write"
    watch.enough = None
    own.resume()
    again = own.phase(WRITE, {"blocks": 5})
    assert (again.stopped, again.total.ok) == (False, 10)


def test_the_error_of_a_rank_is_a_row_and_no_exit(tmp_path):
    result = session(tmp_path, missing=(1,)).phase(WRITE, {"blocks": 50})
    assert (result.total.ok, result.total.failures) == (50, 50)
    (whole, *_) = total_rows(label(), result)
    assert (whole.failed, whole.outcomes) == (50, {"ok": 50, "ENOENT": 50})
    rows = {row.rank: row for row in rank_rows(label(), result) if row.op is not None}
    assert (rows[0].failed, rows[1].failed, rows[1].q50_ns) == (0, 50, None)


def test_a_rank_that_hangs_is_given_up_with_what_it_did(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_group, "PATIENCE_S", 0.2)
    watch = Noting(enough=0)
    own = session(tmp_path, watch, pace_s=5.0)
    result = own.phase(WRITE, {"blocks": 50})
    assert own.hanging
    assert result.total.ends == {"hanging": 2}
    assert [note.split(" for ")[0] for note in watch.notes] == [
        "rank 0 hangs in data_write",
        "rank 1 hangs in data_write",
    ]


def test_an_order_that_is_refused_or_hangs_says_which(tmp_path, monkeypatch):
    own = session(tmp_path)
    with pytest.raises(MeasureError, match="rank 1 refuses"):
        own.ask("refuse", rank=1)
    assert own.ask("refuse", rank=9) == [0, 1]
    monkeypatch.setattr(rank_group, "PATIENCE_S", 0.2)
    watch = Noting(enough=0)
    watch.seen.append(("", 0, 0, 0))
    other = session(tmp_path, watch)
    with pytest.raises(MeasureError, match="does not return from 'hang'"):
        other.ask("hang", seconds=5)
    assert other.hanging


def test_too_many_ranks_are_refused_in_words(tmp_path):
    with pytest.raises(MeasureError, match="101 ranks cannot be started in one process"):
        session(tmp_path, ranks=101)


class Meeting:
    """Two processes of a run as threads; values travel as bytes, as between real ones."""

    def __init__(self, size):
        self.size = size
        self.slots, self.barrier = [b""] * size, threading.Barrier(size, timeout=30)

    def process(self, number):
        return _Process(self, number)


class _Process:
    def __init__(self, meeting, number):
        self._meeting, self.number, self.size = meeting, number, meeting.size

    def barrier(self):
        self._meeting.barrier.wait()

    def all_gather(self, value):
        self._meeting.slots[self.number] = pickle.dumps(value)
        self.barrier()
        found = list(map(pickle.loads, self._meeting.slots))
        self.barrier()
        return found

    def gather(self, value):
        every = self.all_gather(value)
        return every if self.number == 0 else [value]

    def broadcast(self, value):
        return self.all_gather(value)[0]

    def reduce(self, value, merge):
        every = self.all_gather(value)
        return functools.reduce(merge, every) if self.number == 0 else None

    def abort(self):
        self._meeting.barrier.abort()


def in_two_processes(work):
    meeting = Meeting(2)
    with ThreadPoolExecutor(2) as pool:
        return [each.result() for each in [pool.submit(work, meeting.process(n)) for n in (0, 1)]]


def test_processes_add_up_and_the_first_has_the_total(tmp_path):
    def work(process):
        return session(tmp_path, processes=process).phase(WRITE, {"blocks": 50})

    first, second = in_two_processes(work)
    assert second.total is None
    assert [rank.rank for rank in (*first.ranks, *second.ranks)] == [0, 1, 2, 3]
    assert (first.total.ranks, first.total.ok) == (4, 200)
    assert first.total.series["bytes"].values.sum() == 200 * BLOCK
    assert len(first.total.ops["data_write"].latencies) == 200


def test_an_error_in_one_process_is_raised_in_all(tmp_path):
    def work(process):
        own = session(tmp_path, processes=process)
        with pytest.raises(MeasureError, match="rank 3 refuses"):
            own.ask("refuse", rank=3)
        return own.phase(WRITE, {"blocks": 5}).total

    first, _ = in_two_processes(work)
    assert first.ok == 20


COUNTED = st.dictionaries(st.integers(1, 50), st.integers(1, 9)).map(
    lambda counts: sorted(counts.items())
)


@given(COUNTED, COUNTED)
def test_histograms_add_up_as_counts_do(first, second):
    both = Histogram.of(first).plus(Histogram.of(second))
    counts = Counter(dict(first)) + Counter(dict(second))
    assert dict(zip(both.values.tolist(), both.counts.tolist(), strict=True)) == counts
    every = sorted(counts.elements())
    assert [both.at(rank) for rank in range(1, len(every) + 2)] == [*every, None]


BINS = st.tuples(st.integers(-5, 5), st.lists(st.integers(0, 9), max_size=6))


@given(BINS, BINS)
def test_series_add_up_bin_by_bin(first, second):
    made = [
        BinnedSeries(10, begin, np.array(values, dtype=np.int64))
        for begin, values in (first, second)
    ]
    both = made[0].plus(made[1])
    expected = Counter()
    for begin, values in (first, second):
        expected.update({begin + at: value for at, value in enumerate(values)})
    found = {both.first + at: value for at, value in enumerate(both.values.tolist()) if value}
    assert found == {at: value for at, value in expected.items() if value}


def test_series_of_other_bins_do_not_add_up():
    empty = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="bins of 10 ns and of 20 ns"):
        BinnedSeries(10, 0, empty).plus(BinnedSeries(20, 0, empty))


def test_only_one_module_knows_the_metadata_ranks_of_the_core():
    """The import contract sees Python modules; the core is none."""
    folder = Path(rank_group.__file__).parents[1]
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if "_core.Metadata(" in path.read_text()
    }
    assert found == {"metadata/workload.py"}
    assert not any("_core" in path.read_text() for path in (folder / "runtime").glob("*.py"))
