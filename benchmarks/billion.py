"""A centre's store: 100 hosts, 64 days, three targets, a billion samples; its questions in 8 GiB.

    python -m benchmarks.billion --rows 1e6 1e7            # 1e9 wants a quiet machine
    python -m benchmarks.billion --rows 1e6 1e7 1e8 1e9 --folder /big
    python -m benchmarks.billion --shape 20x64            # a fifth of the hosts of a billion, as long

Each size has one rate (an operation every 10 s) and a file a host and day: only hosts and days grow. Service times are
lognormal with a Pareto tail, a million draws in turns; one target of one host in ten is four times slower for an hour
every third day. Asked, host by host, in a process of its own whose memory is limited: windows of ten minutes with all
statistics, slowdown, events. Prints seconds, processor time, microseconds of it a sample, peak memory, and the
exponent of growth of the processor time, which another load on the machine changes least.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from benchmarks import machine
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_path
from iosonde.engine.parquet import write_parquet
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OPS
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather import answers
from iosonde.weather.store import Store

START_NS = 1_782_864_000 * 1_000_000_000
"""2026-07-01 00:00 UTC."""
PERIOD_NS = 10_000_000_000
TARGETS = ("/work", "/home", "/scratch")
WINDOW_NS = 600_000_000_000
LIMIT_BYTES = 8 << 30
_MEDIANS_US = {
    "data_read": 5000,
    "data_write": 4000,
    "md_create": 1000,
    "md_stat": 40,
    "md_read": 400,
    "md_delete": 600,
}
_A_DAY = DAY_NS // PERIOD_NS * len(TARGETS) * len(OPS)
_MOST_HOSTS = 100
_DRAWS = 1 << 20
"""Operations whose noise is drawn; every day of a host begins somewhere else in them."""
_DRAW = """
CREATE TABLE draws AS SELECT 100000 + (late * 50000)::BIGINT AS late_ns, (far * 1024)::BIGINT AS offset_mb,
    exp(0.4 * sqrt(-2 * ln(1 - u)) * cos(6.283185307 * v))
        * CASE WHEN w < 0.005 THEN 1 / sqrt(0.02 + 0.98 * x) ELSE 1 END AS factor
