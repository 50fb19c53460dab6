"""CPU pressure of this host: time that tasks waited for a processor, from the kernel's own counters.

Sources: ``/proc/pressure/cpu`` (PSI, Linux 4.20), ``/proc/self/task/*/schedstat`` (run queue), ``/proc/stat``.
What a kernel does not have is None, never zero.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CpuPressure:
    """Over ``elapsed_s``: seconds in which some task of the host waited for a processor (``stalled_s``, PSI), seconds
    that this process's worker threads waited (``queued_s``, summed), busy processor seconds of the host of how many.
    """

    elapsed_s: float
    stalled_s: float | None
    queued_s: float | None
    busy_s: float | None
    capacity_s: float | None

    def plus(self, other: CpuPressure) -> CpuPressure:
        """Sum of both spans."""
        return CpuPressure(
            self.elapsed_s + other.elapsed_s,
            _plus(self.stalled_s, other.stalled_s),
            _plus(self.queued_s, other.queued_s),
            _plus(self.busy_s, other.busy_s),
            _plus(self.capacity_s, other.capacity_s),
        )

    def shares(self, threads: int) -> dict[str, float]:
        """Known shares of the time, 0 to 1: ``cpu_pressure``, ``cpu_queue_share``, ``host_cpu_share``."""
        known = {
            "cpu_pressure": (self.stalled_s, self.elapsed_s),
            "cpu_queue_share": (self.queued_s, self.elapsed_s * threads),
            "host_cpu_share": (self.busy_s, self.capacity_s),
        }
        return {
            name: round(min(1.0, max(0.0, part / whole)), 4)
            for name, (part, whole) in known.items()
            if part is not None and whole
        }


@dataclass(frozen=True, slots=True)
class _Counters:
    at_s: float
    stalled_s: float | None
    queued_s: dict[str, float] | None
    busy: tuple[float, float] | None


class PressureMeter:
    """Reads the counters at the start and the end of a span. Costs some file reads, outside of timed sections."""

    def __init__(self) -> None:
        self._before = _read()

    def ended(self) -> CpuPressure:
        """CPU pressure from construction until now."""
        before, after = self._before, _read()
        queued = busy = capacity = None
        if before.queued_s is not None and after.queued_s is not None:
            queued = sum(
                max(0.0, s - before.queued_s.get(thread, 0.0))
                for thread, s in after.queued_s.items()
            )
        if before.busy is not None and after.busy is not None:
            busy, capacity = (b - a for a, b in zip(before.busy, after.busy, strict=True))
        return CpuPressure(
            after.at_s - before.at_s,
            None
            if before.stalled_s is None or after.stalled_s is None
            else after.stalled_s - before.stalled_s,
            queued,
            busy,
            capacity,
        )


def _read() -> _Counters:
    return _Counters(
        time.monotonic(),
        stalled_s(_text("/proc/pressure/cpu")),
        _queued(),
        busy_seconds(_text("/proc/stat")),
    )


def stalled_s(text: str) -> float | None:
    """Total of the line ``some`` of a PSI file, s."""
    for line in text.splitlines():
        if line.startswith("some "):
            total = line.rpartition("total=")[2]
            return int(total) / 1e6 if total.isdigit() else None
    return None


def busy_seconds(text: str) -> tuple[float, float] | None:
    """Busy and all processor seconds of the first line of ``/proc/stat``; stolen time is busy."""
    words = text.partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu" or not all(word.isdigit() for word in words[1:9]):
        return None
    ticks = [int(word) for word in words[1:9]]
    idle = ticks[3] + ticks[4]
    hertz = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - idle) / hertz, sum(ticks) / hertz


def _queued() -> dict[str, float] | None:
    """Seconds in the run queue of each thread of this process except its first, which does no operations."""
    found = {}
    try:
        threads = [name for name in os.listdir("/proc/self/task") if name != str(os.getpid())]  # noqa: PTH208
    except OSError:
        return None
    for thread in threads:
        words = _text(f"/proc/self/task/{thread}/schedstat").split()
        if len(words) >= 2 and words[1].isdigit():
            found[thread] = int(words[1]) / 1e9
    return found or None


def _plus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
