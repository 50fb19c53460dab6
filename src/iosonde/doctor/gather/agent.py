"""Facts of the agent: its /metrics on loopback, and the process that holds a place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from iosonde.doctor.gather.host import read
from iosonde.host.child import Reporter

DEFAULT_ADDRESS = "127.0.0.1:9748"
_ANSWER_S = 1.0
_PAGE_BYTES = 8 << 20
_WANTED = {
    "process_cpu_seconds_total": "cpu_s",
    "process_resident_memory_bytes": "resident_bytes",
    "process_start_time_seconds": "started_s",
    "iosonde_spool_waiting_rows": "waiting_rows",
    "iosonde_spool_dropped_rows_total": "dropped_rows",
    "iosonde_spool_errors_total": "store_errors",
    "iosonde_clock_steps_total": "clock_steps",
}


def gather_metrics(address: str, report: Reporter) -> None:
    """Report ``metrics`` of the agent that listens at ``address``, or ``refused`` with the reason."""
    import http.client

    report.trying(f"to get http://{address}/metrics")
    connection = http.client.HTTPConnection(address, timeout=_ANSWER_S)
    try:
        connection.request("GET", "/metrics")
        page = connection.getresponse().read(_PAGE_BYTES).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        report.found(refused=words)
        return
    finally:
        connection.close()
    report.found(metrics=parse_metrics(page))


def parse_metrics(page: str) -> dict[str, Any]:
    """Parse the metrics that the doctor needs; a page without ``iosonde_build_info`` is another program's."""
    version = re.search(r'^iosonde_build_info\{[^}]*version="([^"]{1,40})"', page, flags=re.M)
    facts: dict[str, Any] = {"version": version[1] if version else None}
    for name, key in _WANTED.items():
        value = re.search(rf"^{name} ([0-9.eE+-]+)$", page, flags=re.M)
        facts[key] = float(value[1]) if value else None
    return facts


def gather_process(pid: int, own: str = "self") -> dict[str, Any] | None:
    """Process that holds a place; None if it has gone. Unreadable facts are None."""
    folder = Path("/proc") / str(pid)
    name = read(folder / "comm")
    if name is None:
        return None
    return {
        "pid": pid,
        "name": name.strip(),
        "program": _link(folder / "exe"),
        "mount_namespace": _link(folder / "ns" / "mnt"),
        "own_mount_namespace": _link(Path("/proc") / own / "ns" / "mnt"),
        "cpu_stat": _cpu_stat(read(folder / "cgroup")),
    }


def _cpu_stat(cgroup: str | None) -> str | None:
    """Text of cpu.stat of a process's control group, version 2 or 1."""
    for line in (cgroup or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if ".." in path:
            continue
        if controllers == "":
            roots = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
        elif "cpu" in controllers.split(","):
            roots = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct")
        else:
            continue
        for root in roots:
            text = read(f"{root}{path}/cpu.stat")
            if text is not None and "nr_throttled" in text:
                return text
    return None


def _link(path: Path) -> str | None:
    try:
        return str(path.readlink())
    except OSError:
        return None
