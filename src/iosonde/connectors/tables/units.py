"""Units of table columns, and factors to the unit in a metric's name."""

from __future__ import annotations

_SIZES = {
    "B": 1.0,
    "bytes": 1.0,
    **{f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGTP", 1)},
    **{f"{prefix}B": 1000.0**power for power, prefix in enumerate("KMGTP", 1)},
    "kB": 1000.0,
}
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
UNITS: dict[str, tuple[str, float]] = {
    **{name: ("bytes", factor) for name, factor in _SIZES.items()},
    **{f"{name}/s": ("bytes/s", factor) for name, factor in _SIZES.items()},
    **{name: ("s", factor) for name, factor in _TIMES.items()},
    "percent": ("percent", 1.0),
    "%": ("percent", 1.0),
    "ratio": ("ratio", 1.0),
    "count": ("count", 1.0),
    "operations": ("count", 1.0),
    "operations/s": ("count/s", 1.0),
    "hops": ("count", 1.0),
}
"""Unit -> (base unit, factor)."""
_ENDINGS = {
    "_bytes_per_s": "bytes/s",
    "_per_s": "count/s",
    "_bytes": "bytes",
    "_s": "s",
    "_percent": "percent",
    "_ratio": "ratio",
}
_SHARES = {("percent", "ratio"): 0.01, ("ratio", "percent"): 100.0}


def unit_of(metric: str) -> str:
    """Unit suffix of a metric's name; "" if it has none that can be converted."""
    return next((unit for ending, unit in _ENDINGS.items() if metric.endswith(ending)), "")


def factor(unit: str, metric: str) -> float:
    """Factor that converts numbers in ``unit``. Raises ValueError: unknown, or another dimension."""
    if unit not in UNITS:
        raise ValueError(f"there is no unit {unit!r}")
    measures, times = UNITS[unit]
    wanted = unit_of(metric)
    if not wanted or measures == wanted:
        return times if wanted else 1.0
    if (measures, wanted) in _SHARES:
        return times * _SHARES[measures, wanted]
    raise ValueError(f"{unit} is not {wanted}, which the metric's name ends with")
