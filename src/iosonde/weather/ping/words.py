"""Sentences of a ping, without a full stop."""

from __future__ import annotations

import os
from collections.abc import Sequence

from iosonde.model.ops import SLOW_AT, op_word
from iosonde.model.units import format_duration, format_factor, format_percent, format_size
from iosonde.weather.ping.child import Away, Ended, Listing
from iosonde.weather.ping.typical import NAMES, family
from iosonde.weather.ping.verdict import HOST_SHARE, LISTING, PingResult, Timed

_SINGULAR = {
    LISTING: "listing",
    "data_read": "read",
    "data_write": "write",
    "md_create": "create",
    "md_stat": "stat",
    "md_read": "small read",
    "md_delete": "delete",
}
_MOST_OPS = 3
LARGE = 10_000
"""Number of names above which a directory is slow to list anywhere."""
FELT_NS = 100_000_000
"""Duration from which on a listing is noticeable."""


def operation(op: str) -> str:
    """``listing``, ``create``; a step other than an operation keeps its name."""
    return _SINGULAR.get(op, op)


def operations(op: str) -> str:
    """``listings``, ``creates``."""
    return "listings" if op == LISTING else op_word(op)


def line(one: Ended, number: int) -> str:
    """An operation: ``create 4 kB: request=12 time=1.2 ms``."""
    if one.errno:
        return f"{operation(one.op)}: request={number} {os.strerror(one.errno)}"
    size = "" if not one.amount or one.op == "md_stat" else f" {_amount(one)}"
    return f"{operation(one.op)}{size}: request={number} time={format_duration(one.took_ns)}"


def _amount(one: Ended) -> str:
    return f"{one.amount} names" if one.op == LISTING else format_size(one.amount)


def first(ended: Sequence[Ended]) -> str:
    """The first round, of every operation its time."""
    told = {one.op: one for one in ended if not one.errno}
    parts = [f"{operation(op)} {format_duration(one.took_ns)}" for op, one in told.items()]
    return f"first: {', '.join(parts)}"


def say(found: PingResult) -> str:
    """The verdict."""
    return _SAY[found.verdict.kind](found)


def away(directory: str, out: Away) -> str:
    """``/work hangs: a create has not come back for 2.1 s (kernel: rpc_wait_bit_killable)``."""
    where = f" (kernel: {out.wchan})" if out.wchan else ""
    return (
        f"{directory} hangs: {_step(out.trying)} has not come back for {out.seconds:.0f} s{where}"
    )


def _step(trying: str) -> str:
    if trying in _SINGULAR:
        return f"a {_SINGULAR[trying]}"
    return {"begin": "the first file", "tidy up": "the removal of test files"}.get(
        trying, "a listing of the directory"
    )


def listing(directory: str, found: Listing) -> str:
    """Duration of ``ls`` of the directory itself, if noteworthy; else empty."""
    if not found.whole:
        return f"ls {directory} reads more than {found.names:,} names: it is slow for their number"
    text = f"ls {directory} reads {found.names:,} names in {format_duration(found.took_ns)}"
    if found.names > LARGE:
        return f"{text}: slow for their number, wherever it lies"
    return text if found.took_ns >= FELT_NS else ""


def _hung(found: PingResult) -> str:
    return away(found.directory, found.verdict.away or Away("", 0.0, ""))


def _failing(found: PingResult) -> str:
    worst = found.verdict.ops[0]
    names = _join([operations(op.op) for op in found.verdict.ops])
    return f"{names} on {found.directory} fail: {os.strerror(worst.errno)}"


def _slow(found: PingResult) -> str:
    worst, *others = found.verdict.ops
    factor = format_factor(worst.factor)
    head = f"{operations(worst.op)} on {found.directory}"
    if worst.usual_ns:
        base = worst.usual_ns
        interval = f"({format_factor((worst.lower_ns or 0) / base)}-{format_factor((worst.upper_ns or 0) / base)})"
        text = f"{head} are {factor}x slower than usual {interval}"
    else:
        text = f"{head} take {format_duration(worst.median_ns)}, {factor}x the most that is typical of {_kind(found)}"
    more = [f"{operations(op.op)} {format_factor(op.factor)}x" for op in others[:_MOST_OPS]]
    return ", ".join([text, *more])


def _host_busy(found: PingResult) -> str:
    share = format_percent(min(op.waited or 0.0 for op in found.verdict.ops))
    return (
        f"this host is busy: slow operations waited {share} of their time for a CPU, "
        "not proof of slow storage"
    )


def _stalled(found: PingResult) -> str:
    worst = found.verdict.ops[0]
    took, median = format_duration(worst.slowest_ns), format_duration(worst.median_ns)
    some = f"{worst.stalls} of {worst.n} {operations(worst.op)}"
    return f"{found.directory} stalls: {some} took far longer than their median of {median}, up to {took}"


def _usual(found: PingResult) -> str:
    worst = found.verdict.ops[0]
    if (worst.factor or 0.0) >= SLOW_AT:
        return _unsure(found.directory, worst)
    return (
        f"{found.directory} answers as usual: the slowest operation, {operations(worst.op)}, "
        f"takes {format_factor(worst.factor)}x its usual time"
    )


def _unsure(directory: str, worst: Timed) -> str:
    """Hint at a long latency that is not significant, and the reason."""
    name, factor = operations(worst.op), format_factor(worst.factor)
    if (worst.waited or 0.0) >= HOST_SHARE:
        why = f"{format_percent(worst.waited or 0.0)} of it was waiting for a CPU of this host"
    elif worst.lower_ns is None:
        why = f"{worst.n} are too few to call them slow"
    else:
        why = "too uncertain to be called slow"
    return f"{directory} answers: {name} took {factor}x their usual time, {why}"


def _typical(found: PingResult) -> str:
    named = [op for op in found.verdict.ops if op.op in (LISTING, "md_create", "data_read")]
    numbers = [f"{operations(op.op)} {format_duration(op.median_ns)}" for op in named]
    return f"{found.directory} answers as {_kind(found)} should: {', '.join(numbers)}"


def _unknown(found: PingResult) -> str:
    if not found.ops:
        return f"unknown: nothing was measured on {found.directory}"
    return f"unknown: no baseline of {found.directory} and no typical range of {found.kind or 'it'}"


def _kind(found: PingResult) -> str:
    row = family(found.kind)
    return f"{NAMES[row]} ({found.kind})" if row else found.kind


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def cells(op: Timed) -> tuple[str, ...]:
    """A row of the table: operation, n, latest, median, slowest, expected."""
    if op.usual_ns:
        expected = f"usual {format_duration(op.usual_ns)}"
    elif op.typical_ns:
        expected = f"{format_duration(op.typical_ns[0])} - {format_duration(op.typical_ns[1])}"
    else:
        expected = ""
    n = str(op.n) if not op.failed else f"{op.n} ({op.failed} failed)"
    times = (format_duration(ns) for ns in (op.latest_ns, op.median_ns, op.slowest_ns))
    return (operation(op.op) + (" (ls)" if op.op == LISTING else ""), n, *times, expected)


HEAD = ("", "n", "latest", "median", "slowest", "expected")

_SAY = {
    "hung": _hung,
    "failing": _failing,
    "slow": _slow,
    "host_busy": _host_busy,
    "stalled": _stalled,
    "usual": _usual,
    "typical": _typical,
    "unknown": _unknown,
}
