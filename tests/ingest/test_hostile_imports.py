"""Hostile files among good ones: each is named, within a bound of counts or bytes, and nothing good is lost."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from iosonde.connectors import compressed, lines
from iosonde.connectors.prometheus import http_api
from iosonde.connectors.source import Settings
from iosonde.connectors.walk import MOST_DEPTH
from iosonde.ingest import days
from iosonde.ingest.answers import Question, import_files
from iosonde.jobs.store.jobs import read_jobs
from iosonde.model.errors import InputFileError
from tests.connectors.test_packed import TEXT
from tests.kit.commands import run
from tests.kit.records import ior_made
from tests.kit.samples.latencies import gathered

DAY_S = 86_400
T0 = 1_790_000_000
SAMPLES = "time,op,latency_us\n"
DF = "UUID 1K-blocks Used Available Use% Mounted on\nwork-OST0000_UUID 100 50 50 1% /work[OST:0]\n"


def good(folder: Path) -> Path:
    """A table that must come through whatever lies beside it."""
    path = folder / "good.csv"
    path.write_text(f"{SAMPLES}{T0},read,5\n")
    return path


def badly_named(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        name = os.fsencode(folder) + b"/a\xff\xfe-0.00-0-stat.csv"
        Path(os.fsdecode(name)).write_text(text)

    return write


def parquet(folder: Path) -> None:
    import duckdb

    path = folder / "s.parquet"
    duckdb.sql(f"COPY (SELECT {T0} AS time, 'read' AS op, 5 AS latency_us) TO '{path}'")
    path.rename(os.fsdecode(os.fsencode(folder) + b"/s\xff.parquet"))


def surrogate(folder: Path) -> None:
    jobs = [
        {"job_id": n, "user": user, "time": {"start": T0, "end": T0 + 9}, "state": "COMPLETED"}
        for n, user in enumerate(("ann", "\ud800", "bob"), 1)
    ]
    (folder / "sacct.json").write_text(json.dumps({"jobs": jobs}))


def deep(folder: Path) -> None:
    """1,200 folders below one another: deeper than recursion goes."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def odd_tables(folder: Path) -> None:
    """SQLite with a name that is no UTF-8, in a schema that SQLite complains of."""
    path = folder / "x.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE songsongsong (name, year)")
        db.commit()
    path.write_bytes(path.read_bytes().replace(b"songsongsong (", b"s\xff\xfe\xffsongson ((("))


def many_days(folder: Path) -> None:
    rows = "".join(f"{T0 + n * DAY_S},read,5\n" for n in range(9))
    (folder / "days.csv").write_text(SAMPLES + rows)


def many_days_of_df(folder: Path) -> None:
    (folder / "df.log").write_text("".join(f"BEGIN {T0 + n * DAY_S}\n{DF}" for n in range(9)))


def many_days_of_latencies(folder: Path) -> None:
    gathered(folder / "g.csv", [("create", 0, n * DAY_S, 0.01) for n in range(9)])


def blank(folder: Path) -> None:
    rows = TEXT.splitlines(keepends=True)
    (folder / "sacct.txt").write_text("".join(rows[:3]) + "\n" * 50 + "".join(rows[3:5]))


def bomb(folder: Path) -> None:
    rows = "".join(f"{T0 + n},read,5\n" for n in range(20_000))
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(SAMPLES.encode() + rows.encode()))


class Hostile(NamedTuple):
    write: Callable[[Path], None]
    out: str
    """Of what is good in it; "" = nothing is."""
    err: str = ""
    bounds: tuple[tuple[object, str, int], ...] = ()


DAYS = ((days, "MOST_DAYS", 4),)
CASES = {
    "samples with a name that is not UTF-8": Hostile(badly_named(f"{SAMPLES}{T0},stat,5\n"), "sample"),
    "latencies with such a name": Hostile(badly_named("time,runtime\n0.1,0.002\n"), "a??"),
    "sacct with such a name": Hostile(badly_named(TEXT), "2,999 jobs"),
    "IOR's text with such a name": Hostile(badly_named(ior_made.log()), "run a??-0.00-0-stat"),
    "Parquet with such a name": Hostile(parquet, "s?.parquet: is a table with a name that is not UTF-8"),
    "nothing with such a name": Hostile(badly_named("hello\n"), "a??-0.00-0-stat.csv: no kind"),
    "a lone surrogate in JSON": Hostile(surrogate, "sacct JSON: 3 jobs"),
    "a deep folder": Hostile(deep, "", f"more than {MOST_DEPTH} folders deep"),
    "SQLite names that are not UTF-8": Hostile(odd_tables, "x.sqlite: is an SQLite database"),
    "samples of many days": Hostile(many_days, "imported 4 samples of days", "4 days", DAYS),
    "records of many days": Hostile(many_days_of_df, "12 samples of 3 metrics", "4 days", DAYS),
    "latencies of many days": Hostile(many_days_of_latencies, "4 samples of g", "4 days", DAYS),
    "blank lines": Hostile(blank, "2 jobs", "more than 9 blank", ((lines, "MOST_BLANK", 9),)),
    "a slow bomb": Hostile(
        bomb, "", "5 times its size and more than 1000 lines",
        ((compressed, "DENSE", 5), (compressed, "MOST_LINES", 1000)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_named_and_the_good_one_comes_through(
    case: Hostile,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    good(folder)
    case.write(folder)
    for module, name, value in case.bounds:
        monkeypatch.setattr(module, name, value)
    code = run("import", str(folder), "--zone", "UTC", store=tmp_path / "store")
    subprocess.run(["rm", "-rf", str(folder)], check=True)  # deeper than pytest's own removal goes
    out, err = capsys.readouterr()
    shown = "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in out)
    shown = shown.replace("\N{REPLACEMENT CHARACTER}", "?").replace("\u202f", ",")
    assert "imported 1 sample of good" in out
    assert case.out in shown
    assert case.err in err
    assert code == bool(case.err)
    assert "Traceback" not in err


def test_the_job_of_a_surrogate_is_kept_with_a_printable_name(tmp_path: Path) -> None:
    surrogate(tmp_path)
    done = import_files(tmp_path / "store", Question([tmp_path / "sacct.json"], Settings()), 0)
    assert done.errors == []
    users = [job.user for job in read_jobs(tmp_path / "store")]
    assert users == ["ann", "\N{REPLACEMENT CHARACTER}", "bob"]


@pytest.mark.parametrize("data", [b"[],", b"{},", b"1,", b'"",'])
def test_an_answer_of_very_many_values_is_refused_before_it_is_read(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_api, "MOST_VALUES", 1000)
    with pytest.raises(InputFileError, match="answers more than 1000 values"):
        http_api._data("http://host", b'{"data": [' + data * 5000 + b"0]}")


def test_the_page_says_the_bounds() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "importing.md").read_text().split())
    for bound in (lines.MOST_BLANK, compressed.MOST_LINES, days.MOST_DAYS, http_api.MOST_VALUES):
        assert f"{bound:,}" in page
    assert f"{compressed.DENSE} times" in page
    assert f"{MOST_DEPTH} folders" in page
