"""iosonde slowdown: slowdown over time with intervals, and slow spans."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.targets import called, no_samples
from iosonde.cli.shared.text import table
from iosonde.engine.contract import SCHEMA_VERSION, SERIES_KEY
from iosonde.engine.files import write_frame
from iosonde.engine.left_out import left_out
from iosonde.model.errors import UsageError
from iosonde.model.events import SlowEvent
from iosonde.model.frames import (
    Frame,
    LateSpan,
    LostSpan,
    SlowdownQuery,
    SlowdownResult,
    SlowSpan,
    Usual,
)
from iosonde.model.names import host_of_rank
from iosonde.model.ops import DEFAULT_TRAILING_NS, DEFAULT_WINDOW_NS, STATISTICS, op_word
from iosonde.model.slowdown import TRIPLE_COLUMNS
from iosonde.model.units import (
    format_count,
    format_duration,
    format_factor,
    format_option,
    format_slowdown,
    format_time,
    parse_duration,
)
from iosonde.model.verdicts import Unjudged
from iosonde.weather import answers
from iosonde.weather.events.slow_words import say_slow_event
from iosonde.weather.events.unjudged_words import FEW, say_not_judged, say_unjudged, why_not
from iosonde.weather.events.written import as_event
from iosonde.weather.slowdown.findings import from_span
from iosonde.weather.slowdown.slowdown import statistic_columns
from iosonde.weather.slowdown.words import say, say_change, say_late, say_lost
from iosonde.weather.store import Store

EXAMPLES = """\
  iosonde slowdown                              everything that is stored
  iosonde slowdown /work --since -2h --plot slow.png
  iosonde slowdown --op creates --since yesterday --until today --window 10m
  iosonde slowdown --stat tail --window 5m --format csv > tail.csv
  iosonde slowdown --as-published --window 4h   median / median of everything, as in the paper
"""
_MOST_SPANS = 40
_PLOT = "draw a picture: .png, .svg or .pdf; of further targets FILE-2 ..."


def main(arguments: Sequence[str]) -> int:
    """Print slowdown per operation and slow spans, or the windows as data."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    now_ns = options.now_ns()
    store = Store(options.store_root(args))
    args.target = called(store, args.target)
    query = _query(args, now_ns)
    result = answers.slowdown(store, query, now_ns)
    if len(result.windows) == 0:
        raise no_samples(store, "question", args.target)
    if args.plot:
        _plot(store, result, args)
    if args.format == "table":
        _print(result, now_ns)
    else:
        _write(result, args, now_ns)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Slowdown over time: observed latency / what is usual, with interval and n."
    parser = options.Parser("slowdown", summary, EXAMPLES)
    duration = options.reads(parse_duration)
    add = parser.add_argument
    add("target", nargs="?", help="name or path of a watched target (default: all)")
    parser.add_host()
    parser.add_op()
    parser.add_range()
    add(
        "--window",
        type=duration,
        metavar="TIME",
        help="length of a window (default: the one that each series is judged in, 1m at 1 Hz)",
    )
    add(
        "--stat",
        choices=STATISTICS,
        help="statistic of the table (default: typ, the typical operation)",
    )
    add(
        "--baseline",
        default="guarded",
        metavar="WHICH",
        help="guarded, all-time, a sliding time such as 7d, a period BEGIN..END (default: guarded)",
    )
    add("--as-published", action="store_true", help="median / all-time median (Kunkel, Betke 2019)")
    parser.add_data()
    parser.add_picture(_PLOT, 12.0)
    parser.add_store()
    add_timeout(parser, "10m")
    args = parser.parse(arguments)
    if args.as_published:
        if args.stat not in (None, "median") or args.baseline not in ("guarded", "all-time"):
            raise UsageError(
                "--as-published is --stat median --baseline all-time", hint="one of both"
            )
        args.stat, args.baseline = "median", "all-time"
    return args


