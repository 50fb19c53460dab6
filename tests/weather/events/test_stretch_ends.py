"""A stretch in which every operation fails ends with the last of them, not with the first."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.frames import NULL_NS
from iosonde.model.slowdown import Q50, VERSION_WIDTH
from iosonde.weather.events.pieces.stretch import stretch
from iosonde.weather.samples.operations import FAILED, IN_TIME, Operations

SECOND = 1_000_000_000


@pytest.mark.parametrize("last", [549, 599])
def test_failures_in_a_row_last_to_the_last_of_them(last: int) -> None:
    version = np.full(VERSION_WIDTH, np.nan)
    version[[Q50, 14, 18, 19]] = 1e6, 1.2e6, 1.6e6, 2e6
    due = np.arange(600, dtype=np.int64) * SECOND
    fate = np.full(600, IN_TIME)
    fate[400 : last + 1] = FAILED
    ended = np.where(fate == FAILED, NULL_NS, due + 1_000_000)
    rows = Operations(due, due, ended, fate, np.zeros(600, dtype=np.int64))
    found = stretch(rows, version, (300 * SECOND, 500 * SECOND), (420 * SECOND, due[-1]), 1.0)
    assert found is not None
    piece, place, _ = found
    assert place == last
    assert abs(piece.begin_ns - 400 * SECOND) <= SECOND
    assert piece.end_ns >= due[last]
