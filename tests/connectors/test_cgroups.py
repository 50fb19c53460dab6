"""What jobs did on a node, from control groups and processes; and the script that records it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from iosonde.connectors.client import cgroups
from iosonde.connectors.source import head_of
from tests.kit.records.connected import survives, take

S = 1_000_000_000
T = 1_700_000_000
SLURM = "/sys/fs/cgroup/system.slice/slurmstepd.scope"
SCRIPT = Path(__file__).parents[2] / "deploy" / "record-jobs"


def stat(job: str, reads: int, device: str = "8:0", below: str = "") -> str:
    group = f"{SLURM}/{job}{below}"
    return f"{group}/io.stat:{device} rbytes={reads * 4096} wbytes=0 rios={reads} wios=0 dbytes=0 dios=0"


def process(pid: int, job: str, reads: int, writes: int = 0) -> list[str]:
    return [
        f"{SLURM}/{job}/step_0/user/task_0/cgroup.procs:{pid}",
        f"/proc/{pid}/io:rchar: {reads * 100}",
        f"/proc/{pid}/io:syscr: {reads}",
        f"/proc/{pid}/io:syscw: {writes}",
        f"/proc/{pid}/io:cancelled_write_bytes: 0",
    ]


def log(path: Path, *records: list[str]) -> Path:
    lines = [line for i, some in enumerate(records) for line in (f"{T + 30 * i}.5", *some)]
    path.write_text("\n".join(lines) + "\n")
    return path


def ops(out, name, metric="read_ops"):
    return [value for _, _, value in out.series(metric, name)]


def test_groups_of_jobs(tmp_path):
    path = log(
        tmp_path / "n1.cgroups",
        [stat("job_7", 10), stat("job_7", 3, "8:16"), stat("job_7", 9, below="/step_0")],
        [stat("job_7", 25), stat("job_7", 3, "8:16"), stat("job_8", 4)],
        [stat("job_8", 4), f"{SLURM}/job_7/io.stat:"],
    )
    assert cgroups.recognises(head_of(path))
    out = take(cgroups, path)
    assert out.series("read_ops", "7@n1", "8:0", level="job") == [(T * S + S // 2, 30 * S, 15.0)]
    assert ops(out, "8@n1") == [4.0, 0.0], "a group that is new began since the last record"
    assert sorted(ops(out, "7@n1", "read_bytes")) == [0.0, 15 * 4096], "of two devices"
    assert not out.told


def test_operations_are_of_the_file_system_on_their_device(tmp_path):
    """A disk with one file system is that, on a partition or not; one with two is only its number."""
    mounts = [
        "/proc/self/mountinfo:36 35 8:2 / /scr\\040atch rw shared:1 - ext4 /dev/sda2 rw",
        "/sys/dev/block/8:2/../dev:8:0",
        "/proc/self/mountinfo:37 35 7:1 / /work rw - ext4 /dev/loop1 rw",
        "/proc/self/mountinfo:38 35 7:1 / /work/again rw - ext4 /dev/loop1 rw",
        "/proc/self/mountinfo:39 35 8:17 / /a rw - xfs /dev/sdb1 rw",
        "/proc/self/mountinfo:40 35 8:18 / /b rw - xfs /dev/sdb2 rw",
        "/sys/dev/block/8:17/../dev:8:16",
        "/sys/dev/block/8:18/../dev:8:16",
    ]
    devices = {"8:0": "/scr atch", "7:1": "/work", "8:16": "8:16", "9:0": "9:0"}
    first = [stat("job_7", 1, one) for one in devices]
    then = [stat("job_7", 2 + n, one) for n, one in enumerate(devices)]
    path = log(tmp_path / "n1.cgroups", [*mounts, *first], then)
    assert cgroups.recognises(head_of(path))
    out = take(cgroups, path)
    found = {
        block.system: float(block.value.sum()) for block in out.blocks if block.metric == "read_ops"
    }
    assert found == {place: 1.0 + n for n, place in enumerate(devices.values())}
    assert not out.told


def opened(pid: int, *mounts: int, kind: str = "files") -> list[str]:
    return [f"/proc/{pid}/{kind}:{one}" for one in mounts]


MOUNTS = [
    "/proc/self/mountinfo:5 27 0:6 / /dev rw,nosuid - devtmpfs devtmpfs",
    "/proc/self/mountinfo:36 35 8:2 / /scratch rw,noatime shared:1 - ext4 /dev/sda2",
    "/proc/self/mountinfo:37 35 8:2 /home/of/one /home rw - ext4 /dev/sda2",
    "/proc/self/mountinfo:41 35 0:47 / /work rw - nfs4 server:/ex - port",
    "/proc/self/mountinfo:42 35 0:48 net:[4026] /run/netns/a rw - nsfs ",
    "/proc/self/mountinfo:43 35 0:49 / /shm rw - tmpfs ",
]


def by_place(path: Path, job: str = "7@n1") -> dict[str, list[float]]:
    out = take(cgroups, path)
    assert not out.told
    places = {one.system for one in out.blocks if job in one.components}
    return {one: [v for *_, v in out.series("read_ops", job, one, level="job")] for one in places}


def test_calls_are_of_the_file_system_with_open_files(tmp_path):
    """A bind mount is its file system; devices say nothing; standard output only where no other file is open."""
    path = log(
        tmp_path / "n1.cgroups",
        [*MOUNTS, *process(11, "job_7", 100), *process(12, "job_7", 10), *opened(11, 41, 5)],
        [*process(11, "job_7", 130), *process(12, "job_7", 20), *opened(11, 41), *opened(11, 36, kind="stdio")],
        [*process(11, "job_7", 150), *process(12, "job_7", 90), *opened(11, 37), *opened(12, 36, 41)],
        [*process(11, "job_7", 151), *process(12, "job_7", 92), *opened(11, 42), *opened(12, 43, kind="stdio")],
    )  # fmt: skip
    assert by_place(path) == {
        "/work": [40.0, 0.0, 0.0],
        "/scratch": [20.0, 0.0],
        "": [70.0, 1.0],
        "/shm": [2.0],
    }


def test_a_process_without_open_files_is_where_its_job_is(tmp_path):
    first = [*MOUNTS, *process(11, "job_7", 100), *opened(11, 41), *process(12, "job_8", 0)]
    then = [*process(13, "job_7", 5), *process(12, "job_8", 9)]
    path = log(tmp_path / "n1.cgroups", first, then)
    assert by_place(path) == {"/work": [5.0]}
    assert by_place(path, "8@n1") == {"": [9.0]}


def test_a_container_may_have_any_file_open(tmp_path):
    """Its mounts are not those of the node. Its standard output and the files of the launcher say nothing of it."""
    of_launcher = [*process(12, "job_7", 0), *opened(12, 41)]
    first = [*MOUNTS, *process(11, "job_7", 100), *of_launcher]
    then = [
        *process(11, "job_7", 130),
        *opened(11, 977),
        *opened(11, 36, kind="stdio"),
        *of_launcher,
    ]
    assert by_place(log(tmp_path / "n1.cgroups", first, then)) == {"": [30.0], "/work": [0.0]}


def test_processes_belong_to_their_groups(tmp_path):
    path = log(
        tmp_path / "n1.cgroups",
        [*process(11, "job_7", 100, 5), *process(12, "job_8", 50)],
        [*process(11, "job_7", 130, 6), *process(13, "job_7", 8), *process(12, "job_8", 50)],
        [*process(11, "job_7", 2), *process(13, "job_7", 9)],
    )
    out = take(cgroups, path)
    assert ops(out, "7@n1") == [38.0, 3.0], "a process id that came again counts from zero"
    assert ops(out, "8@n1") == [0.0]
    assert {b.source for b in out.blocks} == {"processes"}


def test_older_groups_and_other_names(tmp_path):
    v1 = "/sys/fs/cgroup/blkio/slurm/uid_1000/job_7/blkio.throttle.io_serviced:8:0"
    lines = [
        [f"{v1} Read {n}", f"{v1} Write 0", f"{v1} Sync {n}", f"{v1} Total {n}"] for n in (5, 9)
    ]
    unit = "/sys/fs/cgroup/system.slice/backup.service/io.stat:8:0"
    for i, some in enumerate(lines):
        some.append(f"{unit} rbytes=0 wbytes=0 rios=0 wios={i * 6} dbytes=0 dios=0")
        some += [
            f"/proc/5/cgroup:4:memory:/x\n/proc/5/cgroup:0::/slurm/job_9/step_1\n/proc/5/io:syscr: {i}"
        ]
    out = take(cgroups, log(tmp_path / "log", *lines), node="n2")
    assert ops(out, "7@n2") == [4.0]
    assert ops(out, "backup@n2", "write_ops") == [6.0]
    assert ops(out, "9@n2") == [1.0]


def test_bad_lines_are_named_and_cost_what_they_are_about(tmp_path):
    records = [
        [stat("job_7", 1), stat("job_8", 1)],
        [stat("job_7", 5), stat("job_8", 5).replace("rios=5", "rios=many"), "what is this"],
        [stat("job_7", 6), stat("job_8", 6)],
        [stat("job_7", 6), stat("job_8", 8)],
    ]
    out = take(cgroups, log(tmp_path / "n1.cgroups", *records))
    assert ops(out, "7@n1") == [4.0, 1.0, 0.0]
    assert ops(out, "8@n1") == [2.0], "not from zero behind a bad line"
    assert [error.split(": ")[1].split(";")[0] for error in out.told] == [
        "'many' is no count",
        "the line is 'what is this'",
    ]


def test_one_record_is_not_enough(tmp_path):
    out = take(cgroups, log(tmp_path / "n1.cgroups", [stat("job_7", 1)]))
    assert not out.blocks
    assert "one record only" in out.told[0]


def test_sums_are_those_of_the_counters(tmp_path):
    """Property: what a job did in all is the last reading less the first, however records are spaced."""
    rng = np.random.default_rng(3)
    readings = np.cumsum(rng.poisson(50, (40, 5)), axis=0)
    records = [[stat(f"job_{j}", int(n)) for j, n in enumerate(row)] for row in readings]
    out = take(cgroups, log(tmp_path / "n1.cgroups", *records))
    for j in range(5):
        assert sum(ops(out, f"{j}@n1")) == readings[-1, j] - readings[0, j]


def test_mutated(tmp_path):
    text = log(
        tmp_path / "a", *([stat("job_7", n), *process(4, "job_8", n)] for n in range(4))
    ).read_bytes()
    survives(cgroups, tmp_path / "n1.cgroups", text)


def test_the_script_records_processes_of_a_folder(tmp_path):
    """Without control groups: a folder with files of process ids."""
    group = tmp_path / "groups" / "job_4711"
    group.mkdir(parents=True)
    (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
    environment = os.environ | {"IOSONDE_CGROUPS": str(tmp_path / "groups"), "IOSONDE_NODE": "n1"}
    command = [str(SCRIPT), str(tmp_path / "out"), "0.1", "2"]
    subprocess.run(command, env=environment, check=True, timeout=60)
    path = tmp_path / "out" / "n1.cgroups"
    assert cgroups.recognises(head_of(path))
    out = take(cgroups, path)
    assert not out.told
    assert {name for block in out.blocks for name in block.components} == {"4711@n1"}


def test_the_script_records_the_mounts_of_open_files(tmp_path):
    group = tmp_path / "groups" / "job_4711"
    group.mkdir(parents=True)
    with (tmp_path / "open").open("w"):
        (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
        environment = os.environ | {
            "IOSONDE_CGROUPS": str(tmp_path / "groups"),
            "IOSONDE_NODE": "n1",
        }
        command = [str(SCRIPT), str(tmp_path / "out"), "0.1", "1"]
        subprocess.run(command, env=environment, check=True, timeout=60)
    lines = (tmp_path / "out" / "n1.cgroups").read_text().splitlines()
    mount = next(tmp_path / one for one in (tmp_path, *tmp_path.parents) if os.path.ismount(one))
    mounts = [one.split(" ") for one in lines if one.startswith("/proc/self/mountinfo:")]
    ids = {one[0].partition(":")[2] for one in mounts if one[4] == str(mount)}
    found = {
        one.partition(":")[2] for one in lines if one.startswith(f"/proc/{os.getpid()}/files:")
    }
    assert ids & found
    assert len(lines) == len(set(lines))


def test_the_script_says_how_it_is_used():
    done = subprocess.run([str(SCRIPT)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "usage: record-jobs FOLDER" in done.stderr


@pytest.mark.parametrize("text", ["", "1700000000\n", "/proc/x/io:syscr: 5\n", "job_7: 5\n"])
def test_other_files_are_not_its_own(tmp_path, text):
    path = tmp_path / "a"
    path.write_text(text)
    assert not cgroups.recognises(head_of(path))
