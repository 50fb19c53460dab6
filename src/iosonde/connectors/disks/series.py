"""Names of disks and of their series, the same for every source of a disk's counters.

::

    read_ops  write_ops                     requests that ended in a step
    read_bytes  written_bytes
    read_execution_s  write_execution_s     sum of their times: over their number it is the mean latency of the step
    execution_s                             the same of all requests: over the step it is the mean queue
    io_time_s                               time with any request in flight: over the step it is the utilisation
"""

from __future__ import annotations

from functools import lru_cache

from iosonde.connectors.gather import ComponentSeries

LEVEL = "device"


def disk_of(host: str, device: str) -> str:
    """Component of a disk: ``n001/sda``. Slashes of a device (``cciss/c0d0``) become ``!``, as in ``/sys``."""
    name = device.replace("/", "!")
    return f"{host}/{name}" if host else name


@lru_cache(maxsize=65_536)
def disk_series(system: str, host: str, device: str, metric: str) -> ComponentSeries:
    """Series of a disk's metric."""
    return ComponentSeries(system, LEVEL, metric, disk_of(host, device))
