"""Darshan's sums to one Job: amounts, access pattern and rates.

Which rules decide, all by bytes moved (files only: terminals and pipes do not count):

- ``direction``: ``read`` or ``write`` where that is at least 90% of the bytes, else ``mixed``. A log is one Job.
- ``mode``: ``shared`` where more than half of the bytes are of files that several ranks read or several ranks
  wrote (one that a single rank writes and another reads is not shared); else ``fpp`` where at least half of the
  ranks could have had a file of their own: as many such files as half of the ranks; else "" (a few ranks do it
  all). Of a job of one rank nothing can be said: "".
- ``api``: ``hdf5`` or ``mpiio`` where more than half of the bytes are of files used through it (in this order),
  else ``stdio`` or ``posix``, whichever moved more.
- ``file_system``: the mount point that most bytes went to.
- ``step``: the program, and a checksum of the files and bytes: runs that one job begins in the same second differ.
- bytes, reads, writes and opens are those of POSIX and STDIO; those of MPI-IO where neither moved any (then the
  layer below was not recorded; where it was, the same bytes are not counted twice). DFS and DAOS, which pass the kernel
  by, count beside POSIX and STDIO where they moved more than these (DAOS where DFS moved none): with an interception
  library the same bytes are in both. Such files lie on no mount point.
- ``performance_bytes_per_s``: bytes / time by slowest (Darshan's ``agg_perf_by_slowest``) of the one of these
  modules that moved most; the rates of POSIX, MPI-IO and STDIO beside it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.darshan.counts import Files, ModuleCounts, merged
from iosonde.connectors.darshan.features import features_of
from iosonde.connectors.darshan.records import LogHeader
from iosonde.model.jobs import Direction, Job, Mode, Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats

MOSTLY = 0.9
_MPI_READS = ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS")
_MPI_WRITES = ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES")
_MPI_OPENS = ("INDEP_OPENS", "COLL_OPENS")
_DFS_READS, _DFS_WRITES = ("READS", "READXS", "NB_READS"), ("WRITES", "WRITEXS", "NB_WRITES")
_DAOS_READS = ("ARRAY_READS", "OBJ_FETCHES", "KV_GETS")
_DAOS_WRITES = ("ARRAY_WRITES", "OBJ_UPDATES", "KV_PUTS")
_DFS_OPENS, _DAOS_OPENS = ("OPENS", "GLOBAL_OPENS"), ("ARRAY_OPENS", "OBJ_OPENS", "KV_OPENS")
_LAYERS = {
    "POSIX": "posix",
    "MPI-IO": "mpiio",
    "STDIO": "stdio",
    "DFS": "dfs",
    "DAOS": "daos",
}
_OBJECTS = ("DFS", "DAOS")
"""Modules of DAOS, whose files have no mount point; if both have the same bytes the first counts."""

Tallies = Mapping[str, ModuleCounts]
MountOf = Callable[["NDArray[np.uint64]"], list[str]]
"""Hashes of files -> mount points, "" if unknown."""


def job_of(run: LogHeader, tallies: Tallies, mount_of: MountOf, source: str) -> Job:
    """The Job of a log."""
    base = _counted(tallies)
    files = merged([tally.files() for tally in base], run.ranks)
    scalars = {
        **_own(base, files, source),
        **_rates(tallies, base, source),
        **features_of(run, tallies, base, files, source),
    }
    if run.run_s is not None:
        scalars["duration_s"] = Scalar(run.run_s, "s", source, 1)
    return Job(
        source=source,
        job_id=run.job_id,
        step=_step(run, files),
        user=run.user,
        app=run.program,
        api=_api(tallies, base, files),
        mode=_mode(run, tallies, files),
        direction=_direction(base),
        file_system=_file_system(files, _without_objects(tallies, mount_of)),
        ranks=run.ranks,
        start_ns=run.start_ns,
        end_ns=run.end_ns,
        scalars=scalars,
    )


def _counted(tallies: Tallies) -> list[ModuleCounts]:
    """Modules whose bytes count as the job's."""
    base = [tallies[name] for name in ("POSIX", "STDIO") if name in tallies]
    moved = sum(tally.moved_bytes for tally in base)
    objects = next((t for name in _OBJECTS if (t := tallies.get(name)) and t.moved_bytes > 0), None)
    if objects is not None and objects.moved_bytes > moved:
        return [*base, objects]
    through = tallies.get("MPI-IO")
    return [through] if through is not None and through.moved_bytes > 0 and not moved else base


