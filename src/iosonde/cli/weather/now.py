"""iosonde now: one sentence per target, from the states of running probes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.weather import hosts
from iosonde.engine.states import namesakes, read_states
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.units import format_seconds
from iosonde.weather import answers
from iosonde.weather.forget import current
from iosonde.weather.slowdown.findings import Finding, worst_first
from iosonde.weather.slowdown.words import say_all, say_namesake, summary

EXAMPLES = """\
  iosonde now                     every watched target, the worst first
  iosonde now /work
  iosonde now --format json       with the numbers behind the sentences
  iosonde now --hosts             this node or the storage: every host beside the others, the slowest first
  iosonde now --hosts --at 14:05  the hour around an instant, from samples
  iosonde now --hosts --store '/shared/iosonde/*'
"""


def main(arguments: Sequence[str]) -> int:
    """Print the verdict of every requested target."""
    parser = options.Parser(
        "now", "Is it slow? One sentence a target, with its evidence.", EXAMPLES
    )
    parser.add_argument("target", nargs="*", help="name or path of a watched target (default: all)")
    parser.add_text_or_json()
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print notes about each target"
    )
    hosts.add_hosts(parser)
    parser.add_store(states_only=True)
    add_timeout(parser, "60s")
    args = parser.parse(arguments)
    if not args.hosts:
        if hosts.is_past(args):
            raise UsageError("--at, --since and --until need --hosts", hint="'iosonde events'")
        return answered_in_time(args, _answer)
    if args.target:
        raise UsageError("--hosts shows all targets", expected="no TARGET beside it")
    args.states_only = not hosts.is_past(args)
    return answered_in_time(args, hosts.answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    states = read_states(root)
    if not states:
        raise NothingMeasuredError(
            f"no probe states in {options.store_name(args)}",
            expected="a running probe",
            hint="'iosonde probe DIR', or --store",
        )
    every = answers.now(states, now_ns)
    # Where nothing runs, what ran last is better than nothing, and a file that is no state hides none.
    matters = current(states, now_ns)
    if all(state["state"] == "damaged" for state in matters):
        matters = states
    states = options.chosen(states, args.target) if args.target else matters
    by_target = {(state["host"], state["target"]): state for state in states}
    findings = worst_first([f for f in every if (f.host, f.target) in by_target])
    said = list(zip(findings, say_all(findings), strict=True))
    if args.format == "json":
        plain = [_plain(f, sentence, by_target[f.host, f.target]) for f, sentence in said]
        text = json.dumps(
            {"schema_version": 2, "targets": plain, "namesakes": namesakes(states)}, indent=2
        )
        options.put_text(f"{text}\n", None)
    else:
        for finding, sentence in said:
            _print(finding, sentence, by_target[finding.host, finding.target], args.verbose)
        if len(findings) > 1:
            print(options.colour(summary(findings), "dim", options.colourful()))
        for host in namesakes(states):
            print(say_namesake(host))
    return 0


def _plain(finding: Finding, sentence: str, state: dict[str, Any]) -> dict[str, Any]:
    return {**finding.to_json(), "sentence": sentence, "state": state}


def _print(finding: Finding, sentence: str, state: dict[str, Any], verbose: bool) -> None:
    coloured = options.colourful()
    named = "" if finding.severity == "unknown" else f"{finding.severity:<8}"
    word = options.colour(named, finding.severity, coloured)
    heard = ""
    if "shipped_ns" in finding.evidence:  # the sentence says when
        heard = f"  (from {finding.host})"
    elif state["written_ns"] is not None:
        age = format_seconds(max(0, finding.at_ns - state["written_ns"]))
        heard = f"  (measured {age} ago from {finding.host})"
    print(f"{word}{sentence}{options.colour(heard, 'dim', coloured)}")
    for note in state["notes"] if verbose else ():
        print(options.colour(f"        note: {note}", "dim", coloured))
