"""The agent's metrics as panels need them: their words, units and labels, from schema/metrics/agent.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

SCHEMA = Path(__file__).resolve().parents[2] / "schema/metrics/agent.toml"
_UNITS = {"seconds": "s", "bytes": "bytes"}
_SHARES = ("iosonde_lost_ratio", "iosonde_budget_cpu_ratio")
"""Ratios of a whole; others are factors."""
_RATES = {"s": "percentunit", "bytes": "binBps", "short": "ops"}
"""What a counter's rate counts in: seconds a second are a share."""


class Metric(NamedTuple):
    """A metric of the agent. ``unit``: as Grafana names it."""

    name: str
    kind: str
    unit: str
    labels: tuple[str, ...]
    description: str

    @property
    def rate_unit(self) -> str:
        """The unit of its rate."""
        return _RATES[self.unit]


def _unit(name: str, unit: str | None) -> str:
    if name in _SHARES:
        return "percentunit"
    if name.endswith("_timestamp_seconds"):
        return "dateTimeFromNow"
    return _UNITS.get(unit or "", "none" if unit == "ratio" else "short")


def read(path: Path = SCHEMA) -> dict[str, Metric]:
    """Every metric by name."""
    with path.open("rb") as file:
        rows = tomllib.load(file)["metric"]
    return {
        row["name"]: Metric(
            *(row["name"], row["kind"], _unit(row["name"], row.get("unit"))),
            *(tuple(row["labels"]), row["description"]),
        )
        for row in rows
    }
