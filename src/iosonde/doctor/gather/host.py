"""Facts of this host, from /proc, /sys and two short measurements. Nothing here can hang on storage."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from pathlib import Path
from typing import Any

SLEEP_NS = 5_000_000
SLEEPS = 20
_CLOCKS = Path("/sys/devices/system/clocksource/clocksource0")


class _Timex(ctypes.Structure):
    """struct timex of adjtimex(2), with spare room for the kernel."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("room", ctypes.c_long * 64),
    ]


def gather_host() -> dict[str, Any]:
    """All input of ``judge_host``; unknown values are None."""
    before = read("/proc/stat")
    facts: dict[str, Any] = {
        "clock_source": _word(_CLOCKS / "current_clocksource"),
        "clock_sources": _word(_CLOCKS / "available_clocksource"),
        "clock_cost_ns": clock_cost_ns(),
        "timer_late_ns": timer_late_ns(),
        "cpus": len(os.sched_getaffinity(0)),
        "loadavg": read("/proc/loadavg"),
        "pressure": read("/proc/pressure/cpu"),
        "meminfo": read("/proc/meminfo"),
        "clock_sync": clock_sync(),
    }
    return facts | {"stat_before": before, "stat_after": read("/proc/stat")}


def clock_cost_ns() -> int:
    """Median cost of a clock reading, over batches; includes some 20 ns of Python's own."""
    batch = range(100)
    costs = []
    for _ in range(20):
        began = time.perf_counter_ns()
        for _ in batch:
            time.perf_counter_ns()
        costs.append((time.perf_counter_ns() - began) // len(batch))
    return int(statistics.median(costs))


def timer_late_ns() -> list[int]:
    """Lateness of each of ``SLEEPS`` sleeps."""
    late = []
    for _ in range(SLEEPS):
        began = time.monotonic_ns()
        time.sleep(SLEEP_NS / 1e9)
        late.append(time.monotonic_ns() - began - SLEEP_NS)
    return late


def clock_sync() -> dict[str, int] | None:
    """State of the kernel's clock discipline: ``state`` 5 is unsynchronised; times in us or ns."""
    timex = _Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    except (OSError, AttributeError):
        return None
    if state < 0:
        return None
    nanoseconds = timex.status & 0x2000
    return {
        "state": state,
        "status": timex.status,
        "offset_ns": timex.offset * (1 if nanoseconds else 1000),
        "max_error_ns": timex.maxerror * 1000,
        "estimated_error_ns": timex.esterror * 1000,
    }


def read(path: str | Path) -> str | None:
    """Read a file of /proc or /sys; None if unavailable."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return None


def _word(path: Path) -> str | None:
    text = read(path)
    return text.strip() if text is not None else None
