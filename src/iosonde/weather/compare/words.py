"""Result of a comparison: a verdict per op as data, and its sentence.

::

    same             every quantile up to q95 lies within the margin, shown by an equivalence test
    slower, faster   some quantile differs, by a test that holds for all ops and quantiles together
    not enough data  neither: the samples cannot tell; ``needed`` says what they could have seen, and what would tell

``same`` is asked first: with many samples a difference of 1% is certain and still within a margin of 20%.
When quantiles moved both ways the verdict is that of the clearest one, and ``against`` names the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from iosonde.model.ops import op_word
from iosonde.model.units import format_option
from iosonde.weather.compare.needed import Needed, needed
from iosonde.weather.compare.ratios import MARGIN, level_name, of_a, ratio_text, short_ratio
from iosonde.weather.compare.shift import FEWEST, OF_MEANS

if TYPE_CHECKING:
    from iosonde.weather.compare.compare import Compared, OpShift, SideOfOp

_ALPHA = 0.05
_SAME_UP_TO = 0.95
"""Highest quantile required to be equal: no hour of samples could show it for q99."""
_LOST_MATTERS = 0.01
"""Least difference in the share of late and lost operations that a sentence mentions."""
_WORTH_SAYING = 1.1
"""Least factor of the length for which a sentence suggests longer periods."""
_OTHER_SIZE = 1.2
"""Least ratio for which a quantile with the opposite shift is named."""


class LevelVerdict(NamedTuple):
    """Verdict on one quantile: b / a with its 95% interval; None = too few samples.

    ``p_value`` is adjusted over ops and quantiles; ``smallest`` would have been found in 80% of cases.
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


class WholeVerdict(NamedTuple):
    """All latencies: ratio of geometric means with its 95% interval; ``p_value`` as of a quantile. None = too few."""

    ratio: float | None
    lower: float | None
    upper: float | None
    p_value: float | None
    changed: bool


@dataclass(frozen=True)
class OpComparison:
    """Verdict on one op. ``clearest``: the quantile behind it; None: ``whole``, or unknown.

    ``needed`` is None where there is a verdict. ``host_busy``: the probing host of the slower side explains it.
    """

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
    whole: WholeVerdict
    needed: Needed | None
    host_busy: bool = False

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
            "geometric_mean": self.whole._asdict(),
            "host_busy": self.host_busy,
            "needed": None if self.needed is None else self.needed._asdict(),
        }


def judge(compared: Compared, margin: float = MARGIN) -> list[OpComparison]:
    """Verdicts on every op, in their order. ``margin`` > 1: largest ratio that counts as equal."""
    return [_judge(op, compared.levels, margin) for op in compared.ops]


def _judge(op: OpShift, levels: tuple[float, ...], margin: float) -> OpComparison:
    found = tuple(_level(op, place, level) for place, level in enumerate(levels))
    whole = _whole(op)
    known = [level for level in found if level.ratio is not None]
    verdict = "not enough data"
    clearest: LevelVerdict | None = None
    against: tuple[LevelVerdict, ...] = ()
    if known:
        clearest = min(known, key=lambda level: (level.p_value or 0.0, abs(level.level - 0.5)))
    if known and _same(op, levels, margin):
        verdict, clearest = "same", min(known, key=lambda level: abs(level.level - 0.5))
    elif op.p_value <= _ALPHA:
        if clearest is not None and not clearest.changed:
            clearest = None
        ratio = whole.ratio if clearest is None else clearest.ratio
        up = (ratio or 0.0) > 1
        verdict = "slower" if up else "faster"
        against = tuple(level for level in known if _opposed(level, up))
    unknown, moved = verdict == "not enough data", verdict in ("slower", "faster")
    told = 0.5 if clearest is None else clearest.level
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
        whole,
        _needed(op, levels, margin) if unknown else None,
        moved and bool(op.by_host[levels.index(told)]),
    )


def _needed(op: OpShift, levels: tuple[float, ...], margin: float) -> Needed:
    lacks = min(op.a.used, op.b.used) < FEWEST
    return needed(op, np.array(levels) <= _SAME_UP_TO, margin, FEWEST if lacks else None)


