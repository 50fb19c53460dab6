"""Roll-ups hold what a count by hand gives, are made once, and outlive what they were made of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import duckdb
import numpy as np
import pytest

from iosonde.engine import parquet
from iosonde.engine.contract import HOST_COLUMNS, ROLLUP_TYPES, WINDOW_COLUMNS
from iosonde.engine.layout.segments import rollup_segments
from iosonde.model.errors import DamagedFileWarning, UsageError
from iosonde.model.frames import SeriesKey
from iosonde.model.ops import OPS
from iosonde.weather import seal
from iosonde.weather.store import Store
from tests.kit.samples import brute
from tests.kit.samples.makers import SECOND, START, rows, sealed, simulated

INTERVAL = 600 * SECOND
WHOLE = START // INTERVAL * INTERVAL + INTERVAL
SCHEMA = Path(__file__).parents[2] / "schema" / "tables" / "rollups.toml"


def of_row(histograms, i):
    inside = slice(histograms.offsets[i], histograms.offsets[i + 1])
    return dict(
        zip(histograms.bucket[inside].tolist(), histograms.count[inside].tolist(), strict=True)
    )


def check(found, samples):
    """Every interval against a count of its samples one by one."""
    expected = brute.windows(samples, INTERVAL)
    frame = found.frame
    keys = [
        (*(frame[name][i] for name in brute.SERIES), frame["start_ns"][i])
        for i in range(len(found))
    ]
    assert keys == sorted(expected)
    for i, key in enumerate(keys):
        for name, value in brute.interval(expected[key]).items():
            if name in ("service", "response"):
                assert of_row(getattr(found, name), i) == value, (key, name)
            else:
                assert frame[name][i] == value, (key, name)
    for histograms in (found.service, found.other, found.response):
        assert [a.dtype for a in (histograms.offsets, histograms.bucket, histograms.count)] == [
            np.int64,
            np.uint16,
            np.uint32,
        ]
        assert histograms.bucket.flags.c_contiguous


def files(root):
    return {s.path: s.path.stat().st_mtime_ns for s in rollup_segments(root)}


@pytest.fixture(scope="module")
def sealed_once(tmp_path_factory):
    root = tmp_path_factory.mktemp("troubled")
    random = np.random.default_rng(5)
    everything = []
    for number in range(3):
        start = WHOLE + number * 1000 * SECOND
        samples = brute.troubled(random, 1000, start)
        samples += brute.troubled(random, 300, start, "data_read", period_ns=2 * SECOND)
        samples += rows(random.integers(1, 10**9, 1000).tolist(), start, op="md_read", target="/b")
        sealed(root, f"r-{number}", samples)
        everything += samples
    return root, everything


@pytest.fixture
def troubled(sealed_once, tmp_path):
    """Three segments that share intervals, two ops and two hosts' worth of trouble."""
    root, everything = sealed_once
    shutil.copytree(root, tmp_path, dirs_exist_ok=True)
    return tmp_path, everything


def test_columns_are_those_of_the_schema(troubled):
    root, _ = troubled
    Store(root).rollups()
    schema = tomllib.loads(SCHEMA.read_text())["column"]
    assert {c["name"]: c["type"] for c in schema} == ROLLUP_TYPES
    (path, *_) = files(root)
    plain = f"read_parquet('{path}', hive_partitioning = false)"
    described = duckdb.sql(f"DESCRIBE SELECT * FROM {plain}").fetchall()
    assert {row[0]: row[1] for row in described} == ROLLUP_TYPES
    nulls = {c["name"] for c in schema if c.get("nullable")}
    for name in ROLLUP_TYPES:
        sql = f"SELECT count(*) FROM {plain} WHERE {name} IS NULL"
        ((missing,),) = duckdb.sql(sql).fetchall()
        assert missing == 0 or name in nulls


def test_intervals_are_those_of_a_count_by_hand_whatever_went_wrong(troubled):
    root, samples = troubled
    check(Store(root).rollups(), samples)
    assert len(files(root)) == 3
    check(Store(root).rollups(), samples)


def test_response_is_kept_only_where_it_differs(troubled):
    root, _ = troubled
    found = Store(root).rollups()
    plain = found.frame["op"] == "md_read"
    assert not found.differs[plain].any()
    assert found.differs[~plain].all()
    assert found.other.totals()[plain].sum() == 0


