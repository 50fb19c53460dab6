"""Time limit of commands for a hung store."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from iosonde.cli.shared import options
from iosonde.cli.shared.terminal import safe_output
from iosonde.engine.reading import share
from iosonde.host.timed import HungError, in_time
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import UsageError
from iosonde.model.text import clean_text
from iosonde.model.units import format_option, parse_duration


def add_timeout(parser: options.Parser, default: str) -> None:
    """Add --timeout."""
    parser.add_argument(
        "--timeout",
        type=options.reads(_patience),
        default=default,
        metavar="TIME",
        help=f"time limit, even where storage hangs (default: {default})",
    )


def answered_in_time(args: argparse.Namespace, answer: Callable[[argparse.Namespace], int]) -> int:
    """Exit code of ``answer``, which reads the store in a child. Raises HungError."""
    if not args.states_only:
        options.store_root(args)  # a first copy of a bucket takes as long as it takes
    store, latest = options.store_name(args), share()

    def safely() -> int:
        with safe_output():  # of the child, whose streams are in memory
            return answer(args)

    return in_time(safely, args.timeout / 1e9, lambda: _late(store, args.timeout, latest()))


def _late(store: str, timeout_ns: int, path: str) -> HungError:
    where = f"; {clean_text(path)} was being read" if path else ""
    return HungError(
        f"{store} did not answer within {format_option(timeout_ns)}{where}",
        expected="a store on a disk that answers",
        hint=Advice("a longer ", Argument("timeout"), ", or a shorter ", Argument("since")),
    )


def _patience(text: str) -> int:
    timeout_ns = parse_duration(text)
    if timeout_ns <= 0:
        raise UsageError(f"a time limit of {text} is none", expected="a time above 0")
    return timeout_ns
