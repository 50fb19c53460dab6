"""Memory of an agent of four targets at 10 Hz after days of a history.

    python -m benchmarks memory [--seconds 270] [--kind "lasting slowdown"]

``cargo run --release -p iosonde-overhead --bin memory`` writes what it would have learnt by then;
an agent goes on from that until its rings of recent rows are full. The agents run at the same time,
each from a copy of the program of its own.
"""

import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from benchmarks import process
from tests.kit import harness

DAYS = (0, 1, 3, 13, 40)
TARGETS = 4
SECONDS = 270.0
MOST_PSS_MIB = 20.0
SIMULATOR = harness.ROOT / "target/release/memory"
HOST = "host"


def start(folder: Path, days: int, kind: str) -> harness.Agent:
    """An agent that has lived through ``days`` of a history on every target."""
    folder.mkdir()
    config = f'host = "{HOST}"\n'
    for number in range(TARGETS):
        name, path = f"t{number}", folder / f"target{number}"
        path.mkdir()
        config += f'[[target]]\npath = "{path}"\nname = "{name}"\nperiod = "100ms"\n'
        config += 'file_size = "16MiB"\n'
        if days:
            baselines = folder / "store/baselines" / HOST
            command: list[str | Path] = [
                SIMULATOR,
                "--store",
                baselines,
                HOST,
                name,
                str(days),
                kind,
            ]
            subprocess.run(command, check=True)
    shutil.copy(harness.AGENT, folder / "iosonde-agent")
    agent = harness.Agent(folder, config)
    with agent.log.open("wb") as log:
        program: list[str | Path] = [folder / "iosonde-agent", "--config", agent.config]
        agent.process = subprocess.Popen(program, stderr=log)
    return agent.ready()


def main(seconds: float = SECONDS, kind: str = "lasting slowdown") -> None:
    """Print a line a number of days."""
    print(f"{TARGETS} targets of six ops at 10 Hz, {kind}, PSS after {seconds:.0f} s")
    print(
        f"{'':<8} {'MiB':>8} {'supervisor':>12} {'file KiB':>10}   (at most {MOST_PSS_MIB:g} MiB)"
    )
    with tempfile.TemporaryDirectory(prefix="iosonde-memory-") as name, ExitStack() as stack:
        agents = []
        for days in DAYS:
            agent = start(Path(name) / f"day{days}", days, kind)
            stack.callback(agent.stop)
            agents.append(agent)
        time.sleep(seconds)
        for days, agent in zip(DAYS, agents, strict=True):
            assert agent.process is not None
            pid = agent.process.pid
            own = process.use(pid)
            files = [path.stat().st_size for path in agent.store.glob("baselines/*/*.baseline")]
            kib = max(files, default=0) / 1024
            supervisor = own.pss_mib if own else 0.0
            print(
                f"day {days:<4} {process.family_pss_mib(pid):>8.1f} {supervisor:>12.1f} {kib:>10.0f}"
            )
