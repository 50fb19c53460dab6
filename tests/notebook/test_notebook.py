"""The example notebook runs, finds what is planted in its data, and shows what is stored in it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
from pathlib import Path

import nbformat
import pytest

import iosonde
from scripts.notebook import METADATA, executed, shown

EXAMPLES = Path(__file__).parents[2] / "examples"
STORED = EXAMPLES / "umami.ipynb"
PICTURES = 4
TRACES = re.compile(
    r"/tmp|/home|/root|/work/|/var/|\.venv|ipykernel|site-packages|login|Traceback|Warning"
)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The notebook, run in a copy of its folder."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("umami.ipynb", "simulated.py"):
        shutil.copy(EXAMPLES / name, folder)
    return executed(folder / "umami.ipynb", Path(iosonde.__file__).parents[1])


def test_what_is_stored_is_what_it_shows(fresh):
    stored = nbformat.read(STORED, as_version=4)
    assert shown(fresh) == shown(stored)
    before, now = ([sizes(cell) for cell in book.cells] for book in (stored, fresh))
    assert [list(map(bool, cell)) for cell in now] == [list(map(bool, cell)) for cell in before]
    apart = [
        abs(a - b)
        for x, y in zip(now, before, strict=True)
        for a, b in zip(sum(x, ()), sum(y, ()), strict=True)
    ]
    assert len(apart) == 2 * PICTURES
    assert max(apart) <= 3, (
        "cut to what is drawn, whose text another release of matplotlib may draw"
    )


def test_an_analyst_needs_one_import_of_ours():
    book = nbformat.read(STORED, as_version=4)
    code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    assert re.findall(r"^.*\biosonde\b.*import.*$|^import iosonde.*$", code, re.M) == [
        "import iosonde"
    ]
    assert "import iosonde\n" in code


def test_the_storm_is_found_and_named(fresh):
    cells = shown(fresh)
    assert re.match(r"<p><b>job 10066 ", cells["explain"])
    sentence, *evidence = re.findall(r"<(?:b|li)>(.*?)</(?:b|li)>", cells["explain"])
    assert re.match(r"job 10066 was \d\d% slower than usual", sentence)
    assert re.search(r"; new: max MDS CPU 7.* and opens 9\d{3}/s \(chance: 0.3 of 11\)", sentence)
    assert any(re.search(r"opens 9\d{3}/s \(usual 3\d\d/s\)", line) for line in evidence)
    assert "fullness" not in sentence
    assert any("as usual" in line and "fullness" in line for line in evidence)
    assert "day 33; the metadata storm was planted on day 33" in cells["end"]


def test_climate_and_the_turned_sign_are_found(fresh):
    cells = shown(fresh)
    fell, rose = re.findall(r"<li>(.*?)</li>", cells["climate"])[:2]
    assert "on work fell" in fell
    assert "on work rose" in rose
    assert "2026-02-27" in rose  # day 26, when files were deleted
    assert re.search(r"Pearson \+\d.* but -\d.*do not pool them", cells["correlate"])


def test_what_was_missing_is_counted(fresh):
    (row,) = re.findall(r">work-2026-03-09.hdf5</td>(.*?)</tr>", shown(fresh)["import"], re.S)
    kind, *counts, _, _, noticed = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert (kind, noticed) == ("TOKIO TimeSeries", "negative-zero")
    assert counts == ["0", "8280", "16", "8280"], "jobs, samples, missing, new"


def test_it_holds_no_trace_of_where_it_was_made():
    book = nbformat.read(STORED, as_version=4)
    assert book.metadata == METADATA
    for cell in book.cells:
        assert set(cell.metadata) == set(), cell.id
        for out in cell.get("outputs", ()):
            assert out.get("name") != "stderr"
            texts = {
                kind: data for kind, data in out.get("data", {}).items() if kind != "image/png"
            }
            assert not TRACES.search(json.dumps([texts, out.get("text", "")])), cell.id
            png = out.get("data", {}).get("image/png")
            assert png is None or not TRACES.search(base64.b64decode(png).decode("latin-1"))
    assert STORED.stat().st_size < 400_000


def sizes(cell):
    """Width and height of each picture; () where an output is none."""
    pictures = (out.get("data", {}).get("image/png") for out in cell.get("outputs", ()))
    return [(png and struct.unpack(">II", base64.b64decode(png)[16:24])) or () for png in pictures]
