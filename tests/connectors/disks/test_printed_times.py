"""Times of iostat in several locales."""

from datetime import UTC, datetime

import pytest

from iosonde.connectors.disks.printed_times import DayOrder, stamp

MOMENT = datetime(2026, 11, 8, 13, 32, 25)  # noqa: DTZ001 - clock times of a locale
TIMES = {
    "2026-11-08T13:32:25": MOMENT,
    "2026-11-08T13:32:25+0100": MOMENT.replace(tzinfo=UTC).replace(hour=12),
    "2026-11-08 13:32:25": MOMENT,
    "11/08/2026 01:32:25 PM": MOMENT,
    "08.11.2026 13:32:25": MOMENT,
    "08-11-26 13:32:25": MOMENT,
    "2026年11月08日 13時32分25秒": MOMENT,
    "11/08/2026 12:32:25 AM": MOMENT.replace(hour=0),
}


@pytest.mark.parametrize(("text", "moment"), TIMES.items())
def test_times_of_locales(text: str, moment: datetime) -> None:
    found = stamp(text)
    assert found is not None
    assert found.moment(DayOrder(()).of(found)) == moment


@pytest.mark.parametrize("text", ["", "vda", "12.5", "1/2", "0.50 0.00 0.25", "13:32:25", "x" * 99])
def test_what_is_no_time(text: str) -> None:
    assert stamp(text) is None
