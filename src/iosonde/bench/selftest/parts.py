"""The four benchmarks of a self-test, one phase at a time: each a separate run in the store."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from iosonde.bench.backends.places import parse_place
from iosonde.bench.bandwidth import spec as bandwidth_spec
from iosonde.bench.bandwidth.plan import BandwidthPlan
from iosonde.bench.bandwidth.recorder import BandwidthRecorder
from iosonde.bench.bandwidth.spec import KeptFiles
from iosonde.bench.bandwidth.steps import BandwidthSteps
from iosonde.bench.metadata import spec as metadata_spec
from iosonde.bench.metadata.recorder import MetadataRecorder
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.bench.recorder import Observer, Recorder
from iosonde.bench.runtime.machine import describe
from iosonde.bench.runtime.result import PhaseResult
from iosonde.bench.runtime.rows import Label
from iosonde.bench.runtime.session import Session
from iosonde.bench.selftest.plan import SelftestPlan
from iosonde.host.processes import Alone
from iosonde.model.errors import MeasureError


@dataclass(frozen=True, slots=True)
class PartContext:
    """Environment of a part: working directory, prefix of run ids, store, observer."""

    plan: SelftestPlan
    folder: Path
    run_id: str
    root: Path
    watch: Observer


class SelftestPart(Protocol):
    """A benchmark whose phases are run one by one."""

    @property
    def recorder(self) -> Recorder:
        """Recorder of its rows."""

    @property
    def session(self) -> Session:
        """Session of its ranks."""

    def do(self, phase: str) -> PhaseResult:
        """Run a phase and record it. Raises IosondeError."""

    def remove(self) -> None:
        """Remove its files. Raises MeasureError."""


class IorPart:
    """Large files: ``write``, ``read``."""

    def __init__(self, name: str, around: PartContext) -> None:
        plan = around.plan
        spec = plan.bandwidth(name)
        own = BandwidthPlan((str(around.folder),), plan.ranks, spec)
        self.recorder = BandwidthRecorder(around.root, _label(name, around), 0, around.watch)
        self._steps = BandwidthSteps(own, spec, Alone(), self.recorder)
        self.session = self._steps.session
        self._written: KeptFiles | None = None
        self._paths: set[str] = set()
        self._steps.begin()

    def do(self, phase: str) -> PhaseResult:
        """See ``SelftestPart``."""
        if phase == "write" or self._written is None:
            measured = self._steps.write(0)
            self._written = self._steps.written(measured)
            self._paths = {path for path in measured.paths if path is not None}
        else:
            forget(sorted(self._paths))
            measured = self._steps.read(0, self._written)
        self.recorder.measured(measured)
        return measured.result

    def remove(self) -> None:
        """See ``SelftestPart``."""
        self._steps.end()


class MdtestPart:
    """Small objects: ``create``, ``stat``, ``read``, ``delete``."""

    def __init__(self, name: str, around: PartContext) -> None:
        plan = around.plan
        self.recorder = MetadataRecorder(around.root, None, _label(name, around), 0, around.watch)
        place = parse_place(str(around.folder), {})
        self._steps = MetadataSteps(plan.metadata(name), place, Alone(), plan.ranks, self.recorder)
        self.session = self._steps.session
        self._counts: list[int] | None = None
        self._deleted = False
        self._steps.begin(making=True)

    def do(self, phase: str) -> PhaseResult:
        """See ``SelftestPart``."""
        result = self._steps.bulk(f"md_{phase}", 0, self._counts)
        if phase == "create":
            self._counts = self._steps.created(result)
        self._deleted = phase == "delete" and not result.stopped
        return result

    def remove(self) -> None:
        """See ``SelftestPart``."""
        if self._deleted:
            self._steps.end()
        else:
            self._steps.cleanup()


def new_part(name: str, around: PartContext) -> SelftestPart:
    """A benchmark with its directory created. Raises MeasureError, UsageError."""
    return IorPart(name, around) if name.startswith("ior-") else MdtestPart(name, around)


def new_run_id(now_ns: int) -> str:
    """Prefix of a self-test's run ids."""
    at = datetime.fromtimestamp(now_ns / 1e9, UTC)
    return f"selftest-{at:%Y%m%dT%H%M%S}-{now_ns % 1_000_000:06d}"


def _label(name: str, around: PartContext) -> Label:
    """Columns that all rows of a part share."""
    plan = around.plan
    parameters = (
        bandwidth_spec.as_dict(plan.bandwidth(name))
        if name.startswith("ior-")
        else metadata_spec.as_dict(plan.metadata(name))
    )
    instrument = "bandwidth" if name.startswith("ior-") else "metadata"
    return Label(
        f"{around.run_id}-{name}",
        instrument,
        platform.node(),
        str(plan.place),
        "posix",
        parameters.get("layout", "bulk"),
        plan.ranks,
        parameters | {"ranks": plan.ranks, "processes": 1},
        describe(plan.place) | {"machines": 1},
    )


def forget(paths: Sequence[str]) -> None:
    """Ask the client to drop cached pages of files, so that a read reaches the storage."""
    for path in paths:
        with contextlib.suppress(OSError):
            number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(number)


def remove_all(parts: Sequence[SelftestPart], *, resume: bool) -> None:
    """Remove the parts' files, end their ranks, write their whole runs."""
    for part in parts:
        try:
            if not part.session.hanging:
                if resume:
                    part.session.resume()
                with contextlib.suppress(MeasureError):
                    part.remove()
        finally:
            part.session.close()
