"""Names of node_exporter's disks (``node_disk_*``), from version 0.16 on, which counts seconds and bytes.

Source: prometheus/node_exporter, collector/diskstats_linux.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from iosonde.connectors.disks.series import LEVEL, disk_of
from iosonde.connectors.prometheus.meaning import MetricMeaning, host_of

_PORT = re.compile(r":\d{1,5}$", re.ASCII)


def _disk(metric: str, counter: bool = True) -> MetricMeaning:
    return MetricMeaning("disks", metric, counter)


DISKS: dict[str, MetricMeaning] = {
    "node_disk_reads_completed_total": _disk("read_ops"),
    "node_disk_writes_completed_total": _disk("write_ops"),
    "node_disk_read_bytes_total": _disk("read_bytes"),
    "node_disk_written_bytes_total": _disk("written_bytes"),
    "node_disk_read_time_seconds_total": _disk("read_execution_s"),
    "node_disk_write_time_seconds_total": _disk("write_execution_s"),
    "node_disk_io_time_seconds_total": _disk("io_time_s"),
    "node_disk_io_time_weighted_seconds_total": _disk("execution_s"),
    "node_disk_io_now": _disk("in_flight_ops", counter=False),
}


def disk_place(labels: Mapping[str, str], node: str) -> tuple[str, str, str] | None:
    """Level, component and system of a disk's sample; ``node``: of a sample that names no host."""
    device = labels.get("device", "")
    # The instance of a scrape has the exporter's port, which is no part of the host's name.
    return (LEVEL, disk_of(_PORT.sub("", host_of(labels)) or node, device), "") if device else None
