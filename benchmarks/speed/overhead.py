"""Recording and judging one operation, beside bare loops of the same calls (written in Rust).

    python -m benchmarks overhead [--program memory|learn]

``memory``: bytes on the heap and in files after days of six histories. ``learn``: cost of judging a week of 30 series.
"""

from __future__ import annotations

import subprocess


def main(program: str = "iosonde-overhead") -> None:
    """Build it, run it, print what it says."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "iosonde-overhead", "--bin", program]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")
