"""Start to end of `iosonde now` and `iosonde check`, beside an empty Python."""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import process
from tests.kit.samples.makers import simulate

RUNS = 21
SECOND = 1_000_000_000


def main() -> None:
    """Print the table."""
    iosonde = Path(sys.executable).with_name("iosonde")
    with tempfile.TemporaryDirectory(prefix="iosonde-now-") as store:
        watched = [
            {"path": f"/fs{i}", "backend": "null", "latency": {"data_read": "5ms"}}
            for i in range(4)
        ]
        simulate({"store": store, "target": watched}, time.time_ns() - 600 * SECOND, 600 * SECOND)
        for state in Path(store).glob("state/*/*.json"):
            text = json.loads(state.read_text())
            state.write_text(json.dumps({**text, "running": True, "written_ns": time.time_ns()}))
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "iosonde now, four targets": [iosonde, "now", "--store", store],
            "iosonde check, four targets": [iosonde, "check", "--store", store],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                times[name].append(1e3 * process.measured(command, check=False).wall_s)
        print(f"{'whole process':<44} {'median ms':>9} {'max ms':>9}")
        for name, taken in times.items():
            print(f"{name:<44} {statistics.median(taken):>9.0f} {max(taken):>9.0f}")
