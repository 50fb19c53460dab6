"""Grouping of IOR files: a text and its per-rank files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.benchmarks import kinds
from iosonde.connectors.benchmarks.flags import flag_lines
from iosonde.connectors.benchmarks.ior import ops as ior_ops
from iosonde.connectors.benchmarks.ior import ranks as ior_ranks
from iosonde.connectors.benchmarks.ior import summary, text
from iosonde.connectors.benchmarks.ior.assemble import finish
from iosonde.connectors.benchmarks.ior.found import IorRun
from iosonde.connectors.benchmarks.ior.phase_data import OpTimes
from iosonde.connectors.lines import FileDefaults, Warn, bad
from iosonde.model.errors import InputFileError

READERS = {
    kinds.IOR: text.read_text,
    kinds.IOR_JSON: summary.read_json,
    kinds.IOR_CSV: summary.read_csv,
}
KINDS = (*READERS, kinds.IOR_RANKS, kinds.IOR_OPS)
_ENDING = re.compile(r"(?:\.(?:txt|log|out|csv|json|gz|xz|bz2))+$")
_TOLD_APART = ("clock-skew",)
"""Flags reported separately."""

Given = Callable[[Path], FileDefaults]
WarnOf = Callable[[Path], Warn]


class IorPaths(NamedTuple):
    """Files by kind."""

    texts: list[tuple[Path, str]]
    """Texts with their kinds; a text defines the options of a run."""
    ranks: list[Path]
    ops: list[Path]
    command: str | None = None
    """Command line of a run without a text."""


@dataclass
class IorRead:
    """Result of reading files: runs with their rows, and numbers of rows or operations per file."""

    runs: list[tuple[IorRun, FileDefaults]] = field(default_factory=list)
    of: dict[Path, list[IorRun]] = field(default_factory=dict)
    """Runs of each text, and of tables and operations without a text."""
    counts: dict[Path, int] = field(default_factory=dict)

    def add(self, path: Path, runs: list[IorRun], given: FileDefaults) -> None:
        """Add runs of a file; a repeated name gets a suffix from its file's name."""
        names = {run.run_id for run, _ in self.runs}
        ending = re.sub(r"\.(?:gz|xz|bz2)$", "", path.name).rpartition(".")[2]
        for run in runs:
            name, n = run.run_id, 1
            while run.run_id in names:
                run.run_id = f"{name}-{ending}" if n == 1 else f"{name}-{ending}-{n}"
                n += 1
            names.add(run.run_id)
        self.of[path] = runs
        self.runs += [(run, given) for run in runs]


def sorted_paths(of_kind: Mapping[str, Sequence[Path]]) -> IorPaths:
    """Pick the files of IOR."""
    texts = [(path, kind) for kind in READERS for path in of_kind.get(kind, ())]
    return IorPaths(
        texts, list(of_kind.get(kinds.IOR_RANKS, ())), list(of_kind.get(kinds.IOR_OPS, ()))
    )


def read_ior(paths: IorPaths, given: Given, warn_of: WarnOf) -> IorRead:
    """Read files; tables of ranks and operation files are matched with their text if present."""
    done = IorRead()
    for path, kind in paths.texts:
        runs: list[IorRun] = []
        with _told(warn_of(path)):
            runs.extend(READERS[kind](path, given(path), warn_of(path)))
        done.add(path, runs, given(path))
        done.counts[path] = sum(len(run.results) for run in runs)
    for path in paths.ranks:
        done.counts[path] = 0
        with _told(warn_of(path)):
            _ranks(path, (given(path), paths.command), warn_of(path), done)
    _operations(paths.ops, given, warn_of, done)
    for run, defaults in done.runs:
        finish(run, defaults)
        run.remarks += flag_lines(run.rows, but=_TOLD_APART)
    return done


@contextmanager
def _told(warn: Warn) -> Iterator[None]:
    """Report a file that cannot be read; the part read before counts."""
    try:
        yield
    except InputFileError as error:
        warn(error)


def _stem(path: Path) -> str:
    return _ENDING.sub("", path.name)


def _ranks(path: Path, of: tuple[FileDefaults, str | None], warn: Warn, done: IorRead) -> None:
    name = re.sub(r"\.(?:gz|xz|bz2)$", "", path.name)
    near = [run for text, runs in done.of.items() if text.parent == path.parent for run in runs]
    own = [run for run in near if run.setup.rank_table == name]
    if not own:
        same = [
            text for text in done.of if (text.parent, _stem(text)) == (path.parent, _stem(path))
        ]
        own = [run for text in same for run in done.of[text]]
    if not own:
        far = [run for runs in done.of.values() for run in runs if run.setup.rank_table == name]
        own = far if len(far) == 1 else []
    if not own:
        runs = list(ior_ranks.read_table(path, of[0], warn, of[1]))
        done.add(path, runs, of[0])
        done.counts[path] = sum(len(times.rank) for run in runs for times in run.times.values())
        return
    tables = ior_ranks.read_ranks(path, warn)
    done.counts[path] = sum(len(times.rank) for times in tables.values())
    for turn, times in tables.items():
        known = {(result.access, result.repetition) for result in own[0].results}
        if turn in known:
            own[0].times.setdefault(turn, times)
        else:
            warn(
                bad(
                    path, 1, f"{turn[0]} {turn[1]} is in no table of the run's text", "the same run"
                )
            )


def _operations(paths: Sequence[Path], given: Given, warn_of: WarnOf, done: IorRead) -> None:
    """Read operation files, those of one prefix and folder together."""
    groups: dict[tuple[Path, str], dict[int, list[OpTimes]]] = {}
    first: dict[tuple[Path, str], Path] = {}
    for path in paths:
        named = ior_ops.parse_name(path.name)
        done.counts[path] = 0
        if named is None:
            continue
        key = (path.parent, named.prefix)
        with _told(warn_of(path)):
            found = ior_ops.read_ops(path, named.rank, warn_of(path))
            if found is None:
                expected = "a row an operation"
                raise InputFileError(f"{path} holds no operations", expected=expected)
            done.counts[path] = len(found.rank)
            first.setdefault(key, path)
            groups.setdefault(key, {}).setdefault(named.repetition, []).append(found)
    for key, turns in groups.items():
        ops = {turn: ior_ops.joined(parts) for turn, parts in turns.items()}
        _owned(key, ops, given(first[key]), warn_of(first[key]), done)


def _owned(
    key: tuple[Path, str], ops: dict[int, OpTimes], given: FileDefaults, warn: Warn, done: IorRead
) -> None:
    folder, prefix = key
    runs = [(text, run) for text, found in done.of.items() for run in found]
    own = [run for text, run in runs if run.setup.op_prefix == prefix and text.parent == folder]
    own = own or [run for _, run in runs if run.setup.op_prefix == prefix]
    if not own:
        run = ior_ops.alone(given.run, ops)
        done.add(folder / f"{prefix}.csv", [run], given)
        return
    run = own[0]
    access = "read" if run.setup.get("reads") else "write"
    if run.setup.get("reads") and run.setup.get("writes"):
        run.remarks.append(
            f"{prefix}: the read phase wrote over the operations of the writes: only reads are left"
        )
    known = {(result.access, result.repetition) for result in run.results}
    for repetition, found in sorted(ops.items()):
        if (access, repetition) not in known:
            what = f"{folder / prefix}-{repetition}: the run's text has no {access} {repetition}"
            warn(InputFileError(what, expected="files of the same run"))
            continue
        run.ops[access, repetition] = found
        run.times.setdefault((access, repetition), ior_ops.times_of(found))
