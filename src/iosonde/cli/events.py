"""iosonde events: what happened, from when to when, how it ended, and what the kernel said."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iosonde.cli import options
from iosonde.cli.text import table
from iosonde.findings.sentences import event_words, say_event
from iosonde.model.errors import UsageError
from iosonde.model.units import format_time
from iosonde.store.events import SCHEMA_VERSION, Event, read_events
from iosonde.store.state import read_states

EXAMPLES = """\
  iosonde events                      hangs and outages of the last week
  iosonde events /work --since -30d
  iosonde events --format json        with the stacks that were waiting
  iosonde events --format parquet -o events.parquet
"""
_FORMATS = ("table", "json", "csv", "parquet")


def main(arguments: Sequence[str]) -> int:
    """Print the events of a time range, oldest first."""
    args = _parse(arguments)
    root, now_ns = options.store_root(args), options.now_ns()
    since, until = options.time_range(args, now_ns)
    states = read_states(root)
    events = _chosen(read_events(root, since, until), args.target, states)
    living = {str(state["run_id"]) for state in states if state["running"]}
    if args.format == "table":
        _print(events, living, now_ns)
    elif args.format == "json":
        _write_json(events, living, now_ns, args.output)
    else:
        _write_frame(events, args)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What happened: operations that hung, targets and stores that could not be used."
    parser = options.Parser("events", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="*", help="name of a watched target (default: all)")
    parser.add_range(since="-7d")
    add("--format", choices=_FORMATS, help="(default: the file's ending, else table)")
    add("-o", "--output", type=Path, metavar="FILE", help="write data here instead of stdout")
    parser.add_store()
    args = parser.parse(arguments)
    if args.format is None:
        ending = args.output.suffix[1:].lower() if args.output else "table"
        if ending not in _FORMATS:
            raise UsageError(
                f"cannot tell the format of {args.output}", expected="--format json, csv or parquet"
            )
        args.format = ending
    if args.format == "table" and args.output:
        raise UsageError("a table goes to the terminal only", hint="--format json, csv or parquet")
    if args.format == "parquet" and args.output is None:
        raise UsageError("Parquet cannot go to a terminal or pipe", hint="-o FILE")
    return args


def _chosen(
    events: list[Event], wanted: Sequence[str], states: list[dict[str, Any]]
) -> list[Event]:
    """Events of the targets asked for. Raises UsageError for one that nobody knows."""
    if not wanted:
        return events
    known = {str(state["target"]) for state in states} | {e.target for e in events if e.target}
    names: set[str] = set()
    for name in wanted:
        same = {name, name.rstrip("/") or "/", str(Path(name).absolute())}
        same |= {str(s["target"]) for s in states if s["path"] in same}
        if not same & known:
            raise UsageError(
                f"{name} is not watched", expected="one of " + (", ".join(sorted(known)) or "none")
            )
        names |= same
    return [event for event in events if event.target in names]


def _print(events: list[Event], living: set[str], now_ns: int) -> None:
    if not events:
        print("No events.")
        return
    rows = []
    for event in events:
        words = event_words(event, now_ns, running=event.run_id in living)
        began = format_time(event.began_ns, now_ns, seconds=True)
        rows.append((began, words.lasted, words.what, event.host, words.ended, words.evidence))
    print(table(("began", "lasted", "what", "seen from", "ended", "evidence"), rows, left=6))


def _write_json(events: list[Event], living: set[str], now_ns: int, output: Path | None) -> None:
    plain = [
        {**asdict(e), "sentence": say_event(e, now_ns, running=e.run_id in living)} for e in events
    ]
    text = json.dumps({"schema_version": SCHEMA_VERSION, "events": plain}, indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        from iosonde.store.export import write_text

        write_text(text, output)


def _write_frame(events: list[Event], args: argparse.Namespace) -> None:
    from iosonde.store.export import write_events

    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_events(events, path, args.format)
        if args.output is None:
            options.copy_to_stdout(path)
