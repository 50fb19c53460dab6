"""Findings on a host as a source of samples."""

from __future__ import annotations

import re
import statistics
from typing import Any

from iosonde.doctor.finding import Diagnosis, Findings, size
from iosonde.model.units import format_duration

GOOD_CLOCKS = frozenset(
    {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen", "timebase"}
)
UNSYNCHRONISED = 5
STA_UNSYNC = 0x40


def judge_host(facts: dict[str, Any], host: str) -> list[Diagnosis]:
    """A finding for each check of the host with known facts."""
    found = Findings(f"host {host}")
    _clock(found, facts)
    _timer(found, facts["timer_late_ns"])
    _load(found, facts)
    _pressure(found, facts["pressure"])
    _steal(found, facts["stat_before"], facts["stat_after"])
    _sync(found, facts["clock_sync"])
    _memory(found, facts["meminfo"])
    return found.all


def _clock(found: Findings, facts: dict[str, Any]) -> None:
    source, cost = facts["clock_source"], facts["clock_cost_ns"]
    if source is not None:
        level = "ok" if source in GOOD_CLOCKS else "warning"
        others = facts["clock_sources"]
        says = f"clock source {source}" + ("" if level == "ok" else f" (there are: {others})")
        found.add("host-clock-source", level, says, clock_source=source, available=others)
    level = "ok" if cost < 250 else "note" if cost < 1000 else "warning"
    says = f"a clock reading costs {format_duration(cost)}"
    found.add("host-clock-cost", level, says, clock_reading_ns=cost)


def _timer(found: Findings, late_ns: list[int]) -> None:
    median, longest = int(statistics.median(late_ns)), max(late_ns)
    level = "warning" if median >= 1e6 else "note" if longest >= 5e6 else "ok"
    says = (
        f"timers fire {format_duration(median)} late (median of {len(late_ns)}; "
        f"longest {format_duration(longest)})"
    )
    found.add("host-timer", level, says, late_median_ns=median, late_max_ns=longest, n=len(late_ns))


def _load(found: Findings, facts: dict[str, Any]) -> None:
    match = re.match(r"([\d.]+) ", facts["loadavg"] or "")
    if match:
        load, cpus = float(match[1]), facts["cpus"]
        share = load / cpus
        level = "warning" if share >= 2 else "note" if share >= 1 else "ok"
        says = f"load {load:.2f} on {cpus} CPUs"
        found.add("host-load", level, says, load_1min=load, cpus=cpus)


def _pressure(found: Findings, text: str | None) -> None:
    match = re.search(r"^some avg10=([\d.]+) avg60=([\d.]+)", text or "", flags=re.M)
    if match:
        now, minute = float(match[1]), float(match[2])
        level = "warning" if now >= 30 else "note" if now >= 10 else "ok"
        says = f"a task waited for a CPU in {now:.1f}% of the last 10 s ({minute:.1f}% of 60 s)"
        found.add(
            "host-cpu-pressure", level, says, waiting_10s_percent=now, waiting_60s_percent=minute
        )
    else:
        says = "this kernel does not tell how long tasks wait for a CPU"
        found.add("host-cpu-pressure", "note", says, waiting_10s_percent=None)


def _steal(found: Findings, before: str | None, after: str | None) -> None:
    first, last = _ticks(before), _ticks(after)
    if first is None or last is None:
        return
    since_boot = 100 * last[1] / max(1, last[0])
    now = 100 * (last[1] - first[1]) / max(1, last[0] - first[0])
    level = "warning" if since_boot >= 5 else "note" if since_boot >= 1 or now >= 10 else "ok"
    says = f"the hypervisor took {since_boot:.1f}% of CPU time since boot, {now:.0f}% just now"
    if last[1] == 0:
        says = "no time was stolen by a hypervisor"
    found.add("host-steal", level, says, stolen_percent=since_boot, stolen_now_percent=now)


def _ticks(stat: str | None) -> tuple[int, int] | None:
    """Total ticks of all CPUs and the stolen ones; guests are part of user time already."""
    match = re.match(r"cpu +((?:\d+ ){7}\d+)", stat or "")
    if match is None:
        return None
    ticks = [int(word) for word in match[1].split()]
    return sum(ticks), ticks[7]


def _sync(found: Findings, sync: dict[str, int] | None) -> None:
    if sync is None:
        return
    numbers = {name: sync[name] for name in ("offset_ns", "max_error_ns", "estimated_error_ns")}
    if sync["state"] == UNSYNCHRONISED or sync["status"] & STA_UNSYNC:
        says = "the clock is not synchronised (kernel: STA_UNSYNC)"
        found.add("host-clock-sync", "warning", says, synchronised=False, **numbers)
        return
    error = sync["max_error_ns"]
    level = "ok" if error < 1_000_000_000 else "note"
    offset = format_duration(abs(sync["offset_ns"]))
    says = f"the clock is synchronised: {offset} off, at most {format_duration(error)}"
    found.add("host-clock-sync", level, says, synchronised=True, **numbers)


def _memory(found: Findings, text: str | None) -> None:
    values = meminfo(text)
    total, available = values.get("MemTotal", 0), values.get("MemAvailable")
    if not total or available is None:
        return
    swapped = values.get("SwapTotal", 0) - values.get("SwapFree", 0)
    share = available / total
    level = "warning" if share < 0.05 else "note" if share < 0.10 else "ok"
    says = f"{size(available)} of {size(total)} memory available"
    if swapped:
        says += f", {size(swapped)} swapped out"
    found.add(
        "host-memory",
        level,
        says,
        memory_bytes=total,
        available_bytes=available,
        swapped_bytes=swapped,
    )


def meminfo(text: str | None) -> dict[str, int]:
    """/proc/meminfo in bytes."""
    rows = re.findall(r"^(\w+): +(\d+) kB$", text or "", flags=re.M)
    return {name: int(value) * 1024 for name, value in rows}