def test_scopes(troubled):
    root, samples = troubled
    store = Store(root)
    store.rollups()
    since, until = WHOLE + 700 * SECOND, WHOLE + 2 * INTERVAL
    some = [s for s in samples if INTERVAL <= s["due_ns"] - WHOLE < 2 * INTERVAL]
    check(store.rollups(since_ns=since, until_ns=until), some)
    check(store.rollups(ops=("md_read",)), [s for s in samples if s["op"] == "md_read"])
    check(store.rollups(target="/b"), [s for s in samples if s["target"] == "/b"])
    assert len(store.rollups(host="other")) == 0
    check(store.rollups(ops=OPS), samples)
    shutil.rmtree(root / "rollups")
    check(store.rollups(since_ns=since, until_ns=until), some)


def test_one_more_day_touches_only_its_files(troubled):
    root, samples = troubled
    store = Store(root)
    store.rollups()
    before = files(root)
    more = brute.troubled(np.random.default_rng(9), 800, WHOLE + 3000 * SECOND)
    sealed(root, "r-3", more)
    check(store.rollups(), samples + more)
    after = files(root)
    assert {path: after[path] for path in before} == before
    assert [path.stem for path in after.keys() - before.keys()] == ["r-3"]


def test_roll_ups_outlive_their_samples(troubled):
    root, samples = troubled
    store = Store(root)
    store.rollups()
    before = store.rolled_windows(INTERVAL, levels=True)
    shutil.rmtree(root / "samples")
    check(store.rollups(), samples)
    after = store.rolled_windows(INTERVAL, levels=True)
    assert before.keys() == after.keys()
    for name in ("n_due", "n_lost", "levels_ns", "response_ns", "start_ns"):
        assert np.array_equal(before[name], after[name]), name


def test_a_damaged_file_is_named_and_made_again_or_left_out(troubled):
    root, samples = troubled
    store = Store(root)
    store.rollups()
    first, second, _ = sorted(files(root))
    first.write_bytes(first.read_bytes()[:-200])
    with pytest.warns(DamagedFileWarning, match=rf"{first.name}.*made again"):
        check(store.rollups(), samples)
    check(store.rollups(), samples)
    second.write_bytes(b"what is this")
    (root / "samples" / second.relative_to(root / "rollups")).unlink()
    with pytest.warns(DamagedFileWarning, match=rf"{second.name}.*samples are gone"):
        left = store.rollups()
    assert left.columns["n_due"].sum() < sum(s["outcome"] != "shed" for s in samples)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("n_seen + 1 AS n_seen", "does not hold as many latencies"),
        ("service_count[:-2] AS service_count", "fewer counts"),
        ("response_count[2:] AS response_count", "fewer counts"),
        ("response_bucket[2:] AS response_bucket", "fewer"),
    ],
)
def test_counts_that_do_not_add_up_are_damage(troubled, change, said):
    root, samples = troubled
    Store(root).rollups()
    path = sorted(files(root))[0]
    other = path.with_name("other.parquet")
    wrong = f"SELECT * REPLACE ({change}) FROM read_parquet"
    duckdb.sql(f"COPY ({wrong}('{path}', hive_partitioning = false)) TO '{other}' (FORMAT parquet)")
    other.replace(path)
    with pytest.warns(DamagedFileWarning, match=said):
        check(Store(root).rollups(), samples)


def test_what_is_still_in_the_spool_counts_and_is_not_kept(live):
    found = Store(live).rollups()
    assert found.columns["n_due"].sum() == 6 * 5000
    assert files(live) == {}
    seal.seal(live)
    assert len(files(live)) == 2, "sealing keeps what outlives the samples"
    before = files(live)
    again = Store(live).rollups()
    assert files(live) == before
    assert all(np.array_equal(found.columns[n], again.columns[n]) for n in found.columns)
    assert np.array_equal(found.service.count, again.service.count)
    assert found.series[0] == SeriesKey("login2", "/work", "data_read", SECOND)


def test_a_store_that_cannot_be_written_is_rolled_up_in_memory(troubled):
    root, samples = troubled
    (root / "rollups").mkdir()
    (root / "rollups" / "date=2026-09-21").write_text("in the way")
    check(Store(root).rollups(), samples)
    assert files(root) == {}


def test_dying_in_the_middle_of_writing_leaves_no_half_file(troubled):
    root, samples = troubled
    script = textwrap.dedent(
        """
        import os, sys
        from pathlib import Path
        from iosonde.engine import parquet
        from iosonde.weather.store import Store
        parquet.sync = lambda path: os._exit(9)
        Store(Path(sys.argv[1])).rollups()
        """
    )
    done = subprocess.run([sys.executable, "-c", script, str(root)], check=False, env=os.environ)
    assert done.returncode == 9
    drafts = [p for p in (root / "rollups").rglob("*.parquet") if p.name.startswith(".")]
    assert drafts
    for draft in drafts:
        os.utime(draft, (0, 0))
    assert files(root) == {}
    check(Store(root).rollups(), samples)
    assert not any(draft.exists() for draft in drafts), "what a dead process left is swept"


