"""Ask every door on a hogged host, live: ``python -m benchmarks hogged --minutes 10``, as root.

Two agents (10 Hz and 1 Hz) watch a tmpfs and an ext4 on a loop device. They learn what is usual; then twelve busy
loops share their CPU, and every ten seconds each door is asked what it says of the storage: whoever blames it is wrong.
Then, with the loops still running, the ext4 is frozen and later throttled: whoever does not blame it is wrong.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from benchmarks import machine
from tests.kit import harness, hogged

PERIODS = {"10 Hz": "100ms", "1 Hz": "1s"}
LOOK_S = 10.0
FREEZE_S = 20.0
THROTTLE_S = 150.0
THROTTLE_BYTES = 1 << 20


class Tally:
    """Of each agent and door: looks, those that blamed storage, and those that named the host."""

    def __init__(self) -> None:
        self.looks: Counter[tuple[str, str]] = Counter()
        self.blames: Counter[tuple[str, str]] = Counter()
        self.hosts: Counter[tuple[str, str]] = Counter()
        self.words: dict[tuple[str, str], str] = {}

    def take(self, rate: str, said: list[hogged.Said]) -> None:
        """Count what an agent's doors said at one look."""
        for one in said:
            key = (rate, one.door)
            self.looks[key] += 1
            self.blames[key] += one.blames
            self.hosts[key] += one.host
            if one.blames:
                self.words.setdefault(key, one.text)

    def lines(self) -> Iterator[str]:
        """A row for each agent, a column a door: looks that blamed storage, of how many (and that named the host)."""
        yield "| agent | " + " | ".join(hogged.DOORS) + " |"
        yield "|---|" + "---|" * len(hogged.DOORS)
        for rate in PERIODS:
            keys = [(rate, door) for door in hogged.DOORS]
            cells = [f"{self.blames[key]} of {self.looks[key]} ({self.hosts[key]})" for key in keys]
            yield f"| {rate} | " + " | ".join(cells) + " |"
        for (rate, door), text in self.words.items():
            yield f"{rate}, {door}: {text[:300]}"


@contextmanager
def agents(folder: Path, cpu: int, mounts: dict[str, Path]) -> Iterator[dict[str, harness.Agent]]:
    """An agent a rate, each with targets of its own on every mount."""
    with ExitStack() as stack:
        found = {}
        for rate, period in PERIODS.items():
            name = rate.replace(" ", "").lower()
            config = f'host = "{name}"\n'
            for mount, path in mounts.items():
                own = path / name
                own.mkdir()
                config += (
                    f'[[target]]\npath = "{own}"\nname = "/{mount}"\nperiod = "{period}"\n'
                    'file_size = "16MiB"\npool = 64\n'
                )
            agent = hogged.agent_on(cpu, folder / name, config)
            stack.callback(agent.kill)
            found[rate] = agent.ready()
        yield found


def watch(running: dict[str, harness.Agent], seconds: float, since_ns: int) -> Tally:
    """Ask every door of every agent, again and again."""
    tally, end = Tally(), time.monotonic() + seconds
    while time.monotonic() < end:
        next_look = time.monotonic() + LOOK_S
        for rate, agent in running.items():
            tally.take(rate, hogged.listen(agent, since_ns))
        time.sleep(max(0.0, next_look - time.monotonic()))
    return tally


def frozen(running: dict[str, harness.Agent], mount: Path) -> Tally:
    """What is said from ten seconds into a freeze on, and right after it."""
    since_ns = time.time_ns()
    subprocess.run(["fsfreeze", "-f", mount], check=True)
    try:
        time.sleep(FREEZE_S / 2)
        tally = watch(running, FREEZE_S / 2, since_ns)
    finally:
        subprocess.run(["fsfreeze", "-u", mount], check=True)
    return tally


def throttled(running: dict[str, harness.Agent], mount: Path) -> Tally:
    """What is said of a device that gives a MiB a second, from a minute and a half on."""
    device, since_ns = harness.device_of(mount), time.time_ns()
    with harness.throttled(device) as group:
        for agent in running.values():
            for pid in agent.processes():
                (group / "cgroup.procs").write_text(str(pid))
        harness.throttle(group, device, THROTTLE_BYTES)
        try:
            time.sleep(THROTTLE_S * 0.6)
            return watch(running, THROTTLE_S * 0.4, since_ns)
        finally:
            harness.throttle(group, device, 0)
            # Workers that began meanwhile are in it, too.
            for pid in (group / "cgroup.procs").read_text().split():
                with suppress(ProcessLookupError):
                    (group.parent / "cgroup.procs").write_text(pid)


def main(minutes: float = 10.0, calm: float = 6.0) -> None:
    """Print a table a part. ``minutes``: how long the CPU is hogged; ``calm``: before it, to learn in."""
    print(machine.line(), flush=True)
    cpu = hogged.one_cpu()
    with tempfile.TemporaryDirectory(prefix="iosonde-hogged-") as name, ExitStack() as stack:
        folder = Path(name)
        mounts = {
            "tmpfs": stack.enter_context(harness.tmpfs(folder / "tmpfs", "size=256m")),
            "ext4": stack.enter_context(harness.loop_ext4(folder)),
        }
        running = stack.enter_context(agents(folder, cpu, mounts))
        time.sleep(60 * calm)
        with hogged.hogs(cpu):
            tally = watch(running, 60 * minutes, time.time_ns())
            _print(
                f"\n{hogged.HOGS} busy loops: looks that blame storage (wrong), and that name the host",
                tally,
            )
            _print(
                "\nfrozen for 20 s: looks that blame storage (right)",
                frozen(running, mounts["ext4"]),
            )
            tally = throttled(running, mounts["ext4"])
            _print("\n1 MiB/s: looks that blame storage (right)", tally)


def _print(title: str, tally: Tally) -> None:
    print("\n".join((title, *tally.lines())), flush=True)
