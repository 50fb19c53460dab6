"""``iosonde.simulate``: the numbers of the command, tables, a picture, and what is said when a field is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iosonde
from iosonde.model.errors import InputFileError, UsageError

FIGURES = Path(__file__).parents[2] / "examples" / "queue"


def test_a_figure_is_simulated_and_drawn(tmp_path):
    found = iosonde.simulate(FIGURES / "figure-1.toml", {"order": "fixed"})
    assert len(found.clients) == len(found.data.clients)
    assert found.lines
    assert repr(found).splitlines()[0] == found.lines[0]
    assert set(found.columns) == set(found.data.traces.columns)
    assert np.array_equal(found.reads.columns["due_tick"], found.data.reads["due_tick"])
    assert found.plot(dark=True).get_size_inches()[0] == pytest.approx(8)
    found.save(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_a_shorter_queue_shortens_the_longest_read():
    full, short = (
        iosonde.simulate(FIGURES / "figure-5.toml", {"storage.queue": queue, "seed": 3})
        for queue in (500, 5)
    )
    longest = [
        np.max(found.data.reads["ended_tick"] - found.data.reads["due_tick"])
        for found in (full, short)
    ]
    assert longest[1] < longest[0] / 2, longest


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(UsageError, match="queue"):
        iosonde.simulate(FIGURES / "figure-5.toml", {"storage.queue": -1})
    with pytest.raises(InputFileError, match="absent"):
        iosonde.simulate(tmp_path / "absent.toml")
