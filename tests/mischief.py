"""Damages files of a store, one at a time, and asks the real commands: ``python -m tests.mischief --files 500``.

Every file that Python reads is of a kind: samples, roll-ups, spool, windows, events, found events, states, judged days,
tables of imports, runs and their parts. Of each mutation one of these must hold, without a traceback::

    equal     the answers are those of the untouched store
    named     the file is named on stderr or in the output, and the rest is answered

States and events of the agent have no checksum: there a changed digit is a changed number, and counts as ``unseen``.
Exit code 1 if anything else happened (``violations``).
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np

from iosonde.bench.runs import store as runs
from iosonde.cli import main as door
from iosonde.cli.shared import in_time, options
from iosonde.engine import spool
from iosonde.jobs.store import jobs, series
from iosonde.jobs.store.metric_descriptions import Described, write_described
from iosonde.model.job_metrics import About
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.weather.seal import seal
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import LATENCY, SECOND, START, simulate

HOURS = 3
FIRST = START + 8 * 3600 * SECOND
"""22:13 UTC: its day is over before the samples end."""
NOW = FIRST + 48 * 3600 * SECOND
UNSIGNED = ("state", "events")
"""Kinds whose files the agent writes without a checksum."""


class Kind(NamedTuple):
    """Files that are damaged, and the questions that read them."""

    pattern: str
    questions: Sequence[Sequence[str]]


_EXPORT = ("export", "samples", "--format", "csv")
_WINDOWS = ("export", "windows", "--format", "csv", "--window", "10m")
_EVENTS = ("events", "--format", "json", "--since", "-4d")
_SLOW = ("slowdown", "--format", "json", "--window", "10m")
_JOBS = ("jobs", "--format", "json")
_RUNS = ("runs", "--format", "json")
KINDS = {
    "samples": Kind("samples/*/*/*.parquet", (_EXPORT, _SLOW, _EVENTS)),
    "rollups": Kind("rollups/*/*/*.parquet", (_WINDOWS, _EVENTS)),
    "spool": Kind("spool/*/*.spool", (_EXPORT, _WINDOWS)),
    "windows": Kind("windows/*/*.windows", (("export", "windows", "--format", "csv"),)),
    "events": Kind("events/*/2*.jsonl", (_EVENTS,)),
    "found": Kind("events/*/found-*.jsonl", ((*_EVENTS, "--agent-events"),)),
    "state": Kind("state/*/*.json", (("now", "--format", "json"), ("check",))),
    "judged": Kind("judged/*/*/*.npz", (_EVENTS,)),
    "metrics": Kind("metrics/*/*.parquet", (("block",),)),
    "topology": Kind("topology/*/*.parquet", (("edges",),)),
    "jobs": Kind("jobs/*/*.parquet", (_JOBS,)),
    "scalars": Kind("scalars/*/*.parquet", (_JOBS,)),
    "described": Kind("described/*.parquet", (_JOBS,)),
    "runs": Kind("runs/*/*.parquet", (_RUNS,)),
    "parts": Kind("runs/*.part.jsonl", (_RUNS,)),
}


def build(root: Path) -> None:
    """A store with files of every kind."""
    for place, host in enumerate(("login1", "login2")):
        fault = {"op": "md_create", "after": "40m", "for": "25m", "multiply": 6.0}
        hang = {"op": "md_stat", "after": "100m", "for": "70s", "hang": True}
        target = {"path": "/work", "backend": "null", "latency": LATENCY, "fault": [fault, hang]}
        config = {"store": str(root), "host": host, "seed": 7 + place, "window": "60s"}
        config |= {"target": [target], "probe": {"period": "5s"}}
        simulate(config, FIRST, HOURS * 3600 * SECOND)
    for segment in sorted(root.glob("spool/*/*.spool"))[-1:]:
        segment.rename(segment.with_suffix(".aside"))
    _sealed_as_closed(root)
    for segment in root.glob("spool/*/*.aside"):
        segment.rename(segment.with_suffix(".spool"))
    sorted(root.glob("samples/*/*/*.parquet"))[0].unlink()  # roll-ups and windows stay
    _import(root)
    runs.write(root, benchmark("whole"), NOW)
    runs.append_part(root, "flight", 0, benchmark("flight"))
    answers(root, KINDS["judged"].questions)  # keeps days and found events
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))  # nobody writes them any more


def _sealed_as_closed(root: Path) -> None:
    for path in root.glob("spool/*/*.spool"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    seal(root)


def _import(root: Path) -> None:
    rng = np.random.default_rng(5)
    times = FIRST + np.arange(400, dtype=np.int64) * 5 * SECOND
    block = MetricBlock(
        source="lmt",
        system="fs1",
        level="ost",
        metric="read_bytes",
        unit="bytes",
        kind="delta",
        components=("OST0000", "OST0001"),
        time_ns=times,
        step_ns=np.full(len(times), 5 * SECOND, dtype=np.int64),
        value=rng.random((len(times), 2)) * 1e6,
    )
    series.put_block(root, block)
    edges = [Edge("lfs", "fs1", FIRST, "ost", f"OST{i:04}", f"oss{i % 4}") for i in range(40)]
    series.write_edges(root, edges)
    about = About("bytes/s", "write rate", "high", "performance", "")
    write_described(root, [Described("sacct", "performance_bytes_per_s", 0, about)])
    made = [
        Job(
            source="sacct",
            job_id=str(1000 + i),
            user=f"user{i % 5}",
            name="ior",
            start_ns=FIRST + i * 60 * SECOND,
            end_ns=FIRST + (i * 60 + 50) * SECOND,
            scalars={
                "performance_bytes_per_s": Scalar(1e9 * float(rng.random()), "bytes/s", "log")
            },
        )
        for i in range(200)
    ]
    jobs.write_jobs(root, made)


class Answer(NamedTuple):
    """What a question printed, and how it ended; a traceback in ``broke``."""

    out: str
    err: str
    code: int
    broke: str


def answers(root: Path, questions: Sequence[Sequence[str]]) -> list[Answer]:
    """What each question gets."""
    return [_answer(root, question) for question in questions]


def _answer(root: Path, question: Sequence[str]) -> Answer:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    code, broke = 0, ""
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        try:
            if question[0] == "block":
                name = series.SeriesName("lmt", "fs1", "ost", "read_bytes")
                door.Notes().listen()
                print(series.read_block(root, name, FIRST, NOW))
            elif question[0] == "edges":
                door.Notes().listen()
                print(series.read_edges(root, "ost", FIRST, NOW))
            else:
                code = door.main([*question, "--store", str(root)])
        except BaseException:
            broke = traceback.format_exc()
    for stream in (out, err):
        stream.flush()
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return Answer(*said, code, broke)


Mutation = Callable[[bytes, random.Random], bytes]


def flipped(data: bytes, dice: random.Random) -> bytes:
    """One to four bits are others."""
    found = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def cut(data: bytes, dice: random.Random) -> bytes:
    """The end is missing."""
    return data[: dice.randrange(len(data))]


def swapped(data: bytes, dice: random.Random) -> bytes:
    """Two parts have changed places."""
    size = max(1, min(512, len(data) // 4))
    first, second = sorted(dice.sample(range(max(2, len(data) // size)), 2))
    a, b = first * size, second * size
    return (
        data[:a] + data[b : b + size] + data[a + size : b] + data[a : a + size] + data[b + size :]
    )


def zeroed(data: bytes, dice: random.Random) -> bytes:
    """A page, or a part of one, is zeros."""
    size = min(4096, max(1, len(data) // 2))
    at = dice.randrange(0, max(1, len(data) - size + 1))
    return data[:at] + bytes(size) + data[at + size :]


def doubled(data: bytes, dice: random.Random) -> bytes:
    """A part is there twice."""
    size = dice.randint(1, max(1, len(data) // 3))
    at = dice.randrange(0, max(1, len(data) - size + 1))
    return data[: at + size] + data[at : at + size] + data[at + size :]


def emptied(_: bytes, __: random.Random) -> bytes:
    """Nothing is left."""
    return b""


def text(_: bytes, dice: random.Random) -> bytes:
    """Something else has its name."""
    return f"this is no such file {dice.random()}\n".encode() * 20


MUTATIONS: tuple[Mutation, ...] = (flipped, flipped, cut, swapped, zeroed, doubled, emptied, text)


class Damage(NamedTuple):
    """One violation."""

    kind: str
    path: str
    how: str
    what: str


def run(files: int, seed: int, tell: Callable[[str], None] = print) -> list[Damage]:
    """Damage so many files, print the table; violations."""
    dice = random.Random(seed)
    tried, named, equal, unseen = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    violations: list[Damage] = []
    with tempfile.TemporaryDirectory() as folder, _in_this_process():
        root = Path(folder) / "whole"
        build(root)
        right = _right(root, Path(folder) / "asked")
        names = [name for name, kind in KINDS.items() if list(root.glob(kind.pattern))]
        missing = KINDS.keys() - set(names)
        assert not missing, f"the store has no {missing}"
        for number in range(files):
            name = names[number % len(names)]
            store = Path(folder) / "asked"
            shutil.copytree(root, store)
            path = dice.choice(sorted(store.glob(KINDS[name].pattern)))
            how = _damage(path, dice, store)
            got = answers(store, KINDS[name].questions)
            verdict, what = _judged(path, got, right[name])
            tried[name] += 1
            if verdict == "unseen" and name not in UNSIGNED and not _as_killed(name, how, path):
                verdict = "violation"
            counts = {"equal": equal, "named": named, "unseen": unseen}.get(verdict)
            if counts is None:
                violations.append(Damage(name, str(path.relative_to(store)), how, what))
            else:
                counts[name] += 1
            shutil.rmtree(store)
    tell(
        f"{'kind':<10}{'tried':>7}{'named':>7}{'equal':>7}{'unseen':>8}{'violations':>12}{'seed':>7}"
    )
    for name in names:
        bad = sum(one.kind == name for one in violations)
        tell(
            f"{name:<10}{tried[name]:>7}{named[name]:>7}{equal[name]:>7}{unseen[name]:>8}{bad:>12}{seed:>7}"
        )
    for one in violations:
        tell(f"{one.kind} {one.path} {one.how}: {one.what}")
    return violations


@contextmanager
def _in_this_process() -> Iterator[None]:
    """Commands with a time limit answer here, at a fixed time."""
    before = options.now_ns, in_time.in_time
    options.now_ns = lambda: NOW
    in_time.in_time = lambda work, _seconds, _late: work()
    try:
        yield
    finally:
        options.now_ns, in_time.in_time = before


def _as_killed(name: str, how: str, path: Path) -> bool:
    """Whether a segment was cut between two frames: a kill of the agent leaves just that."""
    if (name, how) != ("spool", "cut"):
        return False
    segment = spool.read(path)
    return segment is not None and segment.torn is None


def _right(root: Path, store: Path) -> dict[str, list[Answer]]:
    """What the untouched store answers, from where damaged ones will lie."""
    found = {}
    for name, kind in KINDS.items():
        shutil.copytree(root, store)
        found[name] = answers(store, kind.questions)
        for one in found[name]:
            assert not one.broke, (name, one.broke)
            assert "warning" not in one.err, (name, one.err)
        shutil.rmtree(store)
    return found


def _damage(path: Path, dice: random.Random, store: Path) -> str:
    """Mutate a file; how."""
    data = path.read_bytes()
    pick = dice.randrange(len(MUTATIONS) + 2)
    if pick == len(MUTATIONS):
        path.unlink()
        path.mkdir()
        return "folder"
    if pick == len(MUTATIONS) + 1:
        others = sorted(
            p for p in store.rglob(f"*{path.suffix}") if p.parts[-4:-1] != path.parts[-4:-1]
        )
        others = [
            p for p in others if p.relative_to(store).parts[0] != path.relative_to(store).parts[0]
        ]
        if others:
            path.write_bytes(dice.choice(others).read_bytes())
            return "another table's"
    mutation = MUTATIONS[pick % len(MUTATIONS)]
    path.write_bytes(mutation(data, dice))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return mutation.__name__


def _judged(path: Path, got: Sequence[Answer], right: Sequence[Answer]) -> tuple[str, str]:
    """``equal``, ``named``, ``unseen`` or ``violation``, with what is wrong."""
    broke = next((one.broke for one in got if one.broke), "")
    if broke:
        return "violation", broke
    verdicts = []
    what = ""
    for one, whole in zip(got, right, strict=True):
        if path.name in one.err or path.name in one.out:
            verdicts.append("named")
        elif one.out == whole.out and one.code == whole.code:
            verdicts.append("equal")
        else:
            verdicts.append("unseen")
            what = f"not named, and {_first_difference(one, whole)}"
    worst = next(v for v in ("unseen", "named", "equal") if v in verdicts)
    return worst, what


def _first_difference(one: Answer, whole: Answer) -> str:
    if one.code != whole.code:
        return f"the code is {one.code}, was {whole.code}: {one.err[-300:]}"
    lines = itertools.zip_longest(one.out.splitlines(), whole.out.splitlines())
    found, right = next(pair for pair in lines if pair[0] != pair[1])
    return f"a line is {str(found)[:200]!r}, was {str(right)[:200]!r}"


def main() -> int:
    """The table; 1 on a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    return 1 if run(args.files, args.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
