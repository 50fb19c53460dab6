"""Three loads in three control groups, four loop file systems of which one is throttled, an agent: which, and who."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from iosonde.cli.main import main
from iosonde.model.errors import IosondeError
from iosonde.why.answers import why
from iosonde.why.evidence import lines
from iosonde.why.links import PartSource
from iosonde.why.question import WhyQuestion
from iosonde.why.words import say
from tests.kit import harness
from tests.kit.jobs.job_loads import Load, jobs

pytestmark = [
    pytest.mark.service,
    pytest.mark.measures,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root"),
]
SCRIPT = Path(__file__).parents[2] / "deploy" / "record-jobs"
KIB, MIB = 1 << 10, 1 << 20
SLOW, LIMIT = 2, 24 * MIB
WARM_S, WITHIN_S, HOG = 75.0, 60.0, "3"
AWAY_FROM_BLKIO = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup")
"""Groups of jobs lie in another hierarchy: the throttle is one for the agent and all jobs, as a device's limit is."""


@pytest.fixture(scope="module")
def mounts(tmp_path_factory):
    with harness.four_disks(tmp_path_factory.mktemp("disks"), 512) as found:
        yield found


def _into(group: Path, pids: list[int]) -> None:
    for pid in pids:
        with (group / "cgroup.procs").open("a") as file:
            file.write(f"{pid}\n")


def _config(mounts: list[Path]) -> str:
    one = (
        '[[target]]\npath = "{}"\nname = "fs{}"\nperiod = "200ms"\nfile_size = "16MiB"\npool = 32\n'
    )
    targets = "".join(one.format(mount, number) for number, mount in enumerate(mounts))
    return f'window = "5s"\nflush = "1s"\n{targets}'


def _placed(folder: Path, mounts: list[Path]) -> None:
    """Files of each job on its file system, as links: job 3's on the one that will be throttled."""
    for job, mount in (("1", mounts[0]), ("2", mounts[1]), (HOG, mounts[SLOW])):
        for place in range(4):
            (folder / f"{job}-{place}").symlink_to(mount / f"job{job}-{place}")


def test_the_file_system_and_the_load_are_named_within_a_minute(mounts, tmp_path):
    data, records = tmp_path / "data", tmp_path / "records"
    data.mkdir()
    _placed(data, mounts)
    begin = time.time()
    fault = begin + WARM_S
    last = fault + WITHIN_S + 60
    loads = {
        "1": [Load(4 * KIB, 20, begin, last)],
        "2": [Load(64 * KIB, 30, begin + 12 * i, begin + 12 * i + 6) for i in range(4)],
        HOG: [Load(1 * MIB, 0, fault, last)] * 4,
    }
    device = harness.device_of(mounts[SLOW])
    with ExitStack() as stack:
        group = stack.enter_context(harness.throttled(device))
        groups = stack.enter_context(jobs(data, loads, last, AWAY_FROM_BLKIO))
        agent = stack.enter_context(harness.running(tmp_path, _config(mounts)))
        environment = os.environ | {"IOSONDE_CGROUPS": str(groups), "IOSONDE_NODE": "n1"}
        recorder = subprocess.Popen([str(SCRIPT), str(records), "1"], env=environment)
        stack.callback(recorder.wait)
        stack.callback(recorder.terminate)
        _into(group, agent.processes())
        _into(
            group,
            [int(p) for f in groups.glob("job_*/cgroup.procs") for p in f.read_text().split()],
        )
        time.sleep(max(0.0, fault - time.time()))
        harness.throttle(group, device, LIMIT)
        stack.callback(harness.throttle, group, device, 0)
        took, text = _asked(agent.store, records, fault)
    print(f"{took:.1f} s after the fault: {text[0]}", *text[1:], sep="\n  ", file=sys.stderr)
    assert took <= WITHIN_S, text
    assert f" on fs{SLOW} " in text[0]


def _asked(store: Path, records: Path, fault: float) -> tuple[float, list[str]]:
    """Import and ask again and again, until file system and job are named; seconds since the fault."""
    text = ["nothing was answered"]
    while time.time() - fault < 2 * WITHIN_S:
        main(["import", str(records), "--store", str(store)])
        now_ns = time.time_ns()
        try:
            found = why(store, WhyQuestion(model=False), now_ns)
        except IosondeError as error:
            text = [str(error)]
            continue
        text = [say(found, now_ns), *lines(found, now_ns)]
        slow, load, parts = (
            getattr(found.links, name).found for name in ("slowness", "load", "component")
        )
        alone = parts is not None and any(one.source is PartSource.BESIDE for one in parts.slow)
        if slow and alone and load and [one.job for one in load.culprits] == [HOG]:
            return time.time() - fault, text
        time.sleep(1.0)
    return time.time() - fault, text
