"""iosonde ping: current latencies of a directory."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import socket
from collections.abc import Sequence
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.text import table, wrapped
from iosonde.host.mounts import mount_of, mount_table
from iosonde.model.errors import UsageError
from iosonde.model.units import format_duration, format_size, parse_duration, parse_size
from iosonde.weather import answers
from iosonde.weather.ping import words
from iosonde.weather.ping.child import Away, Ended, Message, PingPlan
from iosonde.weather.ping.session import Heard, ping
from iosonde.weather.ping.verdict import PingResult, exit_code, result
from iosonde.weather.ping.watched import Watched
from iosonde.weather.slowdown.words import say

EXAMPLES = """\
  iosonde ping /work/me               a verdict after eight seconds
  iosonde ping . -v                   one line an operation, as ioping
  iosonde ping . --duration 1m --period 1s
  iosonde ping . --format json

Its files lie in DIR/.iosonde-UID/ping-... while it runs; nothing stays.

exit code: 0 as usual or typical, 1 slow, 2 hanging, failing or 5x slow, 3 not known
"""


def main(arguments: Sequence[str]) -> int:
    """Time some operations, print a verdict; the exit code gives it, too."""
    args = _parse(arguments)
    path = os.path.abspath(args.directory)  # noqa: PTH100 - the directory itself may hang
    known = answers.watched(options.store_root(args), path, socket.gethostname(), options.now_ns())
    for finding in known.findings:
        _tell(args, f"the probe on {finding.host}: {say(finding)}")
    screen = _Screen(args)
    with Interrupt() as interrupt:
        heard = ping(_plan(args, known), args.duration, screen.hear, lambda: interrupt.wanted)
    found = _result(path, heard, known)
    if args.format == "json":
        options.put_text(json.dumps(_plain(found, known, heard), indent=2) + "\n", None)
    else:
        _print(found, heard)
    return exit_code(found.verdict)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "How a directory answers: seven operations for eight seconds, and a verdict."
    parser = options.Parser("ping", summary, EXAMPLES)
    time, size = options.reads(parse_duration), options.reads(parse_size)
    add = parser.add_argument
    add(
        "directory",
        metavar="DIR",
        help="a directory that you may write, on the storage in question",
    )
    add("-v", "--verbose", action="store_true", help="print every operation")
    add(
        "--duration",
        type=time,
        default="8s",
        metavar="TIME",
        help="end after this time (default: 8s)",
    )
    add("-c", "--count", type=int, metavar="N", help="end after N rounds of operations")
    add(
        "--period",
        type=time,
        default="200ms",
        metavar="TIME",
        help="period of a round (default: 200ms)",
    )
    add("--block-size", type=size, metavar="SIZE", help="size of reads and writes (default: 1MiB)")
    parser.add_text_or_json()
    parser.add_store()
    args = parser.parse(arguments)
    if args.count is not None and args.count < 1:
        raise UsageError(f"--count {args.count} is no number of rounds", expected="1 or more")
    if args.block_size is not None and (args.block_size < 4096 or args.block_size % 4096):
        raise UsageError(
            f"--block-size {format_size(args.block_size)} does not fit O_DIRECT",
            expected="a multiple of 4 KiB",
        )
    return args


def _plan(args: argparse.Namespace, known: Watched) -> PingPlan:
    block = args.block_size or known.block_bytes
    seed = secrets.randbits(64)
    return PingPlan(args.directory, block, known.object_bytes, args.period, args.count, seed)


def _result(path: str, heard: Heard, known: Watched) -> PingResult:
    real = heard.place.path if heard.place else path
    mount = mount_of(mount_table(), real)
    place = (path, mount.kind if mount else "", heard.place, heard.listing)
    return result(place, heard.ended, known.usual_ns, heard.away)


def _tell(args: argparse.Namespace, text: str) -> None:
    if args.format == "text":
        print("\n".join(wrapped(text)), flush=True)


class _Screen:
    """Display during a ping: the first round, every operation on request, a hang as soon as it is one."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._first = False
        self._hangs_s = 0.0

    def hear(self, message: Message, heard: Heard) -> None:
        """Handle a message, given all before it."""
        match message:
            case Away() if message.seconds >= self._hangs_s + 1:
                self._hangs_s = message.seconds
                options.note(words.away(self._args.directory, message))
            case Ended():
                self._hangs_s = 0.0
                if self._args.verbose:
                    _tell(self._args, _line(message, len(heard.ended)))
                elif message.op == "md_delete" and not self._first:
                    self._first = True
                    _tell(self._args, _first(heard.ended))


def _line(one: Ended, number: int) -> str:
    if one.errno:
        return f"{words.operation(one.op)}: request={number} {os.strerror(one.errno)}"
    size = "" if not one.amount or one.op == "md_stat" else f" {_amount(one)}"
    return f"{words.operation(one.op)}{size}: request={number} time={format_duration(one.took_ns)}"


def _amount(one: Ended) -> str:
    return f"{one.amount} names" if one.op == "md_list" else format_size(one.amount)


def _first(ended: Sequence[Ended]) -> str:
    told = {one.op: one for one in ended if not one.errno}
    parts = [f"{words.operation(op)} {format_duration(one.took_ns)}" for op, one in told.items()]
    return f"first: {', '.join(parts)}"


def _print(found: PingResult, heard: Heard) -> None:
    if found.ops:
        print()
        print(table(words.HEAD, [words.cells(op) for op in found.ops]))
        print()
    if found.listing and (text := words.listing(found.directory, found.listing)):
        print("\n".join(wrapped(text)))
    coloured = options.colourful()
    for line in wrapped(words.say(found)):
        print(options.colour(line, found.verdict.severity, coloured))
    if not heard.tidy:
        options.note("its test files go as soon as the storage answers")


def _plain(found: PingResult, known: Watched, heard: Heard) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "schema_version": 1,
        "directory": found.directory,
        "file_system": found.kind or None,
        "access": found.place.access if found.place else None,
        "verdict": {
            "kind": verdict.kind,
            "severity": verdict.severity,
            "sentence": words.say(found),
            "ops": [op.op for op in verdict.ops],
            "away": verdict.away._asdict() if verdict.away else None,
        },
        "ops": [op._asdict() | {"factor": op.factor, "slow": op.slow} for op in found.ops],
        "listing": found.listing._asdict() if found.listing else None,
        "agents": [say(finding) for finding in known.findings],
        "tidy": heard.tidy,
    }
