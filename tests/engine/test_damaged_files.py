"""One damaged file never silences the rest: it is named, left out, and everything else is answered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from iosonde.cli.shared import options
from iosonde.engine import checksum
from iosonde.engine.layout.segments import parquet_segments
from iosonde.engine.left_out import left_out
from iosonde.model.errors import DamagedFileWarning
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests import mischief
from tests.kit.commands import run
from tests.kit.samples.makers import START, everything, same, simulated

WHAT = {
    "footer": "does not match|do not match|damaged",
    "cut": "its end is missing",
    "empty": "is empty",
    "folder": "is a folder",
    "text": "is no Parquet file",
    "column": "no column outcome",
    "kind": "its column due_ns is VARCHAR",
}


@pytest.fixture(scope="module")
def sealed_store(tmp_path_factory):
    root = tmp_path_factory.mktemp("sealed")
    simulated(root, 3 * 3600)
    assert len(seal(root)) >= 3
    return root


@pytest.fixture
def store(sealed_store, tmp_path):
    shutil.copytree(sealed_store, tmp_path / "store")
    return tmp_path / "store"


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "footer":  # two bytes, of what the footer says of its first column
        place = len(data) - 8 - int.from_bytes(data[-8:-4], "little") + 40
        path.write_bytes(
            data[:place] + bytes(b ^ 1 for b in data[place : place + 2]) + data[place + 2 :]
        )
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "text":
        path.write_text("due_ns,host\n1,login2\n")
    else:
        columns = (
            "* EXCLUDE outcome" if how == "column" else "* REPLACE (due_ns::VARCHAR AS due_ns)"
        )
        with duckdb.connect() as con:
            con.execute(f"COPY (SELECT {columns} FROM '{path}') TO '{path}.new' (FORMAT parquet)")
        Path(f"{path}.new").replace(path)


@pytest.mark.parametrize("how", WHAT)
def test_a_damaged_file_is_named_and_the_others_are_answered(store, how):
    first, *others = (segment.path for segment in parquet_segments(store))
    rest = store.parent / "rest"
    for path in others:
        to = rest / path.relative_to(store)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    damage(first, how)
    with pytest.warns(DamagedFileWarning, match=WHAT[how]) as told:
        assert same(everything(store), everything(rest))
    assert all(str(first) in str(one.message) and "; try " in str(one.message) for one in told)
    (left,) = left_out(store)
    assert left["path"] == str(first)
    if first.is_dir():
        first.rmdir()
    else:
        first.unlink()
    assert left_out(store) == []


def test_every_command_goes_on_and_names_the_file(store, capfd, monkeypatch, utc):
    monkeypatch.setattr(options, "now_ns", lambda: START + 6 * 3600 * 10**9)
    damaged = parquet_segments(store)[0].path
    shutil.rmtree(store / "rollups")
    damage(damaged, "footer")
    for command in (
        ("slowdown", "--format", "json"),
        ("events", "--since", "2026-09-01", "--format", "json"),
        ("events", "--since", "2026-09-01", "--until", "2026-09-23"),
        ("export", "samples"),
        ("export", "windows"),
        ("compare", "2026-09-21T15:00..2026-09-21T16:00", "2026-09-21T16:00..2026-09-21T17:00"),
        (
            "report",
            "--since",
            "2026-09-21T14:00",
            "--until",
            "2026-09-21T18:00",
            "-o",
            str(store / "r.html"),
        ),
        ("slowdown",),
    ):
        code = run(*command, store=store)
        out, err = capfd.readouterr()
        assert (command, code) == (command, 0), err
        warned = [line for line in err.splitlines() if line.startswith("iosonde: warning: ")]
        assert len(warned) == 1, (command, err)
        assert str(damaged) in warned[0], command
        assert "Traceback" not in err
        if command[-1] == "json":
            assert [one["path"] for one in json.loads(out)["left_out"]] == [str(damaged)]


def test_a_flip_of_any_byte_is_seen(store):
    path = parquet_segments(store)[0].path
    data = path.read_bytes()
    assert checksum.wrong(path) == ""
    dice = np.random.default_rng(3)
    for place in dice.choice(len(data), 300, replace=False).tolist():
        path.write_bytes(
            data[:place] + bytes([data[place] ^ (1 << int(dice.integers(8)))]) + data[place + 1 :]
        )
        assert checksum.wrong(path), f"byte {place} of {len(data)}"


def test_a_name_like_the_mark_is_a_name(tmp_path):
    target = {"path": "/work", "name": "iosonde-crc32=00000000", "backend": "null"}
    simulated(tmp_path, 600, target=[target])
    (path,) = seal(tmp_path)
    assert checksum.wrong(path) == ""
    assert Store(tmp_path).count() == 3600


def test_files_of_earlier_versions_have_no_checksum_and_are_read(store):
    before = everything(store)
    for segment in parquet_segments(store):
        with duckdb.connect() as con:
            con.execute(
                f"COPY (FROM '{segment.path}') TO '{segment.path}.new' "
                "(FORMAT parquet, KV_METADATA {schema_version: '1'})"
            )
        Path(f"{segment.path}.new").replace(segment.path)
    assert same(before, everything(store))


def test_a_page_without_checksum_that_cannot_be_read_is_named_too(store):
    first = parquet_segments(store)[0].path
    with duckdb.connect() as con:
        con.execute(f"COPY (FROM '{first}') TO '{first}.new' (FORMAT parquet, COMPRESSION zstd)")
    data = bytearray(Path(f"{first}.new").read_bytes())
    Path(f"{first}.new").unlink()
    data[4:2000] = bytes(1996)
    first.write_bytes(bytes(data))
    with pytest.warns(DamagedFileWarning, match=f"{first.name} is damaged"):
        assert 0 < len(everything(store)) < 6 * 3 * 3600


def test_a_damaged_sealed_file_gives_way_to_its_segment(live):
    whole = everything(live)
    spool = {path: path.read_bytes() for path in live.glob("spool/*/*.spool")}
    damage(sorted(seal(live))[0], "cut")
    for path, data in spool.items():
        path.write_bytes(data)
    with pytest.warns(DamagedFileWarning):
        assert same(whole, everything(live))


def test_a_second_question_reads_no_byte_again(store, monkeypatch):
    read: list[Path] = []
    wrong = checksum.wrong
    monkeypatch.setattr(checksum, "wrong", lambda path: read.append(path) or wrong(path))
    Store(store).count()
    first = len(read)
    assert first >= 3
    Store(store).count(since_ns=START)
    assert len(read) == first


def test_mischief_of_every_kind_is_named_or_harmless():
    assert mischief.run(15, seed=11, tell=lambda _: None) == []
