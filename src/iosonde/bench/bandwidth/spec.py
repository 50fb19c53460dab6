"""Parameters of a bandwidth benchmark, and those of the run that wrote kept files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from iosonde.model.errors import UsageError
from iosonde.model.transfers import BIN_NS
from iosonde.model.units import format_size

LAYOUTS = ("own", "segmented", "strided")
"""A file per rank; one file with the ranks' blocks in turn; one file with the ranks' transfers in turn."""
FSYNCS = ("none", "end", "each")
TRANSFER_BYTES = 1 << 20
BLOCK_BYTES = 1 << 30
TIMED_SEGMENTS = 1024
"""Default segments of a run with a time limit: enough to reach the limit."""


@dataclass(frozen=True, slots=True)
class BandwidthSpec:
    """Parameters; names as in IOR."""

    transfer_bytes: int = TRANSFER_BYTES
    block_bytes: int = BLOCK_BYTES
    """Bytes of a rank in one segment."""
    segments: int = 1
    layout: str = "own"
    shift: int = 0
    """Reading: distance to the writer, in ranks."""
    random_order: bool = False
    fsync: str = "none"
    direct: bool = False
    depth: int = 1
    verify: bool = False
    seed: int = 0
    max_errors: int = 1
    limit_ns: int | None = None
    """Time after which a rank stops ..."""
    wear_out_ns: int | None = None
    """... and time limit for all to catch up with the fastest. None: they do not catch up."""
    faults: tuple[dict[str, Any], ...] = ()
    """Faults to inject, for tests and fire drills: ``rank`` (None: all) and ``fault``."""

    def parameters(self, ranks: int) -> dict[str, Any]:
        """Parameters as the core reads them."""
        left = {"limit_ns", "wear_out_ns"}
        own = {name: value for name, value in asdict(self).items() if name not in left}
        return own | {"ranks": ranks, "bin_ns": BIN_NS, "faults": list(self.faults)}

    def rank_bytes(self) -> int:
        """Bytes that a rank writes in a complete run."""
        return self.block_bytes * self.segments

    def kept(self, ranks: int) -> dict[str, Any]:
        """Parameters with which files of this run can be read: part of the note beside them."""
        same = ("transfer_bytes", "block_bytes", "segments", "layout", "random_order", "seed")
        return {name: getattr(self, name) for name in same} | {"ranks": ranks}


def as_dict(spec: BandwidthSpec) -> dict[str, Any]:
    """The spec as a row's parameters."""
    return {name: value for name, value in asdict(spec).items() if value not in (None, ())}


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Record of written files: parameters, transfers of each rank, repetition."""

    parameters: Mapping[str, Any]
    counts: tuple[int, ...]
    repetition: int

    def note(self) -> dict[str, Any]:
        """Data of the note."""
        return {
            "format": 1,
            "parameters": dict(self.parameters),
            "counts": list(self.counts),
            "repetition": self.repetition,
        }


def kept_files(note: Mapping[str, Any]) -> KeptFiles:
    """The note that ``KeptFiles.note`` makes. Raises KeyError, TypeError, ValueError."""
    counts = tuple(note["counts"])
    if note["format"] != 1 or not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("not a note of this version")
    return KeptFiles(dict(note["parameters"]), counts, int(note["repetition"]))


def settled(
    spec: BandwidthSpec, kept: KeptFiles | None, ranks: int, directions: Sequence[str], place: str
) -> BandwidthSpec:
    """The spec, with the seed of kept files if they are only read. Raises UsageError if they do not fit."""
    if "write" in directions:
        return spec
    if kept is None:
        raise UsageError(
            f"{place}: there are no kept files to read",
            expected="files of an earlier run",
            hint="--keep on a run that writes",
        )
    adopted = replace(spec, seed=int(kept.parameters.get("seed", 0)))
    wanted = adopted.kept(ranks)
    different = [name for name in wanted if wanted[name] != kept.parameters.get(name)]
    if different:
        what = ", ".join(
            f"{name} {_short(kept.parameters.get(name))} (asked for: {_short(wanted[name])})"
            for name in different
        )
        raise UsageError(
            f"{place}: the kept files were written with {what}",
            expected="the same parameters",
        )
    return adopted


def _short(value: Any) -> str:
    return format_size(value) if isinstance(value, int) and value > 4096 else str(value)
