from __future__ import annotations

from datetime import UTC

import pytest

from iosonde.model.errors import UnitError
from iosonde.model.phases import Phase, parse_phase, read_phases
from iosonde.model.units import parse_time

NOW = parse_time("2026-07-02T18:00", 0, UTC)
DAY = parse_time("2026-07-01T09:00", 0, UTC)


def at(text):
    return parse_time(text, NOW, UTC)


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("IOREasy 14:05-14:12", Phase("IOREasy", at("2026-07-01T14:05"), at("2026-07-01T14:12"))),
        (
            "MD hard write 9:05-14:12:30",
            Phase("MD hard write", at("2026-07-01T09:05"), at("2026-07-01T14:12:30")),
        ),
        (
            "a 2026-07-01T12:00-2026-07-02T13:00",
            Phase("a", at("2026-07-01T12:00"), at("2026-07-02T13:00")),
        ),
        (
            "a 2026-07-01T12:00..2026-07-01T13:00",
            Phase("a", at("2026-07-01T12:00"), at("2026-07-01T13:00")),
        ),
        ("a -2h--1h", Phase("a", at("-2h"), at("-1h"))),
        ("a @100-@200.5", Phase("a", 100_000_000_000, 200_500_000_000)),
        ("a\tb 14:05-14:06", Phase("a?b", at("2026-07-01T14:05"), at("2026-07-01T14:06"))),
    ],
)
def test_phases_as_people_write_them(text, phase):
    assert parse_phase(text, NOW, DAY, UTC) == phase


@pytest.mark.parametrize(
    "text", ["", "IOREasy", "14:05-14:12", "a 14:05", "a 14:05-", "a 25:00-26:00", "a b-c"]
)
def test_what_is_no_phase(text):
    with pytest.raises(UnitError, match="cannot read the"):
        parse_phase(text, NOW, DAY, UTC)


@pytest.mark.parametrize("text", ["a 14:05-14:05", "a 23:50-00:10"])
def test_a_phase_ends_after_it_begins(text):
    with pytest.raises(UnitError, match="ends before it begins"):
        parse_phase(text, NOW, DAY, UTC)


def test_phases_from_a_file():
    text = 'start, name ,end\n14:05,"IOR, easy",14:12\n\n@100,b,@200\n'
    first, second = read_phases(text, "p.csv", NOW, DAY, UTC)
    assert first == Phase("IOR, easy", at("2026-07-01T14:05"), at("2026-07-01T14:12"))
    assert second == Phase("b", 100 * 10**9, 200 * 10**9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "p.csv has no column end, name, start"),
        ("name,start\na,14:05\n", "p.csv has no column end"),
        ("name,start,end\na,14:05,14:06\nb,x,14:06\n", "p.csv, line 3: cannot read the time 'x'"),
        ("name,start,end\n,14:05,14:06\n", "p.csv, line 2: no name"),
        ("name,start,end\na,14:05\n", "p.csv, line 2: cannot read the time"),
        ("name,start,end\na,14:06,14:05\n", "line 2: a' ends before it begins"),
        ('name,start,end\n"a', "p.csv, line"),
        ("name,start,end\n" + "a,@1,@2\n" * 1001, "more than 1000 phases"),
    ],
)
def test_files_that_are_wrong_say_where(text, complaint):
    with pytest.raises(UnitError, match=complaint):
        read_phases(text, "p.csv", NOW, DAY, UTC)
