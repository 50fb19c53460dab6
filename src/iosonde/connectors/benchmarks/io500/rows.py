"""Rows of runs for the phases of an IO500 run: from the files of single phases if present, else from its result.

``throughput-stonewall`` is MiB/s in older releases and GiB/s in newer ones, ``rate-stonewall`` IOPS and kIOPS. The
number tells: no phase is twenty times as fast until the limit as it is in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from iosonde.connectors.benchmarks.flags import DIFFERS, with_flags
from iosonde.connectors.benchmarks.io500.find import FindTable
from iosonde.connectors.benchmarks.io500.found import Io500, Io500Phase
from iosonde.connectors.benchmarks.ior.results import pattern_of
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.lines import MOST_S, FileDefaults, local_ns
from iosonde.model.runs import RunRow

SOURCE = "io500"
GIB = 1 << 30
_TIME = "%Y-%m-%d %H:%M:%S"
_FASTER = 20.0
_ROUNDED_S = 0.01
"""Precision of a phase's time in older results."""
_OPS = {"write": "md_create", "stat": "md_stat", "read": "md_read", "delete": "md_delete"}


def op_of(name: str) -> str | None:
    """Operation of a phase: ``mdtest-easy-write`` creates."""
    last = name.rpartition("-")[2]
    if name.startswith("mdtest"):
        return _OPS.get(last)
    if name.startswith("ior") and last in ("write", "read"):
        return f"data_{last}"
    return None


def stonewall_of(phase: Io500Phase) -> tuple[float | None, bool]:
    """The rate at the time limit in the score's unit, and True if the file uses the older unit."""
    value, score = phase.stonewall, phase.score
    if not value or not score or value <= _FASTER * score:
        return value, False
    smaller = 1024 if phase.bandwidth else 1000
    return value / smaller, True


def phase_rows(run: Io500, phase: Io500Phase, given: FileDefaults, run_id: str) -> Iterator[RunRow]:
    """Rows of a phase known only from the result, which does not report the bytes an IOR phase moved."""
    setup = Setup()
    if phase.command and phase.bandwidth:
        setup.command(phase.command)
    reported = said(phase)
    transfer = setup.get("transfer_bytes")
    rate = None
    wall, _ = stonewall_of(phase)
    scale: float | None = 1000.0
    if phase.bandwidth:
        scale = GIB / transfer if transfer else None
    if phase.score is not None and scale:
        rate = phase.score * scale
    total = phase.values.get("total_files")
    began = local_ns(phase.began, _TIME, given.zone) if phase.began else None
    common: dict[str, Any] = {
        "run_id": run_id,
        "source": SOURCE,
        "instrument": "bandwidth" if phase.bandwidth else "metadata",
        "host": given.host,
        "target": given.target or target_of(run) or given.run,
        "backend": _backend(run, setup),
        "pattern": pattern_of(setup) if phase.bandwidth else _pattern(phase.name),
        "phase": phase.name,
        "ranks": run.procs,
        "began_ns": began,
        "duration_ns": _ns(phase.seconds),
        "ops": int(total) if total is not None and total < 2**63 else None,
        "rate_per_s": rate,
        "stonewall_per_s": wall * scale if wall is not None and scale else None,
        "complete": phase.ended,
    }
    asked = {**setup.parameters(), **about(run)}
    last = phase.score * GIB if phase.bandwidth and phase.score is not None else None
    parameters = {**asked, "reported": reported} if reported else asked
    yield RunRow(**common, last_bytes_per_s=last, parameters=parameters)
    if (op := op_of(phase.name)) is not None:
        yield RunRow(**common, op=op, parameters=asked)


def _backend(run: Io500, setup: Setup) -> str:
    if setup.api is None and isinstance(run.options.get("api"), str):
        setup.api = run.options["api"].split()[0]
    return setup.backend


def _pattern(name: str) -> str:
    return "cycle" if name.startswith("mdworkbench") else "bulk"


def about(run: Io500) -> dict[str, Any]:
    """Parameters of the whole run."""
    words = {"tool_version": run.version, "mode": run.mode, "config_hash": run.config_hash}
    return {name: word for name, word in words.items() if word} | run.options


def said(phase: Io500Phase) -> dict[str, Any]:
    """Results of a phase that have no column."""
    found: dict[str, Any] = {"score": phase.score, "score_unit": phase.unit}
    wall, older = stonewall_of(phase)
    found |= {"stonewall_score": wall, "invalid": phase.invalid, "warnings": phase.warnings}
    found |= {"flags": ["stonewall-unit"] if older else [], **phase.values}
    return {name: value for name, value in found.items() if value not in (None, [])}


