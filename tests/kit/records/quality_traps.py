"""What can be wrong in records that somebody else made: a small file for each trap, and what must become of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from tests.connectors.lustre.test_lmt_sql import TIMES, rows
from tests.connectors.lustre.test_lmt_wire import log, ost
from tests.connectors.lustre.test_lustre_health import df, row, written
from tests.connectors.lustre.test_lustre_proc import T0 as TREE
from tests.connectors.lustre.test_lustre_proc import head, job, packed, stats, text, tree, under
from tests.connectors.scheduler.test_sacct import row as account
from tests.connectors.scheduler.test_sacct import rows as accounts
from tests.connectors.test_collectl import NAMES, file
from tests.connectors.test_mmdf import COLON
from tests.connectors.test_mmperfmon import answer
from tests.connectors.test_mmpmon import line
from tests.connectors.test_mountstats import snapshot
from tests.connectors.test_prometheus_text import ost as sample
from tests.connectors.test_prometheus_text import page
from tests.jobs.test_metrics_store import S
from tests.kit.jobs import tables as csv
from tests.kit.records.darshan_made import Made, moved, text_of, write_log
from tests.kit.records.lmt_files import database, lying, series

T = 1_700_000_000
OSTS = ["work-OST0000", "work-OST0001"]
READ, FULL = "datatargets/readbytes", "fullness/bytes"
BERLIN, LA = "Europe/Berlin", "America/Los_Angeles"
AUTUMN = [f"20261101 {t} 0 0 1 0 0 0" for t in ("01:30:00", "01:45:00", "01:00:00", "01:15:00")]
TEXT = csv.MAPPING.replace('column = "start", unit = "s"', 'column = "start", unit = "text"')
DOUBT = csv.MAPPING.replace("[[motif]]", 'doubtful_begin = "other"\n\n[[motif]]', 1)
AGED = csv.MAPPING + 'fullest_ost_percent = { column = "full", age = "age" }\n'
MIB = 1 << 20


@dataclass(frozen=True)
class Trap:
    """``kind``: what recognises the file. ``becomes``: values of ``of`` in the store, or the value of a scalar."""

    flag: str
    kind: str
    write: Callable[[Path], Path]
    of: str
    becomes: Any
    zone: str = "UTC"
    mapping: str = ""
    more: dict[str, Any] = field(default_factory=dict)


def hdf5(values: Any, at: Any = (0, 5, 10), units: str = "bytes") -> Callable[[Path], Path]:
    return lambda f: series(f / "t", [T + s for s in at], {READ: (OSTS[:1], values, units)})


def lmt(counters: list[Any], times: Any = TIMES) -> Callable[[Path], Path]:
    return lambda f: database(f / "l", times, rows(counters))


def wire(*pairs: tuple[int, int]) -> Callable[[Path], Path]:
    return lambda f: log(f, *(f"{T + s} {ost(n, 1)}" for s, n in pairs))


def gpfs(*pairs: tuple[int, Any], node: str = "a") -> Callable[[Path], Path]:
    lines = "\n".join(line(node, T + s, v) for s, v in pairs) + "\n"
    return lambda f: put(f / "m", lines)


def perfmon(*said: str) -> Callable[[Path], Path]:
    return lambda f: answer(f / "p", *said)


def nodes(*said: str, names: str = f"#UTC {NAMES}") -> Callable[[Path], Path]:
    return lambda f: file(f / "n1", *said, names=names)


def nfs(*said: tuple[Any, int], ages: bool = False) -> Callable[[Path], Path]:
    texts = [snapshot(v, 100 + t) + ("" if ages else f"{T + t}\n") for v, t in said]
    return lambda f: put(f / "m", "".join(texts))


def pages(*values: Any, at: Any = None, more: str = "# EOF") -> Callable[[Path], Path]:
    when = at or range(len(values))
    return lambda f: page(
        f / "p", *(sample(v, T + s) for v, s in zip(values, when, strict=True)), more
    )


def full(text_: str) -> Callable[[Path], Path]:
    return lambda f: written(f, text_)


def table(*said: str, head: str = csv.HEAD) -> Callable[[Path], Path]:
    return lambda f: csv.write(f / "t.csv", *said, head=head)


def slurm(**said: str) -> Callable[[Path], Path]:
    return lambda f: accounts(f / "a", account(**said))


def darshan(*records: Any, **made: Any) -> Callable[[Path], Path]:
    return lambda f: put(f / "d", text_of(Made(records, **made)))


def put(path: Path, content: str) -> Path:
    path.write_text(content)
    os.utime(path, ns=(T * S, T * S))
    return path


def lying_down(folder: Path) -> Path:
    tables = {
        "OSTReadGroup/OSTBulkReadDataSet": ({"OSTNames": OSTS}, [[0, 1.0, 2.0, 3.0]] * 2),
        "FSMissingGroup/FSMissingDataSet": ({}, np.array([[0, 0, 0, 0], [0, 1, 0, 0]], np.int32)),
    }
    return lying(folder / "h", [T + 5 * i for i in range(4)], tables)


def reset(folder: Path) -> Path:
    files = under("a", tree(TREE, 1000)) | under("b", tree(TREE + 60, 10))
    return packed(folder / "t", files)


def lost(folder: Path) -> Path:
    trees = (tree(TREE + 60 * n, read) for n, read in enumerate((1000, 0, 1600)))
    return packed(
        folder / "t",
        {k: v for n, one in zip("abc", trees, strict=True) for k, v in under(n, one).items()},
    )


def undated(folder: Path) -> Path:
    return packed(folder / "t", {"proc/fs/lustre/obdfilter/w-OST0000/num_exports": "3"})


def twice(folder: Path) -> Path:
    files = under("a", tree(TREE, 1000)) | under("b", tree(TREE + 60, 1600))
    name = "b/proc/fs/lustre/obdfilter/work-OST0000/stats"
    files[name] = stats(TREE + 60, (160, 1600), (1, 7), "read_bytes 9 samples [bytes] 1 1 99999\n")
    return packed(folder / "t", files)


def fell(folder: Path) -> Path:
    return text(folder, head(TREE), job(7, TREE, 50), head(TREE + 60), job(7, TREE + 60, 1))


def skewed(folder: Path) -> Path:
    off = {"a": 0, "b": 0, "c": 95}
    lines = (line(n, T + 10 * k + off[n], k) for k in range(4) for n in off)
    return put(folder / "m", "\n".join(lines) + "\n")


def outside(folder: Path) -> Path:
    return accounts(folder / "a", account(), account(JobIDRaw="1.0", End="2026-01-02T03:05:00"))


A = {
    "read": "ost read_bytes work-OST0000",
    "perf": "client read_ops n1",
    "sum": "client read_bytes a",
}
A |= {
    "oss": "ost used_bytes work-OST0000",
    "page": "ost read_bytes fs-OST0000",
    "nfs": "client read_ops /m",
}
TSERIES, SQL, WIRE, H5 = "TOKIO TimeSeries", "LMT SQLite", "LMT wire strings", "h5lmt"
SEEN = full(f"BEGIN {T + 9}\n{df(row(used=3))}BEGIN {T}\n{df(row(used=1), row(used=99))}")
SILENT = (
    f"BEGIN {T}\n{df(row(used=3))}BEGIN {T + 900}\n{df('work-OST0000_UUID  : inactive device')}"
)
P = "2019-01-08-13:0"
TRAPS = [
    Trap("monitor-down", "lustre.lmt.wire", wire((0, 100), (5, 0), (10, 130)), A["read"], [30]),
    Trap("monitor-down", "lustre.lmt.sql", lmt([100, 110, 0, 150]), A["read"], [10, nan, nan]),
    Trap("monitor-down", "lustre.proc", lost, A["read"], [600]),
    Trap(
        "monitor-down",
        "gpfs.mmpmon",
        gpfs((0, 5), (1, 0), (2, 0), (3, 9), (4, 9)),
        A["sum"],
        [4, 0],
    ),
    Trap("monitor-down", "prometheus.text", pages(1, 5, 0, 8), A["page"], [4, 3]),
    Trap("monitor-down", "client.mountstats", nfs((10, 0), (0, 5), (30, 10)), A["nfs"], [20]),
    Trap(
        "monitor-down",
        "tables.table",
        table(csv.row(), csv.row(1, sr=0, sw=0)),
        "server_written_bytes",
        None,
        mapping=csv.MAPPING,
    ),
    Trap(
        "negative-zero", "lustre.tokio_timeseries", hdf5([[-0.0], [0], [5]]), A["read"], [nan, 0, 5]
    ),
    Trap(
        "negative-zero",
        "tables.table",
        table(csv.row(), csv.row(1, sr="-0.0")),
        "server_read_bytes",
        None,
        mapping=csv.MAPPING,
    ),
    Trap("missing", "lustre.tokio_timeseries", hdf5([[np.nan], [0], [5]]), A["read"], [nan, 0, 5]),
    Trap("missing", "lustre.h5lmt", lying_down, A["read"], [5, 10, 15]),
    Trap("missing", "lustre.h5lmt", lying_down, "ost read_bytes work-OST0001", [nan, 10, 15]),
    Trap("missing", "lustre.lfs_df", full(SILENT), A["oss"], [3072, nan]),
    Trap("missing", "scheduler.sacct", slurm(End="Unknown"), "duration_s", None),
    Trap(
        "missing",
        "darshan.text",
        darshan(moved("POSIX", "/work/a", 0, read=MIB, STATS=-1)),
        "own_stats",
        None,
    ),
    Trap(
        "missing",
        "tables.table",
        table(csv.row(start="soon"), csv.row(1)),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=csv.MAPPING,
    ),
    Trap("counter-reset", "lustre.lmt.sql", lmt([100, 120, 3, 10]), A["read"], [20, nan, 7]),
    Trap(
        "counter-reset",
        "lustre.lmt.wire",
        wire((0, 100), (5, 120), (10, 5), (15, 9)),
        A["read"],
        [20, nan, 4],
    ),
    Trap("counter-reset", "lustre.proc", reset, A["read"], [nan]),
    Trap("counter-reset", "lustre.job_stats", fell, "job read_bytes 7", [nan]),
    Trap(
        "counter-reset", "gpfs.mmpmon", gpfs((0, 5), (1, 9), (2, 3), (3, 4)), A["sum"], [4, nan, 1]
    ),
    Trap("counter-reset", "client.mountstats", nfs((10, 0), (3, 5), (8, 10)), A["nfs"], [nan, 5]),
    Trap("counter-reset", "prometheus.text", pages(1, 5, 2, 3), A["page"], [4, nan, 1]),
    Trap("counter-reset", "prometheus.text", pages(0, 5, 0, 3), A["page"], [5, nan, 3]),
    Trap(
        "counter-reset", "gpfs.mmpmon", gpfs((0, 5), (1, 9), (2, 0), (3, 0)), A["sum"], [4, nan, 0]
    ),
    Trap("clock-skew", "gpfs.mmpmon", skewed, "client read_bytes c", [1, 1, 1]),
    Trap("clock-skew", "scheduler.sacct", outside, "duration_s", 300.0),
    Trap(
        "clock-skew",
        "tables.table",
        table(f"{csv.row()},{T + 400}", head=csv.HEAD + ",other"),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=DOUBT,
    ),
    Trap(
        "over-covered",
        "tables.table",
        table(csv.row(), csv.row(1) + ",1.3", head=csv.HEAD + ",cf"),
        "cf_bandwidth_ratio",
        None,
        mapping=csv.MAPPING + 'cf_bandwidth_ratio = "cf"\n',
    ),
    Trap("naive-time", "lustre.lmt.sql", lmt([1, 2, 3, 4]), A["read"], [1, 1, 1]),
    Trap("naive-time", "gpfs.mmperfmon", perfmon(P + "0:00 5", P + "1:00 7"), A["perf"], [5, 7]),
    Trap(
        "naive-time",
        "client.collectl",
        nodes(
            "20260102 03:00:01 0 0 1 0 0 0",
            "20260102 03:00:02 0 0 2 0 0 0",
            names=f"#Date Time {NAMES}",
        ),
        A["perf"],
        [1, 2],
    ),
    Trap("naive-time", "scheduler.sacct", slurm(), "duration_s", 60.0),
    Trap(
        "naive-time",
        "tables.table",
        table(csv.row(start="2026-01-02 03:00:00")),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=TEXT,
    ),
    Trap(
        "naive-time",
        "tables.table",
        table(
            *(f"{csv.row(i)},{T + 86_400 * i - 25_200}" for i in range(3)), head=csv.HEAD + ",other"
        ),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=DOUBT,
    ),
    Trap(
        "ambiguous-time",
        "lustre.lmt.sql",
        lmt(
            [1, 3, 6],
            [
                (10 + i, f"2018-11-04 {t}")
                for i, t in enumerate(("01:59:55", "01:00:00", "01:00:05"))
            ],
        ),
        A["read"],
        [2, 3],
        LA,
    ),
    Trap(
        "ambiguous-time",
        "gpfs.mmperfmon",
        perfmon("2019-03-10-01:30:00 1", "2019-03-10-02:30:00 2", "2019-03-10-04:30:00 3"),
        A["perf"],
        [1, 2, 3],
        LA,
    ),
    Trap(
        "ambiguous-time",
        "client.collectl",
        nodes(*AUTUMN, names=f"#Date Time {NAMES}"),
        A["perf"],
        [900] * 4,
        "America/New_York",
    ),
    Trap(
        "ambiguous-time",
        "scheduler.sacct",
        slurm(Start="2026-11-01T01:30:00", End="2026-11-01T01:10:00"),
        "duration_s",
        2400.0,
        LA,
    ),
    Trap(
        "ambiguous-time",
        "tables.table",
        table(csv.row(0, start="2026-10-25 02:30:00"), csv.row(1, start="2026-03-29 02:30:00")),
        "own_bytes",
        4.0 * csv.GIB,
        BERLIN,
        TEXT,
    ),
    Trap(
        "wrong-unit",
        "lustre.tokio_timeseries",
        hdf5([[10], [20], [30]], units="bytes/sec"),
        A["read"],
        [10, 20, 30],
    ),
    Trap(
        "wrong-unit",
        "tables.table",
        table(*(csv.row(i, start=(T + i) * 1000, end=0) for i in range(3))),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=csv.MAPPING,
    ),
    Trap(
        "incomplete",
        "darshan.text",
        darshan(moved("POSIX", "/work/a", 0, read=MIB), partial=("POSIX",)),
        "own_bytes",
        float(MIB),
    ),
    Trap(
        "incomplete",
        "darshan.log",
        lambda f: write_log(
            f / "d", Made((moved("POSIX", "/work/a", 0, read=MIB),), partial=("POSIX",))
        ),
        "own_bytes",
        float(MIB),
    ),
    Trap(
        "incomplete",
        "tables.table",
        table(csv.row(fs="nan"), csv.row(1)),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=csv.MAPPING,
    ),
    Trap(
        "stale",
        "tables.table",
        table(csv.row() + ",80,60", csv.row(1) + ",81,9999999", head=csv.HEAD + ",full,age"),
        "fullest_ost_percent",
        None,
        mapping=AGED,
    ),
    Trap(
        "no-traffic",
        "darshan.text",
        darshan(moved("POSIX", "/work/a", 0)),
        "performance_bytes_per_s",
        None,
    ),
    Trap(
        "no-traffic",
        "tables.table",
        table(csv.row(own=0), csv.row(1)),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=csv.MAPPING,
    ),
    Trap(
        "not-a-number",
        "lustre.tokio_timeseries",
        hdf5([[np.inf], [-3], [1]]),
        A["read"],
        [nan, nan, 1],
    ),
    Trap("not-a-number", "lustre.lmt.sql", lmt([100, "nan", 130, 140]), A["read"], [nan, nan, 10]),
    Trap("not-a-number", "gpfs.mmpmon", gpfs((0, 5), (1, "nan"), (2, 10)), A["sum"], [5]),
    Trap(
        "not-a-number",
        "gpfs.mmperfmon",
        perfmon(P + "0:00 5", P + "1:00 NaN", P + "2:00 6"),
        A["perf"],
        [5, 6],
    ),
    Trap(
        "not-a-number",
        "gpfs.mmdf",
        lambda f: put(f / "g", COLON.replace(":200000:", ":nan:")),
        "nsd used_bytes d2",
        [1_397_000 * 1024],
    ),
    Trap(
        "not-a-number",
        "client.collectl",
        nodes(*(f"{T + n} 0 0 {v} 0 0 0" for n, v in enumerate((1, "inf", 3)))),
        A["perf"],
        [1, 3],
    ),
    Trap("not-a-number", "client.mountstats", nfs((10, 0), ("nan", 5), (37, 10)), A["nfs"], [27]),
    Trap("not-a-number", "prometheus.text", pages(1, "NaN", 7, 8), A["page"], [6, 1]),
    Trap(
        "not-a-number",
        "tables.table",
        table(csv.row(), csv.row(1, sr="inf")),
        "server_read_bytes",
        None,
        mapping=csv.MAPPING,
    ),
    Trap(
        "duplicate",
        "lustre.tokio_timeseries",
        hdf5([[1], [2], [99]], at=(0, 5, 5)),
        A["read"],
        [1, 2],
    ),
    Trap(
        "duplicate",
        "lustre.lmt.wire",
        wire((0, 10), (5, 15), (5, 999), (10, 30)),
        A["read"],
        [5, 15],
    ),
    Trap("duplicate", "lustre.proc", twice, A["read"], [600]),
    Trap("duplicate", "lustre.lfs_df", SEEN, A["oss"], [1024, 3072]),
    Trap(
        "duplicate",
        "gpfs.mmperfmon",
        perfmon(P + "0:00 0", P + "1:00 1", P + "1:00 9"),
        A["perf"],
        [0, 1],
    ),
    Trap(
        "duplicate",
        "client.mountstats",
        nfs((10, 0), (30, 5), (31, 5), (37, 10)),
        A["nfs"],
        [20, 7],
    ),
    Trap(
        "duplicate",
        "tables.table",
        table(csv.row(), csv.row()),
        "own_bytes",
        4.0 * csv.GIB,
        mapping=csv.MAPPING,
    ),
    Trap(
        "out-of-order",
        "lustre.tokio_timeseries",
        hdf5([[3], [1], [2]], at=(10, 0, 5)),
        A["read"],
        [1, 2, 3],
    ),
    Trap("out-of-order", "lustre.lfs_df", SEEN, A["oss"], [1024, 3072]),
    Trap("out-of-order", "gpfs.mmpmon", gpfs((0, 5), (2, 9), (1, 7), (3, 9)), A["sum"], [2, 2, 0]),
    Trap(
        "out-of-order",
        "client.collectl",
        nodes(*(f"{T + n} 0 0 {n} 0 0 0" for n in (0, 2, 1, 3))),
        A["perf"],
        [0, 1, 2, 3],
    ),
    Trap(
        "out-of-order", "prometheus.text", pages(0, 2, 1, 3, at=(0, 2, 1, 3)), A["page"], [1, 1, 1]
    ),
    Trap(
        "left-out",
        "client.collectl",
        nodes(f"{T} 1 2 3 4 5 6", f"{T + 5} 7 8 9 10 11 12"),
        A["perf"],
        [15, 45],
    ),
    Trap(
        "left-out",
        "prometheus.text",
        pages(1, 3, more=f"unheard_of_total 3 {T}000"),
        A["page"],
        [2],
    ),
    Trap("estimated", "lustre.lfs_df", full(df(row())), A["oss"], [61440]),
    Trap(
        "estimated",
        "gpfs.mmdf",
        lambda f: put(f / "g", COLON),
        "nsd used_bytes d1",
        [1_798_000 * 1024],
    ),
    Trap("estimated", "lustre.proc", undated, "ost clients w-OST0000", [3]),
    Trap(
        "estimated",
        "client.mountstats",
        nfs((10, 0), (30, 5), (37, 10), ages=True),
        A["nfs"],
        [20, 7],
    ),
]
"""What is wrong, where it comes from, and what becomes of the number."""
