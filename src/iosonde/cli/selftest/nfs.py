"""iosonde selftest nfs: sweep of a server with a known queue, compared with the truth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from iosonde.bench.nfs.answers import CheckVerdict, KnownQueue, check_client
from iosonde.cli.bench.nfs_view import SweepView
from iosonde.cli.bench.values import count, counts
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.render import print_blocks
from iosonde.model.units import format_duration, parse_duration

EXAMPLES = """\
  iosonde selftest nfs                        about a minute: plateau, knee, reads that are counted
  iosonde selftest nfs --service 1ms --queue 500 -k 1,4,16
  iosonde selftest nfs --serve                let the server run, and try 'iosonde bench nfs' on it

The server listens on loopback, keeps files in memory, executes one READ or WRITE after the other, each in --service,
from a queue of --queue. A read behind a full queue and K connections waits (M + K + 1) N.
"""
_EXIT_CODES = {CheckVerdict.GOOD: 0, CheckVerdict.BUSY: 3, CheckVerdict.WRONG: 1}


def nfs(arguments: Sequence[str]) -> int:
    """Run it; exit code 0 if all results are true, 3 if a busy host hides them, 1 if wrong."""
    args = _parse(arguments)
    queue = KnownQueue(args.service, args.queue)
    with Interrupt() as interrupt:
        if args.serve:
            return _serve(queue, args.port, interrupt)
        found = check_client(queue, args.connections, SweepView(interrupt))
    if found is None:
        return 130
    print_blocks(found.shown())
    return _EXIT_CODES[found.verdict]


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
    with queue.server(port) as server:
        options.note(
            f"a queue of {queue.operations}, {format_duration(queue.service_ns)} an operation; "
            f"reads wait from {queue.rate_per_s:,.0f} writes/s on; Ctrl-C ends it"
        )
        print(f"nfs://127.0.0.1/export?portmapport={server.port}", flush=True)
        while not interrupt.wait(1.0):
            pass
    return 0
