"""The example notebook runs, finds what is planted in its data, and shows what is stored in it."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

import iosonde
from scripts.notebook import METADATA, executed, shown

EXAMPLES = Path(__file__).parents[2] / "examples"
STORED = EXAMPLES / "umami.ipynb"
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
    pictures = [[pixels(out) for out in cell.get("outputs", ())] for cell in stored.cells]
    assert pictures == [[pixels(out) for out in cell.get("outputs", ())] for cell in fresh.cells]


def test_the_storm_is_found_and_named(fresh):
    cells = shown(fresh)
    sentence, *evidence = cells["explain"].splitlines()
    assert re.match(r"job 10066 \(ior shared write on work\) was \d\d% slower than usual", sentence)
    assert re.search(r"opens 9\d{3}/s \(usual 3\d\d/s\)", sentence)
    assert "fullness" not in sentence
    assert any("as usual" in line and "fullness" in line for line in evidence)
    assert "day 33; the metadata storm was planted on day 33" in cells["end"]


def test_climate_and_the_turned_sign_are_found(fresh):
    cells = shown(fresh)
    fell, rose = cells["climate"].splitlines()[:2]
    assert "on work fell" in fell
    assert "on work rose" in rose
    assert "2026-02-27" in rose  # day 26, when files were deleted
    assert re.search(r"Pearson \+\d.* but -\d.*do not pool them", cells["correlate"])


def test_what_was_missing_is_counted(fresh):
    (row,) = re.findall(r"<td>work-2026-03-09.hdf5</td>(.*?)</tr>", shown(fresh)["import"], re.S)
    assert re.findall(r"<td>(.*?)</td>", row) == [
        "TOKIO TimeSeries",
        "0",
        "8280",
        "16",
        "negative-zero",
    ]


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


def pixels(out):
    """Width and height of a picture: its text may be drawn by another release of matplotlib."""
    png = out.get("data", {}).get("image/png")
    return png and base64.b64decode(png)[16:24]
