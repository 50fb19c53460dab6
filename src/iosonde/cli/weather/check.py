"""iosonde check: a monitoring plugin. Reads states only, so it answers even when the storage hangs.

Everything happens in a child process: should the store folder itself lie on a hung file system, the
parent still answers UNKNOWN in time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from iosonde import __version__
from iosonde.cli.shared import options
from iosonde.engine.states import read_states
from iosonde.host.child import ask
from iosonde.model.errors import IosondeError, UsageError
from iosonde.model.units import parse_duration
from iosonde.weather import answers
from iosonde.weather.forget import is_stopped
from iosonde.weather.slowdown import thresholds
from iosonde.weather.slowdown.findings import Finding
from iosonde.weather.slowdown.words import say

EXAMPLES = """\
  iosonde check                       every watched target; the worst decides
  iosonde check /work -w 2 -c 5       warn above 2x, critical above 5x slower than usual
  iosonde check /work -w ~:3 -c ~:10  ranges as in the Monitoring Plugins guidelines

exit code: 0 OK, 1 WARNING, 2 CRITICAL (slow, hanging or failing),
           3 UNKNOWN (no news, still learning, or a wrong option)
"""


def main(arguments: Sequence[str]) -> int:
    """Print one plugin line; returns 0, 1, 2 or 3, whatever happens."""
    try:
        args = _parse(arguments)
        return _in_time(lambda: _answer(args), args.timeout / 1e9, options.store_name(args))
    except SystemExit as stop:
        return thresholds.OK if stop.code == 0 else thresholds.UNKNOWN
    except IosondeError as error:
        print(f"IOSONDE UNKNOWN - {error}")
        return thresholds.UNKNOWN


def _parse(arguments: Sequence[str]) -> Any:
    summary = "Tell a monitoring system whether storage is slower than usual."
    parser = options.Parser("check", summary, EXAMPLES)
    limit = options.reads(thresholds.parse_range)
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
    given = [one for one in (args.warning, args.critical) if one is not None and not one.inside]
    args.warning = args.warning or thresholds.parse_range("2")
    args.critical = args.critical or thresholds.parse_range("5")
    if len(given) > 1 and args.warning.high > args.critical.high:
        raise UsageError(
            f"-w {args.warning.text} warns above -c {args.critical.text}",
            expected="a warning before it is critical",
        )
    return args


def _answer(args: Any) -> tuple[int, str]:
    """The status and the text."""
    now_ns = options.now_ns()
    root = options.store_root(args)
    every = read_states(root)
    if not every:
        return (
            thresholds.UNKNOWN,
            f"IOSONDE UNKNOWN - no states in {options.store_name(args)}; try 'iosonde probe DIR'",
        )
    states = _counted(options.chosen(every, args.target), now_ns)
    findings = answers.now(states, now_ns)
    levels = [thresholds.status(finding, args.warning, args.critical) for finding in findings]
    level = thresholds.worst(levels)
    first = levels.index(level)
    lines = [_line(finding, one, args) for finding, one in zip(findings, levels, strict=True)]
    perfdata = [
        datum
        for state, f in zip(states, findings, strict=True)
        for datum in _perfdata(state, f, args)
    ]
    head = f"IOSONDE {thresholds.STATUS_NAMES[level]} - {_clean(lines[first])}"
    text = [f"{head} | {' '.join(perfdata)}" if perfdata else head]
    text += [_clean(line) for i, line in enumerate(lines) if i != first]
    text += [_clean(f"note: {n}") for state in states if args.verbose for n in state["notes"]]
    return level, "\n".join(text)


def _counted(states: list[dict[str, Any]], now_ns: int) -> list[dict[str, Any]]:
    """Without probes that were stopped by will, as long as another one is left."""
    return [state for state in states if not is_stopped(state, now_ns)] or states


def _line(finding: Finding, level: int, args: Any) -> str:
    """The sentence; what only the limits of the caller call slow says so, and the status is not said twice."""
    text = say(finding).removeprefix("unknown: ")
    limit = {
        thresholds.WARNING: f"-w {args.warning.text}",
        thresholds.CRITICAL: f"-c {args.critical.text}",
    }
    if finding.kind == "usual" and level in limit:
        text += f"; {thresholds.STATUS_NAMES[level]} by {limit[level]}"
    return text


def _perfdata(state: dict[str, Any], finding: Finding, args: Any) -> list[str]:
    """``'work_md_create_slowdown'=1.1;2;5;0;`` and the 0.95 quantile in seconds."""
    if finding.severity == "unknown":
        return []
    data = []
    stem = "".join(c if c.isalnum() else "_" for c in str(state["target"]).strip("/")) or "root"
    for op in state["ops"]:
        slowdown, q95 = op["slowdown"], op["q95_ns"]
        value = "U" if slowdown is None else _number(slowdown)
        data.append(
            f"'{stem}_{op['op']}_slowdown'={value};{args.warning.text};{args.critical.text};0;"
        )
        if q95 is not None:
            data.append(f"'{stem}_{op['op']}_q95'={_number(q95 / 1e9)}s;;;0;")
    return data


def _number(value: float) -> str:
    """Six digits without an exponent, as the guideline asks for."""
    text = f"{value:.6g}"
    return text if "e" not in text else f"{value:.9f}".rstrip("0").rstrip(".")


def _clean(text: str) -> str:
    """A pipe would begin the performance data."""
    return text.replace("|", "/")


def _in_time(answer: Callable[[], tuple[int, str]], seconds: float, store: str) -> int:
    """Run ``answer`` in a child process; UNKNOWN when it takes too long or breaks."""
    sys.stdout.flush()
    reply = ask(lambda note: note.found(answer=answer()), seconds)
    if reply.hang is not None:
        level, text = thresholds.UNKNOWN, f"{store} did not answer within {seconds:g} s"
    elif reply.error is not None:
        level, text = thresholds.UNKNOWN, reply.error
    else:
        level, text = reply.facts["answer"]
        print(text)
        return int(level)
    print(f"IOSONDE UNKNOWN - {text}")
    return level
