"""Sentences and cells of a self-test. A sentence has at most 25 words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iosonde.bench.selftest.effects import PhaseEffect
from iosonde.model.ops import op_word
from iosonde.model.phases import Phase
from iosonde.model.units import format_duration, format_factor, format_percent
from iosonde.weather.compare.ratios import short_ratio

MOST_WORDS = 25
_QUICKER = 0.7
_PART = 0.0995
"""Factor below which ``1/n`` is printed."""
EXPLAINED = (
    "slowdown of each operation's median against the quiet time before, with its interval; "
    "*: slow; h: slow because this host was busy; !: share of lost operations; n/a: too few samples"
)


def head(effects: Sequence[PhaseEffect]) -> tuple[str, ...]:
    """Names of the table's columns: phase, its length, the operations."""
    return ("phase", "took", *map(op_word, _ops(effects)))


def table_rows(effects: Sequence[PhaseEffect], phases: Sequence[Phase]) -> list[tuple[str, ...]]:
    """A line per phase, under ``head``."""
    by = {(one.phase, one.op): one for one in effects}
    return [
        (
            phase.name,
            format_duration(phase.end_ns - phase.start_ns),
            *(_cell(by.get((phase.name, op))) for op in _ops(effects)),
        )
        for phase in phases
    ]


def _cell(effect: PhaseEffect | None) -> str:
    if effect is None or not effect.n_due:
        return "n/a"
    if effect.verdict == "lost":
        share = format_percent(effect.lost)
        return f"{share} lost !" if effect.slowdown is None else f"{_ratio(effect)} {share}!"
    mark = {"slow": " *", "host": " h"}.get(effect.verdict, "")
    return _ratio(effect) + mark


def _ratio(effect: PhaseEffect) -> str:
    if effect.lower is None:
        return "n/a"
    lower, value, upper = (
        _short_factor(r or 0.0) for r in (effect.lower, effect.slowdown, effect.upper)
    )
    return f"{value}x ({lower}-{upper})"


def _short_factor(value: float) -> str:
    """``12``, ``1.4``, ``0.7``, ``1/54``."""
    return short_ratio(value) if value < _PART else format_factor(value)


def _ops(effects: Sequence[PhaseEffect]) -> list[str]:
    return list(dict.fromkeys(one.op for one in effects))


def say(target: str, effects: Sequence[PhaseEffect]) -> str:
    """Phases with the strongest effects, and the operations affected, in one sentence."""
    lost = [one for one in effects if one.verdict == "lost"]
    slow = sorted(
        (one for one in effects if one.verdict == "slow"), key=lambda one: -(one.slowdown or 0.0)
    )
    if not slow and not lost:
        return _nothing(target, effects)
    parts = []
    for phase in dict.fromkeys(one.phase for one in (*lost, *slow)):
        hurt = [f"{op_word(o.op)} (lost)" for o in lost if o.phase == phase]
        hurt += [
            f"{op_word(one.op)} {format_factor(one.slowdown)}x"
            for one in slow
            if one.phase == phase
        ]
        parts.append((phase, hurt))
    return _fitted(parts)


def _fitted(parts: Sequence[tuple[str, list[str]]]) -> str:
    """Phases and operations that fit into a sentence; the others are counted."""
    for named in range(len(parts), 0, -1):
        for most in (6, 3, 2, 1):
            said = [f"{phase} slowed {_join(hurt, most)}" for phase, hurt in parts[:named]]
            rest = len(parts) - named
            if rest:
                said.append(f"{rest} more phase{'s' if rest > 1 else ''} slowed some, too")
            text = "; ".join(said)
            if len(text.split()) <= MOST_WORDS:
                return text
    phase, hurt = parts[0]
    return f"{phase} slowed {_join(hurt, 1)}"


def _join(hurt: Sequence[str], most: int) -> str:
    more = len(hurt) - most
    named = list(hurt[:most]) + ([f"{more} more"] if more > 0 else [])
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + f" and {named[-1]}"


def _nothing(target: str, effects: Sequence[PhaseEffect]) -> str:
    known = [one for one in effects if one.verdict != "unknown"]
    if not known:
        return f"{target}: too few operations to say which phases slow which operations"
    if any(one.verdict == "host" for one in known):
        return f"{target}: operations were slower only while this host was busy, not proof of slow storage"
    return f"{target}: no phase slowed an operation of the probe for certain"


def cautions(effects: Sequence[PhaseEffect], processors: int, ranks: int) -> list[str]:
    """Cautions for the reader of the numbers."""
    found = []
    short = [p for p in dict.fromkeys(o.phase for o in effects) if _short(effects, p)]
    if short:
        found.append(
            f"{', '.join(short)}: too short for the probe; try a longer --limit with larger -b and -P"
        )
    if idle := [op_word(op) for op in _ops(effects) if _quicker(effects, op)]:
        found.append(
            f"{_join(idle, len(idle))}: slower in the quiet time than in the phases, as on an idle client; "
            "their slowdowns are understated"
        )
    if any(one.verdict == "host" for one in effects):
        found.append(
            "h: the ranks took the processors of this host; run the probe on another host to see the storage"
        )
    elif ranks >= processors:
        found.append(
            f"{ranks} ranks on {processors} processors: the probe may have waited for this host, not the storage"
        )
    return found


def _quicker(effects: Sequence[PhaseEffect], op: str) -> bool:
    """True if an op was clearly quicker in most phases than in the quiet time."""
    known = [one.upper for one in effects if one.op == op and one.upper is not None]
    return bool(known) and 2 * sum(upper < _QUICKER for upper in known) > len(known)


def _short(effects: Sequence[PhaseEffect], phase: str) -> bool:
    return all(one.verdict == "unknown" for one in effects if one.phase == phase)


def as_json(effects: Sequence[PhaseEffect], phases: Sequence[Phase]) -> list[dict[str, Any]]:
    """The effects as data, a row per phase and op."""
    spans = {phase.name: phase for phase in phases}
    return [
        {
            "phase": one.phase,
            "start_ns": spans[one.phase].start_ns,
            "end_ns": spans[one.phase].end_ns,
            **{
                name: getattr(one, name)
                for name in (
                    *("op", "n_due", "n", "median_ns", "slowdown", "lower", "upper", "lost"),
                    "verdict",
                )
            },
        }
        for one in effects
    ]
