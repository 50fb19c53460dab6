"""UTC dates and months in names of folders and files of the store."""

from __future__ import annotations

from datetime import UTC, datetime


def begin_of(date: str) -> int:
    """Start of a UTC date (ns)."""
    return int(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp()) * 1_000_000_000


def utc_date(ns: int) -> str:
    """The UTC date of an instant, YYYY-MM-DD."""
    return datetime.fromtimestamp(ns // 1_000_000_000, tz=UTC).strftime("%Y-%m-%d")


def utc_month(ns: int) -> str:
    """The UTC month of an instant, YYYY-MM."""
    return utc_date(ns)[:7]
