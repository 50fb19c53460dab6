"""Flags for wrong numbers of IOR and IO500: ``flags`` in ``parameters["reported"]`` of a phase's row."""

from __future__ import annotations

FLAGS: dict[str, str] = {
    "latency-wrong": "Latency(s) counts operations that nobody did; iosonde does not use it",
    "bandwidth-recomputed": "the bandwidth is not bytes over time; iosonde computes it from these",
    "ranks-equalised": "the data check made all ranks end together; their times show no slow rank",
    "clock-skew": "clocks of ranks differ; times count from each rank's begin",
    "equal-bytes-assumed": "no file says what each rank moved; the rates take it for equal",
    "stonewall-unit": "the rate at the time limit is in an older unit; iosonde converts it",
}
"""Flag -> explanation."""
