"""Phases of a bandwidth benchmark as rows: rates of all ranks, a row per file, bytes per bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from iosonde.bench.bandwidth import tables
from iosonde.bench.bandwidth.file_layout import FileLayout, lustre_layouts, physical_bytes
from iosonde.bench.bandwidth.rates import rank_series
from iosonde.bench.bandwidth.steps import MeasuredPhase
from iosonde.bench.recorder import Recorder
from iosonde.bench.runtime.result import PhaseResult
from iosonde.model.runs import RunRow

_INSTANTS = (
    *("open_begin_ns", "open_end_ns", "transfer_begin_ns", "transfer_end_ns"),
    *("close_begin_ns", "close_end_ns"),
)
_MOST_NAMED = 5
_IN_A_NAME = str.maketrans(";=", "__")
"""Replaces separators of target names and their shares."""


class BandwidthRecorder(Recorder):
    """Recorder with ``measured``, which also writes a phase into the tables ``transfers`` and ``rates``."""

    _phase: MeasuredPhase | None = None
    places: tuple[str, ...] = ()
    """Directories of the run; with several, each counts as a target if its file system names none."""

    def measured(self, phase: MeasuredPhase) -> None:
        """Keep a finished phase."""
        self._phase = phase
        self.result(phase.result)
        self._phase = None

    def totals(self, result: PhaseResult) -> list[RunRow]:
        """Rows of all ranks together, with bytes per second."""
        rows = super().totals(result)
        rates = None if self._phase is None else self._phase.rates
        if rates is None:
            return rows
        return [
            replace(
                row,
                sustained_bytes_per_s=rates.sustained,
                first_bytes_per_s=rates.first,
                last_bytes_per_s=rates.last,
            )
            for row in rows
        ]

    def keep(self, result: PhaseResult) -> None:
        """Write a row per file and the bytes of its bins, as a part of this process."""
        phase, root, run_id = self._phase, self.root, self.label.run_id
        if phase is None:
            return
        self._note_mismatches(phase)
        if root is None:
            return
        key = result.key
        part = f"{self.process}-{key.name}-{key.repetition}"
        transfers, rates = self._transfers(phase), self._rates(phase)
        self.put(lambda: tables.write_part(root, "transfers", run_id, part, transfers))
        self.put(lambda: tables.write_part(root, "rates", run_id, part, rates))

    def finish(self, now_ns: int) -> None:
        """Write the whole run."""
        super().finish(now_ns)
        root, run_id = self.root, self.label.run_id
        if root is not None:
            self.put(lambda: tables.finish(root, run_id, now_ns))

    def _transfers(self, phase: MeasuredPhase) -> tables.Columns:
        label, key = self.label, phase.result.key
        ranks = [rank.rank for rank in phase.result.ranks]
        place = dict(zip(ranks, phase.paths, strict=True))
        # A rank whose open failed, or that hangs, has moved nothing that could be placed in time.
        began = [one for one in phase.result.records if rank_series(one.columns) is not None]
        n = len(began)
        paths = [place.get(one.rank) for one in began]
        layouts = self._layouts([path for path in paths if path is not None])
        found = [layouts.get(path or "", FileLayout()) for path in paths]
        return {
            "run_id": np.full(n, label.run_id, object),
            "repetition": np.full(n, key.repetition, np.int64),
            "direction": np.full(n, key.name, object),
            "rank": np.array([one.rank for one in began], np.int64),
            "host": np.full(n, label.host, object),
            "file": np.array(paths, object),
            "targets": np.array(
                [
                    ";".join(one.targets) or self._directory(rank.rank)
                    for one, rank in zip(found, began, strict=True)
                ],
                object,
            ),
            "bytes": _whole(began, "bytes"),
            **{name: _whole(began, name) for name in _INSTANTS},
            "position": np.array([self._position(path) for path in paths], np.float64),
            "layout": np.array([one.text for one in found], object),
        }

    def _directory(self, rank: int) -> str | None:
        """Directory of a rank, if there are several, as the name of a target."""
        if len(self.places) < 2:
            return None
        # A reader's file lies in its own directory too: ``shift`` is a multiple of their number.
        return self.places[rank % len(self.places)].translate(_IN_A_NAME)

    def _position(self, path: str | None) -> float:
        """Relative position of the file on a device that its file system has to itself; NaN if unknown."""
        machine = self.label.machine
        size, kind = machine.get("size_bytes"), machine.get("file_system")
        if len(self.places) > 1 or kind == "lustre":
            return float("nan")
        physical = None if path is None else physical_bytes(path)
        return float("nan") if physical is None or not size else min(1.0, physical / size)

    def _layouts(self, paths: Sequence[str]) -> Mapping[str, FileLayout]:
        return lustre_layouts(paths, str(self.label.machine.get("file_system", "")))

    def _rates(self, phase: MeasuredPhase) -> tables.Columns:
        key = phase.result.key
        rows = [
            (
                key.repetition,
                key.name,
                one.rank,
                int(one.columns["first_bin"][0]),
                one.columns["bins"],
            )
            for one in phase.result.records
        ]
        return tables.rate_columns(rows, self.label.run_id)

    def _note_mismatches(self, phase: MeasuredPhase) -> None:
        """Report the places of files with wrong contents."""
        ends = [rank.rank for rank in phase.result.ranks]
        path = dict(zip(ends, phase.paths, strict=True))
        for one in phase.result.records:
            wrong = one.columns["mismatches"]
            if len(wrong):
                more = "" if len(wrong) <= _MOST_NAMED else f" and {len(wrong) - _MOST_NAMED} more"
                places = ", ".join(map(str, wrong[:_MOST_NAMED].tolist()))
                self.note(f"rank {one.rank} read wrong bytes in {path[one.rank]} at {places}{more}")


def _whole(records: Sequence[Any], name: str) -> Any:
    """Column of one number per rank; shape (ranks,)."""
    return np.array([int(one.columns[name][0]) for one in records], np.int64)
