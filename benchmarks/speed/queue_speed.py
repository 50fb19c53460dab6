"""The queue simulator beside a plain loop over ticks.

    cargo build --release -p iosonde-queue --example speed
    python -m benchmarks queue_speed

Times are those of the CPU, of one core. The scenario of figure 5 runs for 80 million ticks. The idle scenario executes
250 operations in a million ticks; event by event (A) and tick by tick (B) run alternately, A B B A.
"""

import statistics
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "target/release/examples/speed"


def main(program: Path = PROGRAM) -> None:
    """Print both tables."""
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    print(f"\n{'figure 5':>10}{'operations':>14}{'s':>9}{'M operations/s':>16}")
    rates = []
    for _, number, operations, seconds in (row for row in rows if row[0] == "figure-5"):
        rates.append(int(operations) / float(seconds) / 1e6)
        print(f"{number:>10}{operations:>14}{float(seconds):>9.3f}{rates[-1]:>16.1f}")
    print(f"figure 5 median: {statistics.median(rates):.1f} M operations/s")
    print(f"\n{'idle':>10}{'A ms':>10}{'B ms':>10}{'B ms':>10}{'A ms':>10}{'B / A':>8}")
    ratios = []
    for _, number, _operations, *times in (row for row in rows if row[0] == "idle"):
        first, second, third, last = (float(value) * 1e3 for value in times)
        ratios.append((second + third) / (first + last))
        cells = "".join(f"{value:>10.3f}" for value in (first, second, third, last))
        print(f"{number:>10}{cells}{ratios[-1]:>8.0f}")
    print(f"idle median: {statistics.median(ratios):.0f} times as fast")
