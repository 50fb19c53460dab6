"""MPI ranks on two hosts: network namespaces joined by a link, two ranks on each, one file system."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.harness import wait_for
from tests.kit.reaper import process_state
from tests.kit.runs.driven import (
    SMALL,
    bandwidth,
    bench,
    command,
    counts,
    ended,
    left_in,
    rows_of,
    started,
    until,
)
from tests.kit.servers.two_hosts import TwoHosts, two_hosts

pytestmark = pytest.mark.service

FILES = ("-b", "256KiB", "-t", "64KiB", "-s", "2")
RANK = """
import json, os, pathlib, sys
from mpi4py import MPI
ranks = MPI.COMM_WORLD
pathlib.Path(sys.argv[1], str(ranks.rank)).touch()
ranks.Barrier()
seen = ranks.gather([MPI.Get_processor_name(), len(os.listdir(sys.argv[1]))])
if seen:
    print(json.dumps(sorted(seen)))
"""
"""One rank prints, since lines of several can arrive mixed."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with two_hosts(tmp_path_factory.mktemp("hosts")) as both:
        yield both


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_ranks_see_two_hosts_and_one_file_system(hosts: TwoHosts, place: Path) -> None:
    before = hosts.crossed_bytes()
    with started(arguments=hosts.mpirun(2, sys.executable, "-c", RANK, str(place))) as job:
        code, out, err = ended(job)
    assert code == 0, err
    assert json.loads(out) == sorted([name, 4] for name in hosts.names * 2)
    assert hosts.crossed_bytes() > before + 1000


def test_the_metadata_benchmark_on_two_hosts_counts_as_threads_do(hosts, place, tmp_path) -> None:
    assert bench(place, *SMALL, "-n", 4, store=tmp_path / "threads") == 0
    words = command(place, *SMALL, "--store", tmp_path / "processes")
    with started(arguments=hosts.mpirun(2, *words)) as job:
        code, out, err = ended(job)
    assert code == 0, err
    threads, processes = rows_of(tmp_path / "threads"), rows_of(tmp_path / "processes")
    assert counts(processes) == counts(threads)
    assert counts(processes, ranks=True) == counts(threads, ranks=True)
    assert sum(row.failed for row in processes) == 0
    assert "machines 2" in " ".join(out.split())
    assert out.count("measured by iosonde") == 1
    assert left_in(place) == []


@pytest.mark.parametrize(
    "layout", [(), ("--layout", "strided", "--reorder", "2")], ids=["own", "strided"]
)
def test_the_bandwidth_benchmark_on_two_hosts_moves_all_bytes(
    hosts, place, tmp_path, layout
) -> None:
    """With reads of what the other host's ranks wrote, where the file is shared."""
    assert bandwidth(place, *FILES, *layout, "-n", 4, store=tmp_path / "threads") == 0
    words = command(
        place, *FILES, *layout, "--store", tmp_path / "processes", benchmark="bandwidth"
    )
    with started(arguments=hosts.mpirun(2, *words)) as job:
        code, out, err = ended(job)
    assert code == 0, err
    moved = {
        name: sorted((row.phase, row.rank or 0, row.bytes) for row in rows_of(tmp_path / name))
        for name in ("threads", "processes")
    }
    assert moved["processes"] == moved["threads"]
    assert "machines 2" in " ".join(out.split())
    assert left_in(place) == []


def test_a_rank_that_dies_on_the_other_host_ends_the_run(hosts, place, tmp_path) -> None:
    words = ("-D", 1, "-P", 60, "-I", 50, "-R", 2, "--fault", "stat:+50ms", "--store", tmp_path)
    with started(arguments=hosts.mpirun(2, *command(place, *words))) as job:
        until(job, '"benchmark"')
        ranks = [pid for host in hosts.names for pid in ranks_on(host)]
        os.kill(ranks[-1], signal.SIGKILL)
        code, _, _ = ended(job)
    assert code != 0
    assert not any(row.complete for row in rows_of(tmp_path))
    # A rank without memory may still hold the lock of the tree.
    wait_for("ranks of both hosts to end", lambda: set(map(process_state, ranks)) <= set("ZX"))
    assert bench(place, "--phases", "cleanup") == 0
    assert left_in(place) == []


def ranks_on(host: str) -> list[int]:
    """Processes of the benchmark in a host's namespace."""
    done = subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True, check=True)
    return [int(pid) for pid in done.stdout.split() if b"iosonde.cli.main" in _command_of(pid)]


def _command_of(pid: str) -> bytes:
    """Empty when the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def test_nothing_is_left_of_them(tmp_path) -> None:
    """Also when the block that used them fails."""

    def fails() -> None:
        with two_hosts(tmp_path) as both:
            names.extend(both.names)
            raise KeyboardInterrupt

    names: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        fails()
    there = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    assert not set(names) & set(there.split())
