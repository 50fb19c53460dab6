"""Readings in any order become the same deltas; what passed is neither lost nor made."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.wall_times import WallTimes
from tests.kit.records.connected import sound

KEY = ComponentSeries("fs", "client", "read_bytes", "a")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_deltas_add_up_whatever_the_order(steps: list[int], shuffled: object) -> None:
    readings = [(n, int(total)) for n, total in enumerate(np.cumsum(steps).tolist())]
    getattr(shuffled, "shuffle")(readings)  # noqa: B009 - hypothesis' type is not Random
    held = Gather("x")
    for second, value in readings:
        held.counter(KEY, second, value)
    (block,) = held.rest()
    sound(block)
    assert block.value.sum() == sum(steps[1:])
    assert block.value.ravel().tolist() == steps[1:]


@settings(max_examples=60, deadline=None)
@given(st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)))  # noqa: DTZ001 - naive is what is asked
def test_wall_times_are_what_zoneinfo_says(moment: datetime) -> None:
    zone = ZoneInfo("Europe/Berlin")
    moment = moment.replace(fold=0)  # a text cannot say which of the two it means
    found = WallTimes(zone).ns(moment)
    expected = moment.replace(tzinfo=zone).astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert found == expected // timedelta(microseconds=1) * 1000


def test_a_year_of_hours_goes_on_over_both_changes_of_clocks() -> None:
    zone = ZoneInfo("America/New_York")
    clock = WallTimes(zone, ascending=True)
    instants = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(8760)]
    read = [clock.ns(instant.astimezone(zone).replace(tzinfo=None, fold=0)) for instant in instants]
    assert read == [round(instant.timestamp()) * 10**9 for instant in instants]
    assert clock.ambiguous == 2
