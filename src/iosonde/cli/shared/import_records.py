"""The part of ``iosonde import`` that takes records of monitors, schedulers and jobs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iosonde.cli.shared import options
from iosonde.cli.shared.import_files import StoredFiles
from iosonde.cli.shared.progress import working
from iosonde.connectors.source import Settings
from iosonde.ingest.join import join_new
from iosonde.ingest.log_transfers import MOST_LOGS, keep_logs, logs_of
from iosonde.ingest.records import FileImport, Records, Told, import_records, split
from iosonde.jobs.environment.join import JoinCounts
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.quality import QUALITY
from iosonde.model.text import clean_text
from iosonde.model.units import format_count, format_time, parse_duration

if TYPE_CHECKING:
    from iosonde.connectors.tables.mapping import Mapping
    from iosonde.ingest.prometheus import QueryRange

UNNAMED = "import"
"""Host of samples for which nobody says one."""
_SINCE, _EVERY = "-1d", "1m"
_TOLD = 5
"""Files that cannot be opened, which are told of by name."""


class ImportSources(NamedTuple):
    """What is to be imported: records with what reads them, addresses of servers, and what else may be read."""

    records: Records
    urls: list[str]
    span: QueryRange | None
    """Of the servers."""
    others: list[Path]
    unknown: list[tuple[Path, list[Path]]]
    """Folders with what is in them that nothing can read."""
    broken: list[InputFileError]
    """Of folders, what cannot be opened."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What records do not say themselves."""
    add = parser.add_argument
    add("--system", default="", metavar="NAME", help="file system of records that name none")
    add("--zone", metavar="ZONE", help="zone of clock times without one: Europe/Berlin, UTC")
    told = "TOML: what the columns of a table of jobs mean; a folder of them; repeatable"
    add("--mapping", type=Path, action="append", default=[], metavar="FILE", help=told)
    told = f"from a server: -7d, 2026-07-01T12:00 (default: {_SINCE})"
    add("--since", metavar="TIME", help=told)
    add("--until", metavar="TIME", help="the same (default: now)")
    told = f"length of a server's steps (default: {_EVERY})"
    add("--every", metavar="TIME", help=told)


def settings_of(args: argparse.Namespace) -> Settings:
    """What the options say. Raises UsageError: no such time zone."""
    node = "" if args.host == UNNAMED else args.host
    if args.zone is None:
        return Settings(system=args.system, node=node)
    try:
        return Settings(system=args.system, node=node, zone=ZoneInfo(args.zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"--zone {args.zone!r} is no time zone", expected="one such as Europe/Berlin or UTC"
        ) from error


def given_of(args: argparse.Namespace, now_ns: int) -> ImportSources:
    """What the arguments name. Raises UsageError: a mapping that fits nothing, a range without a server."""
    from iosonde.ingest.prometheus import is_address
    from iosonde.jobs.table.from_files import mappings

    urls = [text for text in args.file if is_address(text)]
    paths = [Path(text) for text in args.file if not is_address(text)]
    maps = mappings(args.mapping)
    folders = [path for path in paths if path.is_dir()]
    records, others = split([path for path in paths if path not in folders], maps)
    given = ImportSources(records, urls, _range(args, now_ns, bool(urls)), others, [], [])
    for folder in folders:
        _add_folder(given, folder, maps)
    return given


def _add_folder(given: ImportSources, folder: Path, maps: Sequence[Mapping]) -> None:
    """What is in a folder, without what was named before."""
    from iosonde.ingest.folders import look

    with working("looking at files") as progress:
        found = look(folder, maps, progress=progress)
    given.broken.extend(found.broken)
    if found.unknown:
        given.unknown.append((folder, found.unknown))
    if not found.records and not found.others:
        given.others.append(folder)  # nothing in it: the message is that of a file
        return
    named = {
        os.path.realpath(path) for path in (*given.others, *(path for path, _ in given.records))
    }
    new = [(path, one) for path, one in found.records if os.path.realpath(path) not in named]
    given.records.extend(new)
    given.others.extend(path for path in found.others if os.path.realpath(path) not in named)


def _range(args: argparse.Namespace, now_ns: int, wanted: bool) -> QueryRange | None:
    from iosonde.ingest.prometheus import QueryRange

    if not wanted:
        for name in ("since", "until", "every"):
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name} is for the address of a server", hint="http://HOST:9090"
                )
        return None
    args.since = args.since or _SINCE
    since, until = options.time_range(args, now_ns)
    until = now_ns if until is None else until
    if since is None or not 0 <= since < until:
        raise UsageError(f"--since {args.since} is not before the end", expected="an earlier time")
    every = parse_duration(args.every or _EVERY)
    if every < 1_000_000 or every % 1_000_000:
        raise UsageError(f"--every {args.every} is not possible", expected="1ms or more, whole ms")
    return QueryRange(since, until, every)


