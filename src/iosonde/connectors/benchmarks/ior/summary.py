"""Readers for IOR's machine-readable summaries: ``summaryFormat=JSON`` and ``summaryFormat=CSV``.

Numbers have four decimals in both: an open that took less than 50 us is printed as 0.0000, which is not zero but
below what the file can say. Neither says how many bytes were moved under a time limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iosonde.connectors.benchmarks.ior.found import IorRun
from iosonde.connectors.benchmarks.ior.loose_json import load
from iosonde.connectors.benchmarks.ior.phase_data import MIB, Result
from iosonde.connectors.benchmarks.ior.setup import Setup, clean_place
from iosonde.connectors.compressed import BROKEN, opened, packing_of
from iosonde.connectors.lines import (
    NUMBER,
    FileDefaults,
    Warn,
    bad,
    local_ns,
    read_lines,
    shown,
)
from iosonde.model.errors import InputFileError

CSV_BEGIN = "access,bw(MiB/s),"
_TIME = "%a %b %d %H:%M:%S %Y"
_MOST_BYTES = 1 << 28
_LEAST = 5e-5
_OF_JSON = {
    **{"bwMiB": "bw_mib", "iops": "iops", "latency": "latency_s", "openTime": "open_s"},
    **{"wrRdTime": "transfer_s", "closeTime": "close_s", "totalTime": "total_s"},
}
_OF_CSV = {
    **{"bw(MiB/s)": "bw_mib", "IOPS": "iops", "Latency": "latency_s", "open(s)": "open_s"},
    **{"wr/rd(s)": "transfer_s", "close(s)": "close_s", "total(s)": "total_s"},
}
_ACCESSES = ("write", "read")


def read_json(path: Path, given: FileDefaults, warn: Warn) -> Iterator[IorRun]:
    """Yield every test of a summary. Malformed JSON is reported with the assumptions made. Raises InputFileError."""
    whole, assumed = load(_text(path))
    for line, what in assumed:
        warn(bad(path, line, f"no JSON; assumed: {what}", "JSON"))
    if not isinstance(whole, dict):
        raise bad(path, 1, "there is no object of JSON", "a summary of IOR (summaryFormat=JSON)")
    tests = [test for test in _flat(whole.get("tests")) if isinstance(test, dict)]
    summaries = [one for one in _flat(whole.get("summary")) if isinstance(one, dict)]
    if not tests and any(isinstance(one, dict) for one in _flat(whole.get("Results"))):
        tests = [whole]
    number = 0
    for test in tests:
        run = _run_of(whole, test, given, number)
        own = [one for one in summaries if one.get("TestID") == test.get("TestID")]
        _summarised(run, own)
        if run.results:
            number += 1
            yield run
        else:
            warn(bad(path, 1, f"test {number} has no results", "Results of writes or reads"))


def _text(path: Path) -> str:
    try:
        with opened(path) as file:
            data = file.read(_MOST_BYTES + 1)
    except BROKEN as error:
        what = f"the {packing_of(path)} data end or break here ({error})"
        raise bad(path, 1, what, "a whole file") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error
    if len(data) > _MOST_BYTES:
        raise bad(path, 1, "the file is too long", f"at most {_MOST_BYTES >> 20} MiB")
    return data.decode("utf-8-sig", "replace").replace("\0", "")


def _flat(value: Any) -> Iterator[Any]:
    """Flatten nested lists (IOR 3.2 has one per repetition)."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += reversed(one)
        elif one is not None:
            yield one


def _run_of(
    whole: dict[str, Any], test: dict[str, Any], given: FileDefaults, number: int
) -> IorRun:
    setup = Setup()
    version = whole.get("Version")
    if isinstance(version, str) and version.isprintable():
        setup.version = version[:40]
    if isinstance(command := whole.get("Command line"), str):
        setup.command(command)
    machine = str(whole.get("Machine", "")).split()
    if len(machine) >= 2 and machine[1].isprintable():
        setup.node = machine[1][:200]
    for section in ("Parameters", "Options"):
        values = test.get(section)
        for key, value in values.items() if isinstance(values, dict) else ():
            if isinstance(value, str | int) and not isinstance(value, bool):
                setup.feed(key, str(value))
    if not setup.file and isinstance(test.get("Path"), str):
        setup.file = clean_place(test["Path"])
    run = IorRun(given.run if number == 0 else f"{given.run}-{number + 1}", setup)
    seen: dict[str, int] = {}
    for row in _flat(test.get("Results")):
        access = row.get("access") if isinstance(row, dict) else None
        if access in _ACCESSES:
            result = Result(str(access), seen.get(str(access), 0), **_numbers(row, _OF_JSON))
            seen[str(access)] = result.repetition + 1
            run.results.append(result)
    began = given.started_ns if number == 0 else None
    for said in (test.get("StartTime"), whole.get("Began")):
        if began is None and isinstance(said, str):
            began = local_ns(said, _TIME, given.zone)
    if run.results:
        run.results[0].began_ns = began
    return run