def _without_objects(tallies: Tallies, mount_of: MountOf) -> MountOf:
    """Mount points; "" for files in DAOS, even if their paths look like those of a mount."""
    known = [tallies[name].files().ids for name in _OBJECTS if name in tallies]
    if not known:
        return mount_of
    objects = np.concatenate(known)

    def mounts(ids: NDArray[np.uint64]) -> list[str]:
        of_daos = np.isin(ids, objects).tolist()
        return ["" if daos else mount for daos, mount in zip(of_daos, mount_of(ids), strict=True)]

    return mounts


def _step(run: LogHeader, files: Files) -> str:
    """Step name that distinguishes runs one job started in the same second: program, files and bytes."""
    digest = 0
    for column in files[:3]:
        digest = zlib.crc32(column.tobytes(), digest)
    return f"{run.program}-{digest:08x}"


def _own(base: list[ModuleCounts], files: Files, source: str) -> dict[str, Scalar]:
    """The job's own I/O amounts."""
    read, written = ("BYTES_READ",), ("BYTES_WRITTEN",)
    counts: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
        "own_read_bytes": ("bytes", dict.fromkeys(_LAYERS, read)),
        "own_written_bytes": ("bytes", dict.fromkeys(_LAYERS, written)),
        "own_bytes": ("bytes", dict.fromkeys(_LAYERS, read + written)),
        "own_reads": ("operations", _each(("READS",), _MPI_READS, _DFS_READS, _DAOS_READS)),
        "own_writes": ("operations", _each(("WRITES",), _MPI_WRITES, _DFS_WRITES, _DAOS_WRITES)),
        "own_opens": ("operations", _each(("OPENS",), _MPI_OPENS, _DFS_OPENS, _DAOS_OPENS)),
        "own_stats": ("operations", {"POSIX": ("STATS",), "DFS": ("STATS",)}),
    }
    found = {}
    for name, (unit, wanted) in counts.items():
        parts = [(t, wanted[t.module]) for t in base if t.module in wanted and t.n]
        found[name] = _sum(parts, unit, source)
    n = sum(tally.n for tally in base)
    count = float(len(files.ids)) if base and (len(files.ids) or not n) else None
    found["own_files"] = Scalar(count, "files", source, n, None, None, _flags(base))
    return found