def run(
    root: Path, given: ImportSources, settings: Settings, now_ns: int, kept: StoredFiles
) -> tuple[int, list[FileImport]]:
    """Import records, put jobs and servers together, say what became of them; 1 if something was broken, and the files.

    ``kept`` counts the files.
    """
    for error in given.broken[:_TOLD]:
        options.note(f"iosonde: {error}")
    if len(given.broken) > _TOLD:
        options.note(f"iosonde: {format_count(len(given.broken) - _TOLD)} more cannot be opened")
    if not given.records and not given.urls:
        return (1 if given.broken else 0), []
    told = Told()
    done = []
    for one in _imported(root, given, settings, told):
        done.append(one)
        kept.files += _files(one, given.records)
        _print(one, now_ns)
    _keep_logs(root, given)
    for error in told.errors:
        options.note(f"iosonde: {error}; what could be read was imported")
    with working("putting jobs and servers together") as progress:
        joined = join_new(root, done, progress)
    _print_joined(joined)
    if not joined.jobs and (n := sum(one.jobs for one in done)):
        print(
            f"{format_count(n)} jobs have no I/O performance value: import Darshan logs, or a table (--mapping)"
        )
    return (1 if told.errors or given.broken else 0), done


def _keep_logs(root: Path, given: ImportSources) -> None:
    """Store what ``iosonde locate`` needs of Darshan logs, and say how it is asked."""
    logs = logs_of(given.records)
    if len(logs) > MOST_LOGS:
        more = f"of more than {format_count(MOST_LOGS)} logs at once only the jobs are stored"
        options.note(f"{more}: 'iosonde locate' knows none of these {format_count(len(logs))}")
        return
    with working("reading files of jobs") if logs else nullcontext() as progress:
        kept = list(keep_logs(root, logs, progress))
    for name, osts in kept[:_TOLD]:
        print(f"files of {name} lie on {format_count(osts)} OSTs: 'iosonde locate {name}'")
    if len(kept) > _TOLD:
        print(f"and files of {format_count(len(kept) - _TOLD)} more logs: 'iosonde locate JOB'")


def _imported(
    root: Path, given: ImportSources, settings: Settings, told: Told
) -> Iterator[FileImport]:
    yield from import_records(root, given.records, settings, told, working)
    if given.urls and given.span is not None:
        from iosonde.ingest.prometheus import import_ranges

        with working("asking servers") as progress:
            asked = replace(settings, progress=progress)
            yield from import_ranges(root, given.urls, given.span, asked, told)


def _files(one: FileImport, records: Records) -> int:
    """How many files this was read from: one, all of its kind together, or none for a server."""
    if any(str(path) == one.name for path, _ in records):
        return 1
    return sum(one.kind == connector.KIND for _, connector in records)


def _print(one: FileImport, now_ns: int) -> None:
    parts = []
    if one.samples:
        systems = sorted({clean_text(system) for system, _ in one.series if system})
        metrics = len({metric for _, metric in one.series})
        of = f" of {', '.join(systems[:4])}" if systems else ""
        parts.append(f"{format_count(one.samples)} samples of {metrics} metrics{of}")
        if one.missing:
            parts[-1] += f", {one.missing / one.samples:.2%} missing"
    if one.jobs:
        parts.append(f"{format_count(one.jobs)} jobs")
    if one.edges:
        parts.append(f"{format_count(one.edges)} places of components")
    if not parts:
        parts.append("nothing in it")
    when = ""
    if one.span_ns is not None:
        begin, end = (format_time(at, now_ns, seconds=True) for at in one.span_ns)
        when = f", {begin} to {end}"
    known = one.rows and not (one.new_samples or one.new_jobs or one.new_edges)
    again = "; already in the store" if known else ""
    if one.changed_samples:
        again = (
            f"; {format_count(one.changed_samples)} values take the place of others in the store"
        )
    print(f"{clean_text(one.name)}: {one.kind}: {'; '.join(parts)}{when}{again}")
    if one.unnamed:
        print("  it names no file system: pass --system NAME")
    for remark in one.remarks:
        print(f"  {clean_text(remark)}")
    for flag, n in sorted(one.flags.items()):
        where = ", ".join(map(clean_text, one.examples[flag]))
        print(f"  {flag} ({format_count(n)}): {QUALITY[flag]} ({where})")


def _print_joined(found: JoinCounts) -> None:
    if found.jobs:
        print(
            f"{format_count(found.with_more)} of {format_count(found.jobs)} jobs have numbers of servers beside them"
        )
