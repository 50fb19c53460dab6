"""Worker process that reads Darshan logs, so that a crash ends only the worker.

``python -m iosonde.connectors.darshan.worker``: requests on standard input, one answer each on standard output,
as JSON with its length before it. The library is loaded once; a fork of this process reads logs until one of
them is damaged or ends it, and the next fork goes on: a few milliseconds. Damaged logs leave the library's
state behind, so a fork that has met one is not used again.
"""

from __future__ import annotations

import os
import resource
import signal
import tempfile
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from iosonde.connectors.darshan.frames import read_frame, write_frame
from iosonde.model.errors import InputFileError, IosondeError, MissingPartError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from iosonde.connectors.darshan.raw import RawLog
    from iosonde.connectors.source import Settings
    from iosonde.model.jobs import Job

SOURCE = "darshan"
LONGEST_S = 120
"""Time limit of one log."""
_MOST_MEMORY = 6 << 30
_AGAIN, _MOST_TEXT = 17, 4096
_FIELDS = (
    *("job_id", "step", "user", "app", "api", "mode", "direction", "file_system"),
    *("ranks", "start_ns", "end_ns"),
)


def main() -> None:
    """Serve requests until standard input ends."""
    answers = os.dup(1)
    said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
    os.dup2(said.fileno(), 2)
    os.dup2(said.fileno(), 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = _MOST_MEMORY if most == resource.RLIM_INFINITY else min(_MOST_MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    try:
        from iosonde.connectors.darshan.library import library

        library()
        # Here, so that every fork has them.
        import iosonde.connectors.darshan.job
        import iosonde.connectors.darshan.raw  # noqa: F401
    except MissingPartError as error:
        if read_frame(0) is not None:
            write_frame(answers, {"missing": str(error)})
        return
    while True:
        child = os.fork()
        if child == 0:
            _serve(answers, said)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return
        if code != _AGAIN:
            write_frame(answers, {"died": _death(code), "said": _said(said)})


def _serve(answers: int, said: IO[bytes]) -> None:
    """Read logs until the first bad one. Never returns."""
    code = 0
    try:
        while (request := read_frame(0)) is not None:
            signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
            answer = answer_to(request)
            signal.setitimer(signal.ITIMER_REAL, 0)
            words = _said(said)
            if "bad" not in answer and "Error" in words:
                # It went on, with something that it could not read left out.
                answer = {"bad": f"{request['path']}: only a part of it can be read"}
            if "bad" in answer:
                write_frame(answers, {**answer, "said": words})
                code = _AGAIN
                break
            write_frame(answers, answer)
    except BaseException:
        code = 1
    os._exit(code)


def answer_to(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request about a log: ``job``, ``osts`` or ``transfers``; or an error."""
    from iosonde.connectors.darshan.on_lustre import timed_files
    from iosonde.connectors.darshan.raw import opened

    try:
        with opened(str(request["path"])) as log:
            match request.get("ask"):
                case "osts":
                    return {"osts": log.osts()}
                case "transfers":
                    return timed_files(log)
                case _:
                    return _job(log)
    except IosondeError as error:
        return {"bad": error.what, "expected": error.expected}
    except MemoryError:
        return {"bad": f"{request['path']}: it needs more than {_MOST_MEMORY >> 30} GiB"}


def _job(log: RawLog) -> dict[str, Any]:
    from iosonde.connectors.darshan.counts import ModuleCounts
    from iosonde.connectors.darshan.job import job_of
    from iosonde.connectors.darshan.records import MODULES

    tallies = {}
    for module in MODULES:
        if module in log.modules:
            tally = ModuleCounts(module, log.run.ranks, module in log.run.partial)
            for records in log.records(module):
                tally.add(records)
            tallies[module] = tally
    impossible = sum(tally.impossible for tally in tallies.values())
    if impossible:
        raise InputFileError(
            f"{log.path}: {impossible} records of ranks that the job does not have",
            expected=f"ranks 0 to {log.run.ranks - 1}",
        )
    return as_data(job_of(log.run, tallies, _mounts(log), SOURCE))


def _mounts(log: RawLog) -> Callable[[NDArray[np.uint64]], list[str]]:
    points: dict[bytes, str] = {}
    for path, kind in log.mounts:
        # An automounter's entry hides behind what it has mounted.
        if kind != b"autofs" or path not in points:
            points[path.rstrip(b"/")] = path.decode("utf-8", "replace")
    known: dict[bytes, str] = {}

    def of_folder(folder: bytes) -> str:
        while folder and folder not in points:
            folder = folder.rpartition(b"/")[0]
        return points.get(folder, "")

    def mount_of(ids: NDArray[np.uint64]) -> list[str]:
        found = []
        for number in ids.tolist():
            folder = log.names.get(number, b"").rpartition(b"/")[0]
            if folder not in known:
                known[folder] = of_folder(folder)
            found.append(known[folder] if log.names.get(number, b"")[:1] == b"/" else "")
        return found

    return mount_of


def as_data(job: Job) -> dict[str, Any]:
    """A Job of a log as JSON-compatible values."""
    scalars = {
        name: [s.value, s.unit, s.n, s.missing, list(s.flags)] for name, s in job.scalars.items()
    }
    return {"job": [getattr(job, name) for name in _FIELDS], "scalars": scalars}


def job_from(data: Mapping[str, Any]) -> Job:
    """Inverse of ``as_data``."""
    from iosonde.model.jobs import Job, Scalar

    scalars = {
        name: Scalar(value, unit, SOURCE, n, missing, None, tuple(flags))
        for name, (value, unit, n, missing, flags) in data["scalars"].items()
    }
    return Job(source=SOURCE, scalars=scalars, **dict(zip(_FIELDS, data["job"], strict=True)))


def finished(job: Job, settings: Settings) -> Job:
    """The Job completed by values that only the caller knows."""
    from dataclasses import replace

    return replace(job, system=settings.system) if settings.system else job


def _said(said: IO[bytes]) -> str:
    """Output of the library since the last call."""
    if not os.fstat(said.fileno()).st_size:
        return ""
    text = os.pread(said.fileno(), _MOST_TEXT, 0).decode("utf-8", "replace")
    os.ftruncate(said.fileno(), 0)
    os.lseek(said.fileno(), 0, os.SEEK_SET)
    return text


def _death(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


if __name__ == "__main__":
    main()