FROM (
    SELECT random() AS u, random() AS v, random() AS w, random() AS x, random() AS late, random() AS far
    FROM range({draws})
)
"""
_SLOTS = """
CREATE TABLE slots AS SELECT target, op, median_ns, tick * {period} + place * ({period} // 6) AS since_ns
FROM range({ticks}) AS ticks(tick), targets, ops ORDER BY target, op, since_ns
"""
_SQL = """
SELECT target, op, {begin} + since_ns AS due_ns, {begin} + since_ns + late_ns AS began_ns, offset_mb,
    (median_ns * factor * CASE WHEN {slow} AND target = '{first}' AND since_ns // {hour} = 14 THEN 4 ELSE 1 END)::BIGINT
        AS service_ns
FROM slots POSITIONAL JOIN (SELECT * FROM draws LIMIT {rows} OFFSET {offset})
"""


def layout_of(rows: float) -> tuple[int, int]:
    """Hosts and days of about so many rows."""
    units = max(2.0, rows / _A_DAY)
    hosts = max(1, min(_MOST_HOSTS, round(math.sqrt(units * _MOST_HOSTS / 64))))
    return hosts, max(2, round(units / hosts))


def make(root: Path, hosts: int, days: int) -> int:
    """Write the store, a file a host and day as compaction leaves it; its rows."""
    free = shutil.disk_usage(root.parent).free
    if hosts * days * _A_DAY * 18 > 0.9 * free:
        sys.exit(
            f"{root.parent} has {free / 1e9:.0f} GB free; expected {hosts * days * _A_DAY * 18 / 1e9:.0f} GB"
        )
    with duckdb.connect() as con:
        con.execute("SELECT setseed(0.25)")
        medians = ", ".join(
            f"('{op}', {place}, {1000 * _MEDIANS_US[op]})" for place, op in enumerate(OPS)
        )
        con.execute(
            f"CREATE TABLE ops AS SELECT * FROM (VALUES {medians}) AS t(op, place, median_ns)"
        )
        names = ", ".join(f"('{target}')" for target in TARGETS)
        con.execute(f"CREATE TABLE targets AS SELECT * FROM (VALUES {names}) AS t(target)")
        con.execute(_DRAW.format(draws=_DRAWS))
        con.execute(_SLOTS.format(period=PERIOD_NS, ticks=DAY_NS // PERIOD_NS))
        for host in range(hosts):
            for day in range(days):
                _write(con, root, host, day)
    return hosts * days * _A_DAY


def _write(con: duckdb.DuckDBPyConnection, root: Path, host: int, day: int) -> None:
    begin = START_NS + day * DAY_NS
    run = f"{host:016x}"
    made = {
        "schema_version": "1",
        "host": f"'node{host:03}'",
        "period_ns": f"{PERIOD_NS}",
        "size_bytes": "CASE WHEN op LIKE 'data%' THEN 1048576 ELSE 3901 END",
        "offset_bytes": "CASE WHEN op LIKE 'data%' THEN offset_mb * 1048576 END",
        "outcome": "'ok'",
        "ended_ns": "began_ns + service_ns",
        "cache": "CASE WHEN op LIKE 'data%' THEN 'direct' ELSE 'unknown' END",
        "control_runq_ns": "500",
        "seed": f"{host}",
        "run_id": f"'{run}'",
    }
    rows = _SQL.format(
        slow=str(host % 10 == 0 and day % 3 == 2).lower(),
        first=TARGETS[0],
        hour=HOUR_NS,
        begin=begin,
        rows=_A_DAY,
        offset=(host * 7919 + day * 104_729) % (_DRAWS - _A_DAY),
    )
    columns = ", ".join(
        f"({made.get(name, name)})::{kind} AS {name}" for name, kind in SAMPLE_TYPES.items()
    )
    path = parquet_path(root, f"node{host:03}", f"{run}-{day:06}", begin)
    write_parquet(con, f"SELECT {columns} FROM ({rows})", path)


def windows(store: Store, host: str) -> int:
    """All columns of windows.toml of a host."""
    return len(store.windows(WINDOW_NS, host=host))


def slowdown(store: Store, host: str) -> int:
    """Slowdown of a host with its slow spans."""
    query = SlowdownQuery(host=host, window_ns=WINDOW_NS)
    return int(np.sum(answers.slowdown(store, query, START_NS + 400 * DAY_NS).windows["slow"]))


def events(store: Store, host: str) -> int:
    """Slow events of a host."""
    from iosonde.weather.events.timeline import happened

    query = SlowdownQuery(host=host)
    return len(happened(store, query, START_NS + 400 * DAY_NS, []).slow)


QUESTIONS: dict[str, Callable[[Store, str], int]] = {
    "windows": windows,
    "slowdown": slowdown,
    "events": events,
}


def ask(root: Path, question: str) -> None:
    """In a process of its own: a question about every host, as one line of JSON."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_BYTES, LIMIT_BYTES))
    store, began, busy = Store(root), time.monotonic(), time.process_time()
    hosts = sorted({folder.name.removeprefix("host=") for folder in root.glob("samples/*/host=*")})
    found = sum(QUESTIONS[question](store, host) for host in hosts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = {"seconds": time.monotonic() - began, "cpu": time.process_time() - busy}
    print(json.dumps({**took, "found": found, "peak_mib": peak}))


def measure(folder: Path, hosts: int, days: int) -> dict[str, float]:
    """Make a store, ask it everything, remove it; CPU seconds by question."""
    root = folder / "store"
    began = time.monotonic()
    made = make(root, hosts, days)
    made_s = time.monotonic() - began
    size = sum(path.stat().st_size for path in root.rglob("*.parquet"))
    print(
        f"\n{made:,} samples: {hosts} hosts, {days} days, {len(TARGETS)} targets; {size / 1e9:.2f} GB, "
        f"{size / made:.1f} B a sample, made in {made_s:.0f} s"
    )
    seconds = {"rows": float(made)}
    for question in QUESTIONS:
        command = [
            sys.executable,
            "-m",
            "benchmarks.billion",
            "--ask",
            question,
            "--folder",
            str(root),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        told = json.loads(done.stdout)
        seconds[question] = told["cpu"]
        print(
            f"  {question:<9} {told['seconds']:8.1f} s {told['cpu']:8.1f} CPU s"
            f"  {1e6 * told['cpu'] / made:7.2f} us a sample"
            f"  {told['peak_mib']:6.0f} MiB at most  {told['found']:,} found",
            flush=True,
        )
    rolled = sum(path.stat().st_size for path in (root / "rollups").rglob("*.parquet"))
    print(f"  roll-ups  {rolled / 1e9:.2f} GB")
    shutil.rmtree(root)
    return seconds


def _shapes(options: argparse.Namespace) -> list[tuple[int, int]]:
    """Hosts and days of each store."""
    if options.shape is None:
        return [layout_of(rows) for rows in options.rows]
    hosts, _, days = options.shape.partition("x")
    return [(int(hosts), int(days))]


def main() -> None:
    """Print a table a size, then the exponents."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.billion", description=__doc__)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--shape", help="HOSTSxDAYS, instead of --rows")
    parser.add_argument(
        "--folder", type=Path, help="where the stores lie meanwhile (a temporary one)"
    )
    parser.add_argument("--ask", choices=QUESTIONS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        ask(options.folder, options.ask)
        return
    print(machine.line())
    with tempfile.TemporaryDirectory(prefix="iosonde-billion-", dir=options.folder) as folder:
        measured = [measure(Path(folder), *shape) for shape in _shapes(options)]
    if len(measured) > 1:
        rows = np.log([one["rows"] for one in measured])
        for question in QUESTIONS:
            slope = np.polyfit(rows, np.log([one[question] for one in measured]), 1)[0]
            print(f"{question}: CPU time grows as samples to the power {slope:.2f}")


if __name__ == "__main__":
    main()