def _whole(op: OpShift) -> WholeVerdict:
    got, p_value = op.shift.whole, _number(op.adjusted_whole)
    ends = (_number(got.ratio), _number(got.lower), _number(got.upper))
    return WholeVerdict(*ends, p_value, p_value is not None and p_value <= _ALPHA)


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
    """Cautions for the reader of the verdict."""
    notes, matching = [], op.matching
    if matching.basis == "none":
        notes.append("the sides share too few hours of the day: a daily pattern is not removed")
    elif matching.basis == "hour of day":
        notes.append("the same hours of the day are compared, but not the same days of the week")
    if min(matching.used_a, matching.used_b) < 1:
        used = {"A": matching.used_a, "B": matching.used_b}
        part = " and ".join(f"{share:.0%} of {side}" for side, share in used.items() if share < 1)
        notes.append(f"the comparison uses {part}: the rest has no counterpart in hour or host")
    if not set(op.a.periods_ns) & set(op.b.periods_ns):
        periods = " and ".join(
            "/".join(format_option(ns) if ns else "no schedule" for ns in side.periods_ns)
            for side in (op.a, op.b)
        )
        notes.append(f"the periods differ ({periods}): an idle client answers slower")
    if not set(op.a.hosts) & set(op.b.hosts):
        notes.append("seen from different hosts: their clients are compared too")
    if op.shift.ratio.size == len(OF_MEANS):
        notes.append("the latencies are means of steps: quantiles of single requests are not known")
    if max(_lost(op.a), _lost(op.b)) > 0.01:
        notes.append(f"late or lost: {_lost(op.a):.1%} of A, {_lost(op.b):.1%} of B")
    return notes


def _lost(side: SideOfOp) -> float:
    return side.n_lost / side.n_due if side.n_due else 0.0


def say_comparison(found: OpComparison, margin: float = MARGIN) -> str:
    """Sentence about B relative to A, without a full stop."""
    text = _SAY[found.verdict](found, margin)
    lost = _lost(found.a), _lost(found.b)
    if abs(lost[0] - lost[1]) > _LOST_MATTERS:
        text += f"; {lost[1]:.1%} of B were late or lost, {lost[0]:.1%} of A"
    return text


def _say_same(found: OpComparison, margin: float) -> str:
    several = len(found.levels) > 1
    what = (
        "no quantile up to q95 differs by more than" if several else "the medians differ by at most"
    )
    return f"{op_word(found.op)} are the same in B as in A: {what} {margin - 1:.0%}"


def _say_unknown(found: OpComparison, _margin: float) -> str:
    return f"{op_word(found.op)}: not enough data to tell{_would_tell(found)}"


def _say_moved(found: OpComparison, _margin: float) -> str:
    if found.clearest is None:
        size, name = of_a(*found.whole[:3]), "the geometric mean"
    else:
        size, name = of_a(*found.clearest[1:4]), level_name(found.clearest.level)
    text = f"{op_word(found.op)} are {found.verdict} in B: {name} is {size}"
    if found.against:
        others = ", ".join(
            f"{level_name(level.level)} {say_ratio(level)}" for level in found.against
        )
        text += f", but the other way at {others}"
    if found.host_busy:
        text += f"; the probing host explains it, not proof of {found.verdict} storage"
    return text


_SAY = {
    "same": _say_same,
    "slower": _say_moved,
    "faster": _say_moved,
    "not enough data": _say_unknown,
}


_TOLD_FACTOR = 100.0
"""Largest detectable ratio that is mentioned: a larger one is no help."""


def _would_tell(found: OpComparison) -> str:
    want = found.needed
    if want is None:
        return ""
    if want.samples is not None:
        have = min(found.a.used, found.b.used)
        return f"; each side needs {want.samples} samples, and one has {have}"
    texts = []
    if want.factor is not None and want.factor < _TOLD_FACTOR:
        texts.append(f"; a factor of {short_ratio(want.factor)} would have been seen")
    if want.longer is not None and want.longer >= _WORTH_SAYING:
        texts.append(f"; at these ratios, {want.longer:.2g} times the time would tell")
    return "".join(texts)


def say_ratio(level: LevelVerdict | WholeVerdict) -> str:
    """``1.21 (1.15-1.27)``; ``n/a`` without a number."""
    return ratio_text(level.ratio, level.lower, level.upper)
