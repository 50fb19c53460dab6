"""Slowdown over time for people: a table a target, host and rate, then slow stretches, losses and hangs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from iosonde.model.answer import TableBlock
from iosonde.model.names import host_of_rank
from iosonde.model.ops import op_word
from iosonde.model.units import (
    format_count,
    format_duration,
    format_factor,
    format_option,
    format_slowdown,
    format_time,
)
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import FEW, say_not_judged, why_not
from iosonde.weather.slowdown.findings import from_span
from iosonde.weather.slowdown.words import say, say_change, say_late, say_lost

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.model.answer import Block
    from iosonde.model.frames import SlowdownQuery, SlowdownResult, SlowSpan, Usual
    from iosonde.model.verdicts import Unjudged

_HEAD = ("", "usual", "last window", "worst window", "slow windows", "ended ok", "lost")
_MOST = 40
"""Most lines below a table."""


def series_blocks(result: SlowdownResult, now_ns: int, zone: tzinfo | None = None) -> list[Block]:
    """Tables and lines of every target, host and rate; ranks of a benchmark without a baseline are counted."""
    blocks: list[Block] = []
    ranks: dict[tuple[str, str], int] = {}
    hung = list(result.hung)
    for (host, target, period), group in groupby(result.usual, _place):
        series = list(group)
        base = host_of_rank(host)
        learnt = any(usual.baseline_ns for usual in series)
        if base is not None and result.query.host is None and not learnt:
            ranks[base, target] = ranks.get((base, target), 0) + 1
            continue
        every = f"every {format_option(period)}" if period else "no schedule"
        how = f"windows of {_lengths(result, series)}, {_against(result.query)}"
        table = TableBlock(_HEAD, [_row(usual, now_ns, zone) for usual in series])
        blocks += [f"{target} as seen from {host}, {every}; {how}", "", table]
        keys = {usual.key for usual in series}
        lost = [span for span in result.lost if span.key in keys]
        late = [span for span in result.late if span.key in keys]
        spans = [span for span in result.spans if span.key in keys]
        missing = [one for one in result.not_judged if (one.host, one.target) == (host, target)]
        lines = [(span.start_ns, _span_line(span, now_ns, zone)) for span in spans]
        lines += [(span.start_ns, say_lost(span, now_ns, zone)) for span in lost]
        lines += [(span.start_ns, say_late(span, now_ns, zone)) for span in late]
        here = [one for one in hung if (one.host, one.target) == (host, target)]
        lines += [(one.start_ns, say_slow_event(one, now_ns, zone)) for one in here]
        # A hang is of the target, whatever the rate: it stands below the first one.
        hung = [one for one in hung if one not in here]
        blocks += _listed(lines, _nothing_slow(series, missing))
        if lost:
            blocks += ["  'iosonde events' says whether other hosts saw it", ""]
        blocks += [f"- {line}" for line in say_not_judged(missing, now_ns, zone)]
        changes = [change for change in result.changes if change.key in keys]
        blocks += [f"- {say_change(change, now_ns, zone)}" for change in changes]
    for (base, target), n in ranks.items():
        seen = f"1 rank of {base}" if n == 1 else f"{format_count(n)} ranks of {base}"
        blocks += [
            f"{target} as seen from {seen}: no slowdown, a benchmark ends before anything is usual",
            "  'iosonde runs', 'iosonde bursts' and 'iosonde figure statistics --run RUN' pool ranks; --host shows one",
        ]
    return blocks


def _place(usual: Usual) -> tuple[str, str, int]:
    return usual.key.host, usual.key.target, usual.key.period_ns


def _lengths(result: SlowdownResult, series: list[Usual]) -> str:
    """``1m``, ``1m to 1h``."""
    keys = {usual.key for usual in series}
    lengths = {
        int(result.windows["window_ns"][rows.start])
        for key, rows in result.windows.series()
        if key in keys
    }
    ends = sorted(lengths or {result.query.window_ns})
    return " to ".join(map(format_option, dict.fromkeys((ends[0], ends[-1]))))


def _against(query: SlowdownQuery) -> str:
    """The statistic and its reference."""
    usual = {
        "guarded": "what is usual",
        "all-time": "the median of all samples",
        "period": "the reference period",
        "sliding": f"the median of the last {format_option(query.trailing_ns)}",
    }[query.choice.kind]
    return f"{query.statistic} / {usual}"


def _row(usual: Usual, now_ns: int, zone: tzinfo | None) -> tuple[str, ...]:
    peak = "n/a"
    if usual.peak is not None and usual.peak_ns is not None:
        peak = f"{format_factor(usual.peak)}x at {format_time(usual.peak_ns, now_ns, zone)}"
    busy = f", host busy in {usual.busy_windows}" if usual.busy_windows else ""
    return (
        op_word(usual.key.op),
        format_duration(usual.baseline_ns) if usual.baseline_ns else "learning",
        format_slowdown(*usual.last),
        peak,
        f"{usual.slow_windows} of {usual.windows}{busy}",
        format_count(usual.n),
        format_count(usual.n_due - usual.n),
    )


def _span_line(span: SlowSpan, now_ns: int, zone: tzinfo | None) -> str:
    length = format_duration(span.end_ns - span.start_ns)
    return f"{say(from_span(span, now_ns), zone)}; {length}, n = {format_count(span.n)}"


def _listed(lines: list[tuple[int, str]], nothing: str) -> list[Block]:
    """The latest lines by begin, and how many there are before them."""
    if not lines:
        return ["", nothing, ""]
    blocks: list[Block] = ["", *(f"- {line}" for _, line in sorted(lines)[-_MOST:])]
    if len(lines) > _MOST:
        blocks.append(f"  and {len(lines) - _MOST} earlier ones (--until, or --format json)")
    return [*blocks, ""]


def _nothing_slow(series: list[Usual], missing: list[Unjudged]) -> str:
    """Message without a slow span: distinct if nothing was judged."""
    if not any(usual.peak is not None for usual in series):
        return f"Nothing was judged: {why_not(missing) if missing else FEW}."
    slow = sum(usual.slow_windows for usual in series)
    told = "No slow stretch in what was judged." if missing else "No slow stretch."
    if slow:
        told = f"{slow} slow windows, none of them part of a slow stretch."
    return f"{told} 'iosonde events' also finds operations that are slow in part."
