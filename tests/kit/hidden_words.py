"""A store filled by imports of real logs and records, the words in it that name somebody, and how to look for them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import system
from benchmarks.truth.why.incidents import Incident, incident
from iosonde.bench.locate.stored import stored_logs
from iosonde.jobs.store.jobs import read_jobs, write_jobs
from iosonde.model.jobs import Job, Scalar
from iosonde.why.links import Kind
from tests.kit.commands import run
from tests.kit.records import darshan_made
from tests.kit.records.darshan_made import MIB, Made, moved
from tests.kit.runs.stored_run import put_run
from tests.kit.samples.latencies import DATA

RECORDS = (
    "umami/slurm/edison_4478544_sacct.json",
    "clients/slurm/sacct.txt",
    "clients/slurm/sacct_all.txt",
    "nfs/sacct_P_X.txt",
    "nfs/sacct_P_steps_D.txt",
    "nfs/sacct_json_v0.0.38.json",
)
USER, ACCOUNT, PROGRAM, OF_LOG = "mallorysecret", "projectsecret", "zephyrsecret", "quasarsecret"
_NUMBER = re.compile(r"[\d._+\[\],%-]*")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_SHOWN = re.compile(rb"\(((?:\\.|[^\\()])*)\)")


@dataclass(frozen=True)
class Filled:
    """A store and its incident. ``words``: those that name somebody; ``of_user``: a job's id that names its user."""

    root: Path
    made: Incident
    words: frozenset[str]
    of_user: str


def fill(folder: Path) -> Filled:
    """An incident with a culprit, every real log and record, and small ones whose words nothing else has."""
    made = incident(Kind.ONE_JOB, 11, folder)
    root = made.root
    records = [DATA / name for name in RECORDS]
    real = [*darshan_made.recorded(), *(path for path in records if path.exists())]
    assert run("import", "--zone", "UTC", *map(str, [*real, _log(folder)]), store=root) == 0
    write_jobs(root, list(_jobs(made)))
    machine = system(18)
    put_run(root, machine, with_ost(healthy(machine), np.array([3]), 0.5), run_id="slow-ost")
    put_run(root, machine, healthy(machine), run_id="healthy")
    return Filled(root, made, frozenset(_words(root)), f"tab.{USER}.1")


def _log(folder: Path) -> Path:
    """A log of a file on four OSTs."""
    file = f"/work/{OF_LOG}/out"
    each = [moved("POSIX", file, rank, written=64 * MIB) for rank in range(4)]
    made = Made(tuple(each), exe=f"/opt/bin/{OF_LOG} -x", osts={file: (1, 2, 3, 4)})
    return darshan_made.write_log(folder / f"{OF_LOG}.darshan", made)


def _jobs(made: Incident) -> Iterator[Job]:
    """Sixty runs of one program in the days before the end of the incident; one id names its user, one its program."""
    for number in range(60):
        begin = made.now_ns - (60 - number) * 3600 * 10**9
        rate = 1e9 if number < 40 else 4e8
        yield Job(
            source="tab",
            job_id=f"tab.{USER}.{number}" if number % 2 else f"{90_000 + number // 4}",
            step=f"{PROGRAM}-{number:08x}",
            user=USER,
            account=ACCOUNT,
            name=PROGRAM,
            app=PROGRAM,
            mode="shared",
            direction="write",
            file_system=f"/home/{USER}",
            state=f"CANCELLED by {USER}" if number % 3 else "COMPLETED",
            start_ns=begin,
            end_ns=begin + 600 * 10**9,
            scalars={
                "performance_bytes_per_s": Scalar(rate * (1 + number % 7 / 70), "bytes/s", "tab"),
                "own_bytes": Scalar(6e11, "bytes", "tab"),
            },
        )


def _words(root: Path) -> Iterator[str]:
    """Users, accounts, programs, steps and ids that are no number, runs of logs."""
    for job in read_jobs(root, scalars=False):
        yield from (
            word
            for word in (job.user, job.account, job.name, job.app, job.step, job.job_id)
            if len(word) > 2 and not _NUMBER.fullmatch(word)
        )
    yield from stored_logs(root)


def texts(body: bytes) -> Iterator[str]:
    """All text in an answer: of a picture what stands beside its pixels, of a PDF also what it draws."""
    if body.startswith(b"\x89PNG"):
        yield from (data.decode("latin-1") for data in _beside_pixels(body))
    elif body.startswith(b"%PDF"):
        yield _STREAM.sub(b"", body).decode("latin-1")
        for plain in map(_unpacked, _STREAM.findall(body)):
            yield plain.decode("latin-1")
            yield b"".join(_SHOWN.findall(plain)).decode("latin-1")  # kerning parts words
    else:
        yield body.decode("utf-8", "replace")


def _beside_pixels(body: bytes) -> Iterator[bytes]:
    """Every chunk of a PNG but its pixels, as it is and unpacked."""
    at = 8
    while at + 8 <= len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        kind, data = body[at + 4 : at + 8], body[at + 8 : at + 8 + size]
        at += 12 + size
        if kind != b"IDAT":
            yield kind + data
            yield _unpacked(data[data.find(b"\x78") :])


def _unpacked(data: bytes) -> bytes:
    """What zlib packed; nothing for other bytes."""
    try:
        return zlib.decompressobj().decompress(data)
    except zlib.error:
        return b""


def found_in(told: Iterable[str], words: Iterable[str]) -> set[str]:
    """Words that stand in texts, not as a part of a longer word."""
    every = "\n".join(told)
    return {
        word
        for word in words
        if word in every and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", every)
    }
