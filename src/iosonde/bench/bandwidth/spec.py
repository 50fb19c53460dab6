"""Parameters of a bandwidth benchmark, and what kept files say of the run that wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from iosonde.model.errors import UsageError
from iosonde.model.transfers import BIN_NS
from iosonde.model.units import format_size

LAYOUTS = ("own", "segmented", "strided")
"""A file a rank; one file in blocks of the ranks in turn; one file in transfers of the ranks in turn."""
FSYNCS = ("none", "end", "each")
TRANSFER_BYTES = 1 << 20
BLOCK_BYTES = 1 << 30
TIMED_SEGMENTS = 1024
"""Of a run with a time limit, unless a user names another number: enough to reach the limit."""


@dataclass(frozen=True, slots=True)
class Spec:
    """Parameters; names as in IOR."""

    transfer_bytes: int = TRANSFER_BYTES
    block_bytes: int = BLOCK_BYTES
    """Of a rank in one segment."""
    segments: int = 1
    layout: str = "own"
    shift: int = 0
    """Reading: how many ranks away the writer is."""
    random_order: bool = False
    fsync: str = "none"
    direct: bool = False
    depth: int = 1
    verify: bool = False
    seed: int = 0
    max_errors: int = 1
    limit_ns: int | None = None
    """A rank stops after this time ..."""
    wear_out_ns: int | None = None
    """... and all then go on to where the fastest was, at most until this time. None: they do not."""
    faults: tuple[dict[str, Any], ...] = ()
    """Faults to inject, for tests and fire drills: ``rank`` (None: all) and ``fault``."""

    def parameters(self, ranks: int) -> dict[str, Any]:
        """For the core."""
        left = {"limit_ns", "wear_out_ns"}
        own = {name: value for name, value in asdict(self).items() if name not in left}
        return own | {"ranks": ranks, "bin_ns": BIN_NS, "faults": list(self.faults)}

    def rank_bytes(self) -> int:
        """Bytes that a rank writes, unless something ends it before."""
        return self.block_bytes * self.segments

    def kept(self, ranks: int) -> dict[str, Any]:
        """What files of this run can be read with: part of the note beside them."""
        same = ("transfer_bytes", "block_bytes", "segments", "layout", "random_order", "seed")
        return {name: getattr(self, name) for name in same} | {"ranks": ranks}


def as_dict(spec: Spec) -> dict[str, Any]:
    """The spec as a row's parameters."""
    return {name: value for name, value in asdict(spec).items() if value not in (None, ())}


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """What was written: by which parameters, how many transfers of each rank, in which repetition."""

    parameters: Mapping[str, Any]
    counts: tuple[int, ...]
    repetition: int

    def note(self) -> dict[str, Any]:
        """For the note."""
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
    spec: Spec, kept: KeptFiles | None, ranks: int, directions: Sequence[str], place: str
) -> Spec:
    """The spec, with the seed of kept files when they are only read. Raises UsageError where they do not fit."""
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
