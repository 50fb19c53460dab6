"""Parser for a line of md-workbench's text output: results of a phase, of all ranks or of one.

::

    2019   [R: ]benchmark process max:0.62s min:0.2s mean: 0.4s balance:36.1 stddev:0.3 rate:25773.3 iops/s
           objects:4000 rate:6443.3 obj/s tp:47.9 MiB/s op-max:2.8e-02s [waiting_factor:0.06] [(0 errs)]
           [stonewall-iter:5] read(min, q1, median, q3, q90, q99, max) stat(...) create(...) delete(...)
    2017   [R: ]benchmark 87.3s 13742.3 iops/s 300000 obj 3435.6 obj/s 25.6 Mib/s (0 errs)
    counts [R: ]benchmark <TAB> d name, create, delete, ob nam, create, read, stat, delete, t_inc_b, t_no_bar, thp,
           max_t

``counts`` is --print-detailed-stats; the IOR tree has it without the two columns of names. io-probing writes
the line of 2019. Every word of a line must be understood, or the line is none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from iosonde.connectors.lines import MOST_S, NUMBER, shown

OPS = {"create": "md_create", "stat": "md_stat", "read": "md_read", "delete": "md_delete"}
QUANTILES = ("min", "q25", "q50", "q75", "q90", "q99", "max")
"""Names of the seven numbers of an operation."""
_SHARES = {"q25": 0.25, "q75": 0.75, "q90": 0.9, "q99": 0.99}
_BEGIN = re.compile(r"(?:(\d{1,8}): )?(precreate|benchmark|cleanup)(?= process |\s*\t| err\t| \d)")
_N = rf"(-?nan|-?inf|{NUMBER})"
_I = r"(\d{1,15})"
_WORDS = {
    "max_s": rf"max:{_N}s",
    "min_s": rf"min:{_N}s",
    "mean_s": rf"mean: ?{_N}s",
    "balance_percent": rf"balance:{_N}",
    "stddev_s": rf"stddev:{_N}",
    "iops_per_s": rf"rate:{_N} iops/s",
    "objects_per_s": rf"rate:{_N} obj/s",
    "dsets_per_s": rf"rate:{_N} dset/s",
    "objects": rf"objects:{_I}",
    "dsets": rf"dsets: ?{_I}",
    "tp_mib_per_s": rf"tp:{_N} MiB/s",
    "op_max_s": rf"op-max:{_N}s",
    "waiting_factor": rf"waiting_factor:{_N}",
    "errs": rf"\({_I} errs!*\)",
    "stonewall_iter": rf"stonewall-iter:{_I}",
}
_WORDS_2017 = {
    "max_s": rf"{_N}s",
    "iops_per_s": rf"{_N} iops/s",
    "objects_per_s": rf"{_N} obj/s",
    "dsets_per_s": rf"{_N} dset/s",
    "tp_mib_per_s": rf"{_N} Mib/s",
    "objects": rf"{_I} obj",
    "dsets": rf"{_I} dset",
    "errs": rf"\({_I} errs!*\)",
}
_OP = re.compile(rf"(create|stat|read|delete)\(((?:{_N}s, ){{6}}{_N}s)\)(?=\s|$)")
_COUNTS = re.compile(
    rf"\s*\t((?:{_I}\t){{6}}(?:{_I}\t{_I}\t)?){_N}s\t{_N}s\t{_N} MiB/s {_N}\s*", re.ASCII
)
_ERRORS = re.compile(rf" err\t({_I}(?:\t{_I}){{5,7}})\s*", re.ASCII)
_COUNTED = ("dsets", "dsets_removed", "create", "read", "stat", "delete")


@dataclass
class PhaseLine:
    """Parsed line. ``numbers`` by name with the unit last, without nan and inf."""

    phase: str
    rank: int | None
    dialect: str
    """``2019``, ``2017`` or ``counts``."""
    numbers: dict[str, float] = field(default_factory=dict)
    quantiles_s: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """By op (``md_create`` ...), in the order of ``QUANTILES``."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of successful operations per op, in dialect ``counts``."""
    precise: bool = False
    """True if seconds have two decimals: the IOR tree's version of 2019."""


