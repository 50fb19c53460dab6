from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.model import units
from iosonde.model.errors import UnitError

CEST = timezone(timedelta(hours=2))
NOW = 1_790_000_000_000_000_000  # 2026-09-21 14:13:20 UTC


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1s", 10**9),
        ("500ms", 5 * 10**8),
        ("100us", 10**5),
        ("100µs", 10**5),
        ("7ns", 7),
        ("2h30m", 9000 * 10**9),
        ("7d", 7 * 86400 * 10**9),
        ("1w", 7 * 86400 * 10**9),
        ("60", 60 * 10**9),
        ("0.25", 250_000_000),
        ("1.5s", 1_500_000_000),
        ("0", 0),
    ],
)
def test_durations(text, ns):
    assert units.parse_duration(text) == ns


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            ("1min", 60 * 10**9),
            ("2h30min", 9000 * 10**9),
            ("1e3", 1000 * 10**9),
            ("1.5E-3", 1_500_000),
        ),
        *(
            (".5s", 500_000_000),
            ("5.s", 5 * 10**9),
            ("+5", 5 * 10**9),
            ("5.", 5 * 10**9),
            ("1µs", 1000),
        ),
    ],
)
def test_durations_that_the_core_reads(text, value):
    """The table of ``rust/core/src/units.rs`` and what its grammar allows beyond."""
    assert units.parse_duration(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("7b", 7), ("1.5K", 1536), (".5k", 512), ("5.k", 5120), ("1_0k", 10240)]
)
def test_sizes_that_the_core_reads(text, value):
    assert units.parse_size(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "1x",
        "-1s",
        "1 s 2",
        "1s2",
        "0.5ns",
        "1mo",
        "1e400",
        "nan",
        "inf",
        "300y",
        "1h.5",
        "1e-99999999",
        "300000w",
    ],
)
def test_what_is_no_duration(text):
    with pytest.raises(UnitError):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("3901", 3901),
        ("1k", 1024),
        ("64K", 65536),
        ("1M", 1 << 20),
        ("1MiB", 1 << 20),
        ("1 GiB", 1 << 30),
        ("200GB", 200 * 10**9),
        ("1kB", 1000),
        ("1_000", 1000),
        ("1.5KiB", 1536),
        ("7B", 7),
        ("1t", 1 << 40),
    ],
)
def test_sizes(text, size):
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["1mi", "1Mi", "-1", "", "M", "0.5", "1e3", "9000000t", "1Mb", "1 M B", "1x"]
)
def test_what_is_no_size(text):
    with pytest.raises(UnitError) as caught:
        units.parse_size(text)
    assert "expected" in str(caught.value) or "whole number" in str(caught.value)


def test_the_ambiguous_suffix_gets_a_suggestion():
    with pytest.raises(UnitError, match="try 1MiB"):
        units.parse_size("1mi")


@given(st.integers(0, 10**18))
def test_options_are_read_back_exactly(ns):
    assert units.parse_duration(units.format_option(ns)) == ns


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "n/a"),
        (float("nan"), "n/a"),
        (0, "0 ns"),
        (999, "999 ns"),
        (999.7, "1.00 us"),
        (12_345, "12.3 us"),
        (412_000_000, "412 ms"),
        (999_960_000, "1.00 s"),
        (1_200_000_000, "1.20 s"),
        (119_900_000_000, "120 s"),
        (150_000_000_000, "2 min 30 s"),
        (9_000_000_000_000, "2 h 30 min"),
        (7 * 86_400_000_000_000, "7 d"),
        (-5_000_000, "-5.00 ms"),
    ],
)
def test_durations_for_people(ns, text):
    assert units.format_duration(ns) == text


def test_ages_are_whole_seconds():
    texts = [units.format_seconds(s * 10**9) for s in (0.9, 12.7, 119, 125)]
    assert texts == ["0 s", "12 s", "119 s", "2 min 5 s"]


def test_factors_have_two_digits():
    factors = (1.04, 3.14, 9.94, 9.96, 27.3, None, float("nan"))
    texts = ["1.0", "3.1", "9.9", "10", "27", "n/a", "n/a"]
    assert [units.format_factor(x) for x in factors] == texts


@pytest.mark.parametrize(
    ("text", "offset_s"),
    [
        ("now", 0),
        ("-2h", -7200),
        ("+1m", 60),
        ("@1790000000", 0),
        ("@1790000000.5", 0.5),
        ("2026-09-21T14:13:20Z", 0),
        ("2026-09-21T16:13:20+02:00", 0),
        ("2026-09-21T16:13:20", 0),
        ("16:13", -20),
        ("16:13:20", 0),
        ("6:13", -20 - 10 * 3600),
        ("today", -(16 * 3600 + 13 * 60 + 20)),
        ("yesterday", -(40 * 3600 + 13 * 60 + 20)),
        ("2026-09-21", -(16 * 3600 + 13 * 60 + 20)),
    ],
)
def test_times(text, offset_s):
    assert units.parse_time(text, NOW, CEST) == NOW + int(offset_s * 10**9)


@pytest.mark.parametrize("text", ["", "soon", "25:00", "2026-13-01", "-2", "--2h", "-"])
def test_what_is_no_time(text):
    if text == "-2":  # a bare number is seconds
        assert units.parse_time(text, NOW) == NOW - 2 * 10**9
        return
    with pytest.raises(UnitError):
        units.parse_time(text, NOW, CEST)


def test_times_for_people_carry_the_date_when_not_today():
    assert units.format_time(NOW, NOW, CEST) == "16:13"
    assert units.format_time(NOW, NOW, CEST, seconds=True) == "16:13:20"
    assert units.format_time(NOW, NOW + 86_400 * 10**9, UTC) == "2026-09-21 14:13"


def test_slowdowns_carry_their_interval():
    assert units.format_slowdown(None, None, None) == "n/a"
    assert units.format_slowdown(2.0, None, None) == "2.0x"
    assert units.format_slowdown(12.4, 9.96, 15.0) == "12x (10-15)"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.0002, "0.02%"),
        (0.0996, "10%"),
        (0.36, "36%"),
        (1.0, "100%"),
        (-0.025, "-2.5%"),
        (float("nan"), "n/a"),
    ],
)
def test_percent_has_no_blank(share, text):
    assert units.format_percent(share) == text
