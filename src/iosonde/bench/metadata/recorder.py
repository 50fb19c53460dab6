"""Phases of a metadata benchmark as rows, and every operation as a sample on request."""

from __future__ import annotations

from pathlib import Path

from iosonde.bench.metadata.operations import RankOperations, write_operations
from iosonde.bench.recorder import Observer, Recorder
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.rows import Label
from iosonde.model.names import rank_host


class MetadataRecorder(Recorder):
    """``samples``: the store for single operations."""

    def __init__(
        self,
        root: Path | None,
        samples: Path | None,
        label: Label,
        process: int,
        observer: Observer,
    ) -> None:
        super().__init__(root, label, process, observer)
        self._samples = samples

    def keep(self, result: PhaseResult) -> None:
        """Write operations as samples of a separate run: one phase, one waiting factor."""
        samples = self._samples
        if samples is not None:
            self.put(lambda: self._write(samples, result))

    def _write(self, root: Path, result: PhaseResult) -> None:
        label, parts = self.label, [self.label.run_id, result.key.name]
        if result.key.waiting_factor:
            parts.append(f"T{result.key.waiting_factor:g}")
        for number, (rank, began_ns, columns) in enumerate(result.records):
            write_operations(
                root,
                RankOperations(
                    rank_host(label.host, rank),
                    label.target,
                    "-".join(parts),
                    f"{result.key.repetition}-{number}",
                    began_ns,
                    int(label.parameters["size_bytes"]),
                    int(label.parameters["seed"]),
                    columns,
                ),
            )
