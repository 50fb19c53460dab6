"""Features of jobs for clustering: shares of accesses and logarithms of sizes.

After Isakov et al., SC20 (Gauge): counters as shares of the operations they are part of, extents as log10, so
that jobs of one pattern are near one another whatever their length. Every scalar ``feature_*_ratio`` is 0 to 1
and None where there is nothing to take a share of; ``feature_*_log10`` is None for log10 of nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from iosonde.connectors.darshan.counts import Files, ModuleCounts
from iosonde.connectors.darshan.records import BINS, LogHeader
from iosonde.model.jobs import Job, Scalar

_KINDS = {
    "below_1k": BINS[:2],
    "1k_100k": BINS[2:4],
    "100k_1m": BINS[4:5],
    "1m_10m": BINS[5:7],
    "above_10m": BINS[7:],
}
_BOTH = ("READS", "WRITES")


def features(job: Job) -> dict[str, float]:
    """Known features of a job, by name without ``feature_``."""
    return {
        name.removeprefix("feature_"): scalar.value
        for name, scalar in job.scalars.items()
        if name.startswith("feature_") and scalar.value is not None
    }


def features_of(
    run: LogHeader,
    tallies: Mapping[str, ModuleCounts],
    base: list[ModuleCounts],
    files: Files,
    source: str,
) -> dict[str, Scalar]:
    """All features of a job, as scalars."""
    values: dict[str, float | None] = {}
    read = sum(tally.total("BYTES_READ") for tally in base)
    moved = sum(tally.moved_bytes for tally in base)
    values["read_bytes_ratio"] = _share(read, moved)
    values["bytes_log10"] = _log(moved)
    values["ranks_log10"] = _log(run.ranks)
    values["files_per_rank_log10"] = _log(len(files.ids) / run.ranks)
    both = files.read_bytes + files.written_bytes
    several = (files.readers > 1) | (files.writers > 1)
    values["shared_bytes_ratio"] = _share(float(both[several].sum()), float(both.sum()))
    stdio = tallies.get("STDIO")
    values["stdio_bytes_ratio"] = _share(stdio.moved_bytes if stdio else 0.0, moved)
    values |= _collective(tallies.get("MPI-IO"))
    posix = tallies.get("POSIX")
    values |= _accesses(posix)
    named = {name: "log10" if name.endswith("log10") else "ratio" for name in values}
    flags = ("incomplete",) if any(tally.partial for tally in base) else ()
    n = sum(tally.n for tally in base)
    return {
        f"feature_{name}": Scalar(value, named[name], source, n, None, None, flags)
        for name, value in values.items()
    }


def _collective(through: ModuleCounts | None) -> dict[str, float | None]:
    """Share of collective accesses in MPI-IO; None without MPI-IO."""
    if through is None:
        return {"collective_ratio": None}
    kinds = {
        k: through.total(f"{k}_READS", f"{k}_WRITES") for k in ("COLL", "INDEP", "SPLIT", "NB")
    }
    return {"collective_ratio": _share(kinds["COLL"] + kinds["SPLIT"], sum(kinds.values()))}


def _accesses(posix: ModuleCounts | None) -> dict[str, float | None]:
    """Shares of access patterns in reads and writes."""
    names = (
        *("reads_ratio", "metadata_operations_ratio", "metadata_time_ratio", "switches_ratio"),
        *("unaligned_file_ratio", "unaligned_memory_ratio"),
        *(
            f"{kind}_{way}_ratio"
            for way in ("reads", "writes")
            for kind in ("sequential", "consecutive")
        ),
        *(f"accesses_{kind}_ratio" for kind in _KINDS),
        *("mean_read_bytes_log10", "mean_write_bytes_log10"),
    )
    values: dict[str, float | None] = dict.fromkeys(names)
    if posix is None:
        return values
    total = posix.total
    reads, writes, ops = total("READS"), total("WRITES"), total(*_BOTH)
    meta = total("OPENS", "STATS", "SEEKS", "FSYNCS")
    seconds = total("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")
    values["reads_ratio"] = _share(reads, ops)
    values["metadata_operations_ratio"] = _share(meta, meta + ops)
    values["metadata_time_ratio"] = _share(total("F_META_TIME"), seconds)
    values["switches_ratio"] = _share(total("RW_SWITCHES"), ops)
    values["unaligned_file_ratio"] = _share(total("FILE_NOT_ALIGNED"), ops)
    values["unaligned_memory_ratio"] = _share(total("MEM_NOT_ALIGNED"), ops)
    for way, of in (("READS", reads), ("WRITES", writes)):
        values[f"sequential_{way.lower()}_ratio"] = _share(total(f"SEQ_{way}"), of)
        values[f"consecutive_{way.lower()}_ratio"] = _share(total(f"CONSEC_{way}"), of)
    for kind, bins in _KINDS.items():
        counters = [f"SIZE_{way}_{name}" for way in ("READ", "WRITE") for name in bins]
        values[f"accesses_{kind}_ratio"] = _share(total(*counters), ops)
    values["mean_read_bytes_log10"] = _log(total("BYTES_READ") / reads if reads else 0.0)
    values["mean_write_bytes_log10"] = _log(total("BYTES_WRITTEN") / writes if writes else 0.0)
    return values


def _share(part: float, whole: float) -> float | None:
    """Part of whole, at most 1 (counters of different moments can contradict each other by a few)."""
    return min(part / whole, 1.0) if whole > 0 else None


def _log(value: float) -> float | None:
    return math.log10(value) if value > 0 else None
