"""What the agent costs: processor time and memory, beside a bare C-like loop of the same calls."""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SECONDS = 20
ROUNDS = 5
FILE = "256MiB"
PERIOD_S = 1.0
BLOCK = 1 << 20


def cpu_seconds(pid: int) -> float:
    """Of all threads of a process, from the scheduler's own account."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def memory_mib(pid: int) -> float:
    """Resident."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def agent_round(folder: Path) -> tuple[float, float]:
    """CPU ms per second and MiB of the agent watching ``folder``."""
    config, log = folder / "agent.toml", folder / "agent.log"
    config.write_text(
        f'store = "{folder}/store"\nlisten = "127.0.0.1:0"\n'
        f'[[target]]\npath = "{folder}"\nfile_size = "{FILE}"\n'
    )
    binary = Path(sys.executable).with_name("iosonde-agent")
    with (
        log.open("wb") as stderr,
        subprocess.Popen([binary, "--config", config], stderr=stderr) as agent,
    ):
        address = ""
        while not address:
            time.sleep(0.1)
            found = re.search(r"http://(\S+)/metrics", log.read_text())
            address = found[1] if found and "big file" in log.read_text() else ""
        time.sleep(3)
        with urllib.request.urlopen(f"http://{address}/metrics") as reply:
            reply.read()
        before = cpu_seconds(agent.pid)
        time.sleep(SECONDS)
        cost = (cpu_seconds(agent.pid) - before) / SECONDS * 1e3
        memory = memory_mib(agent.pid)
        agent.terminate()
    return cost, memory


def bare_round(folder: Path) -> float:
    """CPU ms per second of a single-threaded loop of the same calls, spread over the second alike."""
    source = Path(__file__).with_name("bare_probe.c")
    program = folder / "bare_probe"
    if not program.exists():
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    data = next(folder.glob(".iosonde-*/*/data"))
    arguments = [program, folder, data, str(SECONDS), str(data.stat().st_size // BLOCK)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    """Print the table."""
    parent = Path(os.environ.get("TMPDIR", "/var/tmp"))
    with tempfile.TemporaryDirectory(prefix="iosonde-agent-", dir=parent) as name:
        folder = Path(name)
        agents, bare = [], []
        for turn in range(ROUNDS):
            if turn % 2 == 0:
                agents.append(agent_round(folder))
                bare.append(bare_round(folder))
            else:
                bare.append(bare_round(folder))
                agents.append(agent_round(folder))
        ours = statistics.median(cost for cost, _ in agents)
        theirs = statistics.median(bare)
        print(f"{'six ops at 1 Hz, one target, on disk':<44} {'CPU ms/s':>9} {'RSS MiB':>9}")
        print(
            f"{'iosonde-agent with /metrics, spool and states':<44} {ours:>9.2f} {max(m for _, m in agents):>9.1f}"
        )
        print(f"{'bare loop of the same calls in C':<44} {theirs:>9.2f} {'':>9}")
        print(f"{'ratio':<44} {ours / theirs:>9.2f}")


if __name__ == "__main__":
    main()
