"""iosonde demo: watch a directory, put a load on it, and print the slowdown found."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.live import view
from iosonde.cli.shared.render import print_blocks
from iosonde.cli.weather import probe
from iosonde.model.errors import IosondeError, UsageError
from iosonde.model.ops import SECOND_NS
from iosonde.model.units import format_option, format_seconds, parse_duration, parse_size
from iosonde.weather.demo.answers import DemoLoad, Demonstration, LoadTimes, demonstrate
from iosonde.weather.probe.answers import ForegroundProbe

EXAMPLES = """\
  iosonde demo                       here, for 90 s; then the page (Ctrl-C ends it)
  iosonde demo --dir /work/me        on the storage you care about
  DEMO_SERVE=0 iosonde demo          without the page
"""
_REFRESH_S = 0.5
DEFAULT_NS = 90 * SECOND_NS
_SHORTEST_NS = 30 * SECOND_NS
"""Shortest demo that learns a baseline, in windows of 2 s, before its load."""
_QUIET_WINDOWS = 6
"""Windows before the load: five are learnt from."""


def main(arguments: Sequence[str]) -> int:
    """Run the demonstration; 130 if interrupted before the load had run."""
    args = _parse(arguments)
    base = Path(tempfile.mkdtemp(prefix="iosonde-demo-", dir=Path.cwd()))
    own = base / "storage"
    if args.dir is None:
        own.mkdir()
    root = Path(args.store) if args.store else base / "store"
    args.directory = [str(args.dir or own)]
    config = probe.config(args, root)
    if args.dir is None:
        config["target"][0]["name"] = "demo"
    try:
        load = _measure(args, config)
    finally:
        shutil.rmtree(own, ignore_errors=True)
    if load is None:
        options.note("interrupted before the load ran: no result")
        return 130
    found = demonstrate(root, load, args.window)
    print_blocks(found.shown())
    _plot(found, args)
    if os.environ.get("DEMO_SERVE", "1") != "0" and not args.no_serve:
        _serve(root)
    options.note(f"the demo's store: {root}")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "Two minutes: a probe, a load beside it, and what iosonde makes of it."
    parser = options.Parser("demo", summary, EXAMPLES)
    time, size = options.reads(parse_duration), options.reads(parse_size)
    add = parser.add_argument
    add("--dir", type=Path, help="directory to watch and to load (default: a fresh one here)")
    add(
        "--duration",
        type=time,
        default="90s",
        metavar="TIME",
        help="length of the demo (default: 90s)",
    )
    add(
        "--load-at",
        type=time,
        default="35s",
        metavar="TIME",
        help="begin of the load (default: 35s)",
    )
    add(
        "--load-for",
        type=time,
        default="25s",
        metavar="TIME",
        help="length of the load (default: 25s)",
    )
    add(
        "--period",
        type=time,
        default="100ms",
        metavar="TIME",
        help="probe period (default: 100ms)",
    )
    add(
        "--window", type=time, default="2s", metavar="TIME", help="length of a window (default: 2s)"
    )
    add(
        "--file-size",
        type=size,
        default="1GiB",
        metavar="SIZE",
        help="size of the large test file (default: 1GiB)",
    )
    add("--pool", type=int, default=1000, metavar="N", help="number of small files (default: 1000)")
    add(
        "--plot",
        type=Path,
        default=Path("iosonde-demo.png"),
        metavar="FILE",
        help="picture file (default: iosonde-demo.png)",
    )
    add("--no-serve", action="store_true", help="end after the picture, as with DEMO_SERVE=0")
    parser.add_store()
    parser.set_defaults(
        baseline=parse_duration("7d"),
        block_size=None,
        object_size=None,
        direct=None,
        host=None,
        seed=None,
    )
    args = parser.parse(arguments)
    end = args.load_at + args.load_for
    if end > args.duration:
        raise UsageError(
            f"the load would end after {format_seconds(end)}, the demo after {format_seconds(args.duration)}",
            expected="--load-at and --load-for that end within --duration",
            hint=_fitting(args.duration),
        )
    if args.load_at < _QUIET_WINDOWS * args.window:
        least = format_option(_QUIET_WINDOWS * args.window)
        raise UsageError(
            f"a load after {format_seconds(args.load_at)} leaves no time to learn what is usual",
            expected=f"--load-at of {least} or more, or a shorter --window",
            hint=f"--load-at {least}",
        )
    return args


def _fitting(duration_ns: int) -> str:
    """Options that fit into a demo of this length, at the default proportions."""
    if duration_ns < _SHORTEST_NS:
        return f"--duration {format_option(DEFAULT_NS)}"
    at, length = (round(share * duration_ns / SECOND_NS) for share in (0.4, 0.3))
    return f"--load-at {at}s --load-for {length}s"


def _measure(args: argparse.Namespace, config: dict[str, Any]) -> LoadTimes | None:
    """Probe, load, stop; None if the user ended it before the load had."""
    with Interrupt() as interrupt, ForegroundProbe(config) as instrument:
        if not probe.prepare(instrument, interrupt):
            return None
        instrument.start()
        return _watch(args, instrument, interrupt)


def _watch(
    args: argparse.Namespace, instrument: ForegroundProbe, interrupt: Interrupt
) -> LoadTimes | None:
    """Show the live view; run the load at its time."""
    start_ns = options.now_ns()
    running: DemoLoad | None = None
    load: LoadTimes | None = None
    try:
        with view(instrument.recent, max(args.window, 5_000_000_000)) as shown:
            while (passed := options.now_ns() - start_ns) < args.duration and not interrupt.wanted:
                if running is None and load is None and passed >= args.load_at:
                    running = DemoLoad(Path(args.directory[0]))
                if running is not None and passed >= args.load_at + args.load_for:
                    load, running = _stopped(running), None
                note = _note(args, passed, running is not None)
                shown.show(instrument.snapshot(), start_ns + passed, note)
                interrupt.wait(_REFRESH_S)
    finally:
        if running is not None:
            load = _stopped(running)
    return load


def _stopped(running: DemoLoad) -> LoadTimes:
    """End the load, and say why a part of it ended early."""
    load = running.stop()
    for text in load.troubles:
        options.note(f"note: {text}")
    return load


def _note(args: argparse.Namespace, passed: int, loaded: bool) -> str:
    left = format_seconds(max(0, args.duration - passed))
    if loaded:
        return f"demo: the load is running; {left} left"
    if passed < args.load_at:
        return (
            f"demo: quiet; the load begins in {format_seconds(args.load_at - passed)}; {left} left"
        )
    return f"demo: quiet again; {left} left"


def _plot(found: Demonstration, args: argparse.Namespace) -> None:
    from iosonde.drawing.render_sheet import save_sheet

    for sheet in found.pictures(options.now_ns()):
        save_sheet(sheet, args.plot)
        options.note(f"wrote {args.plot}")


def _serve(root: Path) -> None:
    """Serve the page, on the default port or, if that is taken, on any."""
    from iosonde.serve.run import run
    from iosonde.serve.upkeep import sealing

    try:
        run(root, note=options.note, upkeep=sealing(root))
    except IosondeError:
        run(root, "127.0.0.1:0", options.note, upkeep=sealing(root))
