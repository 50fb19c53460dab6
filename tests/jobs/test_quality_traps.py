"""Every trap of records that somebody else made, each with a file that triggers it.

A file goes the way of ``iosonde import``: recognised, read, kept in a store, read back. What is asked is that the flag
is raised and printed, that it is on the number where somebody uses it, and what became of the number.
"""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.ingest.answers import Question, import_files
from iosonde.ingest.recognise import source_of
from iosonde.ingest.report import FileImport
from iosonde.jobs.environment.join import join
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.store import jobs
from iosonde.jobs.store import series as metrics
from iosonde.jobs.table.from_files import mappings
from iosonde.jobs.table.source import from_store
from iosonde.model.jobs import Job, Scalar
from iosonde.model.quality import QUALITY, Note
from tests.jobs.test_job_from_raw import traffic
from tests.jobs.test_metrics_store import START, S, block
from tests.kit.commands import run
from tests.kit.records.quality_traps import TRAPS, Trap


def imported(trap: Trap, folder: Path) -> tuple[Path, FileImport]:
    """A trap's file in a store."""
    (folder / "site.toml").write_text(trap.mapping)
    given = mappings([folder / "site.toml"]) if trap.mapping else ()
    path = trap.write(folder)
    name = getattr(source_of(path, given), "__name__", "tables.table").removeprefix(
        "iosonde.connectors."
    )
    assert name == trap.kind
    settings = Settings(zone=ZoneInfo(trap.zone), **trap.more)
    (done,) = import_files(folder / "store", Question([path], settings, given), 0).files
    return folder / "store", done


@pytest.mark.parametrize("trap", TRAPS, ids=lambda t: f"{t.flag}, {t.kind}")
def test_it_is_recognised_reported_and_never_silently_used(tmp_path: Path, trap: Trap) -> None:
    root, done = imported(trap, tmp_path)
    assert done.flags[trap.flag] >= 1
    assert done.examples[trap.flag]
    if isinstance(trap.becomes, list):
        level, metric, component = trap.of.split(maxsplit=2)
        (name,) = [n for n in metrics.series_names(root) if (n.level, n.metric) == (level, metric)]
        back = metrics.read_block(root, name, 0, 1 << 62)
        assert back is not None
        column = back.value[:, back.components.index(component)]
        if trap.flag == "clock-skew":  # of another clock: at instants at which others have nothing
            column = column[np.isfinite(column)]
        np.testing.assert_array_equal(column, trap.becomes)
        assert trap.flag in {note.flag for note in back.notes}
    else:
        found = [one.scalars[trap.of] for one in jobs.read_jobs(root)]
        assert found
        last = found[-1]
        assert last.value == trap.becomes
        if trap.becomes is None or trap.kind != "tables.table":
            assert trap.flag in last.flags, "where the number is, the flag is"


def test_every_flag_has_its_trap() -> None:
    assert {trap.flag for trap in TRAPS} == QUALITY.keys()
    assert {trap.kind for trap in TRAPS} >= {
        *("lustre.tokio_timeseries", "lustre.h5lmt", "lustre.lmt.sql", "lustre.lmt.wire"),
        *("lustre.proc", "lustre.job_stats", "lustre.lfs_df", "gpfs.mmpmon", "gpfs.mmperfmon"),
        *("gpfs.mmdf", "scheduler.sacct", "client.collectl", "client.mountstats", "prometheus.text"),
        *("darshan.text", "darshan.log", "tables.table"),
    }  # fmt: skip


def stored(root: Path, *made: Any, own: float = 100.0, **more: Any) -> Any:
    """A job that moved ``own`` bytes, joined with what servers recorded, as a table."""
    for one in made:
        metrics.write_block(root, one)
    scalars = {
        "performance_bytes_per_s": Scalar(5.0, "bytes/s", "darshan"),
        "own_bytes": Scalar(own, "bytes", "darshan"),
        "own_opens": Scalar(3.0, "operations", "darshan"),
    }
    times = {"start_ns": START + 10 * S, "end_ns": START + 30 * S} | more
    record = Job(source="darshan", job_id="7", app="a", file_system="fs1", scalars=scalars, **times)
    jobs.write_jobs(root, [record])
    join(root)
    return from_store(root)