def merged(
    run: Io500, name: str, rows: Sequence[RunRow], given: FileDefaults, run_id: str
) -> Iterator[RunRow]:
    """Rows of a phase's own files under IO500's phase name, merged with its result."""
    phase = run.phases.get(name)
    whole = False
    for row in rows:
        kind = row.phase
        trees = kind.startswith(("dir_", "tree_"))
        parameters = dict(row.parameters)
        if row.op is None and row.rank is None and not trees and not whole and phase is not None:
            whole = True
            own = said(phase) | ({"phase_s": phase.seconds} if phase.seconds else {})
            theirs = parameters.get("reported", {})
            flags = [*theirs.get("flags", ()), *_contradictions(row, phase)]
            parameters["reported"] = with_flags({**theirs, **own}, flags)
            row = _with_result(row, phase, given)  # noqa: PLW2901 - the same row, with more
        yield replace(
            row,
            run_id=run_id,
            source=SOURCE,
            target=given.target or target_of(run) or row.target,
            phase=f"{name}-{kind}" if trees else name,
            ranks=row.ranks or run.procs,
            parameters={
                **parameters,
                **{k: v for k, v in about(run).items() if k not in parameters},
            },
        )


def _contradictions(row: RunRow, phase: Io500Phase) -> list[str]:
    """Flags of numbers that the result gives otherwise than the phase's own text.

    A score of md-workbench is one of several iterations, and is not compared with a single one.
    """
    if phase.name.startswith("mdworkbench"):
        return []
    flags = []
    rate, unit = (row.last_bytes_per_s, GIB) if phase.bandwidth else (row.rate_per_s, 1000)
    if rate and phase.score and abs(rate / (phase.score * unit) - 1) > DIFFERS:
        flags.append("score-differs")
    seconds = None if row.duration_ns is None else row.duration_ns / 1e9
    if seconds and phase.seconds and seconds > phase.seconds * (1 + DIFFERS) + _ROUNDED_S:
        flags.append("longer-than-phase")
    return flags


def _with_result(row: RunRow, phase: Io500Phase, given: FileDefaults) -> RunRow:
    began = local_ns(phase.began, _TIME, given.zone) if phase.began else None
    wall, _ = stonewall_of(phase)
    per_s = row.stonewall_per_s
    if per_s is None and wall is not None:
        transfer = row.parameters.get("transfer_bytes")
        scale = 1000.0 if not phase.bandwidth else GIB / transfer if transfer else None
        per_s = None if scale is None else wall * scale
    return replace(
        row, began_ns=row.began_ns if row.began_ns is not None else began, stonewall_per_s=per_s
    )


def find_rows(
    run: Io500, name: str, table: FindTable, given: FileDefaults, run_id: str
) -> Iterator[RunRow]:
    """Rows of a find phase: all ranks, and each rank. The file has no times of ranks."""
    phase = run.phases.get(name) or Io500Phase(name)
    common: dict[str, Any] = {
        "run_id": run_id,
        "source": SOURCE,
        "host": given.host,
        "target": given.target or target_of(run) or given.run,
        "backend": _backend(run, Setup()),
        "pattern": "bulk",
        "phase": name,
        "ranks": len(table.ranks) or run.procs,
    }
    checked = sum(one.checked for one in table.ranks)
    found = {"found": sum(one.found for one in table.ranks)}
    failed = sum(one.errors for one in table.ranks)
    yield RunRow(
        **common,
        began_ns=local_ns(phase.began, _TIME, given.zone) if phase.began else None,
        duration_ns=_ns(table.seconds),
        ops=sum(one.total for one in table.ranks),
        failed=failed,
        rate_per_s=table.per_s,
        complete=phase.ended,
        parameters={**about(run), "reported": {**found, "checked": checked, **said(phase)}},
    )
    for one in table.ranks:
        told = {"reported": {"found": one.found, "checked": one.checked}}
        yield RunRow(**common, rank=one.rank, ops=one.total, failed=one.errors, parameters=told)


def score_rows(run: Io500, given: FileDefaults, run_id: str) -> Iterator[RunRow]:
    """A row per score: of the standard phases, and of all (``scorex``)."""
    for name, score in run.scores.items():
        reported: dict[str, Any] = dict(score)
        if score.get("invalid"):
            reasons = [
                f"{phase.name}: {why}" for phase in run.phases.values() for why in phase.invalid
            ]
            reported["invalid"] = [*run.invalid, *reasons] or ["INVALID"]
        yield RunRow(
            run_id=run_id,
            source=SOURCE,
            instrument="bandwidth",
            host=given.host,
            target=given.target or target_of(run) or given.run,
            backend=_backend(run, Setup()),
            pattern="bulk",
            phase=name.lower(),
            ranks=run.procs,
            began_ns=local_ns(run.began, _TIME, given.zone) if run.began else None,
            ops=None,
            parameters={**about(run), "reported": reported},
        )


def target_of(run: Io500) -> str | None:
    """Working folder of the phases, from their command lines."""
    for phase in run.phases.values():
        if phase.command and phase.bandwidth:
            setup = Setup()
            setup.command(phase.command)
            if setup.file:
                return re.sub(r"/(?:ior-easy|ior-hard|ior-rnd\w*)(?:/.*)?$", "", setup.file)
    return None


def _ns(seconds: float | None) -> int | None:
    return None if seconds is None or seconds > MOST_S else round(seconds * 1e9)
