"""iosonde events: events with start, end, recovery, kernel evidence and recurrence."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.cli.shared import options
from iosonde.cli.shared.in_time import add_timeout, answered_in_time
from iosonde.cli.shared.peers import print_peers
from iosonde.cli.shared.targets import names_of, require_samples
from iosonde.cli.shared.text import table
from iosonde.engine.left_out import with_left_out
from iosonde.model.errors import UsageError
from iosonde.model.units import format_time
from iosonde.weather import answers
from iosonde.weather.events.log import SCHEMA_VERSION, Event
from iosonde.weather.events.slow_words import say_seen, say_slow_event, slow_end, slow_words
from iosonde.weather.events.unjudged_words import say_not_judged, say_unjudged
from iosonde.weather.events.words import event_words, say_event
from iosonde.weather.events.written import as_event
from iosonde.weather.peers.words import peer_data

if TYPE_CHECKING:
    from iosonde.weather.answers import Happened

EXAMPLES = """\
  iosonde events                      slow stretches, hangs and outages of the last week
  iosonde events --recurring          what comes back: "Saturdays 02:00-05:30, 8 of 8 weeks"
  iosonde events /work --since -30d
  iosonde events --format json        with the stacks that were waiting
  iosonde events --format parquet -o events.parquet
"""


def main(arguments: Sequence[str]) -> int:
    """Print the events of a time range, oldest first."""
    return answered_in_time(_parse(arguments), _answer)


def _answer(args: argparse.Namespace) -> int:
    root, now_ns = options.store_root(args), options.now_ns()
    if args.recurring:
        args.since = None
    span = options.time_range(args, now_ns)
    log = answers.event_log(root, span, now_ns)
    if args.target:
        heard = [event.target for event in log.events if event.target]
        args.target = names_of(root, args.target, log.states, heard)
    if args.recurring:
        return _recurring(root, span[1] or now_ns, args)
    found = answers.events(
        root,
        log,
        span,
        now_ns,
        targets=args.target,
        agent_only=args.agent_events,
        write_back=True,
    )
    beside = [] if args.agent_events else answers.peers(root, span, now_ns, args.target, found)
    if args.format == "table":
        if not (log.events or found.slow or log.states):
            require_samples(root)
        _print(found, log.running, now_ns)
        print_peers(beside, now_ns)
    elif args.format == "json":
        document = _document(found, log.running, now_ns)
        document["peers"] = [peer_data(one, now_ns) for one in beside]
        document = with_left_out(document, root)
        _write_text(json.dumps(document, indent=2), args.output)
    else:
        _write_frame([*found.logged, *map(as_event, found.slow)], args)
    return 0


def _recurring(root: Path, until: int, args: argparse.Namespace) -> int:
    """Print events that recur daily or weekly."""
    from iosonde.weather.events.words import (
        say_all_recurring,
        say_nothing_recurs,
        say_recurring,
    )

    zone = options.local_zone()
    found, places, looked_ns = answers.recurring(root, until, args.seed, zone, args.target)
    if not places:
        require_samples(root)
    if args.format == "json":
        plain = [{**asdict(one), "sentence": say_recurring(one)} for one in found]
        document = with_left_out({"seed": args.seed, "recurring": plain}, root)
        _write_text(json.dumps(document, indent=2), args.output)
    elif args.format == "table":
        print("\n".join(say_all_recurring(found)) or say_nothing_recurs(looked_ns))
    else:
        raise UsageError("what recurs is a table or JSON", hint="--format json")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    summary = "What happened: slow stretches, operations that hung, targets that could not be used."
    parser = options.Parser("events", summary, EXAMPLES)
    add = parser.add_argument
    add("target", nargs="*", help="name or path of a watched target (default: all)")
    parser.add_range(since="-7d")
    add("--agent-events", action="store_true", help="events of the agent only, no slow stretches")
    add("--recurring", action="store_true", help="daily and weekly recurrence within 8 weeks")
    add("--seed", type=int, default=0, metavar="N", help="random seed of permutations (default: 0)")
    parser.add_data()
    parser.add_store()
    add_timeout(parser, "10m")
    return parser.parse(arguments)


def _print(found: Happened, running: set[str], now_ns: int) -> None:
    missing = [f"{line}." for line in say_not_judged(found.not_judged, now_ns)]
    if not found.logged and not found.slow:
        print("\n".join(["No events in what was judged." if missing else "No events.", *missing]))
        return
    rows: list[tuple[int, tuple[str, ...]]] = []
    for event in found.logged:
        words = event_words(event, now_ns, running=event.run_id in running)
        began = format_time(event.began_ns, now_ns, seconds=True)
        row = (began, words.lasted, words.what, event.host, words.ended, words.evidence)
        rows.append((event.began_ns, row))
    for one in found.slow:
        began = format_time(one.start_ns, now_ns, seconds=True)
        row = (began, *slow_words(one), one.host, *slow_end(one, now_ns))
        rows.append((one.start_ns, row))
    for span in found.seen:
        told = format_time(span.start_ns, now_ns, seconds=True)
        rows.append((span.start_ns, (told, "", say_seen(span), "", "", "")))
    rows.sort(key=lambda row: row[0])
    _print_table([row for _, row in rows])
    for line in missing:
        print(line)


def _print_table(rows: list[tuple[str, ...]]) -> None:
    print(table(("began", "lasted", "what", "seen from", "ended", "evidence"), rows, left=6))


def _document(found: Happened, running: set[str], now_ns: int) -> dict[str, Any]:
    plain = [
        {**asdict(one), "sentence": say_event(one, now_ns, running=one.run_id in running)}
        for one in found.logged
    ]
    spans = [
        {"id": as_event(one).id, **asdict(one), "sentence": say_slow_event(one, now_ns)}
        for one in found.slow
    ]
    scope = [{**asdict(one), "sentence": say_seen(one)} for one in found.seen]
    missing = [{**asdict(one), "sentence": say_unjudged(one, now_ns)} for one in found.not_judged]
    document = {"events": plain, "slow": spans, "seen": scope, "not_judged": missing}
    return {"schema_version": SCHEMA_VERSION, **document}


def _write_text(text: str, output: Path | None) -> None:
    if output is None:
        print(text)
    else:
        from iosonde.engine.files import write_text

        write_text(text + "\n", output)
        options.note(f"wrote {output}")


def _write_frame(events: list[Event], args: argparse.Namespace) -> None:
    from iosonde.weather.events.log import write_events

    with tempfile.TemporaryDirectory() as folder:
        path = args.output or Path(folder) / "out"
        write_events(events, path, args.format)
        if args.output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {args.output}")
