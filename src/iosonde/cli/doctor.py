"""iosonde doctor: check mounts, caches and clocks that distort what the probe measures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iosonde import __version__
from iosonde.cli.shared import options
from iosonde.cli.shared.render import put_json
from iosonde.doctor.answers import DEFAULT_ADDRESS, DoctorAnswer, Request, examine
from iosonde.engine.layout.segments import spool_segments
from iosonde.engine.states import read_states
from iosonde.model.errors import UsageError
from iosonde.model.units import parse_duration
from iosonde.weather.slowdown.answers import current

EXAMPLES = """\
  iosonde doctor                  this host, the store, the agent and every watched target
  iosonde doctor /work            a target, or any directory before it is watched
  iosonde doctor -q               only what is worth doing something about
  iosonde doctor --format json    with the numbers behind each finding

The doctor reads only, takes no lock, and answers in time whatever hangs.

exit code: 0 nothing worse than a note, 1 a warning or a problem was found, 2 the request was wrong.
           For a monitoring system use 'iosonde check': it says whether storage is slow.
"""
_COLOURS = {"ok": "ok", "note": "info", "warning": "slow", "problem": "hung"}
_WIDTH = 9
_LEAST_NS = 100_000_000


def main(arguments: Sequence[str]) -> int:
    """Examine and print; 1 if action is needed."""
    parser = options.Parser(
        "doctor", "Does what the probe measures mean what you think it does?", EXAMPLES
    )
    add = parser.add_argument
    add(
        "target",
        nargs="*",
        metavar="TARGET|DIR",
        help="target or directory (default: every watched target)",
    )
    parser.add_text_or_json()
    add("-q", "--quiet", action="store_true", help="print warnings and problems only")
    add(
        "-t",
        "--timeout",
        type=options.reads(_patience),
        default="5s",
        metavar="TIME",
        help="wait for an answer (default: 5s)",
    )
    add("--host", help="name of this host in samples (default: the host name)")
    add(
        "--agent",
        type=options.reads(_address),
        default=DEFAULT_ADDRESS,
        metavar="HOST:PORT",
        help=f"address of the agent's /metrics (default: {DEFAULT_ADDRESS})",
    )
    parser.add_store()
    args = parser.parse(arguments)
    if "" in args.target:
        raise UsageError("an empty name is no target", expected="a watched target or a directory")
    request = Request(
        wanted=args.target,
        host=args.host or os.uname().nodename,
        store=options.store_root(args),
        read_states=lambda root: current(read_states(root), options.now_ns()),
        open_segments=_segments,
        agent=args.agent,
        version=__version__,
        timeout_s=args.timeout / 1e9,
        now_ns=options.now_ns(),
    )
    found = examine(request)
    if args.format == "json":
        put_json(found.data(), None)
    else:
        _print(found, args.quiet)
    return 1 if found.bad else 0


def _patience(text: str) -> int:
    timeout_ns = parse_duration(text)
    if timeout_ns < _LEAST_NS:
        raise UsageError(f"{text} is too short to tell a hang", expected="at least 100ms")
    return timeout_ns


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535 or not text.isprintable():
        raise UsageError(f"{text!r} is no address", expected=f"HOST:PORT such as {DEFAULT_ADDRESS}")
    return text


def _segments(root: Path) -> list[Path]:
    return [segment.path for segment in spool_segments(root)]


def _print(found: DoctorAnswer, quiet: bool) -> None:
    """By subject, in the order of the examination; the advice below what it is about."""
    coloured = options.colourful()
    for subject, group in found.by_subject(quiet=quiet):
        print(options.colour(subject, "bold", coloured))
        for finding in group:
            word = options.colour(f"{finding.level:<{_WIDTH}}", _COLOURS[finding.level], coloured)
            name = options.colour(f"  [{finding.id}]", "dim", coloured)
            print(f"  {word}{finding.says}{name}")
            if finding.advice is not None:
                print(f"  {'':<{_WIDTH}}  why  {finding.why}")
                print(f"  {'':<{_WIDTH}}  do   {finding.advice}")
        print()
    print(found.counts())