def test_a_write_that_fails_leaves_nothing(troubled, monkeypatch):
    root, samples = troubled

    def refuse(path):
        raise OSError(28, os.strerror(28), str(path))

    monkeypatch.setattr(parquet, "sync", refuse)
    check(Store(root).rollups(), samples)
    assert not [p for p in (root / "rollups").rglob("*") if p.is_file()]


def older_layout(path):
    """A file as it was before it had quantiles."""
    draft = path.with_name(".draft")
    plain = f"SELECT * EXCLUDE quantiles_ns FROM read_parquet('{path}', hive_partitioning = false)"
    duckdb.sql(f"COPY ({plain}) TO '{draft}' (FORMAT parquet)")
    draft.replace(path)


STATISTICS = [name for name in WINDOW_COLUMNS if name.startswith(("q", "mean", "min", "max"))]


def same(one, other, rows):
    """Whether two window tables agree: to the bit where ``rows``, elsewhere within 1%."""
    for name in STATISTICS:
        assert np.array_equal(one[name][rows], other[name][rows], equal_nan=True), name
        assert np.allclose(one[name], other[name], rtol=0.01, atol=0.51, equal_nan=True), name


def shared(table, edges):
    """Which windows hold an end of a segment."""
    return np.isin(table["start_ns"], [edge // INTERVAL * INTERVAL for edge in edges])


ENDS = [WHOLE + number * 1000 * SECOND for number in (1, 2)]


def test_windows_of_ten_minutes_are_exact_but_for_those_two_files_share(troubled):
    root, _ = troubled
    store = Store(root)
    exact = store.windows(INTERVAL)
    apart = ~shared(exact, ENDS)
    assert 0 < apart.sum() < len(apart)
    for _ in ("made", "kept"):
        for levels in (False, True):
            found = store.rolled_windows(INTERVAL, levels=levels)
            assert np.array_equal(exact["start_ns"], found["start_ns"])
            same(exact, found, apart)
    some = store.rolled_windows(INTERVAL, statistics=["q95_upper_ns", "q25_ns"])
    assert some.keys()[-2:] == ["q25_ns", "q95_upper_ns"]
    for name in ("q25_ns", "q95_upper_ns"):
        assert np.array_equal(some[name][apart], exact[name][apart], equal_nan=True)


def test_slow_series_have_the_quantiles_that_their_number_allows(tmp_path):
    samples = brute.troubled(np.random.default_rng(3), 40, WHOLE, "md_read", period_ns=60 * SECOND)
    for number, sample in enumerate(samples):
        late = number * 59 * SECOND
        for name in ("due_ns", "began_ns", "ended_ns"):
            sample[name] = None if sample[name] is None else sample[name] + late
    sealed(tmp_path, "r-0", samples)
    store = Store(tmp_path)
    exact = store.windows(INTERVAL)
    assert np.isnan(exact["q99_ns"]).all()
    assert not np.isnan(exact["q50_ns"]).all()
    store.rollups()
    same(exact, store.rolled_windows(INTERVAL), slice(None))


@pytest.mark.parametrize("old", [[0], [2], [0, 1, 2]])
def test_files_of_the_older_layout_are_read_as_they_are(troubled, old):
    root, samples = troubled
    store = Store(root)
    store.rollups()
    exact = store.windows(INTERVAL)
    paths = sorted(files(root))
    for number in old:
        older_layout(paths[number])
    before = files(root)
    check(store.rollups(), samples)
    newer = ~shared(exact, ENDS)
    for number in old:
        begins = WHOLE + number * 1000 * SECOND
        newer &= (exact["start_ns"] >= begins + 1000 * SECOND) | (exact["start_ns"] < begins)
    same(exact, store.rolled_windows(INTERVAL), newer)
    assert files(root) == before


def test_a_damaged_file_among_two_layouts_is_made_again(troubled):
    root, _ = troubled
    store = Store(root)
    store.rollups()
    exact = store.windows(INTERVAL)
    first, second, _ = sorted(files(root))
    older_layout(first)
    second.write_bytes(b"what is this")
    with pytest.warns(DamagedFileWarning, match=rf"{second.name}.*made again"):
        same(exact, store.rolled_windows(INTERVAL), np.zeros(len(exact), dtype=bool))


@pytest.mark.parametrize("several", [1, 3])
def test_windows_of_dropped_samples_come_from_roll_ups(troubled, several):
    root, _ = troubled
    store = Store(root)
    window = several * INTERVAL
    before = store.windows(window, levels=True)
    store.rollups()
    gone = sorted(root.rglob("samples/**/*.parquet"))[0]
    gone.unlink()
    after = store.windows(window, levels=True)
    assert before.keys() == after.keys()
    assert np.array_equal(before["n_due"], after["n_due"])
    assert np.array_equal(before["n_lost"], after["n_lost"])
    there = before["start_ns"] >= WHOLE + 1000 * SECOND
    same(before, after, there)
    for name in before.columns:
        assert before[name].dtype == after[name].dtype, name
        if name in ("levels_ns", "response_ns"):
            assert np.array_equal(before[name] == -1, after[name] == -1)
            assert np.allclose(before[name], after[name], rtol=0.01, atol=0.51)
            assert np.array_equal(before[name][there], after[name][there])
    since = store.windows(window, since_ns=WHOLE + window, until_ns=WHOLE + window + 1)
    assert set(since["start_ns"]) == {(WHOLE + window) // window * window}
    assert len(store.windows(INTERVAL // 2)) < len(before) * 2 * several
    chosen = store.windows(window, statistics=["q50_ns", "unqueued_q50_ns"])
    assert chosen.keys()[-2:] == ["q50_ns", "unqueued_q50_ns"]
    unknown, few = (np.isnan(chosen[name]) for name in ("unqueued_q50_ns", "q50_ns"))
    assert np.array_equal(unknown[there], few[there])
    assert (unknown & ~few).any()


def test_kept_windows_get_their_levels_from_roll_ups(tmp_path):
    simulated(tmp_path, 1900, window="600s")
    seal.seal(tmp_path)
    store = Store(tmp_path)
    before = store.windows(INTERVAL, levels=True)
    shutil.rmtree(tmp_path / "samples")
    after = store.windows(INTERVAL, levels=True)
    complete = before["n_due"] == before["n_due"].max()
    assert complete.sum() == 12
    for name in before.columns:
        one, other = (table[name][complete] for table in (before, after))
        if name in HOST_COLUMNS:
            assert (other == -1).all()
        elif name in ("levels_ns", "response_ns"):
            assert (one > 0).all()
            assert np.allclose(one, other, rtol=0.01, atol=0.51)
        elif one.dtype == object:
            assert (one == other).all()
        else:
            assert np.array_equal(one, other, equal_nan=True), name


def test_targets_known_only_from_roll_ups_are_listed(troubled):
    root, _ = troubled
    store = Store(root)
    store.rollups()
    before = store.targets()
    shutil.rmtree(root / "samples")
    assert store.targets() == before
    assert {target.target for target in before} == {"/work", "/b"}
    first = sorted(files(root))[0]
    first.write_bytes(b"what is this")
    with pytest.warns(DamagedFileWarning, match=first.name):
        assert store.targets() == before


@pytest.mark.parametrize("several", [1, 2, 6])
def test_windows_from_roll_ups_are_within_one_percent(troubled, several):
    root, _ = troubled
    store = Store(root)
    exact = store.windows(several * INTERVAL, levels=True)
    found = store.rolled_windows(several * INTERVAL, levels=True)
    assert exact.keys() == found.keys()
    for name in exact.columns:
        one, other = exact[name], found[name]
        if name in ("response_q99_ns", "runq_q50_ns", "late_q50_ns"):
            assert np.isnan(other).all()
        elif name in HOST_COLUMNS:
            assert (other == -1).all()
        elif one.dtype == object or name.startswith("n_") or not name.endswith("ns"):
            assert np.array_equal(one, other), name
        else:
            missing = np.isnan(one) if one.dtype.kind == "f" else one == -1
            assert np.array_equal(
                missing, np.isnan(other) if other.dtype.kind == "f" else other == -1
            )
            assert np.allclose(other[~missing], one[~missing], rtol=0.01, atol=0.51), name


def test_a_choice_of_statistics_and_no_odd_windows(troubled):
    root, _ = troubled
    table = Store(root).rolled_windows(INTERVAL, statistics=["q50_ns"])
    assert table.keys()[-1] == "q50_ns"
    assert "q95_ns" not in table
    with pytest.raises(UsageError, match="multiple of 10 min"):
        Store(root).rolled_windows(INTERVAL // 2)


def test_nothing_measured_is_nothing(tmp_path):
    assert len(Store(tmp_path).rollups()) == 0
    for several in (1, 6):
        assert len(Store(tmp_path).rolled_windows(several * INTERVAL, levels=True)) == 0


def test_a_day_is_small(tmp_path):
    simulated(tmp_path, 6400)
    seal.seal(tmp_path)
    whole_hour = max(path.stat().st_size for path in files(tmp_path))
    assert whole_hour * 24 < 250_000
