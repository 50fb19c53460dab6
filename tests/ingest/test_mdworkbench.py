"""Latency files of md-workbench: every dialect, hostile ones too, and what they become in a store."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.cli.commands import every
from iosonde.connectors.benchmarks.mdworkbench import latencies as mdworkbench
from iosonde.connectors.benchmarks.mdworkbench.latencies import (
    OPS,
    FileName,
    parse_name,
    read_latencies,
    run_name,
)
from iosonde.connectors.source import SIZE_BYTES
from iosonde.ingest import latencies as importing
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.frames import Frame
from iosonde.weather.samples import writer as imported
from iosonde.weather.samples.periods import runs
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.latencies import COOLEY, MEASURING, MISTRAL, import_runs, write
from tests.kit.samples.makers import SECOND, START

LONG = "op,iter,rank,time_s,runtime_s"
real_data = pytest.mark.skipif(
    not MEASURING.is_dir(), reason=f"real latency files are not in {MEASURING} (IOSONDE_DATA)"
)


def read(path):
    frames = list(read_latencies(path))
    names = frames[0].keys()
    return Frame({name: np.concatenate([frame[name] for frame in frames]) for name in names})


NAMES = {
    "mdw-lat-0.00-0-create.csv": FileName("mdw-lat", "0.00", 0, "create", 0, False),
    "mdw-ior-4.00-12-stat-all.csv": FileName("mdw-ior", "4.00", 12, "stat", 0, True),
    "a-0.06-1-precreate-all.head1500.csv.gz": FileName("a", "0.06", 1, "precreate", 0, True),
    "mdreal-2-delete-17.csv": FileName("mdreal", None, 2, "delete", 17, False),
    "mdreal-0-read.csv": FileName("mdreal", None, 0, "read", 0, False),
    "mdreal-0-rename-1.csv": None,
    "create.csv": None,
}


@pytest.mark.parametrize(("name", "found"), NAMES.items())
def test_names(name, found):
    assert parse_name(name) == found


def test_runs_are_named_by_their_files():
    assert run_name(Path("x/mdw-lat-0.00-0-create.csv")) == "mdw-lat-0.00"
    assert run_name(Path("mdreal-2-delete-17.csv")) == "mdreal"
    assert run_name(Path("gathered.csv.gz")) == "gathered"


def test_one_rank(tmp_path):
    frame = read(write(tmp_path / "p-0.00-3-stat.csv", ["0.0000120,1.2483e-05", "1.5,2e-3", ""]))
    assert [list(OPS)[op] for op in frame["op"]] == ["stat", "stat"]
    assert frame["iteration"].tolist() == [3, 3]
    assert frame["time_ns"].tolist() == [12_000, 1_500_000_000]
    assert frame["runtime_ns"].tolist() == [12_483, 2_000_000]


def test_all_ranks_begin_where_time_falls_back(tmp_path):
    """But not where the clock of the IOR tree runs back by a quarter of a microsecond."""
    rows = [
        "0.1,1e-3",
        "0.2,1e-3",
        "0.1999998,1e-3",
        "0.3,1e-3",
        "0.00001,1e-3",
        "0.5,1e-3",
        "0.1,1e-3",
    ]
    frame = read(write(tmp_path / "p-0.00-0-create-all.csv", rows))
    assert frame["rank"].tolist() == [0, 0, 0, 0, 1, 1, 2]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_gathered(tmp_path, ending):
    path = write(tmp_path / f"g.{ending}", ["create,0,5,0.1,0.2", "precreate,0,6,0,0.001"], LONG)
    frame = read(path)
    assert frame["rank"].tolist() == [5, 6]
    assert [mdworkbench.PHASES[phase] for phase in frame["phase"]] == ["benchmark", "precreate"]


BAD_ROWS = {
    "create,0,1,0.1": "expected op,iter,rank,time_s,runtime_s",
    "create,0,1,0.1,nan": "the runtime is 'nan'",
    "create,0,1,0.1,inf": "the runtime is 'inf'",
    "create,0,1,-0.1,1": "the time is '-0.1'",
    "create,0,1,1e300,1": "the time is '1e300'",
    "create,0,1,1_0,1": "the time is '1_0'",
    "create,0,99999999,1,1": "the rank is '99999999'",
    "create,-1,0,1,1": "the iteration is '-1'",
    "rename,0,1,1,1": "there is no operation 'rename'",
    "\x1b[2J,0,1,1,1": r"there is no operation '?[2J'",
    "x" * 1000: "the line is too long",
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.items())
def test_a_bad_row_is_named_and_the_rows_before_are_kept(tmp_path, row, message):
    path = write(tmp_path / "g.csv", ["create,0,1,0.1,0.2", row, "create,0,1,0.3,0.2"], LONG)
    got = []
    with pytest.raises(InputFileError) as caught:
        got.extend(read_latencies(path))
    assert f"{path}, line 3: " in str(caught.value)
    assert message in str(caught.value)
    assert "expected" in str(caught.value)
    assert sum(len(frame) for frame in got) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a-0-create-0.csv", b"", "the first line is missing"),
        ("a-0-create-0.csv", b"time;runtime\n1;2\n", "the first line is 'time;runtime'"),
        ("unnamed.csv", b"time,runtime\n1,2\n", "does not say which operation"),
        ("a-0-create-0.csv", bytes(range(256)), "the first line is"),
    ],
)
def test_what_is_no_latency_file(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_bytes(text)
    with pytest.raises(InputFileError, match=message):
        list(read_latencies(path))


def consumed(path):
    """Rows that are given out, and the error that ends them."""
    rows, told = 0, None
    try:
        for frame in read_latencies(path):
            rows += len(frame)
    except InputFileError as error:
        told = str(error)
    return rows, told


def test_a_gzip_file_that_breaks_off(tmp_path):
    path = write(tmp_path / "g.csv.gz", [f"create,0,1,{i},0.2" for i in range(5000)], LONG)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    rows, told = consumed(path)
    assert 0 < rows < 5000
    assert f"line {rows + 2}: the gzip data end or break here" in told
    path.write_bytes(whole[:20] + b"\0" * 99)
    rows, told = consumed(path)
    assert rows < 5000
    assert "line " in told


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_whatever_a_file_holds_it_is_read_or_named(tmp_path_factory, text, packed):
    path = tmp_path_factory.mktemp("any") / "a-0-create-0.csv"
    body = b"time,runtime\n0.1,0.1\n" + text
    path.write_bytes(gzip.compress(body) if packed else body)
    rows, told = consumed(path)
    assert rows >= 1
    assert told is None or "line " in told


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(mdworkbench, "CHUNK_ROWS", 100)
    path = write(tmp_path / "a-0-create-0.csv", (f"{i},0.1" for i in range(1050)))
    assert [len(frame) for frame in read_latencies(path)] == [100] * 10 + [50]


def files(folder):
    """Two iterations, two ops, two ranks in the 2017 dialect; rank 1 is 1 ms later."""
    paths = []
    for iteration in (0, 1):
        for op in ("create", "stat"):
            for rank in (0, 1):
                rows = [
                    f"{i / 10 + rank / 1000:.7f},{(iteration + 1) * 1e-3:.4e}" for i in range(50)
                ]
                paths.append(write(folder / f"lab-{iteration}-{op}-{rank}.csv", rows))
    return paths


def test_files_become_samples(tmp_path):
    root = tmp_path / "store"
    done = import_runs(root, files(tmp_path), target="/work", host="lab", started_ns=START)
    (one,) = done.samples
    assert one.written.rows == 400
    assert one.run_ids == ("lab-i0", "lab-i1")
    names = (
        "due_ns",
        "began_ns",
        "ended_ns",
        "host",
        "op",
        "period_ns",
        "size_bytes",
        "run_id",
        "outcome",
    )
    frame = Store(root).samples(names)
    assert (frame["due_ns"] == frame["began_ns"]).all()
    assert set(frame["host"]) == {"lab.rank0000", "lab.rank0001"}
    assert set(frame["period_ns"]) == {0}
    first = frame.take(frame["run_id"] == "lab-i0")
    assert first["due_ns"][:2].tolist() == [START, START]
    assert set(first["ended_ns"] - first["began_ns"]) == {1_000_000}
    second = frame.take(frame["run_id"] == "lab-i1")
    assert second["due_ns"].min() == START + 4_901_000_000 + 1_000_000 + SECOND
    assert [(r.run_id, r.n) for r in runs(root)] == [
        ("lab-i0", 100),
        ("lab-i0", 100),
        ("lab-i1", 100),
        ("lab-i1", 100),
    ]


def test_importing_again_doubles_nothing(tmp_path):
    root, paths = tmp_path / "store", files(tmp_path)
    import_runs(root, paths, started_ns=START)
    for again in (
        {"started_ns": START},
        {"target": "other", "started_ns": START + 86_400 * SECOND},
    ):
        done = import_runs(root, paths[:5], **again)
        written = done.samples[0].written
        assert (written.rows, written.known_rows) == (0, 250)
    assert Store(root).count() == 400


def test_a_whole_file_replaces_the_part_that_was_imported(tmp_path):
    root, path = tmp_path / "store", tmp_path / "a-0-create-0.csv"
    good = [f"{i / 100:.7f},1e-3" for i in range(3000)]
    write(path, [*good[:2000], "broken"])
    done = import_runs(root, [path], started_ns=START)
    assert (done.samples[0].written.rows, len(done.errors)) == (2000, 1)
    write(path, good)
    import_runs(root, [path], started_ns=START + 86_400 * SECOND)
    assert Store(root).count() == 3000
    import_runs(root, [write(path, good[:100])], started_ns=START)
    assert Store(root).count() == 3000


def test_waiting_factors_and_precreate_follow_each_other(tmp_path):
    paths = [
        write(tmp_path / f"w-{t}-0-{op}.csv", [f"{i / 10},1e-2" for i in range(20)])
        for t in ("4.00", "0.00")
        for op in ("create", "precreate")
    ]
    done = import_runs(tmp_path / "store", paths, started_ns=START)
    order = [r.run_id for r in runs(tmp_path / "store")]
    assert order == ["w-0.00-precreate", "w-4.00-precreate", "w-0.00-i0", "w-4.00-i0"]
    assert set(order) == set(done.samples[0].run_ids)


def test_the_default_start_lets_the_run_end_when_its_file_was_written(tmp_path):
    path = write(tmp_path / "a-0-create-0.csv", ["0,1e-3", "9,1"])
    done = import_runs(tmp_path / "store", [path])
    assert done.samples[0].span_ns[0] == path.stat().st_mtime_ns - 10 * SECOND


def test_a_file_of_ranks_only_does_not_fill_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "_MOST_PIECES", 100)
    path = write(tmp_path / "g.csv", [f"create,0,{rank},0,1" for rank in range(101)], LONG)
    with pytest.raises(UsageError, match="101 ranks"):
        import_runs(tmp_path / "store", [path], started_ns=START)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("paths", [[], ["a", "a"]])
def test_which_files_are_refused(tmp_path, paths):
    with pytest.raises(UsageError):
        import_runs(tmp_path, [tmp_path / name for name in paths])


def test_command(tmp_path, capsys, utc, now):
    root = tmp_path / "store"
    names = [str(path) for path in files(tmp_path)]
    assert (
        run("import", *names, "--target", "/work", "--started", f"@{START // SECOND}", store=root)
        == 0
    )
    assert "imported 400 samples of /work" in capsys.readouterr().out
    assert run("import", *names, store=root) == 0
    assert "400 samples were already in the store" in capsys.readouterr().out
    bad = write(tmp_path / "g.csv", ["create,0,1,0.1,0.2", "create,0,1,0.1"], LONG)
    assert run("import", str(bad), store=root) == 1
    shown = capsys.readouterr()
    assert "g.csv, line 3: the row is" in shown.err
    assert "imported 1 sample" in shown.out
    assert run("import", str(tmp_path / "absent.csv"), store=root) == 1
    assert "cannot read" in capsys.readouterr().err
    assert run("import", names[0], "--host", " ", store=root) == 2
    assert run("import", names[0], "--started", "@99999999999", store=root) == 2
    assert run("slowdown", "/work", "--window", "1s", store=root) == 0


def test_the_page_says_what_the_code_does():
    page = " ".join((Path(__file__).parents[2] / "docs" / "importing.md").read_text().split())
    assert f"its first {imported._KNOWN_BY_ROWS} rows" in page
    assert f"else {SIZE_BYTES}" in page
    assert " ".join(OPS) in page
    for name in ("import", "bursts", "compare"):
        assert f"iosonde {name} " in page
        assert name in {command.name for command in every()}
    assert "`HOST.rank0007`" in page
    assert imported.rank_host("HOST", 7) == "HOST.rank0007"


@real_data
def test_the_real_files(tmp_path):
    paths = sorted((MEASURING / "md-workbench").glob("*.csv"))
    done = import_runs(tmp_path, paths, target="lab")
    assert done.samples[0].written.rows == sum(
        len(path.read_text().splitlines()) - 1 for path in paths
    )
    for name, rows, ranks in ((MISTRAL, 120_000, 10), (COOLEY, 80_000, 2)):
        done = import_runs(tmp_path, [MEASURING / name], target=name)
        assert (done.samples[0].written.rows, done.errors) == (rows, [])
        assert len({r.host for r in runs(tmp_path) if r.target == name}) == ranks
