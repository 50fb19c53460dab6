"""iosonde selftest nfs: sweep of a server with a known queue, compared with the truth."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence

from iosonde.bench.nfs.answers import sweep_blocks
from iosonde.bench.nfs.check import (
    CheckVerdict,
    KnownQueue,
    check_connections,
    check_knee,
    known_server,
)
from iosonde.cli.bench.nfs_view import SweepView
from iosonde.cli.bench.values import count, counts
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.render import print_blocks
from iosonde.cli.shared.text import table
from iosonde.model.units import format_duration, parse_duration

EXAMPLES = """\
  iosonde selftest nfs                        about a minute: plateau, knee, reads that are counted
  iosonde selftest nfs --service 1ms --queue 500 -k 1,4,16
  iosonde selftest nfs --serve                let the server run, and try 'iosonde bench nfs' on it

The server listens on loopback, keeps files in memory, executes one READ or WRITE after the other, each in --service,
from a queue of --queue. A read behind a full queue and K connections waits (M + K + 1) N.
"""


def nfs(arguments: Sequence[str]) -> int:
    """Run it; exit code 0 if all results are true, 3 if a busy host hides them, 1 if wrong."""
    args = _parse(arguments)
    queue = KnownQueue(args.service, args.queue)
    with Interrupt() as interrupt:
        if args.serve:
            return _serve(queue, args.port, interrupt)
        view = SweepView(interrupt)
        checks = []
        for connections in args.connections:
            checks.append(check_connections(queue, connections, view))
            if interrupt.wanted:
                return 130
        sweep, knee = check_knee(queue, view)
        if interrupt.wanted:
            return 130
    print_blocks(sweep_blocks(sweep))
    print()
    found = [*(one for many in checks for one in many), *knee]
    rows = [[check.what, check.true, check.found, check.verdict] for check in found]
    print(table(("", "true", "measured", ""), rows))
    verdicts = {check.verdict for check in found}
    if CheckVerdict.BUSY in verdicts:
        print(
            "\nThis host was busy: what it explains says nothing of the client; try again on a quiet one."
        )
    if CheckVerdict.WRONG in verdicts:
        return 1
    return 3 if CheckVerdict.BUSY in verdicts else 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = options.Parser(
        "selftest nfs",
        "Measure an NFS server with a known queue, and compare the result with the truth.",
        EXAMPLES,
    )
    time = options.reads(parse_duration)
    add = parser.add_argument
    add(
        "--service",
        type=time,
        default=500_000,
        metavar="N",
        help="duration of an operation (500us)",
    )
    add("--queue", type=count, default=100, metavar="M", help="operations in the queue (100)")
    add(
        "-k",
        "--connections",
        type=counts,
        default=[1, 4, 16],
        metavar="K",
        help="numbers of TCP connections (1,4,16)",
    )
    add("--serve", action="store_true", help="only run the server, until Ctrl-C")
    add("--port", type=count, default=20490, metavar="PORT", help="port of --serve (20490)")
    return parser.parse(arguments)


def _serve(queue: KnownQueue, port: int, interrupt: Interrupt) -> int:
    with _running(queue, port) as bound:
        options.note(
            f"a queue of {queue.operations}, {format_duration(queue.service_ns)} an operation; "
            f"reads wait from {queue.rate_per_s:,.0f} writes/s on; Ctrl-C ends it"
        )
        print(f"nfs://127.0.0.1/export?portmapport={bound}", flush=True)
        while not interrupt.wait(1.0):
            pass
    return 0


@contextlib.contextmanager
def _running(queue: KnownQueue, port: int) -> Iterator[int]:
    with known_server(queue, port) as server:
        yield server.port
