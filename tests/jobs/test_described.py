"""What a mapping says of a table's own metrics is in the store too: the same job has the same answer from both."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.connectors.source import Settings
from iosonde.ingest.answers import Question, import_files
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.metric_descriptions import Described, read_described, write_described
from iosonde.jobs.store.table import read_table
from iosonde.jobs.store.with_performance import measured_jobs
from iosonde.jobs.table.from_files import mappings
from iosonde.jobs.table.listing import found_jobs, listed
from iosonde.jobs.table.source import LISTED, from_files, from_store
from iosonde.model.errors import DamagedFileWarning
from iosonde.model.job_metrics import About
from iosonde.model.jobs import Job, Scalar
from iosonde.serve.job_table import same as same_table
from tests.jobs.test_metrics_store import START, S
from tests.kit.commands import run
from tests.kit.jobs import tables
from tests.kit.samples.latencies import real

HEAD = "id,fs,app,start,end,run time,heat,queue,odd,rate,empty"
MAPPING = """
[table]
name = "our jobs"
[job]
job_id = "id"
file_system = "fs"
begin = "start"
end = "end"
[[motif]]
column = "app"
[metrics]
elapsed_s = { column = "run time", unit = "min", role = "performance", good = "low", label = "run time" }
zeal = { column = "queue", label = "requests in the queue", good = "low" }
heat = { column = "heat", label = "room temperature", good = "low", role = "climate" }
idle = { column = "empty", label = "what nobody measured", good = "low" }
"""
RATE = 'performance_bytes_per_s = { column = "rate", unit = "MiB/s" }\n'
SLOW = 60
QUICK = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def table(path: Path, seed: int, n: int = 70) -> Path:
    """Runs of two programs, two at each instant; queues slow them, and run 60 meets the longest."""
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(n):
        start = 1_700_000_000 + 7_200 * (place // 2)
        queue = 90.0 if place == SLOW else rng.uniform(0, 30)
        missing = place % 23 == 5
        minutes = (10 + queue / 3 + rng.normal() * 0.3) * (1.3 if place > 40 else 1)
        heat = "" if place % 9 == 1 else f"{20 + place / 20 + rng.normal():.3f}"
        cells = (
            place,
            "work",
            "ab"[place % 2],
            start,
            start + 4000,
            _unless(missing, minutes),
            heat,
        )
        more = (f"{queue:.3f}", rng.integers(9), _unless(missing, 900 / minutes), "")
        rows.append(",".join(map(str, (*cells, *more))))
    return tables.write(path, *(rows[place] for place in rng.permutation(n)), head=HEAD)


def _unless(missing: bool, value: float) -> str:
    return "" if missing else f"{value:.4f}"


def answers(capsys, *arguments: str, store: Path | None = None):
    """What a command says, as JSON and as text."""
    assert run(*arguments, "--format", "json", store=store) == 0
    data = json.loads(capsys.readouterr().out)
    assert run(*arguments, store=store) == 0
    return data, capsys.readouterr().out


QUESTIONS = {
    "explain": ("explain", "--job", str(SLOW)),
    "explain all": ("explain", "--job", "7", "--history", "all"),
    "umami": ("explain", "--diagram", "--job", str(SLOW)),
    "climate": ("climate",),
    "correlate": ("correlate",),
    "correlate all": ("correlate", "--metrics", "all", "--by", "none"),
    "jobs": ("jobs", "--limit", "0"),
}


@pytest.fixture(scope="module", params=["run time", "rate too"])
def both(request, tmp_path_factory):
    """A table with its mapping, and a store that has it."""
    folder = tmp_path_factory.mktemp("both")
    mapping = folder / "site.toml"
    mapping.write_text(MAPPING + (RATE if request.param == "rate too" else ""))
    path = table(folder / "t.csv", seed=3)
    assert run("import", str(path), "--mapping", str(mapping), store=folder / "s") == 0
    return path, mapping, folder / "s"


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_table_and_the_store_say_the_same(both, question, capsys):
    path, mapping, store = both
    name, *rest = QUESTIONS[question]
    capsys.readouterr()
    data, text = answers(capsys, name, str(path), "--mapping", str(mapping), *rest)
    other, other_text = answers(capsys, name, *rest, store=store)
    for part in (*data.get("tables", ()), *other.get("tables", ())):
        for where in ("source", "mapping", "left_out", "notes"):
            part.pop(where)
    assert other == data
    assert other_text.replace(str(store), "X") == text.replace(path.name, "X")
    if question == "explain":
        assert "requests in the queue" in text
        assert any("without a description" in note and "odd" in note for note in data["notes"])
    if question == "jobs":
        units = {one["unit"] for one in data["jobs"] if one["performance"] is not None}
        assert units == {"bytes/s" if RATE in mapping.read_text() else "s"}
        assert [one["job"] for one in data["jobs"] if not one["fraction_of_peak"]] == [
            "51",
            "28",
            "5",
        ]


@pytest.mark.parametrize("name", ["edison:lustre", "mira:gpfs"])
def test_a_published_month_says_the_same_from_its_table_and_from_the_store(name, tmp_path, capsys):
    file, mapping = name.split(":")
    path = real(f"umami/tables/pdsw17_{file}.csv")
    toml = tables.MONTH / f"{mapping}.toml"
    assert run("import", str(path), "--mapping", str(toml), store=tmp_path) == 0
    capsys.readouterr()
    read = from_files([path], [toml], Settings(), lambda _: None)
    kept = from_store(tmp_path)
    assert same_table(kept, read)
    assert list(kept.metrics) == list(read.metrics)


CELLS = st.sampled_from(["", "", "0", "-0.0", "1.5", "3", "7e9", "word", "inf"])
RUN = st.tuples(
    *(st.sampled_from(words) for words in (("work", "home"), ("a", "b"))),
    st.integers(0, 4),
    *[CELLS] * 5,
)


@QUICK
@given(st.lists(RUN, min_size=1, max_size=12), st.sampled_from([MAPPING, MAPPING + RATE]))
def test_any_table_is_the_same_jobs_after_its_import(tmp_path_factory, runs, text) -> None:
    folder = tmp_path_factory.mktemp("t")
    mapping = folder / "site.toml"
    mapping.write_text(text)
    rows = []
    for place, (fs, app, hour, *cells) in enumerate(runs):
        start = 1_700_000_000 + 3600 * hour
        rows.append(",".join([f"{place:x}", fs, app, str(start), str(start + 60), *cells, ""]))
    rows.append(
        "n,work,a,1700000000,1700000060,9,9,9,9,9,"
    )  # numbers, so that no column is one of words
    rows += [row.replace("n,", f"n{i},", 1) for i, row in enumerate(rows[-1:] * 14)]
    path = tables.write(folder / "t.csv", *rows, head=HEAD)
    question = Question([path], mappings=mappings([mapping]))
    assert len(import_files(folder, question, 0).files) == 1
    read = from_files([path], [mapping], Settings(), lambda _: None)
    kept = from_store(folder)
    assert same_table(kept, read)
    assert list(kept.metrics) == list(read.metrics)
    assert list(kept.abouts) == list(read.abouts)


ABOUTS = st.builds(
    About,
    st.sampled_from(["", "s", "bytes/s"]),
    st.sampled_from(["", "run time", "ça"]),
    st.sampled_from(["high", "low", None]),
    st.sampled_from(["performance", "cause", "effect", "own", "climate"]),
    st.sampled_from(["", "cpu"]),
)
SOURCES = st.sampled_from(["our jobs", "our-jobs", "sacct"])
METRICS = st.sampled_from(["elapsed_s", "score", "fraction_of_peak_ratio", "own_bytes"])
ROWS = st.lists(
    st.builds(Described, SOURCES, METRICS, st.integers(0, 5), st.none() | ABOUTS), max_size=8
)


@QUICK
@given(st.lists(ROWS, max_size=3))
def test_the_newest_description_of_a_source_and_metric_counts(tmp_path_factory, imports) -> None:
    root = tmp_path_factory.mktemp("s")
    known: dict[tuple[str, str], Described] = {}
    for rows in imports:
        write_described(root, rows)
        known |= {(row.source, row.metric): row for row in rows}
    found = read_described(root)
    assert {(row.source, row.metric): row for row in found} == known
    assert len(found) == len(known)
    assert found == sorted(found, key=lambda row: (row.source, row.place, row.metric))


@QUICK
@given(
    st.lists(st.tuples(SOURCES, st.sets(METRICS, min_size=1), st.sampled_from("ab")), max_size=9),
    ROWS,
)
def test_a_described_performance_makes_a_job_one_that_can_be_explained(
    tmp_path_factory, jobs, rows
) -> None:
    root = tmp_path_factory.mktemp("s")
    write_described(root, rows)
    made = [
        Job(
            source=source,
            job_id=str(place),
            app=app,
            file_system="/x",
            start_ns=START + place * S,
            scalars={name: Scalar(2.0 + place, "", "made") for name in names},
        )
        for place, (source, names, app) in enumerate(jobs)
    ]
    write_jobs(root, made)
    told = {(row.source, row.metric): row.about for row in rows}
    fast = {
        source
        for (source, name), about in told.items()
        if name == "fraction_of_peak_ratio"
        or (about and about.role == "performance" and about.good)
    }
    wanted = [job for job in made if job.source in fast]
    assert [job.key for job in measured_jobs(root)] == [job.key for job in wanted]
    assert read_table(root).job_id.tolist() == [job.job_id for job in wanted]
    if wanted:
        whole, few = from_store(root), from_store(root, metrics=LISTED)
        shown = found_jobs(whole)
        assert listed(whole, shown) == listed(few, shown)


def test_runs_of_a_kind_are_measured_by_one_thing_whatever_else_the_store_holds(tmp_path, both):
    path, mapping, _ = both
    store = tmp_path / "s"
    rate = "performance_bytes_per_s"
    write_jobs(store, [job("x", "other", rate, 5.0), job("y", "other", "own_io_s", 5.0)])
    assert run("import", str(path), "--mapping", str(mapping), store=store) == 0
    read = from_files([path], [mapping], Settings(), lambda _: None)
    kept = from_store(store)
    assert kept.job_id.tolist() == [*read.job_id, "x"]
    share = kept.metrics["fraction_of_peak_ratio"]
    np.testing.assert_array_equal(share[:-1], read.metrics["fraction_of_peak_ratio"])
    assert share[-1] == 1


def job(job_id: str, app: str, metric: str, value: float) -> Job:
    """A job of another source."""
    scalars = {metric: Scalar(value, "", "made")}
    return Job(source="z", job_id=job_id, app=app, start_ns=START, scalars=scalars)


def test_a_mapping_that_says_no_more_is_believed_and_a_damaged_file_is_left_out(tmp_path):
    path = table(tmp_path / "t.csv", seed=1, n=6)
    mapping, store = tmp_path / "site.toml", tmp_path / "s"
    for text in (MAPPING, MAPPING.replace("zeal =", "#")):
        mapping.write_text(text)
        assert run("import", str(path), "--mapping", str(mapping), store=store) == 0
        told = {row.metric: row.about for row in read_described(store)}
        assert told["zeal"].label == "requests in the queue", "its numbers are there still"
    mapping.write_text(MAPPING.replace(', label = "requests in the queue", good = "low"', ""))
    assert run("import", str(path), "--mapping", str(mapping), store=store) == 0
    assert {row.metric: row.about for row in read_described(store)}["zeal"] is None
    (part,) = (store / "described").glob("*.parquet")
    part.write_bytes(b"PAR1junk")
    with pytest.warns(DamagedFileWarning):
        assert read_described(store) == []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("import", str(path), "--mapping", str(mapping), store=store) == 0
    assert len(read_table(store)) == 6