def _each(*names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Counters by module: POSIX and STDIO, MPI-IO, DFS and DAOS."""
    of_files, of_mpi, of_dfs, of_daos = names
    return {
        "POSIX": of_files,
        "STDIO": of_files,
        "MPI-IO": of_mpi,
        "DFS": of_dfs,
        "DAOS": of_daos,
    }


def _sum(parts: list[tuple[ModuleCounts, tuple[str, ...]]], unit: str, source: str) -> Scalar:
    """Sum of counters over modules; None if all are missing."""
    due = sum(tally.n * len(names) for tally, names in parts)
    known = sum(tally.known(*names) for tally, names in parts)
    flags = _flags([tally for tally, _ in parts])
    if known == 0:
        gone = (*flags, "missing") if due else flags
        return Scalar(None, unit, source, 0, 1.0 if due else None, None, gone)
    if known < due:
        flags = (*flags, "missing")
    value = sum(tally.total(*names) for tally, names in parts)
    return Scalar(value, unit, source, known, 1 - known / due, None, flags)


def _flags(base: list[ModuleCounts]) -> tuple[str, ...]:
    return ("incomplete",) if any(tally.partial for tally in base) else ()


def _rates(tallies: Tallies, base: list[ModuleCounts], source: str) -> dict[str, Scalar]:
    """Bytes over the slowest rank's time, for each module and the main one."""
    found = {}
    for module, layer in _LAYERS.items():
        tally = tallies.get(module)
        if tally is not None and tally.moved_bytes > 0:
            found[f"performance_{layer}_bytes_per_s"] = _rate(tally, source)
    busiest = max(base, key=lambda tally: tally.moved_bytes, default=None)
    if busiest is not None and busiest.moved_bytes > 0:
        found["performance_bytes_per_s"] = _rate(busiest, source)
        found["own_io_s"] = Scalar(
            busiest.slowest_s, "s", source, busiest.n, None, None, _flags([busiest])
        )
    else:
        quiet = ("no-traffic",)
        found["performance_bytes_per_s"] = Scalar(
            None, "bytes/s", source, 0, None, None, (*_flags(base), *quiet)
        )
    return found


def _rate(tally: ModuleCounts, source: str) -> Scalar:
    seconds = tally.slowest_s
    value = tally.moved_bytes / seconds if seconds > 0 else None
    return Scalar(value, "bytes/s", source, tally.n, None, None, _flags([tally]))


def _direction(base: list[ModuleCounts]) -> Direction:
    read = sum(tally.total("BYTES_READ") for tally in base)
    written = sum(tally.total("BYTES_WRITTEN") for tally in base)
    if read + written <= 0:
        return ""
    if read / (read + written) >= MOSTLY:
        return "read"
    return "write" if written / (read + written) >= MOSTLY else "mixed"


class _Use(NamedTuple):
    """Files by number of ranks; of every layer, since collective buffering hides ranks from the lower ones."""

    moved: Floats
    ranks: Floats


def _use(run: LogHeader, tallies: Tallies, files: Files) -> _Use:
    ranks = np.maximum(files.readers, files.writers)
    through = tallies.get("MPI-IO")
    if through is not None and len(files.ids):
        upper = through.files()
        place = np.minimum(np.searchsorted(files.ids, upper.ids), len(files.ids) - 1)
        same = files.ids[place] == upper.ids
        most = np.maximum(upper.readers, upper.writers)[same]
        np.maximum.at(ranks, place[same], most)
    return _Use(files.read_bytes + files.written_bytes, np.minimum(ranks, run.ranks))


def _mode(run: LogHeader, tallies: Tallies, files: Files) -> Mode:
    if run.ranks < 2:
        return ""
    moved, ranks = _use(run, tallies, files)
    total = float(moved.sum())
    if total <= 0:
        return ""
    if float(moved[ranks > 1].sum()) > total / 2:
        return "shared"
    return "fpp" if int(((ranks == 1) & (moved > 0)).sum()) >= run.ranks / 2 else ""


def _api(tallies: Tallies, base: list[ModuleCounts], files: Files) -> str:
    moved = files.read_bytes + files.written_bytes
    total = float(moved.sum())
    if total <= 0:
        return _busiest(base)
    for module, api in (("H5F", "hdf5"), ("MPI-IO", "mpiio")):
        if module in tallies:
            of_layer = np.isin(files.ids, tallies[module].files().ids)
            if float(moved[of_layer].sum()) > total / 2:
                return api
    return _busiest(base)


def _busiest(base: list[ModuleCounts]) -> str:
    most = max(base, key=lambda tally: tally.moved_bytes, default=None)
    return _LAYERS[most.module] if most is not None and most.moved_bytes > 0 else ""


def _file_system(files: Files, mount_of: MountOf) -> str:
    moved = files.read_bytes + files.written_bytes
    used = moved > 0
    total: dict[str, float] = {}
    for mount, amount in zip(mount_of(files.ids[used]), moved[used].tolist(), strict=True):
        total[mount] = total.get(mount, 0.0) + amount
    return max(total, key=lambda mount: (total[mount], mount), default="")