def _numbers(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Numbers of a row; values below the printed precision are missing."""
    found = {}
    for name, of in names.items():
        value = row.get(name)
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and _LEAST <= value < 1e15
        ):
            found[of] = float(value)
    return found


def _summarised(run: IorRun, summaries: list[dict[str, Any]]) -> None:
    """Add bytes of phases that ran once, and phases found only in the summary."""
    for one in summaries:
        access = one.get("operation")
        if access not in _ACCESSES:
            continue
        of = {"numTasks": "ranks", "blockSize": "block_bytes", "transferSize": "transfer_bytes"}
        for name, own in {**of, "segmentCount": "segments", "repetitions": "repetitions"}.items():
            value = one.get(name)
            possible = type(value) is int and 0 <= value < 2**62
            if possible and run.setup.get(own) is None:
                run.setup.put(own, value)
        own_results = [result for result in run.results if result.access == access]
        if not own_results:
            means = _numbers(one, {"bwMeanMIB": "bw_mib", "MeanTime": "total_s"})
            run.results.append(
                Result(
                    str(access),
                    0,
                    reported={"mean_of_repetitions": one.get("repetitions")},
                    **means,
                )
            )
        moved = one.get("xsizeMiB")
        if len(own_results) == 1 and isinstance(moved, int | float) and 0 < moved < 2**42:
            own_results[0].reported["moved_mib"] = float(moved)


def read_csv(path: Path, given: FileDefaults, warn: Warn) -> Iterator[IorRun]:
    """Yield every test of a table; a repeated repetition number starts the next test. Raises InputFileError."""
    names: list[str] = []
    run, number = IorRun(given.run, Setup()), 1
    for line in read_lines(path, warn):
        text = line.text.strip()
        if text.startswith(CSV_BEGIN):
            names = text.split(",")
            continue
        if line.number == 1:
            raise bad(path, 1, f"the first line is {shown(line.text)}", repr(CSV_BEGIN + "..."))
        if not text:
            continue
        cells = text.split(",")
        if not line.ended or len(cells) != len(names) or cells[0] not in _ACCESSES:
            warn(bad(path, line.number, f"the row is {shown(text)}", ",".join(names)))
            continue
        values = dict(zip(names, cells, strict=True))
        row = {name: float(cell) for name, cell in values.items() if re.fullmatch(NUMBER, cell)}
        turn = (cells[0], int(min(row.get("iter", 0), 2**31 - 1)))
        if turn in {(result.access, result.repetition) for result in run.results}:
            yield run
            number += 1
            run = IorRun(f"{given.run}-{number}", Setup())
        if not run.results:
            _sizes(run.setup, row)
        result = Result(*turn, **_numbers(row, _OF_CSV))
        _segments(run.setup, result)
        result.began_ns = given.started_ns if number == 1 and not run.results else None
        run.results.append(result)
    if run.results:
        yield run


def _sizes(setup: Setup, row: dict[str, float]) -> None:
    for name, of in (("block(KiB)", "block_bytes"), ("xfer(KiB)", "transfer_bytes")):
        if (kib := row.get(name)) and kib < 2**52:
            setup.put(of, round(kib * 1024))
    if (ranks := row.get("numTasks")) and ranks < 2**31:
        setup.put("ranks", int(ranks))


def _segments(setup: Setup, result: Result) -> None:
    """Infer the number of segments, which the table lacks, if bandwidth and time give an integer to 1%."""
    ranks, block = setup.get("ranks"), setup.get("block_bytes")
    if not (ranks and block and result.bw_mib and result.total_s):
        return
    turns = result.bw_mib * MIB * result.total_s / (ranks * block)
    if round(turns) >= 1 and abs(turns - round(turns)) < 0.01:
        result.bytes = round(turns) * ranks * block
