"""Rate of indexing a folder of Darshan logs, beside bare pydarshan on the same cores.

    python -m benchmarks darshan_index FOLDER [--copies 1000] [--rounds 5] [--processes N]

FOLDER holds real logs (``*.darshan``); that many copies of them, in turn, are made in a temporary folder. Bare
pydarshan: a pool of as many processes, each of which for each log does what an index needs at least:
``log_open``, job, program, mounts, modules, names, and every record of POSIX, MPI-IO and STDIO as numpy arrays
(``log_get_record``), by pydarshan's own ``cffi_backend``; it keeps nothing and adds nothing up. Rounds are ABBA;
both are warm (pages of the files in memory). ``total``: with the start of processes and imports. ``rate``: without:
the same again with half of the logs, and the difference.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from iosonde.connectors.darshan.tree import index
from iosonde.connectors.source import Settings


def bare(path: str) -> int:
    """Records of one log."""
    import darshan.backend.cffi_backend as backend

    log: Any = backend.log_open(path)
    backend.log_get_job(log)
    backend.log_get_exe(log)
    backend.log_get_mounts(log)
    modules = backend.log_get_modules(log)
    backend.log_get_name_records(log)
    n = 0
    for module in ("POSIX", "MPI-IO", "STDIO"):
        if module in modules:
            while backend.log_get_record(log, module) is not None:
                n += 1
    backend.log_close(log)
    return n


def run_bare(paths: list[Path], processes: int) -> None:
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for _ in pool.imap(bare, map(str, paths), chunksize=8):
            pass


def run_ours(folder: Path, processes: int) -> None:
    n = sum(1 for _ in index(folder, Settings(), print, processes=processes))
    if not n:
        raise SystemExit("nothing was indexed")


def timed(call: Any, *arguments: Any) -> float:
    began = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - began


def main(
    folder: Path,
    copies: int = 1000,
    rounds: int = 5,
    processes: int = len(os.sched_getaffinity(0)),
) -> None:
    logs = sorted(folder.glob("*.darshan"))
    if not logs:
        raise SystemExit(f"no *.darshan in {folder}")
    with tempfile.TemporaryDirectory() as room:
        halves = [Path(room) / "half", Path(room) / "other"]
        for half in halves:
            half.mkdir()
        for number in range(copies):
            name = f"{number:05}.darshan"
            shutil.copyfile(logs[number % len(logs)], halves[number % 2] / name)
        few = sorted(halves[0].glob("*"))
        many = sorted(Path(room).rglob("*.darshan"))
        table: dict[str, list[float]] = {"bare": [], "ours": [], "bare half": [], "ours half": []}
        for number in range(rounds):
            for who in ("bare", "ours") if number % 2 == 0 else ("ours", "bare"):
                if who == "bare":
                    table["bare"].append(timed(run_bare, many, processes))
                    table["bare half"].append(timed(run_bare, few, processes))
                else:
                    table["ours"].append(timed(run_ours, Path(room), processes))
                    table["ours half"].append(timed(run_ours, halves[0], processes))
    show(table, copies, processes)


def show(table: dict[str, list[float]], copies: int, processes: int) -> None:
    print(f"{copies} logs, {processes} processes, {len(table['bare'])} rounds, medians")
    totals, rates = {}, {}
    for who in ("bare", "ours"):
        each = [whole - half for whole, half in zip(table[who], table[f"{who} half"], strict=True)]
        totals[who] = statistics.median(table[who])
        rates[who] = (copies - (copies + 1) // 2) / statistics.median(each)
        print(f"{who:5} total {totals[who]:6.2f} s   rate {rates[who]:7.0f} logs/s")
    print(f"ours / bare: rate {rates['ours'] / rates['bare']:.2f}, ", end="")
    print(f"logs/s of the whole {totals['bare'] / totals['ours']:.2f}")
