"""Slurm's ``sacct --json`` (plugins dbv0.0.36 to 0.0.42), and pytokio's cache of job steps.

``{"jobs": [{"job_id": 1, "time": {"start": 1795259964, ...}, "steps": [...]}, ...], ...}``: epoch seconds; later
versions write numbers as ``{"set": true, "infinite": false, "number": 5}`` and states as lists. The cache is
``{"4711.0": {"jobidraw": ..., "start": "2017-03-20T02:00:10", "end": ..., "nodelist": [...]}, ...}`` with naive
times. Jobs are read one after the other: memory holds one, of at most ``MOST_CHARACTERS``.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from iosonde.connectors.compressed import BROKEN, UNREADABLE, opened, packing_of
from iosonde.connectors.lines import shown
from iosonde.connectors.scheduler.job_fields import Fields, split_id
from iosonde.connectors.scheduler.node_list import MOST_NODES, expand
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.connectors.wall_times import WallTimes
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job

KIND = "sacct JSON"
MOST_CHARACTERS = 64 << 20
_PIECE = 1 << 18
_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_CACHE = re.compile(r'\s*\{\s*"[0-9_]+(?:\.\w+)?"\s*:\s*\{\s*"(?:jobidraw|start|end|nodelist)"\s*:')
_BLANK = re.compile(r"[ \t\r\n]*")
_LOOKED = 4 << 20
"""Characters within which the list of jobs must start."""


def recognises(head: Head) -> bool:
    """True for JSON with a list of Slurm jobs, or with the cache's first entry."""
    text = head.text
    if not text.lstrip().startswith("{"):
        return False
    if _CACHE.match(text):
        return True
    slurm = '"job_id"' in text and '"time"' in text and '"state"' in text
    empty = re.search(r'"jobs"\s*:\s*\[\s*\]', text) is not None and "lurm" in text
    return _JOBS.search(text) is not None and (slurm or empty)


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield a Job per job and step. Raises InputFileError (unreadable; truncated or malformed JSON)."""
    clock = WallTimes(settings.zone)
    number = 0
    for number, entry in enumerate(_entries(path), start=1):
        try:
            yield from _jobs(entry, settings.system, clock)
        except (ValueError, RecursionError) as error:
            what = f"{path}, job {number}: {error}"
            warn(InputFileError(what, expected="a job as sacct --json writes it"))


def _jobs(entry: Any, system: str, clock: WallTimes) -> Iterator[Job]:
    if not isinstance(entry, dict):
        raise ValueError(f"it is {shown(str(entry)[:40])}")
    if "jobidraw" in entry:
        yield _cached(entry, system, clock)
        return
    row = _row(entry, str(_number(entry.get("job_id")) or ""))
    row["ExitCode"] = _exit(entry.get("exit_code"))
    row["Cluster"] = _text(entry.get("cluster"))
    row["JobID"] = _written(entry)
    fields = Fields("sacct", row, clock)
    job = fields.job(system, _nodes(entry.get("nodes")))
    yield job
    steps = entry.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            yield _step(step, job, clock)


def _step(entry: dict[str, Any], job: Job, clock: WallTimes) -> Job:
    about = entry.get("step")
    about = about if isinstance(about, dict) else {}
    name = about.get("id")
    if isinstance(name, dict):
        name = f"{job.job_id}.{_text(name.get('step_id')) or _number(name.get('step_id'))}"
    row = _row(entry, job.job_id)
    # Names of steps: 1.batch; in some versions without the job's id before it.
    text = _text(name)
    row["JobIDRaw"] = text if "." in text else f"{job.job_id}.{text or '?'}"
    row |= {"User": job.user, "Account": job.account, "Cluster": job.system}
    row["JobName"] = _text(about.get("name"))
    row["ExitCode"] = _exit(entry.get("exit_code"))
    tasks = entry.get("tasks")
    row["NTasks"] = str(_number(tasks.get("count")) or "") if isinstance(tasks, dict) else ""
    row["JobID"] = job.shown_id
    return Fields("sacct", row, clock).job(job.system, _nodes(entry.get("nodes")))


def _row(entry: dict[str, Any], job_id: str) -> dict[str, str]:
    """Fields that jobs and steps share."""
    times = entry.get("time")
    times = times if isinstance(times, dict) else {}
    states = entry.get("state")
    current = states.get("current") if isinstance(states, dict) else states
    if isinstance(current, list):
        current = current[0] if current else ""
    return {
        "JobIDRaw": job_id,
        "User": _text(entry.get("user")),
        "Account": _text(entry.get("account")),
        "JobName": _text(entry.get("name")),
        "State": _text(current),
        "Start": str(_number(times.get("start")) or ""),
        "End": str(_number(times.get("end")) or ""),
        "NNodes": str(_number(entry.get("allocation_nodes")) or ""),
    }


def _written(entry: dict[str, Any]) -> str:
    """Id of a task or component as users write it; "" for other jobs."""
    array, het = (one if isinstance(one, dict) else {} for one in map(entry.get, ("array", "het")))
    whole, task = _number(array.get("job_id")), _number(array.get("task_id"))
    if whole and (task is not None or array.get("task")):
        return f"{whole}_{task}" if task is not None else f"{whole}_[{_text(array.get('task'))}]"
    whole, offset = _number(het.get("job_id")), _number(het.get("job_offset"))
    return f"{whole}+{offset}" if whole and offset is not None else ""


def _cached(entry: dict[str, Any], system: str, clock: WallTimes) -> Job:
    listed = entry.get("nodelist")
    if isinstance(listed, list):
        names = [_text(name) for name in listed[: MOST_NODES + 1]]
        nodes = tuple(dict.fromkeys(sorted(name for name in names if name)))
    else:
        nodes = expand(_text(listed))
    row = {"JobIDRaw": _text(entry.get("jobidraw"))}
    split_id(row["JobIDRaw"])
    for theirs, ours in (("start", "Start"), ("end", "End"), ("state", "State"), ("user", "User")):
        row[ours] = _text(entry.get(theirs))
    return Fields("sacct", row, clock).job(system, nodes)


def _nodes(value: Any) -> tuple[str, ...]:
    """Nodes of a host list, or of a step's ``{"range": ..., "list": [...]}``."""
    if isinstance(value, dict):
        listed = value.get("list")
        if isinstance(listed, list) and listed:
            return tuple(dict.fromkeys(_text(name) for name in listed[:MOST_NODES]))
        value = value.get("range")
    return expand(_text(value))


