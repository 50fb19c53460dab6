"""The part of ``iosonde import`` that takes records of monitors, schedulers and jobs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iosonde.analysis.import_records import Recorded, Records, Told, import_records
from iosonde.analysis.join_jobs import Joined, join
from iosonde.cli import options
from iosonde.cli.text import count
from iosonde.cli.work_progress import working
from iosonde.connectors.source import Settings
from iosonde.model.errors import UsageError
from iosonde.model.quality import QUALITY
from iosonde.model.units import format_time
from iosonde.store.state import clean_text


def add_options(parser: argparse.ArgumentParser) -> None:
    """What records do not say themselves."""
    add = parser.add_argument
    add("--system", default="", metavar="NAME", help="file system of records that name none")
    add("--zone", metavar="ZONE", help="of clock times without one: Europe/Berlin, UTC")


def settings_of(args: argparse.Namespace) -> Settings:
    """What the options say. Raises UsageError: no such time zone."""
    if args.zone is None:
        return Settings(system=args.system)
    try:
        return Settings(system=args.system, zone=ZoneInfo(args.zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"--zone {args.zone!r} is no time zone", expected="one such as Europe/Berlin or UTC"
        ) from error


def run(root: Path, records: Records, settings: Settings, now_ns: int) -> int:
    """Import records, put jobs and servers together, say what became of them; 1 if something was broken."""
    told = Told()
    with working("reading") as progress:
        given = replace(settings, progress=progress)
        done = []
        for one in import_records(root, records, given, told):
            done.append(one)
            _print(one, now_ns)
    for error in told.errors:
        options.tell(f"iosonde: {error}; what could be read was imported")
    _print_joined(_joined(root, done))
    return 1 if told.errors else 0


def _joined(root: Path, done: Sequence[Recorded]) -> Joined:
    """Jobs that are new, and those that ran while what is new was recorded."""
    keys = {key for one in done for key in one.keys}
    spans = [one.span_ns for one in done if one.span_ns is not None and (one.samples or one.edges)]
    span = (min(s[0] for s in spans), max(s[1] for s in spans)) if spans else None
    with working("putting jobs and servers together") as progress:
        return join(root, keys=keys, span_ns=span, progress=progress)


def _print(one: Recorded, now_ns: int) -> None:
    parts = []
    if one.samples:
        systems = sorted({clean_text(system) for system, _ in one.series if system})
        metrics = len({metric for _, metric in one.series})
        of = f" of {', '.join(systems[:4])}" if systems else ""
        parts.append(f"{count(one.samples)} samples of {metrics} metrics{of}")
        if one.missing:
            parts[-1] += f", {one.missing / one.samples:.2%} missing"
    if one.jobs:
        parts.append(f"{count(one.jobs)} jobs")
    if one.edges:
        parts.append(f"{count(one.edges)} places of components")
    if not parts:
        parts.append("nothing in it")
    when = ""
    if one.span_ns is not None:
        begin, end = (format_time(at, now_ns, seconds=True) for at in one.span_ns)
        when = f", {begin} to {end}"
    known = one.rows and not (one.new_samples or one.new_jobs or one.new_edges)
    again = "; in the store already" if known else ""
    print(f"{clean_text(one.name)}: {one.kind}: {'; '.join(parts)}{when}{again}")
    for flag, n in sorted(one.flags.items()):
        where = ", ".join(map(clean_text, one.examples[flag]))
        print(f"  {flag} ({count(n)}): {QUALITY[flag]} ({where})")


def _print_joined(found: Joined) -> None:
    if found.jobs:
        print(
            f"{count(found.with_more)} of {count(found.jobs)} jobs have numbers of servers beside them"
        )