def _query(args: argparse.Namespace, now_ns: int) -> SlowdownQuery:
    since, until = options.time_range(args, now_ns)
    choice, sliding_ns = options.baseline_choice(args.baseline, now_ns)
    statistic = args.stat or ("typ" if sliding_ns is None else "median")
    if sliding_ns is not None and statistic in ("typ", "tail"):
        raise UsageError(
            f"a sliding median cannot judge {statistic}",
            expected="--baseline guarded, all-time or BEGIN..END, or --stat median",
        )
    return SlowdownQuery(
        host=args.host,
        target=args.target,
        ops=tuple(args.op) if args.op else None,
        since_ns=since,
        until_ns=until,
        window_ns=args.window or DEFAULT_WINDOW_NS,
        own_windows=args.window is None,
        statistic=statistic,
        trailing_ns=sliding_ns or DEFAULT_TRAILING_NS,
        choice=choice,
    )


def _print(result: SlowdownResult, now_ns: int) -> None:
    query = result.query
    ranks: dict[tuple[str, str], int] = {}
    hung = list(result.hung)
    for (host, target, period), group in groupby(result.usual, _place):
        series = list(group)
        base = host_of_rank(host)
        if (
            base is not None
            and query.host is None
            and not any(usual.baseline_ns for usual in series)
        ):
            ranks[base, target] = ranks.get((base, target), 0) + 1
            continue
        every = f"every {format_option(period)}" if period else "no schedule"
        how = f"windows of {_lengths(result, series)}, {_against(query)}"
        print(f"{target} as seen from {host}, {every}; {how}\n")
        head = ("", "usual", "last window", "worst window", "slow windows", "ended ok", "lost")
        print(table(head, [_row(usual, now_ns) for usual in series]))
        keys = {usual.key for usual in series}
        lost = [span for span in result.lost if span.key in keys]
        late = [span for span in result.late if span.key in keys]
        spans = [span for span in result.spans if span.key in keys]
        missing = [one for one in result.not_judged if (one.host, one.target) == (host, target)]
        lines = [(span.start_ns, _span_line(span, now_ns)) for span in spans]
        lines += [(span.start_ns, say_lost(span, now_ns)) for span in lost]
        lines += [(span.start_ns, say_late(span, now_ns)) for span in late]
        here = [one for one in hung if (one.host, one.target) == (host, target)]
        lines += [(one.start_ns, say_slow_event(one, now_ns)) for one in here]
        # A hang is of the target, whatever the rate: it stands below the first one.
        hung = [one for one in hung if one not in here]
        _print_lines(lines, _nothing_slow(series, missing))
        if lost:
            print("  'iosonde events' says whether other hosts saw it\n")
        for line in say_not_judged(missing, now_ns):
            print(f"- {line}")
        for change in result.changes:
            if change.key in keys:
                print(f"- {say_change(change, now_ns)}")
    for (base, target), n in ranks.items():
        seen = f"1 rank of {base}" if n == 1 else f"{format_count(n)} ranks of {base}"
        print(
            f"{target} as seen from {seen}: no slowdown, a benchmark ends before anything is usual"
        )
        print(
            "  'iosonde runs', 'iosonde bursts' and 'iosonde figure statistics --run RUN' pool ranks; --host shows one"
        )


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


def _nothing_slow(series: list[Usual], missing: list[Unjudged]) -> str:
    """Message without a slow span: distinct if nothing was judged."""
    if not any(usual.peak is not None for usual in series):
        return f"Nothing was judged: {why_not(missing) if missing else FEW}."
    slow = sum(usual.slow_windows for usual in series)
    told = "No slow stretch in what was judged." if missing else "No slow stretch."
    if slow:
        told = f"{slow} slow windows, none of them part of a slow stretch."
    return f"{told} 'iosonde events' also finds operations that are slow in part."


def _against(query: SlowdownQuery) -> str:
    """The statistic and its reference."""
    usual = {
        "guarded": "what is usual",
        "all-time": "the median of all samples",
        "period": "the reference period",
        "sliding": f"the median of the last {format_option(query.trailing_ns)}",
    }[query.choice.kind]
    return f"{query.statistic} / {usual}"


def _place(usual: Usual) -> tuple[str, str, int]:
    return usual.key.host, usual.key.target, usual.key.period_ns


def _row(usual: Usual, now_ns: int) -> tuple[str, ...]:
    peak = "n/a"
    if usual.peak is not None and usual.peak_ns is not None:
        peak = f"{format_factor(usual.peak)}x at {format_time(usual.peak_ns, now_ns)}"
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