def _number(value: Any) -> int | None:
    """An integer; None if unset, infinite, negative or malformed."""
    if isinstance(value, dict):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        return None
    return value


def _exit(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    signal = value.get("signal")
    number = (
        _number(signal.get("id") or signal.get("signal_id")) if isinstance(signal, dict) else None
    )
    code = _number(value.get("return_code"))
    if code is None:  # ended by a signal: newer versions have no return code then
        return f":{number}" if number else ""
    return f"{code}:{number or 0}"


def _text(value: Any) -> str:
    return value[:1000] if isinstance(value, str) else ""


def _entries(path: Path) -> Iterator[Any]:
    """Yield jobs, or values of the cache. Raises InputFileError."""
    try:
        with opened(path) as file:
            yield from _Json(path, file).entries()
    except BROKEN as error:
        what = f"{path}: the {packing_of(path)} data end or break ({error})"
        raise InputFileError(what, expected="a whole file") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputFileError(f"cannot read {path}: {reason}", expected="a readable file") from error


class _Json:
    """Incremental reader of JSON text, with one entry at a time in memory."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._error: Exception | None = None
        self._text, self._place, self._read = "", 0, 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._json = json.JSONDecoder(parse_constant=lambda _: None)

    def entries(self) -> Iterator[Any]:
        while self._more() and len(self._text) < _LOOKED:
            if match := _JOBS.search(self._text):
                self._place = match.end()
                yield from self._list("]")
                return
            if len(self._text) <= _PIECE * 2 and _CACHE.match(self._text):
                self._place = self._text.index("{") + 1
                yield from self._list("}")
                return
        raise self._broken("no list of jobs")

    def _list(self, close: str) -> Iterator[Any]:
        while True:
            letter = self._next()
            if letter == close:
                return
            if close == "}":
                if not isinstance(self._value(), str) or self._next() != ":":
                    raise self._broken("an entry has no name")
                self._place += 1
                self._next()
            yield self._value()
            letter = self._next()
            if letter == ",":
                self._place += 1
            elif letter != close:
                raise self._broken(f"{shown(letter)} behind an entry")

    def _next(self) -> str:
        """Peek at the next character that is no space."""
        while True:
            blank = _BLANK.match(self._text, self._place)
            self._place = self._place if blank is None else blank.end()
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                raise self._broken("the JSON ends within the list of jobs")

    def _value(self) -> Any:
        """Parse the next value, reading as many pieces as needed."""
        wanted = 1
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._place)
            except RecursionError as error:
                raise self._broken("values are nested too deep") from error
            except ValueError as error:
                if len(self._text) - self._place > MOST_CHARACTERS:
                    raise self._broken(
                        f"an entry has more than {MOST_CHARACTERS} characters"
                    ) from error
                # Twice as much each time: an entry is not parsed anew for every piece.
                if not sum(self._more() for _ in range(wanted)):
                    raise self._broken(str(error)) from error
                wanted *= 2
                continue
            if end == len(self._text) and self._more():
                continue  # a number might go on
            self._place = end
            return value

    def _more(self) -> bool:
        piece = self._piece()
        if not piece:
            return False
        self._read += len(piece)
        self._text = self._text[self._place :] + self._decode(piece)
        self._place = 0
        return True

    def _piece(self) -> bytes:
        """Read up to ``_PIECE`` bytes; for damaged packed data, first the part before the damage."""
        if self._error is not None:
            raise self._error
        parts: list[bytes] = []
        size = 0
        while size < _PIECE:
            try:
                part = self._file.read1(  # type: ignore[attr-defined]
                    _PIECE - size
                )
            except UNREADABLE as error:
                if not parts:
                    raise
                self._error = error
                break
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _broken(self, what: str) -> InputFileError:
        place = f"{self._path}, near byte {self._read - len(self._text) + self._place}"
        return InputFileError(f"{place}: {what}", expected="JSON as sacct --json writes it")