def parse(text: str) -> PhaseLine | None:
    """Parse a line; None for other lines. Raises ValueError that names the malformed part."""
    begin = _BEGIN.match(text)
    if begin is None:
        return None
    rank = None if begin[1] is None else int(begin[1])
    rest = text[begin.end() :]
    if rest.startswith(" process "):
        line = PhaseLine(begin[2], rank, "2019")
        _words(line, rest.removeprefix(" process "), _PATTERNS)
        line.precise = re.search(r" min:\d+\.\d\d+s", rest) is not None
        wanted = ("max_s", "objects")
    elif rest.startswith((" err\t", "\t", " \t")):
        return _counts(PhaseLine(begin[2], rank, "counts"), rest)
    else:
        line = PhaseLine(begin[2], rank, "2017")
        _words(line, rest, _PATTERNS_2017)
        wanted = ("max_s", "objects")
    missing = [name for name in wanted if name not in line.numbers]
    if missing:
        raise ValueError(f"the line has no {missing[0]}")
    return line


_PATTERNS = {name: re.compile(form + r"(?=\s|$)", re.ASCII) for name, form in _WORDS.items()}
_PATTERNS_2017 = {n: re.compile(form + r"(?=\s|$)", re.ASCII) for n, form in _WORDS_2017.items()}


def _words(line: PhaseLine, rest: str, patterns: dict[str, re.Pattern[str]]) -> None:
    """Parse every word of ``rest``. Raises ValueError at unknown, repeated or impossible words."""
    place = 0
    while place < len(rest):
        if rest[place] == " ":
            place += 1
            continue
        name, match = next(
            ((n, m) for n, p in patterns.items() if (m := p.match(rest, place))), ("", None)
        )
        if match is None and (match := _OP.match(rest, place)):
            name = OPS[match[1]]
            line.quantiles_s[name] = tuple(
                _number(part.removesuffix("s")) for part in match[2].split(", ")
            )
        elif match is not None:
            if name in line.numbers:
                raise ValueError(f"{name} is there twice")
            value = _number(match[1])
            if math.isfinite(value):
                line.numbers[name] = value
        if match is None:
            raise ValueError(f"cannot read {shown(rest[place:])}")
        place = match.end()


def _number(text: str) -> float:
    value = float(text)
    if math.isfinite(value) and value > MOST_S * 1e6:
        raise ValueError(f"the number {shown(text)} is impossible")
    return value


def _counts(line: PhaseLine, rest: str) -> PhaseLine:
    if match := _ERRORS.fullmatch(rest):
        line.numbers["errs"] = sum(int(text) for text in match[1].split("\t"))
        return line
    match = _COUNTS.fullmatch(rest)
    if match is None:
        raise ValueError("the counts cannot be read")
    counts = [int(text) for text in match[1].split()]
    if len(counts) == 8:  # without those of names
        del counts[3], counts[0]
    found = dict(zip(_COUNTED, counts, strict=True))
    last = [_number(text) for text in match.groups()[-4:]]
    names = ("with_barrier_s", "max_s", "tp_mib_per_s", "op_max_s")
    line.numbers = {n: v for n, v in zip(names, last, strict=True) if math.isfinite(v)}
    line.numbers |= {name: found[name] for name in _COUNTED[:2] if found[name]}
    line.counts = {OPS[name]: found[name] for name in OPS if found[name]}
    line.numbers.setdefault("max_s", 0.0)
    line.numbers["objects"] = max(line.counts.values(), default=0)
    return line


def believable(quantiles_s: tuple[float, ...], n: int, *, bounded: bool) -> dict[str, float]:
    """Quantiles of ``n`` operations in ns by name, without uninitialised memory.

    The stand-alone program and io-probing take the sorted value number round(q n + 0.49), counted from 0,
    even where there are no more than that many: q25 of 1, q75 of 3, q90 of 9, q99 of 99 operations are
    whatever lies behind. ``bounded``: the version of the IOR tree, which does not.
    """
    found = {}
    for name, value in zip(QUANTILES, quantiles_s, strict=True):
        share = _SHARES.get(name)
        beyond = share is not None and not bounded and math.floor(share * n + 0.99) >= n
        if math.isfinite(value) and value >= 0 and not beyond:
            found[name] = round(value * 1e9, 4)
    return found
