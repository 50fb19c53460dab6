"""What is new, exactly once: the reader of the spool, and windows kept between requests."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.model.frames import Frame, SlowdownQuery
from iosonde.serve.arrivals import KEPT_NS, Arrivals
from iosonde.serve.history import History, HistoryKey
from iosonde.weather.seal import seal
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store
from tests.kit.samples import stores
from tests.kit.samples.stores import MINUTE, NOW, SECOND

FAULTS = [
    {"op": "data_read", "after": "12m", "multiply": 3.0},
    {"op": "md_create", "after": "6m", "for": "3m", "hang": True},
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    stores.simulate(folder, 20 * MINUTE, stores.target("/work", FAULTS), stores.target("/home"))
    return folder


class Clock:
    """A clock that jumps a second whenever it is read."""

    def __init__(self) -> None:
        self.now_ns = NOW

    def __call__(self) -> int:
        self.now_ns += SECOND
        return self.now_ns


def rows_of(root: Path, target: str) -> list[tuple[int, str, str]]:
    samples = Store(root).samples(("due_ns", "op", "outcome"), target=target)
    columns = (samples[name].tolist() for name in ("due_ns", "op", "outcome"))
    return sorted(zip(*columns, strict=True))


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.floats(0, 1), max_size=6))
def test_every_row_arrives_exactly_once(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, cuts: list[float]
) -> None:
    """However the spool grows, also by half frames."""
    root = tmp_path_factory.mktemp("growing")
    clock = Clock()
    arrivals = Arrivals(root, clock)
    arrivals.refresh()
    seen_ns, found = clock.now_ns, []
    for share in [*sorted(cuts), 1.0]:
        stores.copy_prefix(whole, root, share)
        arrivals.refresh()
        batches = arrivals.since(seen_ns)
        assert batches is not None
        for batch in batches:
            seen_ns = batch.seen_ns
            for key, rows in batch.rows.items():
                if key.target == "/work":
                    found += [
                        (due, key.op, outcome)
                        for due, outcome in zip(rows["due_ns"], rows["outcome"], strict=True)
                    ]
    assert sorted(found) == rows_of(root, "/work")


def test_what_was_there_before_is_not_news(whole: Path) -> None:
    clock = Clock()
    arrivals = Arrivals(whole, clock)
    arrivals.refresh()
    assert arrivals.since(clock.now_ns) == []


def test_who_was_away_for_too_long_is_told_so(whole: Path) -> None:
    clock = Clock()
    arrivals = Arrivals(whole, clock)
    arrivals.refresh()
    assert arrivals.since(NOW - KEPT_NS) is None
    assert arrivals.since(clock.now_ns + 3600 * SECOND) is None, "the clock was set back"


def test_a_segment_sealed_between_two_looks_is_not_lost_silently(
    whole: Path, tmp_path: Path
) -> None:
    stores.copy_prefix(whole, tmp_path, 1.0)
    clock = Clock()
    arrivals = Arrivals(tmp_path, clock)
    arrivals.refresh()
    before = clock.now_ns
    assert seal(tmp_path)
    arrivals.refresh()
    assert arrivals.since(before) is None


def test_a_damaged_segment_is_a_trouble_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "spool" / "login2" / "x-000000.spool"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"nonsense" * 100)
    arrivals = Arrivals(tmp_path, Clock())
    arrivals.refresh()
    arrivals.refresh()
    (trouble,) = arrivals.troubles
    assert path.name in trouble
    path.unlink()
    arrivals.refresh()
    assert arrivals.troubles == ()


def same(left: Frame, right: Frame) -> None:
    for name in ("op", "start_ns", "n_due", "n_seen", "slow", "host_busy"):
        assert left[name].tolist() == right[name].tolist(), name
    for name in ("q50_ns", "baseline_ns", "slowdown", "slowdown_lower", "slowdown_upper"):
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)


@settings(max_examples=12, deadline=None)
@given(
    cuts=st.lists(st.floats(0.01, 1), max_size=8),
    window_s=st.sampled_from([10, 30, 60]),
    trailing_s=st.sampled_from([240, 7 * 86_400]),
)
def test_kept_windows_are_what_a_fresh_look_gives(
    whole: Path,
    tmp_path_factory: pytest.TempPathFactory,
    cuts: list[float],
    window_s: int,
    trailing_s: int,
) -> None:
    """Whenever one looks, and although the hang's rows arrive minutes after they were due."""
    root = tmp_path_factory.mktemp("growing")
    clock = Clock()
    store, trailing_ns = Store(root), trailing_s * SECOND
    history = History(store, Arrivals(root, clock), trailing_ns)
    key = HistoryKey(stores.HOST, "/work", window_s * SECOND)
    since = (NOW - 15 * MINUTE) // MINUTE * MINUTE
    for share in [*sorted(cuts), 1.0]:
        stores.copy_prefix(whole, root, share)
        kept = history.windows(key, since, None, history.prepared(clock))
        query = SlowdownQuery(
            host=key.host,
            target=key.target,
            since_ns=since,
            window_ns=key.window_ns,
            trailing_ns=trailing_ns,
        )
        same(kept, analyse(store, query).windows)


def test_an_earlier_range_and_a_sealed_store_are_read_again(whole: Path, tmp_path: Path) -> None:
    stores.copy_prefix(whole, tmp_path, 1.0)
    clock = Clock()
    store = Store(tmp_path)
    history = History(store, Arrivals(tmp_path, clock), 5 * MINUTE)
    key = HistoryKey(stores.HOST, "/work", MINUTE)
    late = history.windows(key, NOW - 3 * MINUTE, None, history.prepared(clock))
    early = history.windows(key, NOW - 18 * MINUTE, None, history.prepared(clock))
    assert len(early) > len(late) > 0
    seal(tmp_path)
    same(history.windows(key, NOW - 18 * MINUTE, None, history.prepared(clock)), early)
    past = history.windows(key, NOW - 18 * MINUTE, NOW - 10 * MINUTE, clock())
    assert past["start_ns"].max() < NOW - 10 * MINUTE


def test_many_threads_get_the_same_answer(whole: Path) -> None:
    history = History(Store(whole), Arrivals(whole, Clock()))
    key = HistoryKey(stores.HOST, "/work", MINUTE)
    answers: list[Frame] = []

    def ask() -> None:
        answers.append(history.windows(key, NOW - 15 * MINUTE, None, NOW))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers[1:]:
        same(answer, answers[0])
    assert len(answers) == 8