def both(reads: list[list[float]], **more: Any) -> tuple[Any, Any]:
    return tuple(traffic(f"{way}_bytes", reads, **more) for way in ("read", "written"))


CF, LEFT = "cf_bandwidth_ratio", "contention_bandwidth_ratio"


@pytest.mark.parametrize(
    ("value", "own", "flag", "factor"),
    [
        (0.0, 100.0, "monitor-down", nan),  # nothing seen while there must have been traffic
        (1.0, 100.0, "over-covered", nan),  # 24 bytes seen of 100
        (10.0, 120.0, None, 0.5),
        (nan, 100.0, "missing", nan),
    ],
)
def test_what_servers_say_against_what_a_job_says(tmp_path, value, own, flag, factor) -> None:
    found = stored(tmp_path, *both([[value, value]] * 9), own=own)
    np.testing.assert_array_equal(found.metrics.get(CF, [nan]), [factor])
    np.testing.assert_array_equal(found.metrics.get(LEFT, [nan]), [1 - factor])
    for name in (CF, LEFT):
        told = found.flags.get((0, name), ())
        assert (flag in told) if flag and name in found.metrics else not told
    if flag == "missing":
        assert found.flags[0, "server_read_bytes"] == ("missing",)


def test_missing_samples_make_the_factor_a_bound_and_that_is_shown(tmp_path, capsys) -> None:
    reads = [[10.0, nan], [10.0, 10.0], [10.0, 10.0]] * 3
    found = stored(tmp_path, *both(reads))
    assert found.metrics["server_missing_ratio"].tolist() == [pytest.approx(1 / 6)]
    for name in ("server_read_bytes", CF, LEFT):
        assert found.flags[0, name] == ("missing",)
    (suspect,) = [c for c in explain(found, "7").candidates if c.metric == CF]
    assert suspect.flags == ("missing",)
    said = "17% of the servers' samples are missing: coverage factors are upper bounds"
    assert run("explain", "--diagram", "--job", "7", "--format", "json", store=tmp_path) == 0
    data = json.loads(capsys.readouterr().out)
    assert said in data["notes"]
    assert {r["metric"]: r["flags"] for r in data["rows"]}[LEFT] == ["missing"]
    assert run("explain", "--job", "7", store=tmp_path) == 0
    assert said in capsys.readouterr().out


def test_a_flag_of_samples_that_a_job_does_not_lack_is_not_its_own(tmp_path) -> None:
    noted = (Note("counter-reset", "OST0000"), Note("naive-time", "UTC"))
    quiet = [[10.0, 10.0]] * 9 + [[nan, 10.0]]
    made = both(quiet, notes=noted)
    found = stored(tmp_path / "a", *made)
    assert found.flags[0, "server_read_bytes"] == ("naive-time",)
    assert found.flags[0, CF] == ("naive-time",)
    found = stored(tmp_path / "b", *made, end_ns=START + 50 * S)
    assert found.flags[0, "server_read_bytes"] == ("counter-reset", "missing", "naive-time")


def test_an_old_state_is_flagged_through_to_the_diagram(tmp_path, capsys) -> None:
    room = [
        block([START - 7200 * S], [[v, v]], metric=m, kind="gauge", source="lfs df")
        for m, v in (("total_bytes", 100.0), ("used_bytes", 60.0))
    ]
    found = stored(tmp_path, *room)
    assert found.metrics["fullest_ost_percent"].tolist() == [60.0]
    assert found.flags[0, "fullest_ost_percent"] == ("stale",)
    assert (
        run("explain", "--diagram", "--job", "7", "--metric", "fullest_ost_percent", store=tmp_path)
        == 0
    )
    out = capsys.readouterr().out
    assert f"stale (fullest OST): {QUALITY['stale']}" in " ".join(out.split())


@pytest.mark.parametrize("flag", ["counter-reset", "negative-zero", "naive-time", "monitor-down"])
def test_import_prints_it(tmp_path, capsys, flag) -> None:
    trap = next(trap for trap in TRAPS if trap.flag == flag)
    arguments = ["import", str(trap.write(tmp_path)), "--zone", trap.zone]
    assert run(*arguments, store=tmp_path / "store") == 0
    assert f"): {QUALITY[flag]} (" in capsys.readouterr().out
