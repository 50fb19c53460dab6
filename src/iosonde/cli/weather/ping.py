"""iosonde ping: current latencies of a directory."""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Sequence

from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.render import show
from iosonde.cli.shared.text import wrapped
from iosonde.model.errors import UsageError
from iosonde.model.units import format_size, parse_duration, parse_size
from iosonde.weather.ping import answers

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
    asked = answers.PingRequest(
        args.directory, args.duration, args.count, args.period, args.block_size, args.verbose
    )

    def tell(text: str) -> None:
        if args.format == "text":
            print("\n".join(wrapped(text)), flush=True)

    with Interrupt() as interrupt:
        found = answers.ping(
            options.store_root(args),
            path,
            asked,
            socket.gethostname(),
            options.now_ns(),
            tell=tell,
            note=options.note,
            stopped=lambda: interrupt.wanted,
        )
    show(found, args)
    for text in found.notes() if args.format == "text" else ():
        options.note(text)
    return found.exit_code


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
