"""Results of IOR and IO500 as runs: grouping of files by run, rows, and the cost of tails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iosonde.connectors.benchmarks import kinds
from iosonde.connectors.benchmarks.flags import flag_lines, with_own_rate
from iosonde.connectors.benchmarks.io500 import rows as io500_rows
from iosonde.connectors.benchmarks.io500.find import read_find
from iosonde.connectors.benchmarks.io500.found import PHASES, Io500
from iosonde.connectors.benchmarks.io500.result import read_config, read_result, read_summary
from iosonde.connectors.benchmarks.ior.assemble import transfers_of_run
from iosonde.connectors.lines import FileDefaults, Warn, file_name, storable
from iosonde.connectors.source import FileRead, Item, RunRows
from iosonde.ingest.ior_files import KINDS as IOR_KINDS
from iosonde.ingest.ior_files import Given, WarnOf, read_ior, sorted_paths
from iosonde.ingest.phase_tails import PhaseTail, say_tail, tails_of, walled, with_tails
from iosonde.model.errors import InputFileError
from iosonde.model.runs import RunRow

if TYPE_CHECKING:
    from iosonde.connectors.benchmarks.ior.found import IorRun
    from iosonde.model.transfers import Transfers

_RESULTS = (kinds.IO500_RESULT, kinds.IO500_SUMMARY)
_WORDS = r"(?:result|result_summary|summary|io500(?:-\w+)?|stdout|config(?:-orig)?)"
_HEAD = re.compile(rf"(.*?){_WORDS}(?:\.\w+)+", re.IGNORECASE)
_ENDING = re.compile(r"(?:\.(?:txt|log|out|csv|gz|xz|bz2))+$")
_OF_IO500 = (*_RESULTS, kinds.IO500_CONFIG, kinds.IO500_FIND)
KINDS = (*IOR_KINDS, *_OF_IO500)
"""Kinds of files read here."""
BESIDE = (kinds.IOR_RANKS, kinds.IOR_OPS, kinds.IO500_CONFIG)
"""Kinds of files that accompany the text of a run."""
_SHOWN = 3
_TOLD = (
    "latency-wrong",
    "bandwidth-recomputed",
    "ranks-equalised",
    "clock-skew",
    "equal-bytes-assumed",
)
"""Flags told with the files of IOR."""


TextReader = Callable[[Path, FileDefaults, Warn], Iterator[RunRow]]


class How(NamedTuple):
    """Context for reading files."""

    given: Given
    warn_of: WarnOf
    readers: Mapping[str, TextReader]
    """Readers for phase files of other programs, by kind."""


@dataclass
class _Found:
    """Runs of several files."""

    rows: list[RunRow] = field(default_factory=list)
    tails: list[PhaseTail] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    counts: list[FileRead] = field(default_factory=list)
    transfers: list[Transfers] = field(default_factory=list)
    """Transfers of IOR runs with times of ranks."""


@dataclass
class _Group:
    """Files of one IO500 run."""

    folder: Path
    head: str
    results: list[tuple[Path, str]] = field(default_factory=list)
    members: dict[str, list[tuple[Path, str]]] = field(default_factory=dict)
    """Files of single phases by the phase's name."""


def read(of_kind: dict[str, list[Path]], how: How) -> Iterator[Item]:
    """Read files of these kinds, and remove them from ``of_kind``: also mdtest's of an IO500 run."""
    given, warn_of, _ = how
    done = _Found()
    for group in _groups(of_kind):
        _io500(group, how, done)
    for path in of_kind.pop(kinds.IO500_CONFIG, []):
        what = f"{path} has no results"
        warn_of(path)(InputFileError(what, expected="its result.txt beside it"))
    for path in of_kind.pop(kinds.IO500_FIND, []):
        _find_alone(path, given(path), warn_of(path), done)
    found = read_ior(sorted_paths(of_kind), given, warn_of)
    of_path = {path: kind for kind in IOR_KINDS for path in of_kind.pop(kind, [])}
    done.counts += [FileRead(path, of_path[path], n) for path, n in found.counts.items()]
    for run, _ in found.runs:
        tails = list(tails_of(run))
        done.tails += tails
        done.rows += with_tails(run.rows, tails)
        done.remarks += [f"{run.run_id}: {remark}" for remark in run.remarks]
        if (transfers := transfers_of_run(run)) is not None:
            done.transfers.append(transfers)
    yield RunRows(done.rows, done.transfers)
    yield from map(say_tail, done.tails)
    yield from done.remarks
    yield from done.counts


def _groups(of_kind: dict[str, list[Path]]) -> list[_Group]:
    """Files of each IO500 run, removed from ``of_kind``: its results, and files beside them named by phases."""
    groups: dict[tuple[Path, str], _Group] = {}
    for kind in _RESULTS:
        for path in of_kind.pop(kind, []):
            match = _HEAD.fullmatch(path.name)
            head = match[1] if match else f"{_ENDING.sub('', path.name)}/"
            key = (path.parent, head)
            groups.setdefault(key, _Group(*key)).results.append((path, kind))
    for kind, paths in of_kind.items():
        for path in list(paths):
            for (folder, head), group in groups.items():
                name = _ENDING.sub("", path.name).removeprefix(head)
                if path.parent != folder or not path.name.startswith(head):
                    continue
                if kind == kinds.IO500_CONFIG:
                    group.results.append((path, kind))
                elif name in PHASES:
                    group.members.setdefault(name, []).append((path, kind))
                else:
                    continue
                paths.remove(path)
                break
    return list(groups.values())


