"""Ranks as processes of an MPI job: the same as threads, and one of them may die."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.kit.commands import run
from tests.kit.runs.driven import (
    SMALL,
    bench,
    by_op,
    command,
    counts,
    ended,
    left_in,
    rows_of,
    started,
    until,
    wait_for,
)

pytestmark = pytest.mark.service

MPIRUN = Path(sys.executable).with_name("mpirun")


def mpirun(processes, *words):
    assert MPIRUN.exists(), (
        f"{MPIRUN}: not found; expected the wheel of mpich: try pip install mpich"
    )
    return started(arguments=[str(MPIRUN), "-n", str(processes), *command(*words)])


@pytest.mark.parametrize(
    "words",
    [
        ("-D", 2, "-P", 12, "-I", 4, "-R", 2, "-O", 3),
        ("-D", 2, "-P", 12, "-I", 4, "-R", 1, "--one-by-one", "--read-only"),
        ("--pattern", "bulk", "--shared", "-D", 1, "-P", 12),
    ],
    ids=["cycle", "one by one", "bulk"],
)
def test_processes_and_threads_count_the_same(place, tmp_path, words):
    assert bench(place, "-n", 4, *words, store=tmp_path / "threads") == 0
    with mpirun(4, place, *words, "--store", tmp_path / "processes") as job:
        code, out, err = ended(job)
    assert code == 0, err
    threads, processes = rows_of(tmp_path / "threads"), rows_of(tmp_path / "processes")
    assert counts(processes) == counts(threads)
    assert counts(processes, ranks=True) == counts(threads, ranks=True)
    assert {row.ranks for row in processes} == {4}
    assert len({row.run_id for row in processes}) == 1
    assert sum(row.failed for row in processes) == 0
    assert out.count("measured by iosonde") == 1
    assert left_in(place) == []


def test_threads_in_processes(place, store):
    with mpirun(2, place, *SMALL, "-n", 2, "--verify", "--store", store) as job:
        code, _, err = ended(job)
    assert code == 0, err
    assert by_op(rows_of(store), "precreate") == {"md_create": 4 * 40}
    assert {key[3] for key in counts(rows_of(store), ranks=True)} == {0, 1, 2, 3}
    assert left_in(place) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--frobnicate",), 2, "unrecognized arguments"),
        (("-P", 10, "-I", 20), 2, "a reader could overtake its writer"),
        (("--phases", "benchmark"), 2, "there is no kept tree"),
        (("--direct", "-S", "1000"), 2, "O_DIRECT"),
        (("--store", "/proc/none"), 1, "cannot write in the store"),
    ],
)
def test_what_is_wrong_is_said_once(place, words, code, said):
    store = () if "--store" in words else ("--no-store",)
    with mpirun(3, place, *words, *store) as job:
        found, out, err = ended(job)
    assert (found, out) == (code, "")
    (line,) = [line for line in err.splitlines() if line.strip()]
    assert line.startswith("iosonde: ")
    assert said in line
    assert left_in(place) == []


def children(pid):
    """The processes below one, the deepest last."""
    found = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return found + [each for child in found for each in children(child)]


def test_a_killed_rank_leaves_a_readable_result(place, store, capsys):
    words = ("-D", 1, "-P", 60, "-I", 50, "-R", 2, "--fault", "stat:+50ms", "--store", store)
    with mpirun(4, place, *words) as job:
        until(job, '"benchmark"')
        wait_for(lambda: {r.rank for r in rows_of(store) if r.phase == "benchmark"} >= {0, 1, 2, 3})
        os.kill(children(job.pid)[-1], signal.SIGKILL)
        code, _, _ = ended(job)
    assert code != 0
    rows = rows_of(store)
    assert not any(row.complete for row in rows)
    assert by_op(rows, "precreate") == {"md_create": 240}
    each = counts(rows, ranks=True)
    assert [each["precreate", 0, "md_create", rank] for rank in range(4)] == [60] * 4
    capsys.readouterr()
    assert run("runs", store=store) == 0
    assert "cut" in capsys.readouterr().out
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


def test_a_job_ends_cleanly_when_its_ranks_are_asked_to(place, store):
    """As a batch system does: a signal to every process."""
    words = ("-D", 1, "-P", 60, "-I", 50, "-R", 2, "--fault", "stat:+50ms", "--store", store)
    with mpirun(3, place, *words) as job:
        until(job, '"benchmark"')
        ranks = [pid for pid in children(job.pid) if b"iosonde" in _words(pid)]
        assert len(ranks) == 3
        for pid in ranks:
            os.kill(pid, signal.SIGTERM)
        code, out, err = ended(job)
    assert code == 130, err
    assert "not complete" in out
    assert by_op(rows_of(store), "cleanup") == {"md_delete": 180}
    assert left_in(place) == []


def _words(pid):
    """The command line of a process; that of the launcher's own holds it too, as one word."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return words[2] if len(words) > 2 and words[1] == b"-m" else b""


def test_one_rank_that_wants_an_end_ends_all(place, store):
    words = ("-D", 1, "-P", 60, "-I", 50, "-R", 2, "--fault", "stat:+50ms", "--store", store)
    with mpirun(2, place, *words) as job:
        until(job, '"benchmark"')
        last = [pid for pid in children(job.pid) if b"iosonde" in _words(pid)][-1]
        os.kill(last, signal.SIGTERM)
        code, out, err = ended(job)
    assert code == 130, err
    assert "not complete" in out
    assert left_in(place) == []


def test_without_mpi4py_a_launcher_gets_a_word(place, tmp_path):
    (tmp_path / "mpi4py.py").write_text('raise ImportError("not installed")\n')
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environ = {"PMI_SIZE": "4", "PMI_RANK": "0", "PYTHONPATH": path}
    with started(place, *SMALL, "--no-store", environ=environ) as process:
        code, out, err = ended(process)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert "mpiexec started 4 processes, but mpi4py cannot be used" in line
    assert "pip install 'iosonde[mpi]'" in line
    assert left_in(place) == []


def test_in_a_batch_job_but_not_as_one_of_its_ranks_it_is_alone(place, store):
    environ = {"SLURM_NTASKS": "16", "SLURM_PROCID": "0"}
    with started(place, *SMALL, "--store", store, environ=environ) as process:
        code, _, err = ended(process)
    assert code == 0, err
    assert {row.ranks for row in rows_of(store)} == {1}


def test_eight_ranks_on_fewer_processors_count_as_eight(place, tmp_path):
    """Ranks that share a processor wait for each other at barriers: slow, but whole."""
    with mpirun(8, place, "-D", 1, "-P", 6, "-I", 2, "--store", tmp_path / "store") as job:
        code, _, err = ended(job)
    assert code == 0, err
    rows = rows_of(tmp_path / "store")
    assert {row.ranks for row in rows} == {8}
    assert {key[3] for key in counts(rows, ranks=True)} == set(range(8))
    assert by_op(rows, "precreate") == {"md_create": 8 * 6}
    assert sum(row.failed for row in rows) == 0
    assert left_in(place) == []
