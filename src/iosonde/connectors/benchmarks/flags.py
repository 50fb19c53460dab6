"""Flags for contradictions and wrong numbers of benchmarks: in ``parameters["reported"]["flags"]`` of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from iosonde.model.runs import RunRow

FLAGS: dict[str, str] = {
    "latency-wrong": "Latency(s) counts operations that nobody did; iosonde does not use it",
    "bandwidth-recomputed": "the bandwidth is not bytes over time; iosonde computes it from these",
    "ranks-equalised": "the data check made all ranks end together; their times show no slow rank",
    "clock-skew": "clocks of ranks differ; times count from each rank's begin",
    "equal-bytes-assumed": "no file says what each rank moved; the rates take it for equal",
    "stonewall-unit": "the rate at the time limit is in an older unit; iosonde converts it",
    "count-recomputed": "the count is not rate times time; iosonde computes it from these",
    "rate-recomputed": "the rate is not operations over time; iosonde computes it from these",
    "score-differs": "the result and the phase's own text give different rates; iosonde takes the text's",
    "longer-than-phase": "the text gives a longer time than the result gives the whole phase",
}
"""Flag -> explanation."""
DIFFERS = 0.02
"""Tolerance between printed numbers that should be equal: times and rates have few digits."""
_SHOWN = 4


def with_flags(reported: dict[str, Any], flags: Iterable[str]) -> dict[str, Any]:
    """``reported`` with flags added to its own."""
    found = sorted({*reported.get("flags", ()), *flags})
    return {**reported, "flags": found} if found else reported


def with_own_rate(row: RunRow) -> RunRow:
    """A row whose rate is its operations over its time: a printed one that differs is kept in ``reported``."""
    if not (row.ops and row.duration_ns and row.rate_per_s):
        return row
    own = row.ops / (row.duration_ns / 1e9)
    if abs(own / row.rate_per_s - 1) <= DIFFERS:
        return row
    reported = dict(row.parameters.get("reported", {}))
    reported["printed_rate_per_s"] = row.rate_per_s
    reported = with_flags(reported, ["rate-recomputed"])
    return replace(row, rate_per_s=own, parameters={**row.parameters, "reported": reported})


def flag_lines(rows: Iterable[RunRow], but: Iterable[str] = ()) -> list[str]:
    """A line per flag with the phases that have it, for people; flags in ``but`` are told elsewhere."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for flag in row.parameters.get("reported", {}).get("flags", ()):
            found.setdefault(flag, {})[f"{row.phase} {row.repetition}"] = None
    return [
        f"{', '.join([*phases][:_SHOWN])}{', ...' if len(phases) > _SHOWN else ''}: {FLAGS[flag]}"
        for flag, phases in found.items()
        if flag not in but
    ]