def _print_lines(lines: list[tuple[int, str]], nothing: str) -> None:
    print()
    if not lines:
        print(f"{nothing}\n")
        return
    for _, line in sorted(lines)[-_MOST_SPANS:]:
        print(f"- {line}")
    if len(lines) > _MOST_SPANS:
        print(f"  and {len(lines) - _MOST_SPANS} earlier ones (--until, or --format json)")
    print()


def _span_line(span: SlowSpan, now_ns: int) -> str:
    length = format_duration(span.end_ns - span.start_ns)
    return f"{say(from_span(span, now_ns))}; {length}, n = {format_count(span.n)}"


def _shown_columns(result: SlowdownResult) -> Frame:
    """Windows requested: the statistic, its interval, and derived columns."""
    windows = result.windows
    statistic = [name for name in statistic_columns(result.query.statistic) if name]
    counts = ("start_ns", "window_ns", "n_due", "n_seen")
    factors = ("baseline_ns", "slowdown", "slowdown_lower", "slowdown_upper", "slow", "host_busy")
    frames = ("unusual", "hit_share", "climate", "stage", "epoch")
    names = (*SERIES_KEY, *counts, *statistic, *factors, *TRIPLE_COLUMNS, *frames)
    return Frame({name: windows[name] for name in names})


def _write(result: SlowdownResult, args: argparse.Namespace, now_ns: int) -> None:
    """Write windows as Parquet or CSV; or JSON, one object that includes the slow spans."""
    frame = _shown_columns(result)
    whole = [name for name in frame.columns if name.endswith("_ns") and name != "mean_ns"]
    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_frame(frame, path, args.format, whole)
        if args.format == "json":
            spans = json.dumps([_span_object(span, now_ns) for span in result.spans])
            lost = json.dumps([_object(span, say_lost(span, now_ns)) for span in result.lost])
            late = json.dumps([_object(span, say_late(span, now_ns)) for span in result.late])
            hung = json.dumps([_hung_object(one, now_ns) for one in result.hung])
            missing = json.dumps(left_out(options.store_root(args)))
            unjudged = json.dumps([_unjudged_object(one, now_ns) for one in result.not_judged])
            head = (
                f'{{"schema_version": {SCHEMA_VERSION}, "spans": {spans}, "lost": {lost}, "late": {late}, '
                f'"hung": {hung}, "not_judged": {unjudged}, '
                f'"left_out": {missing}, "windows": '
            )
            path.write_text(f"{head}{path.read_text().strip()}}}\n")
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")


def _span_object(span: SlowSpan, now_ns: int) -> dict[str, Any]:
    """A span with the fields of the state files, and its sentence."""
    flat = {**asdict(span), **span.key._asdict(), "sentence": say(from_span(span, now_ns))}
    renamed = {"lower": "slowdown_lower", "upper": "slowdown_upper"}
    return {renamed.get(name, name): value for name, value in flat.items() if name != "key"}


def _unjudged_object(one: Unjudged, now_ns: int) -> dict[str, Any]:
    """An interval that was not judged, and the sentence."""
    return {**asdict(one), "sentence": say_unjudged(one, now_ns)}


def _hung_object(event: SlowEvent, now_ns: int) -> dict[str, Any]:
    """A hang as ``iosonde events`` writes it, and the sentence."""
    return {"id": as_event(event).id, **asdict(event), "sentence": say_slow_event(event, now_ns)}


def _object(span: LostSpan | LateSpan, sentence: str) -> dict[str, Any]:
    """Lost or late operations of a series, and the sentence."""
    flat = {**asdict(span), **span.key._asdict(), "sentence": sentence}
    return {name: value for name, value in flat.items() if name != "key"}


def _plot(store: Store, result: SlowdownResult, args: argparse.Namespace) -> None:
    from iosonde.drawing.render_sheet import save_sheet

    figures = answers.slowdown_figures(store, result)
    for number, figure in enumerate(figures):
        path = args.plot if number == 0 else args.plot.with_stem(f"{args.plot.stem}-{number + 1}")
        save_sheet(figure, path, width_in=args.width, dark=args.dark)
        options.note(f"wrote {path}")
