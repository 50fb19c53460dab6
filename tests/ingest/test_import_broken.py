"""Files of which a part is broken: good rows are kept, the rest is named for what it is."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import h5py
import pytest

from iosonde.connectors.containers import container_error
from iosonde.engine.foreign.tables import as_text, columns_of
from iosonde.model.errors import InputFileError
from tests.kit.commands import run

MAPPING = (
    '[table]\nname = "runs"\n[job]\njob_id = "id"\n'
    'begin = { column = "start", unit = "s" }\nend = { column = "end", unit = "s" }\n'
    '[metrics]\nperformance_bytes_per_s = { column = "rate", unit = "bytes/s" }\n'
)
BAD = ["not json", '{"id": "2", "start":', "[1, 2]", "\x00\xff", "{" * 3000]


def lines(bad: str) -> str:
    good = [
        json.dumps({"id": str(n), "start": 1790000000 + n, "end": 1790000100 + n, "rate": 5e9})
        for n in range(5)
    ]
    return "\n".join([*good[:2], bad, *good[2:]]) + "\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("bad", BAD)
def test_one_bad_line_of_json_costs_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: str, packed: bool
) -> None:
    path = tmp_path / "jobs.jsonl"
    data = lines(bad).encode("utf-8", "surrogateescape")
    path.write_bytes(gzip.compress(data) if packed else data)
    (tmp_path / "site.toml").write_text(MAPPING)
    mapping = ("--mapping", str(tmp_path / "site.toml"))
    assert run("import", str(path), *mapping, store=tmp_path / "store") == 1
    out, err = capsys.readouterr()
    assert "5 jobs" in out
    assert f"{path}, line 3: no JSON" in err
    assert run("jobs", str(path), *mapping, "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)["jobs"]) == 5


def test_one_bad_sample_of_json_costs_one_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "samples.jsonl"
    row = '{{"time": "2026-03-26T07:00:0{}Z", "op": "read", "latency_us": 5, "host": "a"}}'
    path.write_text("\n".join(["oops", *(row.format(n) for n in range(4)), ""]))
    assert run("import", str(path), store=tmp_path / "store") == 1
    out, err = capsys.readouterr()
    assert "imported 4 samples" in out, "a first line that is broken costs itself"
    path.write_text("\n".join([row.format(0), "oops", *(row.format(n) for n in range(1, 4)), ""]))
    assert run("import", str(path), store=tmp_path / "other") == 1
    out, err = capsys.readouterr()
    assert "imported 4 samples" in out
    assert "line 2: no JSON" in err


def test_nothing_good_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{broken\n{also\n")
    assert columns_of(path) == ()
    with pytest.raises(InputFileError, match="cannot read"), as_text(path):
        pass


def test_json_lines_cut_at_any_byte(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    data = lines("{}").encode()
    for end in range(1, len(data), 7):
        path.write_bytes(data[:end])
        told: list[InputFileError] = []
        whole = data[:end].count(b"\n")
        try:
            with as_text(path, told.append) as text:
                assert len(text.read_text().splitlines()) - 1 >= whole
        except InputFileError:
            assert whole == 0


def database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE songs (name, year)")
        db.executemany("INSERT INTO songs VALUES (?, ?)", [("x" * 50, n) for n in range(2000)])
        db.commit()
    return path


def test_databases_that_are_cut_or_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = database(tmp_path / "songs.sqlite")
    whole = path.read_bytes()
    for size in (20, 99, 5000, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert run("import", str(path), store=tmp_path / "store") == 1
        assert f"is an SQLite database that was cut: {size} of " in capsys.readouterr().err
    path.write_bytes(whole)
    assert run("import", str(path), store=tmp_path / "store") == 1
    assert "is SQLite with the tables songs; expected LMT's tables" in capsys.readouterr().err
    path.write_bytes(whole[:100] + bytes(len(whole) - 100))
    assert "broken" in str(container_error(path))


def test_hdf5_files_that_are_cut_or_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["weather/rain"] = [1.0] * 5000
    whole = path.read_bytes()
    for size in (9, 700, len(whole) // 2):
        path.write_bytes(whole[:size])
        assert run("import", str(path), store=tmp_path / "store") == 1
        assert "is an HDF5 file that is cut or broken" in capsys.readouterr().err
    path.write_bytes(whole)
    assert run("import", str(path), store=tmp_path / "store") == 1
    assert "is HDF5 with the groups weather; expected TOKIO" in capsys.readouterr().err


def test_damaged_containers_raise_nothing_else(tmp_path: Path) -> None:
    import random

    rng = random.Random(3)
    path = tmp_path / "x"
    whole = database(tmp_path / "db").read_bytes()
    for _ in range(60):
        data = bytearray(whole[: rng.randrange(1, len(whole))])
        for _ in range(rng.randrange(20)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(bytes(data))
        container_error(path)
