"""Ask why of live faults, as root: ``python -m benchmarks live --rounds 3``.

Four ext4 on loop devices, the last behind FUSE, an agent with a probe of each, three jobs in control groups whose
operations ``record-jobs`` writes down. One after the other: a device is limited while a job writes there as much as it
can, a file system freezes, a file server dies, busy loops take the agent's processor. What happens is known, so is what
``iosonde why`` should say: what is slow, and how; which job, or that it is this host.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import machine
from tests.kit import harness, hogged
from tests.kit.jobs.job_loads import Load, jobs

SCRIPT = Path(__file__).parents[3] / "deploy" / "record-jobs"
KIB, MIB = 1 << 10, 1 << 20
LIMIT = 24 * MIB
HOG = "3"
ELSEWHERE = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup")
"""Groups of jobs lie in another hierarchy than the throttle, which is one for the agent and all jobs."""
LOOK_S, FIRST_LOOK_S = 5.0, 20.0


class Answer(NamedTuple):
    """What one look found: ``kind`` and ``target`` of the stretch, the verdict, jobs named, the sentence."""

    kind: str
    target: str
    verdict: str
    jobs: tuple[str, ...]
    sentence: str


class Fault(NamedTuple):
    """``target``: of the stretch; ``""``: any. ``seconds``: how long. ``jobs``: to be named; none: nobody."""

    name: str
    seconds: float
    target: str
    kinds: tuple[str, ...]
    verdicts: tuple[str, ...]
    jobs: tuple[str, ...] = ()

    def right(self, said: Answer) -> bool:
        """Whether kind, part, job and verdict are those of the fault."""
        place = self.target in ("", said.target)
        what = said.kind in self.kinds and said.verdict in self.verdicts
        return place and what and said.jobs == self.jobs

    def false(self, said: Answer) -> bool:
        """Whether somebody or something else is named; to say nothing yet is not false."""
        if said.verdict in ("nothing slow", ""):
            return False
        other = bool(self.target) and said.target != self.target
        causes = ("one job's load", "queue overload", "this host", "network or everything")
        cause = said.verdict in causes and said.verdict not in self.verdicts
        return other or cause or not set(said.jobs) <= set(self.jobs)


FAULTS = (
    Fault("limited to 24 MiB/s", 75.0, "fs2", ("slow", "lost"), ("one job's load",), (HOG,)),
    Fault("frozen", 60.0, "fs1", ("hang",), ("slow component", "no cause found")),
    Fault("server dead", 60.0, "fs3", ("failing",), ("slow component", "no cause found")),
    Fault("busy processor", 75.0, "", ("host_busy",), ("this host",)),
)


@dataclass
class Tally:
    """Looks at one fault over all rounds."""

    looks: int = 0
    right: int = 0
    false: list[str] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)
    last: list[bool] = field(default_factory=list)
    words: str = ""


class Site:
    """The file systems, what happens to them, and the agent's store."""

    def __init__(self, folder: Path, mounts: list[Path], stack: ExitStack) -> None:
        self.folder, self.mounts, self.cpu = folder, mounts, hogged.one_cpu()
        self.records = folder / "records"
        self.device = harness.device_of(mounts[2])
        self.group = stack.enter_context(harness.throttled(self.device))
        self.server = stack.enter_context(_Server(mounts[3]))
        self.agent = hogged.agent_on(self.cpu, folder, self._config())
        stack.callback(self.agent.kill)
        self.agent.ready()

    def _config(self) -> str:
        paths = [*self.mounts[:3], self.mounts[3] / "fuse"]
        one = (
            '[[target]]\npath = "{}"\nname = "fs{}"\nperiod = "200ms"\n'
            'file_size = "16MiB"\npool = 32\n'
        )
        targets = "".join(one.format(path, number) for number, path in enumerate(paths))
        return f'window = "5s"\nflush = "1s"\n{targets}'

    def limit(self, pids: list[int]) -> None:
        """Processes that the throttle holds for."""
        for pid in (*self.agent.processes(), *pids):
            with suppress(ProcessLookupError):
                (self.group / "cgroup.procs").write_text(str(pid))

    def free(self) -> None:
        """Let go of whoever the throttle held for."""
        for pid in (self.group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (self.group.parent / "cgroup.procs").write_text(pid)

    @contextmanager
    def fault(self, name: str) -> Iterator[None]:
        """It happens while the block runs."""
        with ExitStack() as stack:
            if name.startswith("limited"):
                harness.throttle(self.group, self.device, LIMIT)
                stack.callback(harness.throttle, self.group, self.device, 0)
            elif name == "frozen":
                subprocess.run(["fsfreeze", "-f", self.mounts[1]], check=True)
                stack.callback(subprocess.run, ["fsfreeze", "-u", self.mounts[1]], check=True)
            elif name == "server dead":
                self.server.die()
                stack.callback(self.server.serve)
            else:
                stack.enter_context(hogged.hogs(self.cpu))
            yield

    def why(self) -> Answer:
        """What the command says now, once the newest records are imported."""
        store = ("--store", str(self.agent.store))
        hogged.ask("import", str(self.records), *store)
        code, text = hogged.ask("why", "--json", "--no-model", *store)
        if code not in (0, 1, 2) or not text.startswith("{"):
            return Answer("", "", "", (), text.strip())
        found: dict[str, Any] = json.loads(text)
        slow = found["links"]["slowness"]["fact"] or {}
        load = found["links"]["load"]
        named = load["fact"]["culprits"] if load["standing"] == "found" and load["fact"] else []
        return Answer(
            slow.get("kind", ""),
            slow.get("whole", ""),
            found["verdict"],
            tuple(str(one["job"]) for one in named),
            found["sentence"],
        )


class _Server:
    """Serves the mount's folder ``source`` at its folder ``fuse``; it dies, and another one comes."""

    def __init__(self, mount: Path) -> None:
        self.source, self.place = mount / "source", mount / "fuse"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Server:
        self.source.mkdir()
        self.place.mkdir()
        self.serve()
        return self

    def serve(self) -> None:
        """Serve, where it does not."""
        self.clear()
        self.process = harness.serve(self.source, self.place)
        harness.wait_for("the mount", lambda: os.path.ismount(self.place))

    def die(self) -> None:
        """Every operation fails from now on."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def clear(self) -> None:
        """Take the mount of a server away; whoever uses it keeps it until it lets go."""
        self.die()
        subprocess.run(["umount", "-l", self.place], check=False, capture_output=True)

    def __exit__(self, *_: object) -> None:
        self.clear()


def _loads(
    begin: float, hog: tuple[float, float], rate: float, last: float
) -> dict[str, list[Load]]:
    """Job 1 writes little all along, job 2 in bursts, the third much.

    ``hog``: when the third writes, at ``rate`` MiB a second in each of four processes (0: as much as it can).
    """
    # Each load has a file of its own: eight fit.
    step = max(60.0, (last - begin) / 8)
    bursts = range(int((last - begin) / step))
    return {
        "1": [Load(4 * KIB, 20, begin, last)],
        "2": [Load(64 * KIB, 30, begin + step * i, begin + step * (i + 0.5)) for i in bursts],
        HOG: [Load(1 * MIB, rate, *hog)] * 4,
    }


def _watch(site: Site, fault: Fault, tally: Tally) -> None:
    begin, first = time.monotonic(), None
    said, right = Answer("", "", "", (), "never asked"), False
    time.sleep(FIRST_LOOK_S)
    while (now := time.monotonic()) < begin + fault.seconds:
        said = site.why()
        right = fault.right(said)
        tally.looks += 1
        tally.right += right
        if fault.false(said):
            tally.false.append(said.sentence)
        if right and first is None:
            first = time.monotonic() - begin
        print(f"  {fault.name}, {now - begin:.0f} s: {right} {said}", file=sys.stderr, flush=True)
        time.sleep(max(0.0, now + LOOK_S - time.monotonic()))
    tally.delays_s.append(float("inf") if first is None else first)
    tally.last.append(right)
    tally.words = said.sentence


def site_in(
    folder: Path,
    begin: float,
    length: float,
    stack: ExitStack,
    *,
    hog: tuple[float, float],
    rate: float = 0.0,
) -> Site:
    """File systems, an agent, jobs that run from ``begin`` for ``length`` s. ``hog``, ``rate``: of the third."""
    (folder / "disks").mkdir()
    mounts = stack.enter_context(harness.four_disks(folder / "disks", 1024))
    site = Site(folder, mounts, stack)
    data = folder / "data"
    data.mkdir()
    loads = _loads(begin, hog, rate, begin + length)
    for job, mount in (("1", mounts[0]), ("2", mounts[1]), (HOG, mounts[2])):
        for place in range(len(loads[job])):
            (data / f"{job}-{place}").symlink_to(mount / f"job{job}-{place}")
    groups = stack.enter_context(jobs(data, loads, begin + length, ELSEWHERE))
    environment = os.environ | {"IOSONDE_CGROUPS": str(groups), "IOSONDE_NODE": "n1"}
    recorder = subprocess.Popen([SCRIPT, site.records, "1"], env=environment)
    stack.callback(recorder.wait)
    stack.callback(recorder.terminate)
    stack.callback(site.free)
    site.limit(_pids(groups))
    return site


def one_round(tallies: dict[str, Tally], warm: float, calm: float) -> None:
    """All faults once, on file systems and a store of their own."""
    with tempfile.TemporaryDirectory(prefix="iosonde-live-") as name, ExitStack() as stack:
        begin = time.time()
        length = warm + sum(fault.seconds + calm for fault in FAULTS)
        hog = (begin + warm, begin + warm + FAULTS[0].seconds)
        site = site_in(Path(name), begin, length, stack, hog=hog)
        time.sleep(max(0.0, begin + warm - time.time()))
        for fault in FAULTS:
            with site.fault(fault.name):
                _watch(site, fault, tallies[fault.name])
            time.sleep(calm)


def _pids(groups: Path) -> list[int]:
    files = groups.glob("job_*/cgroup.procs")
    return [int(pid) for file in files for pid in file.read_text().split()]


def main(rounds: int = 3, warm: float = 200.0, calm: float = 45.0) -> None:
    """Print a row a fault. ``warm``: seconds to learn in; ``calm``: seconds between two faults."""
    print(machine.line(), flush=True)
    tallies = {fault.name: Tally() for fault in FAULTS}
    for number in range(rounds):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        one_round(tallies, warm, calm)
    print("\n| fault | right at its end | looks right | false | first right, s |")
    print("|---|---|---|---|---|")
    for name, one in tallies.items():
        delays = ", ".join(f"{delay:.0f}" for delay in one.delays_s)
        end = f"{sum(one.last)} of {len(one.last)}"
        right = f"{one.right} of {one.looks}"
        print(f"| {name} | {end} | {right} | {len(one.false)} | {delays} |")
    for name, one in tallies.items():
        print(f"{name}: {one.words}")
        for text in one.false[:3]:
            print(f"{name}, false: {text}")
