"""iosonde check: a monitoring plugin. Reads states only, so it answers even if the storage hangs.

Everything happens in a child process: should the store folder itself lie on a hung file system, the
parent still answers UNKNOWN in time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from iosonde import __version__
from iosonde.cli.shared import options
from iosonde.engine.left_out import left_out
from iosonde.engine.states import read_states
from iosonde.host.child import ask
from iosonde.model.errors import IosondeError
from iosonde.model.units import parse_duration
from iosonde.weather.slowdown import answers

EXAMPLES = """\
  iosonde check                       every watched target; the worst decides
  iosonde check /work -w 2 -c 5       warn above 2x, critical above 5x slower than usual
  iosonde check /work -w ~:3 -c ~:10  ranges as in the Monitoring Plugins guidelines

exit code: 0 OK, 1 WARNING, 2 CRITICAL (slow, hanging or failing),
           3 UNKNOWN (no news, still learning, or a wrong option)
"""


def main(arguments: Sequence[str]) -> int:
    """Print one plugin line; returns 0, 1, 2 or 3, in any case."""
    try:
        args = _parse(arguments)
        return _in_time(lambda: _answer(args), args.timeout / 1e9, options.store_name(args))
    except SystemExit as stop:
        return answers.OK if stop.code == 0 else answers.UNKNOWN
    except IosondeError as error:
        print(f"IOSONDE UNKNOWN - {error}")
        return answers.UNKNOWN


def _parse(arguments: Sequence[str]) -> Any:
    summary = "Tell a monitoring system whether storage is slower than usual."
    parser = options.Parser("check", summary, EXAMPLES)
    limit = options.reads(answers.parse_range)
    parser.add_argument("target", nargs="*", help="name or path of a watched target (default: all)")
    parser.add_argument(
        "-w",
        "--warning",
        type=limit,
        metavar="RANGE",
        help="slowdown to warn for (default: 2)",
    )
    parser.add_argument(
        "-c",
        "--critical",
        type=limit,
        metavar="RANGE",
        help="slowdown that is critical (default: 5)",
    )
    parser.add_argument(
        "-t",
        "--timeout",
        type=options.reads(parse_duration),
        default="10s",
        metavar="TIME",
        help="answer within this time (default: 10 s)",
    )
    parser.add_argument(
        "-v", "--verbose", action="count", default=0, help="print notes about each target"
    )
    parser.add_argument("-V", "--version", action="version", version=f"iosonde {__version__}")
    parser.add_store(states_only=True)
    args = parser.parse(arguments)
    answers.ensure_ordered(args.warning, args.critical)
    return args


def _answer(args: Any) -> tuple[int, str]:
    """Status and text."""
    now_ns = options.now_ns()
    root = options.store_root(args)
    every = read_states(root)
    if not every:
        unreadable = [f"{one['path']} {one['what']}; try {one['try']}" for one in left_out(root)]
        nothing = f"no states in {options.store_name(args)}; try 'iosonde probe DIR'"
        return answers.UNKNOWN, f"IOSONDE UNKNOWN - {(unreadable or [nothing])[0]}"
    states = options.chosen(every, args.target)
    return answers.check(states, now_ns, args.warning, args.critical, verbose=args.verbose > 0)


def _in_time(answer: Callable[[], tuple[int, str]], seconds: float, store: str) -> int:
    """Run ``answer`` in a child process; UNKNOWN on a timeout or failure."""
    sys.stdout.flush()
    reply = ask(lambda note: note.found(answer=answer()), seconds)
    if reply.hang is not None:
        level, text = answers.UNKNOWN, f"{store} did not answer within {seconds:g} s"
    elif reply.error is not None:
        level, text = answers.UNKNOWN, reply.error
    else:
        level, text = reply.facts["answer"]
        print(text)
        return int(level)
    print(f"IOSONDE UNKNOWN - {text}")
    return level
