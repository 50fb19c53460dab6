"""Darshan counters that are read, from logs and from text alike, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text
from iosonde.model.units import LATEST_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints


BINS = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"),
    *("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"),
)
"""Darshan's classes of access sizes, in bytes."""
_TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME", "F_SLOWEST_RANK_TIME")
_BYTES = ("BYTES_READ", "BYTES_WRITTEN")


def _sizes(infix: str) -> tuple[str, ...]:
    return tuple(f"SIZE_{way}_{infix}{name}" for way in ("READ", "WRITE") for name in BINS)


class Module(NamedTuple):
    """A module of Darshan: prefix of its counters, and those read. The four times come last."""

    prefix: str
    struct: str
    """Its record in pydarshan's declarations."""
    counters: tuple[str, ...]

    @property
    def place(self) -> dict[str, int]:
        """Counter -> column."""
        return {name: column for column, name in enumerate(self.counters)}


MODULES: dict[str, Module] = {
    "POSIX": Module(
        "posix",
        "struct darshan_posix_file",
        (
            *_BYTES,
            *("READS", "WRITES", "OPENS", "STATS", "SEEKS", "FSYNCS", "RW_SWITCHES"),
            *("CONSEC_READS", "CONSEC_WRITES", "SEQ_READS", "SEQ_WRITES"),
            *("MEM_NOT_ALIGNED", "FILE_NOT_ALIGNED"),
            *_sizes(""),
            *_TIMES,
        ),
    ),
    "MPI-IO": Module(
        "mpiio",
        "struct darshan_mpiio_file",
        (
            *_BYTES,
            *("INDEP_OPENS", "COLL_OPENS"),
            *(f"{k}_{w}" for w in ("READS", "WRITES") for k in ("INDEP", "COLL", "SPLIT", "NB")),
            *_TIMES,
        ),
    ),
    "STDIO": Module(
        "stdio", "struct darshan_stdio_file", (*_BYTES, "READS", "WRITES", "OPENS", *_TIMES)
    ),
    "DFS": Module(
        "dfs",
        "struct darshan_dfs_file",
        (
            *_BYTES,
            *("READS", "READXS", "NB_READS", "WRITES", "WRITEXS", "NB_WRITES"),
            *("OPENS", "GLOBAL_OPENS", "STATS"),
            *_TIMES,
        ),
    ),
    "DAOS": Module(
        "daos",
        "struct darshan_daos_object",
        (
            *_BYTES,
            *("ARRAY_READS", "OBJ_FETCHES", "KV_GETS", "ARRAY_WRITES", "OBJ_UPDATES", "KV_PUTS"),
            *("ARRAY_OPENS", "OBJ_OPENS", "KV_OPENS"),
            *_TIMES,
        ),
    ),
    "H5F": Module("h5f", "struct darshan_hdf5_file", ()),
}
"""Name in a log -> counters read. Of ``H5F`` only the set of files."""
PLACES: dict[str, dict[str, int]] = {name: module.place for name, module in MODULES.items()}
STREAMS = (b"<STDIN>", b"<STDOUT>", b"<STDERR>")
"""Names of terminals and pipes, whose bytes do not reach a file system."""
MOST_RECORDS = 20_000_000
"""Most records of a plausible log."""
MOST_RANKS = 1 << 26


class Records(NamedTuple):
    """Some records of one module.

    ``ids`` uint64 (n,): hash of the file. ``ranks`` int64 (n,): -1 where all ranks are summed up.
    ``values`` float64 (n, k): columns as in ``MODULES``; -1 (Darshan's missing) and anything negative is missing.
    """

    module: str
    ids: NDArray[np.uint64]
    ranks: Ints
    values: Floats


@dataclass
class LogHeader:
    """Header of a log. Times UTC ns; None if missing or impossible."""

    version: str
    program: str = ""
    user: str = ""
    job_id: str = ""
    ranks: int = 1
    start_ns: int | None = None
    end_ns: int | None = None
    run_s: float | None = None
    partial: set[str] = field(default_factory=set)
    """Modules that ran out of memory and recorded only a part."""


def program_of(command: str) -> str:
    """The program's name, without path and arguments, which can hold secrets."""
    words = command.split(maxsplit=1)
    name = words[0].rstrip("/").rpartition("/")[2] if words else ""
    return clean_text(name[:200])


def ranks_of(count: int, where: str) -> int:
    """Check a number of processes. Raises InputFileError."""
    if not 0 < count <= MOST_RANKS:
        raise InputFileError(
            f"{where}: a job of {count} processes", expected=f"1 to {MOST_RANKS} processes"
        )
    return count


def instant(seconds: int, nanoseconds: int = 0) -> int | None:
    """UTC ns; None for times before 2000 or after 2200: not set, or damaged."""
    if 946_684_800 <= seconds < LATEST_S and 0 <= nanoseconds < 1_000_000_000:
        return seconds * 1_000_000_000 + nanoseconds
    return None
