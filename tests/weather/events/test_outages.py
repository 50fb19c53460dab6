"""Outages of one piece: apart where all that was due between them came in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from iosonde.model.frames import NULL_NS
from iosonde.weather.events.pieces.outages import outages
from iosonde.weather.events.pieces.piece import SlowPiece
from iosonde.weather.events.pieces.series import JudgedSeries
from iosonde.weather.events.slow_intervals import OpWindows
from iosonde.weather.samples.operations import FAILED, IN_TIME, Operations

SECOND, WINDOWS = 1_000_000_000, 20
SECONDS = WINDOWS * 60


def rows(lost: Sequence[range]) -> Operations:
    """An operation a second; those of some seconds failed."""
    due = np.arange(SECONDS, dtype=np.int64) * SECOND
    fate = np.full(SECONDS, IN_TIME)
    for part in lost:
        fate[part] = FAILED
    ended = np.where(fate == FAILED, NULL_NS, due + 1_000_000)
    return Operations(due, due, ended, fate, np.zeros(SECONDS, dtype=np.int64))


def series(typ: float = 1.0, busy: bool = False) -> JudgedSeries:
    """Windows of a minute; one, of minute 6, has another factor, or a busy host."""
    typical, hidden = np.ones(WINDOWS), np.zeros(WINDOWS, dtype=bool)
    typical[6], hidden[6] = typ, busy
    start = np.arange(WINDOWS, dtype=np.int64) * 60 * SECOND
    none = np.zeros(WINDOWS)
    return JudgedSeries(
        OpWindows(start, typical, np.ones(WINDOWS), none, none.astype(np.int64)), hidden
    )


def piece(typ: float = 1.0) -> SlowPiece:
    """It lasts from second 100 to 900 and goes on."""
    return SlowPiece("md_stat", 100 * SECOND, 900 * SECOND, True, typ, n=800)


TWICE = rows([range(100, 180), range(600, 900)])


def spans(found: Sequence[SlowPiece]) -> list[tuple[int, int, bool]]:
    """Begin and end in seconds, and whether it goes on."""
    return [(one.begin_ns // SECOND, one.end_ns // SECOND, one.open) for one in found]


@pytest.mark.parametrize("busy", [False, True])
def test_two_outages_are_two_pieces(busy: bool) -> None:
    found = outages(piece(), series(30.0 if busy else 1.0, busy), TWICE)
    assert spans(found) == [(100, 180, False), (600, 900, True)]
    assert [one.n for one in found] == [80, 300]
    assert np.isnan([one.typ for one in found]).all()


@pytest.mark.parametrize(
    ("of", "judged", "samples"),
    [
        (piece(), series(typ=2.0), TWICE),  # what came back between them was slow
        (piece(typ=4.0), series(), TWICE),  # it is a slow stretch, with losses
        (piece(), series(), rows([range(100, 180), range(300, 900)])),  # two minutes apart
        (piece(), series(), rows([range(100, 103), range(897, 900)])),  # losses so few may pause
        (piece(), series(), rows([])),
    ],
    ids=["slow between", "slow", "near", "few", "none"],
)
def test_all_else_is_one(of: SlowPiece, judged: JudgedSeries, samples: Operations) -> None:
    found = outages(of, judged, samples)
    assert spans(found) == spans([of])
