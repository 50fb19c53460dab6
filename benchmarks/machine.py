"""What a table was measured on."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def line() -> str:
    """One line: processor, kernel, date, load."""
    model = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    date = datetime.now(UTC).date()
    load = os.getloadavg()[0]
    cores = os.cpu_count()
    return f"{cores} x {model}, {memory_gib:.0f} GiB, Linux {platform.release()}, {date}, load {load:.1f}"
