"""A generated bandwidth run in a store: rows of its phases, transfers, rates, and the topology as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.truth.locate.simulate import Fault, Noise, run
from benchmarks.truth.locate.systems import System
from iosonde.bench.bandwidth import tables
from iosonde.bench.locate.rates import rates_of
from iosonde.bench.runs import store as runs
from iosonde.model.frames import NULL_NS
from iosonde.model.runs import RunRow
from iosonde.model.transfers import DIRECTIONS

_FEW = ("open_begin_ns", "open_end_ns", "close_begin_ns", "close_end_ns")
GIB = 1 << 30


def put_run(root: Path, machine: System, fault: Fault, run_id: str = "made-run", **more) -> None:
    """Two repetitions of ``machine`` with a fault, whole in the store ``root``."""
    moved = run(machine, Noise(repetitions=2), fault, np.random.default_rng(1))
    n = len(moved)

    def names(every, number):
        return np.array(every, dtype=object)[number]

    columns = {
        "run_id": np.full(n, run_id, object),
        "repetition": moved.repetition,
        "direction": names(DIRECTIONS, moved.direction),
        "rank": moved.rank,
        "host": names(moved.hosts, moved.host),
        "file": names(moved.files, moved.file),
        "targets": names(moved.targets, moved.stripes.target),
        "bytes": moved.bytes,
        "transfer_begin_ns": moved.transfer_begin_ns,
        "transfer_end_ns": moved.transfer_end_ns,
        **{name: np.full(n, NULL_NS, np.int64) for name in _FEW},
        "position": np.full(n, np.nan) if moved.position is None else moved.position,
        "layout": np.full(n, None, object),
    }
    tables.write_part(root, "transfers", run_id, "0", columns)
    bins = moved.rates
    if bins is not None:
        rates = {
            "run_id": np.full(len(bins.rank), run_id, object),
            "repetition": bins.repetition,
            "direction": names(DIRECTIONS, bins.direction),
            "rank": bins.rank,
            "begin_ns": bins.begin_ns,
            "bytes": bins.bytes,
        }
        tables.write_part(root, "rates", run_id, "0", rates)
    began = int(moved.transfer_begin_ns.min())
    tables.finish(root, run_id, began)
    common = {"run_id": run_id, "source": "iosonde", "instrument": "bandwidth", "host": "login1"}
    common |= {"target": "/work", "backend": "posix", "pattern": "own"} | more
    ranks = len(np.unique(moved.rank))
    rows = [
        RunRow(
            **common,
            phase=phase.direction,
            repetition=phase.repetition,
            ranks=ranks,
            began_ns=began,
            duration_ns=round(phase.last_end_s * 1e9),
            ops=n,
            bytes=int(moved.bytes.sum()) // 4,
            sustained_bytes_per_s=phase.sustained,
            first_bytes_per_s=phase.first_finisher,
            last_bytes_per_s=phase.last_finisher,
            outcomes={"ok": n},
            failed=0,
        )
        for phase in rates_of(moved)
    ]
    runs.write(root, rows, began)


def write_topology(machine: System, path: Path) -> Path:
    """The topology as ``iosonde locate`` takes it."""
    parents = machine.topology().parents
    lines = [f"{c},{p},{level}" for level, edges in parents.items() for c, p in edges.items()]
    path.write_text("\n".join(["child,parent,level", *lines]) + "\n")
    return path