def _run_name(group: _Group, given: FileDefaults) -> str:
    """The option's name, else the common prefix of the files' names, else the folder's name."""
    path = group.results[0][0]
    stem = _ENDING.sub("", file_name(path)) or file_name(path)
    if given.run != stem:
        return given.run.removesuffix(f"-{stem}") or given.run
    head = group.head.strip("-_./ ")
    return storable(head or path.resolve().parent.name or stem)


def _io500(group: _Group, how: How, done: _Found) -> None:
    given, warn_of = how.given, how.warn_of
    run = Io500()
    for path, kind in group.results:
        reader = {kinds.IO500_RESULT: read_result, kinds.IO500_CONFIG: read_config}.get(
            kind, read_summary
        )
        try:
            found = reader(path, warn_of(path))
        except InputFileError as error:
            warn_of(path)(error)
            done.counts.append(FileRead(path, kind, 0))
            continue
        run.join(found)
        done.counts.append(FileRead(path, kind, len(found.phases) or len(found.options)))
    defaults = given(group.results[0][0])
    run_id = _run_name(group, defaults)
    defaults = defaults._replace(run=run_id)
    rows: list[RunRow] = []
    for name, members in group.members.items():
        own = _phase_files(name, members, (run, defaults), how, done)
        rows += own
        run.phases.pop(name, None) if own else None
    for phase in run.phases.values():
        if phase.name != "timestamp":
            rows += io500_rows.phase_rows(run, phase, defaults, run_id)
    rows += io500_rows.score_rows(run, defaults, run_id)
    tailed = {(tail.phase, tail.repetition) for tail in done.tails if tail.run_id == run_id}
    walls = [tail for tail in walled(rows) if (tail.phase, tail.repetition) not in tailed]
    done.tails += walls
    done.rows += with_tails(rows, [tail for tail in done.tails if tail.run_id == run_id])
    done.remarks += _remarks(run_id, rows)


def _phase_files(
    name: str,
    members: Sequence[tuple[Path, str]],
    of: tuple[Io500, FileDefaults],
    how: How,
    done: _Found,
) -> list[RunRow]:
    """Rows of one phase from its own files; none if they are empty."""
    (run, given), warn_of, readers = of, how.warn_of, how.readers
    mine: dict[str, list[Path]] = {}
    for path, kind in members:
        mine.setdefault(kind, []).append(path)
    rows: list[RunRow] = []
    command = run.phases[name].command if name in run.phases else None
    found = read_ior(sorted_paths(mine)._replace(command=command), lambda _: given, warn_of)
    done.counts += [FileRead(path, dict(members)[path], n) for path, n in found.counts.items()]
    for ior, _ in found.runs:
        ior.run_id = given.run
        rows += ior.rows
        done.tails += _renamed(name, ior, given.run)
        done.remarks += [f"{given.run} {name}: {remark}" for remark in ior.remarks]
    for path, kind in members:
        if kind in readers:
            own: list[RunRow] = []
            try:
                own.extend(map(with_own_rate, readers[kind](path, given, warn_of(path))))
            except InputFileError as error:
                warn_of(path)(error)
            has_whole = any(row.rank is None for row in rows)
            rows += [row for row in own if not (has_whole and row.rank is None)]
            done.counts.append(FileRead(path, kind, len(own)))
    merged = list(io500_rows.merged(run, name, rows, given, given.run))
    for path in mine.get(kinds.IO500_FIND, ()):
        table = read_find(path, warn_of(path))
        merged += io500_rows.find_rows(run, name, table, given, given.run)
        done.counts.append(FileRead(path, kinds.IO500_FIND, len(table.ranks)))
    return merged


def _renamed(name: str, run: IorRun, run_id: str) -> list[PhaseTail]:
    return [tail._replace(run_id=run_id, phase=name) for tail in tails_of(run)]


def _find_alone(path: Path, given: FileDefaults, warn: Warn, done: _Found) -> None:
    try:
        table = read_find(path, warn)
    except InputFileError as error:
        warn(error)
        return
    done.rows += io500_rows.find_rows(Io500(), "find", table, given, given.run)
    done.counts.append(FileRead(path, kinds.IO500_FIND, len(table.ranks)))


def _remarks(run_id: str, rows: Sequence[RunRow]) -> list[str]:
    """Scores, invalid phases and reasons."""
    found, invalid = [], []
    for row in rows:
        reported = row.parameters.get("reported", {})
        if row.rank is not None or row.op is not None:
            continue
        name = f"{run_id} {row.phase}"
        reasons = reported.get("invalid", ())
        some = "; ".join(reasons[:_SHOWN]) + ("; ..." if len(reasons) > _SHOWN else "")
        if row.phase in ("score", "scorex"):
            bandwidth, ops = reported.get("bw_gib_per_s"), reported.get("md_kiops")
            score = f"{name}: {reported.get('score')} ({bandwidth} GiB/s, {ops} kIOPS)"
            found.append(score + (", invalid" if reasons else ""))
        elif reasons:
            invalid.append(f"{name}: invalid: {some}")
    return [*found, *invalid, *(f"{run_id} {line}" for line in flag_lines(rows, but=_TOLD))]
