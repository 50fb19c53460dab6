"""Findings on other probes of a target, their cost, and leftovers."""

from __future__ import annotations

from typing import Any

from iosonde.doctor.finding import Findings, size
from iosonde.model.units import DAY_NS, format_seconds

ALIVE_NS = 600 * 1_000_000_000
ABANDONED_NS = DAY_NS
OPS_A_PERIOD = 6
_NAMED = 5


def judge_others(
    found: Findings,
    facts: dict[str, Any],
    states: list[dict[str, Any]],
    own_states: list[dict[str, Any]],
    now_ns: int,
) -> None:
    """``states`` are other hosts' of the same path; a probe may show up in both lists, or in one."""
    others = facts.get("others", [])
    alive = [o for o in others if (_age(o, now_ns) or 0) <= ALIVE_NS and o.get("written_ns")]
    speaking = {str(s["host"]): s for s in states if s["running"] and _fresh(s, now_ns)}
    quiet = [o for o in alive if o["host"] not in speaking]
    hidden = facts.get("closed", [])
    count = len(speaking) + len(quiet)
    load = sum(map(_ops, speaking.values())) + sum(map(_ops, own_states[:1]))
    unknown = f"; the rates of {len(quiet)} are not in this store" if quiet else ""
    named = [*speaking, *(o["host"] for o in quiet)]
    facts_found = {
        "others": count,
        "hosts": named,
        "known_operations_per_second": round(load, 3),
        "hidden": hidden,
    }
    if count:
        says = (
            f"{count} other probes: {', '.join(named[:_NAMED])}{' ...' if count > _NAMED else ''}; "
            f"with this host's {load:g} operations/s{unknown}"
        )
        found.add("other-probes", "note", says, **facts_found)
    else:
        says = "no other host probes it"
        says += f"; this user may not look into {', '.join(hidden)}" if hidden else ""
        found.add("other-probes", "ok", says, **facts_found)
    _abandoned(found, others, now_ns)


def _abandoned(found: Findings, others: list[dict[str, Any]], now_ns: int) -> None:
    old = [o for o in others if (_age(o, now_ns) or 0) > ABANDONED_NS]
    if not old:
        found.add("abandoned-places", "ok", "nobody left a place behind", places=[])
        return
    held = sum(o.get("data_bytes") or 0 for o in old)
    oldest = format_seconds(max(_age(o, now_ns) or 0 for o in old))
    paths = [o["path"] for o in old]
    says = (
        f"{len(old)} places hold {size(held)} and were not written to for up to {oldest}: "
        f"{', '.join(paths[:_NAMED])}{' ...' if len(paths) > _NAMED else ''}"
    )
    found.add("abandoned-places", "note", says, places=paths, bytes=held)


def _age(other: dict[str, Any], now_ns: int) -> int | None:
    """Time since the last write, by the clock of the file system; None if unknown."""
    written = other.get("written_ns")
    return None if written is None else max(0, now_ns - int(written))


def _fresh(state: dict[str, Any], now_ns: int) -> bool:
    written = state["written_ns"]
    return written is not None and now_ns - written <= ALIVE_NS


def _ops(state: dict[str, Any]) -> float:
    period_ns = state["period_ns"]
    return OPS_A_PERIOD * 1e9 / period_ns if state["running"] and period_ns else 0.0
