"""The command that repeats a run, from its parameters."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.bench.runs.described import fault_words
from iosonde.model.runs import RunRow
from iosonde.model.units import format_option

_IOR_FLAGS = {
    "file_per_process": "-F",
    "reorder": "-C",
    "fsync": "-e",
    "random": "-z",
    "keep": "-k",
    "writes": "-w",
    "reads": "-r",
}
_METADATA_LETTERS = {"data_sets": "-D", "objects": "-P", "iterations": "-I", "offset": "-O"}


def repeat_command(rows: Sequence[RunRow]) -> str | None:
    """Shell command that repeats a run; None if the run's parameters do not define it."""
    first = rows[0]
    words = {
        ("iosonde", "bandwidth"): _bandwidth,
        ("iosonde", "metadata"): _metadata,
        ("ior", "bandwidth"): _ior,
    }.get((first.source, first.instrument))
    if words is None or not first.parameters:
        return None
    return shlex.join(words(rows, first.parameters))


def _launched(parameters: Mapping[str, Any]) -> list[str]:
    """mpirun, and ranks per process."""
    processes = int(parameters.get("processes") or 1)
    ranks = int(parameters.get("ranks") or processes)
    start = ["mpirun", "-n", str(processes)] if processes > 1 else []
    return [*start, "iosonde", "bench", "", "-n", str(max(1, ranks // processes))]


def _of_iosonde(
    name: str, rows: Sequence[RunRow], parameters: Mapping[str, Any], phases: Sequence[str]
) -> list[str]:
    found = _launched(parameters)
    place = found.index("")
    found[place : place + 1] = [name, rows[0].target]
    repetitions = len({row.repetition for row in rows if row.phase != "cleanup"})
    if repetitions > 1:
        found += ["-R", str(repetitions)]
    if parameters.get("limit_ns"):
        found += ["-w", format_option(int(parameters["limit_ns"]))]
        if parameters.get("wear_out_ns"):
            found += ["-W", format_option(int(parameters["wear_out_ns"]))]
    if phases:
        found += ["--phases", ",".join(phases)]
    if parameters.get("random_order"):
        found += ["--order", "random"]
    found += [f"--{name}" for name in ("direct", "verify") if parameters.get(name)]
    for fault in parameters.get("faults") or ():
        found += ["--fault", fault_words(fault)]
    return [*found, "--seed", str(parameters["seed"])] if "seed" in parameters else found


def _bandwidth(rows: Sequence[RunRow], parameters: Mapping[str, Any]) -> list[str]:
    there = {row.phase for row in rows}
    phases = [phase for phase in ("write", "read") if phase in there]
    found = _of_iosonde("bandwidth", rows, parameters, phases if len(phases) < 2 else ())
    for name, option in (("transfer_bytes", "-t"), ("block_bytes", "-b"), ("segments", "-s")):
        if parameters.get(name):
            found += [option, str(parameters[name])]
    if parameters.get("layout", "own") != "own":
        found += ["--layout", str(parameters["layout"])]
    if parameters.get("shift"):
        found += ["--reorder", str(parameters["shift"])]
    if parameters.get("fsync", "none") != "none":
        found += ["--fsync", str(parameters["fsync"])]
    if int(parameters.get("depth") or 1) > 1:
        found += ["--queue-depth", str(parameters["depth"])]
    return found


def _metadata(rows: Sequence[RunRow], parameters: Mapping[str, Any]) -> list[str]:
    found = _of_iosonde("metadata", rows, parameters, ())
    pattern = str(parameters.get("pattern", rows[0].pattern))
    found += ["--pattern", pattern]
    for name, letter in _METADATA_LETTERS.items():
        if parameters.get(name) is not None and not (pattern == "bulk" and letter == "-I"):
            found += [letter, str(parameters[name])]
    if parameters.get("size_bytes") is not None:
        found += ["-S", str(parameters["size_bytes"])]
    flags = ("shared", "one_by_one", "read_only", "fsync", "adaptive")
    found += [f"--{name.replace('_', '-')}" for name in flags if parameters.get(name)]
    return found


def _ior(rows: Sequence[RunRow], parameters: Mapping[str, Any]) -> list[str]:
    found = ["mpirun", "-n", str(parameters.get("ranks") or rows[0].ranks or 1), "ior"]
    for name, option in (("transfer_bytes", "-t"), ("block_bytes", "-b"), ("segments", "-s")):
        if parameters.get(name):
            found += [option, str(parameters[name])]
    found += [flag for name, flag in _IOR_FLAGS.items() if parameters.get(name) is True]
    if parameters.get("stonewall_s"):
        found += ["-D", str(parameters["stonewall_s"])]
        found += ["-O", "stoneWallingWearOut=1"] if parameters.get("wear_out") else []
    if int(parameters.get("repetitions") or 1) > 1:
        found += ["-i", str(parameters["repetitions"])]
    return [*found, "-o", rows[0].target]
