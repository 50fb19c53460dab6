"""iosonde probe: watch directories in the foreground."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.live import view
from iosonde.cli.shared.progress import preparing
from iosonde.cli.shared.render import print_blocks
from iosonde.model.errors import MeasureError
from iosonde.model.units import format_seconds, parse_duration, parse_size
from iosonde.weather.probe.answers import ForegroundProbe, say_files, summary

EXAMPLES = """\
  iosonde probe /work                       1 op of each kind a second; Ctrl-C ends with a summary
  iosonde probe /work /home --duration 10m
  iosonde probe . --period 100ms --window 10s --file-size 1GiB
  iosonde probe nfs://filer/export          an NFSv3 server past this host's kernel; no mount is needed
  iosonde probe /work > log.txt             plain lines: for batch jobs

A directory of its own below DIR (.iosonde-...) holds the probe's files; nothing else is touched.
"""
_REFRESH_S = 0.5
_FLUSH_NS = 1_000_000_000
_LEAST_FLUSH_NS = 10_000_000
"""Least refresh interval of the live numbers; or a quarter of a window if shorter."""


def main(arguments: Sequence[str]) -> int:
    """Probe until Ctrl-C or --duration; then print a summary."""
    args = _parse(arguments)
    root = options.store_folder(args)
    with Interrupt() as interrupt, ForegroundProbe(config(args, root)) as probe:
        if not prepare(probe, interrupt):
            return 130
        began_ns = options.now_ns()
        probe.start()
        for line in say_files(probe.snapshot()):
            options.note(line)
        watch(probe, interrupt, args.window, f"store: {root}", args.duration)
        ended = probe.stop()
    found = summary(root, ended, args.window, began_ns)
    for line in found.troubles:
        options.note(line)
    print_blocks(found.shown())
    options.note("")
    for line in found.notes():
        options.note(line)
    return 0


def prepare(probe: ForegroundProbe, interrupt: Interrupt) -> bool:
    """Prepare big files and pools, with progress; False if the user ended it."""
    try:
        with preparing(interrupt) as report:
            notes = probe.prepare(report)
    except MeasureError:
        if interrupt.wanted:
            return False
        raise
    for note in notes:
        options.note(f"note: {note}")
    return not interrupt.wanted


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    told = "Watch directories: six timed operations each period, live."
    parser = options.Parser("probe", told, EXAMPLES)
    time, size = options.reads(parse_duration), options.reads(parse_size)
    add = parser.add_argument
    add(
        "directory", nargs="+", metavar="DIR", help="directory on the storage, or nfs://HOST/EXPORT"
    )
    add("--period", type=time, default="1s", metavar="TIME", help="probe period (default: 1s)")
    add("--duration", type=time, metavar="TIME", help="stop after this time (default: never)")
    add(
        "--window",
        type=time,
        default="60s",
        metavar="TIME",
        help="length of a window (default: 60s)",
    )
    add(
        "--baseline",
        type=time,
        default="7d",
        metavar="TIME",
        help="reach of the sliding baseline (default: 7d)",
    )
    add(
        "--file-size",
        type=size,
        metavar="SIZE",
        help="size of the large test file (default: 1 GiB with O_DIRECT, else above memory)",
    )
    add("--block-size", type=size, metavar="SIZE", help="size of reads and writes (default: 1MiB)")
    add("--object-size", type=size, metavar="SIZE", help="size of small files (default: 3901)")
    add("--pool", type=int, metavar="N", help="number of small files (default: 1000)")
    direct = ("auto", "always", "never")
    add("--direct", choices=direct, help="bypass the client's cache, O_DIRECT (default: auto)")
    add("--host", help="name of this host in every row (default: its host name)")
    add("--seed", type=int, metavar="N", help="random seed (default: a fresh one)")
    parser.add_store()
    return parser.parse(arguments)


def config(args: argparse.Namespace, root: Path) -> dict[str, Any]:
    """Configuration of the probe: the keys of the agent's file."""
    sizes = {
        "file_size": args.file_size,
        "block_size": args.block_size,
        "object_size": args.object_size,
        "pool": args.pool,
        "direct": args.direct,
    }
    probe = {"period": f"{args.period}ns", **_given(sizes)}
    whole = {
        "store": str(root),
        "window": f"{args.window}ns",
        "baseline": f"{args.baseline}ns",
        "flush": f"{max(_LEAST_FLUSH_NS, min(_FLUSH_NS, args.window // 4))}ns",
        "probe": probe,
        "target": [{"path": _target_path(text)} for text in args.directory],
    }
    return whole | _given({"host": args.host, "seed": args.seed})


def _target_path(text: str) -> str:
    """An export's address unchanged, a directory's path in full."""
    return text if text.startswith("nfs://") else str(Path(text).absolute())


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def watch(
    probe: ForegroundProbe,
    interrupt: Interrupt,
    window_ns: int,
    note: str,
    duration_ns: int | None = None,
) -> None:
    """Show the live view until the user or the time limit ends it."""
    end_ns = None if duration_ns is None else options.now_ns() + duration_ns
    with view(probe.recent, window_ns) as shown:
        while not interrupt.wanted:
            now_ns = options.now_ns()
            if end_ns is not None and now_ns >= end_ns:
                return
            left = "Ctrl-C ends with a summary"
            if end_ns is not None:
                left = f"{format_seconds(end_ns - now_ns)} left; {left}"
            shown.show(probe.snapshot(), now_ns, f"{note}; {left}")
            interrupt.wait(_REFRESH_S)
