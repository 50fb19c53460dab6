"""What a door says of a target, op and host, reduced to one tuple."""

from __future__ import annotations

from typing import Any, NamedTuple

from iosonde.model.ops import SECOND_NS

VERDICTS = {
    **{name: name for name in ("usual", "host_busy", "slow", "partly_slow", "lost")},
    "hung": "hang",
    "hang": "hang",
    "failing": "lost",
}
REASONS = {
    "learning": "learning",
    "few": "few_operations",
    "stopped": "no_probe",
    "stale": "no_probe",
    "damaged": "damaged",
}
"""Findings that judge nothing, by the reason."""


class Said(NamedTuple):
    """What a door says of its worst target. ``...``: this door does not carry it.

    ``begin_s``, ``end_s``: whole seconds, UTC; None: no begin is known, it goes on. ``reason``: why nothing was judged.
    """

    verdict: Any
    begin_s: Any = ...
    end_s: Any = ...
    op: Any = ...
    factor: Any = ...
    lower: Any = ...
    upper: Any = ...
    reason: Any = None

    def contradicts(self, other: Said) -> list[str]:
        """Fields that both carry, and that differ."""
        pairs = zip(self._fields, self, other, strict=True)
        return [name for name, one, two in pairs if ... not in (one, two) and not _same(one, two)]


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= 1e-9 * max(abs(one), abs(two))
    return bool(one == two)


def second(ns: int | None) -> int | None:
    return None if ns is None else ns // SECOND_NS


def of_finding(one: dict[str, Any]) -> Said:
    """A finding of ``now``, Python or the page."""
    kind = one["kind"]
    if kind in REASONS:
        return Said("not_judged", reason=REASONS[kind])
    ops = one.get("ops")
    if kind == "slow" and ops and ops[0]["partly"]:
        return Said("partly_slow", second(ops[0]["since_ns"]), None, ops[0]["op"])
    if kind == "failing" and ops:
        return Said(VERDICTS[kind], second(ops[0]["since_ns"]), None, ops[0]["op"])
    if kind != "slow" or not ops:
        return Said(VERDICTS[kind], end_s=... if kind == "usual" else None)
    worst = ops[0]
    numbers = (worst["slowdown"], worst["lower"], worst["upper"])
    return Said("slow", second(worst["since_ns"]), None, worst["op"], *numbers)


def of_event(event: dict[str, Any]) -> Said:
    """An event, by its worst op."""
    share = next((one for one in event["ops"] if one["op"] == event["op"]), None)
    begin = event["start_ns"] if share is None else share["start_ns"] or event["start_ns"]
    end = event["end_ns"] if share is None else share["end_ns"] or event["end_ns"]
    if event["end_ns"] is None and end == event["seen_until_ns"]:
        end = None
    if event["kind"] == "slow" and share is not None:
        numbers = (share["median"], share["lower"], share["upper"])
        return Said("slow", second(begin), second(end), event["op"], *numbers)
    return Said(event["kind"], second(begin), second(end), event["op"])


def of_hang(one: dict[str, Any]) -> Said:
    """A hang that an agent noted."""
    return Said("hang", second(one["began_ns"]), second(one["ended_ns"]), one["op"])


def of_span(one: dict[str, Any], op: str, lower: str, upper: str) -> Said:
    goes_on = one["ongoing"] or one["unknown_since_ns"] is not None
    ends = (second(one["start_ns"]), None if goes_on else second(one["end_ns"]))
    return Said("slow", *ends, op, one["slowdown"], one[lower], one[upper])


def vars_of(one: Any) -> dict[str, Any]:
    """The fields of a value; of values in a tuple, too."""
    flat: dict[str, Any] = one._asdict() if hasattr(one, "_asdict") else dict(vars(one))
    if "ops" in flat:
        flat["ops"] = [vars_of(part) for part in flat["ops"]]
    return flat
