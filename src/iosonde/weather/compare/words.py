"""What a comparison amounts to: a verdict an op as data, and its sentence.

::

    same             every quantile up to q95 lies within the margin, shown by an equivalence test
    slower, faster   some quantile differs, by a test that holds for all ops and quantiles together
    not enough data  neither: the samples cannot tell; ``smallest`` says what they could have seen

``same`` is asked first: with many samples a difference of 1 % is certain and still within a margin of 20 %.
When quantiles moved both ways the verdict is that of the clearest one, and ``against`` names the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.model.ops import op_word
from iosonde.model.units import format_option

if TYPE_CHECKING:
    from iosonde.weather.compare.compare import Compared, OpShift, SideOfOp

MARGIN = 1.2
"""Ratios from 1/1.2 to 1.2 count as the same unless another margin is asked for."""
_ALPHA = 0.05
_SAME_UP_TO = 0.95
"""q99 need not be shown to be the same: no hour of samples could."""
_LOST_MATTERS = 0.01
"""A difference in the share of late and lost operations that a sentence tells of."""
_OTHER_SIZE = 1.2
"""A quantile that moved the other way is named from this ratio on."""


class LevelVerdict(NamedTuple):
    """One quantile: b / a with its 95 % interval; None = too few samples.

    ``p_value`` is adjusted over ops and quantiles; ``smallest`` would have been found in 80 % of cases.
    """

    level: float
    ratio: float | None
    lower: float | None
    upper: float | None
    smallest: float | None
    p_value: float | None
    changed: bool
    quantile_a_ns: float | None
    quantile_b_ns: float | None
    effective_a: float | None
    effective_b: float | None


@dataclass(frozen=True)
class OpComparison:
    """The verdict of one op. ``clearest`` is the quantile it rests on; None where nothing is known."""

    op: str
    verdict: str
    p_value: float | None
    clearest: LevelVerdict | None
    against: tuple[LevelVerdict, ...]
    levels: tuple[LevelVerdict, ...]
    a: SideOfOp
    b: SideOfOp
    basis: str
    hours: tuple[int, int, int]
    """Hours in both, in a, in b."""
    used: tuple[float, float]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "op": self.op,
            "verdict": self.verdict,
            "p_value": self.p_value,
            "clearest": None if self.clearest is None else self.clearest.level,
            "against": [level.level for level in self.against],
            "quantiles": [level._asdict() for level in self.levels],
            "a": _side_json(self.a, self.used[0]),
            "b": _side_json(self.b, self.used[1]),
            "matched": dict(zip(("both", "a", "b"), self.hours, strict=True))
            | {"basis": self.basis},
            "notes": list(self.notes),
        }


def judge(compared: Compared, margin: float = MARGIN) -> list[OpComparison]:
    """The verdict of every op, in their order. ``margin`` > 1: the ratio up to which things are the same."""
    return [_judge(op, compared.levels, margin) for op in compared.ops]


def _judge(op: OpShift, levels: tuple[float, ...], margin: float) -> OpComparison:
    found = tuple(_level(op, place, level) for place, level in enumerate(levels))
    known = [level for level in found if level.ratio is not None]
    verdict = "not enough data"
    clearest: LevelVerdict | None = None
    against: tuple[LevelVerdict, ...] = ()
    if known:
        clearest = min(known, key=lambda level: (level.p_value or 0.0, abs(level.level - 0.5)))
        if _same(op, levels, margin):
            verdict, clearest = "same", min(known, key=lambda level: abs(level.level - 0.5))
        elif op.p_value <= _ALPHA:
            up = (clearest.ratio or 0.0) > 1
            verdict = "slower" if up else "faster"
            against = tuple(level for level in known if _opposed(level, up))
    return OpComparison(
        op.op,
        verdict,
        _number(op.p_value),
        clearest,
        against,
        found,
        op.a,
        op.b,
        op.matching.basis,
        (op.matching.hours, op.matching.hours_a, op.matching.hours_b),
        (op.matching.used_a, op.matching.used_b),
        tuple(_notes(op)),
    )


def _same(op: OpShift, levels: tuple[float, ...], margin: float) -> bool:
    asked = np.array(levels) <= _SAME_UP_TO
    lower, upper = op.shift.same_lower[asked], op.shift.same_upper[asked]
    return bool(((lower >= 1 / margin) & (upper <= margin)).all())


def _opposed(level: LevelVerdict, up: bool) -> bool:
    if not level.changed or level.ratio is None:
        return False
    return level.ratio <= 1 / _OTHER_SIZE if up else level.ratio >= _OTHER_SIZE


def _level(op: OpShift, place: int, level: float) -> LevelVerdict:
    got = op.shift
    bounds = (got.lower[place], got.upper[place])
    whole = not np.isnan(bounds).any()
    adjusted = _number(op.adjusted[place]) if whole else None
    return LevelVerdict(
        level,
        _number(got.ratio[place]) if whole else None,
        _number(bounds[0]) if whole else None,
        _number(bounds[1]) if whole else None,
        _number(got.smallest[place]),
        adjusted,
        adjusted is not None and adjusted <= _ALPHA,
        _number(got.quantile_a[place]),
        _number(got.quantile_b[place]),
        _number(got.effective_a[place]),
        _number(got.effective_b[place]),
    )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _side_json(side: SideOfOp, used: float) -> dict[str, Any]:
    return {
        "n_due": side.n_due,
        "n": side.n,
        "n_lost": side.n_lost,
        "n_used": side.used,
        "share_used": used,
        "span_s": side.span_s,
        "hosts": list(side.hosts),
        "periods_ns": list(side.periods_ns),
    }


def _notes(op: OpShift) -> list[str]:
    """What a reader has to know before believing the verdict."""
    notes, matching = [], op.matching
    if matching.basis == "none":
        notes.append("the sides share too few hours of the day: a daily pattern is not removed")
    elif matching.basis == "hour of day":
        notes.append("the same hours of the day are compared, but not the same days of the week")
    if min(matching.used_a, matching.used_b) < 1:
        part = f"{matching.used_a:.0%} of A and {matching.used_b:.0%} of B"
        notes.append(f"only {part} have a counterpart and are used")
    if not set(op.a.periods_ns) & set(op.b.periods_ns):
        periods = " and ".join(
            "/".join(format_option(ns) if ns else "no schedule" for ns in side.periods_ns)
            for side in (op.a, op.b)
        )
        notes.append(f"the periods differ ({periods}): an idle client answers slower")
    if not set(op.a.hosts) & set(op.b.hosts):
        notes.append("seen from different hosts: their clients are compared too")
    if max(_lost(op.a), _lost(op.b)) > 0.01:
        notes.append(f"late or lost: {_lost(op.a):.1%} of A, {_lost(op.b):.1%} of B")
    return notes


def _lost(side: SideOfOp) -> float:
    return side.n_lost / side.n_due if side.n_due else 0.0


def say_comparison(found: OpComparison, margin: float = MARGIN) -> str:
    """One line without a full stop: B as seen from A."""
    text = _SAY[found.verdict](found, margin)
    lost = _lost(found.a), _lost(found.b)
    if abs(lost[0] - lost[1]) > _LOST_MATTERS:
        text += f"; {lost[1]:.1%} of B were late or lost, {lost[0]:.1%} of A"
    return text


def _say_same(found: OpComparison, margin: float) -> str:
    word = op_word(found.op)
    return f"{word} are the same in B as in A: no quantile up to q95 differs by more than {margin - 1:.0%}"


def _say_unknown(found: OpComparison, _margin: float) -> str:
    return f"{op_word(found.op)}: not enough data to tell{_could_see(found)}"


def _say_moved(found: OpComparison, _margin: float) -> str:
    assert found.clearest is not None
    clearest = f"{level_name(found.clearest.level)} is {say_ratio(found.clearest)} times A's"
    text = f"{op_word(found.op)} are {found.verdict} in B: {clearest}"
    if found.against:
        others = ", ".join(
            f"{level_name(level.level)} {say_ratio(level)}" for level in found.against
        )
        text += f", but the other way at {others}"
    return text


_SAY = {
    "same": _say_same,
    "slower": _say_moved,
    "faster": _say_moved,
    "not enough data": _say_unknown,
}


def _could_see(found: OpComparison) -> str:
    middle = min(found.levels, key=lambda level: abs(level.level - 0.5), default=None)
    if middle is None or middle.smallest is None:
        return ""
    return f"; a median {short_ratio(middle.smallest)} times as high would have been seen"


def level_name(level: float) -> str:
    """``q95``; the median is q50."""
    return f"q{level * 100:g}"


def say_ratio(level: LevelVerdict) -> str:
    """``1.21 (1.15-1.27)``; ``n/a`` where there is no number."""
    if level.ratio is None or level.lower is None or level.upper is None:
        return "n/a"
    return f"{short_ratio(level.ratio)} ({short_ratio(level.lower)}-{short_ratio(level.upper)})"


def short_ratio(value: float) -> str:
    """``1.21``, ``27``: three digits are more than any comparison knows."""
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"
