"""A folder of logs: order, links, what is no log, and logs that end their reader."""

from __future__ import annotations

import math
import os
import random
import signal
from pathlib import Path

import pytest

from iosonde.connectors.darshan.log import read
from iosonde.connectors.darshan.reader import Reader
from iosonde.connectors.darshan.tree import index
from iosonde.connectors.source import Settings
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from tests.connectors.darshan.test_darshan_log import mutated
from tests.kit.records.darshan_made import MIB, Made, log_bytes, moved, recorded, write_log


def one(name: str) -> Made:
    return Made((moved("POSIX", f"/work/{name}", 0, read=MIB),), exe=name)


def indexed(folder: Path, **more: int) -> tuple[list[Job], list[str]]:
    told: list[InputFileError] = []
    jobs = list(index(folder, Settings(), told.append, **more))
    return jobs, [str(error) for error in told]


def test_a_tree_in_order_of_paths(tmp_path: Path) -> None:
    for number in range(23):
        folder = tmp_path / f"{number % 3}"
        folder.mkdir(exist_ok=True)
        write_log(folder / f"{number:02}.log", one(f"app{number}"))
    seen: list[tuple[int, int]] = []
    settings = Settings(system="here", progress=lambda done, total: seen.append((done, total)))
    jobs = list(index(tmp_path, settings, pytest.fail, processes=3))
    assert [job.app for job in jobs] == [f"app{n}" for k in range(3) for n in range(k, 23, 3)]
    assert {job.system for job in jobs} == {"here"}
    assert seen == [(done, 23) for done in range(1, 24)]


def test_what_is_no_log(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        write_log(folder / f"{folder.name}.darshan", one(folder.name))
    (inside / "away").symlink_to(outside)
    (inside / "away.darshan").symlink_to(outside / "outside.darshan")
    (inside / "round").symlink_to(inside)
    (inside / "notes.txt").write_text("nothing")
    (inside / "bad.darshan").write_text("nothing")
    os.mkfifo(inside / "pipe")
    jobs, told = indexed(inside)
    assert [job.app for job in jobs] == ["inside"]
    assert len(told) == 1
    assert "bad.darshan: no Darshan log" in told[0]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot read"):
        indexed(tmp_path / "missing")


def test_damaged_logs_are_told_of_and_the_others_read(tmp_path: Path) -> None:
    """A few hundred of them; half end pydarshan's own process. What is read is what was written."""
    whole = [log_bytes(one(f"app{n}")) for n in range(5)]
    whole += [path.read_bytes() for path in recorded()]
    rng = random.Random(7)
    for number in range(240):
        name = f"{number:03}.darshan"
        data = whole[number % len(whole)]
        (tmp_path / name).write_bytes(data if number % 4 == 0 else mutated(data, rng))
    jobs, told = indexed(tmp_path)
    assert len(jobs) + len(told) == 240
    assert len(jobs) >= 60
    assert len(told) >= 100
    assert all(".darshan" in text and "expected" in text for text in told)
    for job in jobs:
        for scalar in job.scalars.values():
            assert scalar.value is None or math.isfinite(scalar.value)


def test_a_reader_that_is_killed(tmp_path: Path) -> None:
    """The log it died of is told of; what it had not answered goes to a new one."""
    paths = [write_log(tmp_path / f"{n}", one(f"app{n}")) for n in range(4)]
    with Reader() as reader:
        reader.send(paths[0])
        assert isinstance(reader.receive()[1], dict)
        os.kill(reader._process.pid, signal.SIGSTOP)
        for path in paths[1:]:
            reader.send(path)
        children = Path(f"/proc/{reader._process.pid}/task/{reader._process.pid}/children")
        inner = [int(word) for word in children.read_text().split()]
        for process in (*inner, reader._process.pid):
            os.kill(process, signal.SIGSTOP)
        for process in (*inner, reader._process.pid):
            os.kill(process, signal.SIGKILL)
        answers = []
        while reader.waiting:
            answers.append(reader.receive())
    assert [path for path, _ in answers] == paths[1:]
    bad = [path for path, answer in answers if isinstance(answer, InputFileError)]
    assert len(bad) <= 1


def test_one_log_ends_as_the_tree_does(tmp_path: Path) -> None:
    path = write_log(tmp_path / "a", one("app"))
    (alone,) = read(path, Settings(), pytest.fail)
    (found,), told = indexed(tmp_path)
    assert alone == found
    assert not told
