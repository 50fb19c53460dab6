"""CPU time and memory of the agent with its workers, beside bare loops of the same calls in C.

    python -m benchmarks agent [--seconds 60] [--rounds 5]

Rounds alternate (agent, bare, bare, agent). The agent is scraped every 15 s, as a Prometheus would.
"""

import contextlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import process
from tests.kit import harness

SECONDS = 60.0
ROUNDS = 5
FILE = "256MiB"
BLOCK = 1 << 20
SETTLE_S = 3.0
SCRAPE_EVERY_S = 15.0
TARGETS = 4
MOST_PSS_MIB = 20.0
MOST_CPU_MS_PER_S = 4.0


@dataclass(frozen=True)
class Cost:
    """Of an agent over a while."""

    cpu_ms_per_s: float
    supervisor_cpu_ms_per_s: float
    pss_mib: float
    supervisor_pss_mib: float


def cost_of(agent: harness.Agent, seconds: float) -> Cost:
    """Watch a running agent for so long."""
    assert agent.process is not None
    pid = agent.process.pid
    agent.get("/metrics")
    began = time.monotonic()
    before = process.family_cpu_s(pid), process.cpu_s(pid)
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(SCRAPE_EVERY_S, left))
        agent.get("/metrics")
    took = time.monotonic() - began
    after = process.family_cpu_s(pid), process.cpu_s(pid)
    all_ms, own_ms = ((end - start) / took * 1e3 for start, end in zip(before, after, strict=True))
    own = process.use(pid)
    return Cost(all_ms, own_ms, process.family_pss_mib(pid), own.pss_mib if own else 0.0)


def agent_round(folder: Path, targets: list[Path], seconds: float) -> Cost:
    """An agent watching ``targets`` at 1 Hz."""
    config = "".join(f'[[target]]\npath = "{path}"\nfile_size = "{FILE}"\n' for path in targets)
    with harness.running(folder, config) as agent:
        time.sleep(SETTLE_S)
        cost = cost_of(agent, seconds)
        agent.stop()
    return cost


def bare_round(folder: Path, targets: list[Path], seconds: float) -> float:
    """CPU ms per second of single-threaded loops of the same calls, one a target, all at the same time."""
    program = folder / "bare_probe"
    if not program.exists():
        source = Path(__file__).parent / "bare/bare_probe.c"
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    running = []
    for path in targets:
        data = next(path.glob(".iosonde-*/*/data"))
        blocks = data.stat().st_size // BLOCK
        command = [program, path, data, f"{seconds:.0f}", str(blocks)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        # Spread over the second, as the agent spreads its targets.
        time.sleep(1 / len(targets) + 0.04)
    said = [one.communicate()[0] for one in running]
    if any(one.returncode for one in running):
        raise RuntimeError("bare_probe failed")
    return sum(map(float, said))


def compare(parent: Path, targets: int, seconds: float, rounds: int) -> None:
    """Print the table of an agent and bare loops over so many directories."""
    with tempfile.TemporaryDirectory(prefix="iosonde-agent-", dir=parent) as name:
        folder = Path(name)
        paths = [folder / f"t{number}" for number in range(targets)]
        for path in paths:
            path.mkdir()
        agents, bare = [], []
        for turn in range(rounds):
            for ours in (True, False) if turn % 2 == 0 else (False, True):
                if ours:
                    agents.append(agent_round(folder, paths, seconds))
                else:
                    bare.append(bare_round(folder, paths, seconds))
    plural = "s" if targets > 1 else ""
    head(f"six ops at 1 Hz, {targets} target{plural} on disk, {rounds} rounds of {seconds:.0f} s")
    row("iosonde-agent with /metrics, spool and states", agents)
    theirs = statistics.median(bare)
    print(f"{f'{targets} bare loop{plural} of the same calls in C':<50} {theirs:>9.2f}")
    print(f"{'ratio':<50} {statistics.median(a.cpu_ms_per_s for a in agents) / theirs:>9.2f}")


def head(what: str) -> None:
    """Print what a table is about."""
    print(f"{'':<50} {'CPU ms/s':>20} {'PSS MiB':>20}")
    print(f"{what:<50} {'all':>9} {'supervisor':>10} {'all':>9} {'supervisor':>10}")


def row(what: str, costs: list[Cost]) -> None:
    """Print medians of processor time and the most memory."""
    cpu = statistics.median(cost.cpu_ms_per_s for cost in costs)
    own_cpu = statistics.median(cost.supervisor_cpu_ms_per_s for cost in costs)
    pss = max(cost.pss_mib for cost in costs)
    own_pss = max(cost.supervisor_pss_mib for cost in costs)
    print(f"{what:<50} {cpu:>9.2f} {own_cpu:>10.2f} {pss:>9.1f} {own_pss:>10.1f}", flush=True)


@contextlib.contextmanager
def frozen(mount: Path) -> Iterator[None]:
    """Nothing is written to a file system meanwhile."""
    subprocess.run(["fsfreeze", "-f", mount], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", mount], check=True)


def hang(parent: Path, seconds: float) -> None:
    """Print what an agent costs while a file system is frozen and all trials are stuck."""
    if os.geteuid() != 0:
        print("cost during a hang: left out, a loop device needs root")
        return
    with tempfile.TemporaryDirectory(prefix="iosonde-hang-", dir=parent) as name:
        folder = Path(name)
        with harness.loop_ext4(folder) as mount:
            config = (
                f'[[target]]\npath = "{mount}"\nname = "t"\nfile_size = "64MiB"\nretry = "1s"\n'
            )
            with harness.running(folder, config) as agent:
                time.sleep(SETTLE_S)
                well = cost_of(agent, seconds)
                with frozen(mount):
                    stuck = lambda: agent.metric("iosonde_workers", kind="stuck")  # noqa: E731
                    harness.wait_for("three stuck trials", lambda: stuck() == 3, 120)
                    hung = cost_of(agent, seconds)
                harness.wait_for("the trials to go", lambda: stuck() == 0, 120)
                time.sleep(SETTLE_S)
                again = cost_of(agent, seconds)
                agent.stop()
    head(f"six ops at 1 Hz, one target, ext4 on a loop, {seconds:.0f} s")
    row("well", [well])
    row("frozen, three trials stuck", [hung])
    row("well again", [again])


def main(seconds: float = SECONDS, rounds: int = ROUNDS) -> None:
    """Print the tables."""
    parent = Path(os.environ.get("TMPDIR", "/var/tmp"))
    minutes = (4 * rounds * (seconds + 6) + 3 * seconds + 60) / 60
    print(f"about {minutes:.0f} min", flush=True)
    for targets in (1, TARGETS):
        compare(parent, targets, seconds, rounds)
        print()
    print(f"aims for {TARGETS} targets: {MOST_CPU_MS_PER_S:g} ms/s, {MOST_PSS_MIB:g} MiB")
    print()
    hang(parent, seconds)
