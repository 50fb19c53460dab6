"""Prometheus names of storage exporters, and iosonde's metrics for them.

Exporters: lustre_exporter (HPE, and GSI's that is maintained), lustrefs-exporter (DDN), gpfs_exporter, IBM's bridge for
Grafana, node_exporter's mountstats of NFS and its disks (``disk_names``).
"""

from __future__ import annotations

from collections.abc import Mapping

from iosonde.connectors.gather import ComponentSeries
from iosonde.connectors.prometheus.disk_names import DISKS, disk_place
from iosonde.connectors.prometheus.meaning import MetricMeaning, host_of

KIB = 1024.0
_LUSTRE_OPERATIONS = {
    "open": "opens", "close": "closes", "mknod": "mknods", "link": "links", "unlink": "unlinks",
    "mkdir": "mkdirs", "rmdir": "rmdirs", "rename": "renames", "getattr": "getattrs",
    "setattr": "setattrs", "getxattr": "getxattrs", "setxattr": "setxattrs", "statfs": "statfss",
    "sync": "syncs", "punch": "punches", "create": "creates", "readdir": "readdirs",
    "fsync": "syncs", "seek": "seeks", "destroy": "destroys",
}  # fmt: skip
_GPFS_OPERATIONS = {
    "opens": "opens", "closes": "closes", "reads": "read_ops", "writes": "write_ops",
    "read_dir": "readdirs", "inode_updates": "inode_updates",
}  # fmt: skip


_LLITE_OPERATIONS = {
    **{name: metric for name, metric in _LUSTRE_OPERATIONS.items() if name != "sync"},
    "read_bytes": "read_ops", "write_bytes": "write_ops",
}  # fmt: skip
"""Operations of mounts; "read" and "write" count calls of applications, even those that moved nothing."""
_NFS_OPERATIONS = {
    "READ": "read_ops", "WRITE": "write_ops", "OPEN": "opens", "CLOSE": "closes", "GETATTR": "getattrs",
    "SETATTR": "setattrs", "LOOKUP": "lookups", "ACCESS": "accesses", "CREATE": "creates",
    "REMOVE": "unlinks", "MKDIR": "mkdirs", "RMDIR": "rmdirs", "RENAME": "renames", "LINK": "links",
    "MKNOD": "mknods", "COMMIT": "syncs",
}  # fmt: skip


def _nfs_waits(what: str) -> dict[str, str]:
    return {"READ": f"read_{what}_s", "WRITE": f"write_{what}_s"}


def _lustre(metric: str, counter: bool, scale: float = 1.0) -> MetricMeaning:
    return MetricMeaning("lustre", metric, counter, scale)


def _gpfs(family: str, metric: str, counter: bool) -> MetricMeaning:
    return MetricMeaning(family, metric, counter)


NAMES: dict[str, MetricMeaning] = {
    "lustre_read_bytes_total": _lustre("read_bytes", True),
    "lustre_write_bytes_total": _lustre("written_bytes", True),
    "lustre_read_samples_total": _lustre("read_ops", True),
    "lustre_write_samples_total": _lustre("write_ops", True),
    "lustre_stats_total": MetricMeaning("lustre", "", True, 1.0, _LUSTRE_OPERATIONS),
    "lustre_job_read_bytes_total": _lustre("read_bytes", True),
    "lustre_job_write_bytes_total": _lustre("written_bytes", True),
    "lustre_job_read_samples_total": _lustre("read_ops", True),
    "lustre_job_write_samples_total": _lustre("write_ops", True),
    "lustre_job_stats_total": MetricMeaning("lustre", "", True, 1.0, _LUSTRE_OPERATIONS),
    "lustre_capacity_kilobytes": _lustre("total_bytes", False, KIB),
    "lustre_free_kilobytes": _lustre("free_bytes", False, KIB),
    "lustre_available_kilobytes": _lustre("available_bytes", False, KIB),
    "lustre_capacity_kibibytes": _lustre("total_bytes", False, KIB),
    "lustre_free_kibibytes": _lustre("free_bytes", False, KIB),
    "lustre_available_kibibytes": _lustre("available_bytes", False, KIB),
    "lustre_inodes_maximum": _lustre("total_inodes", False),
    "lustre_inodes_free": _lustre("free_inodes", False),
    "lustre_degraded": _lustre("degraded", False),
    "lustre_health_check": _lustre("healthy", False),
    "lustre_send_bytes_total": _lustre("out_bytes", True),
    "lustre_receive_bytes_total": _lustre("in_bytes", True),
    "gpfs_perf_read_bytes_total": _gpfs("client", "read_bytes", True),
    "gpfs_perf_write_bytes_total": _gpfs("client", "written_bytes", True),
    "gpfs_perf_operations_total": MetricMeaning("client", "", True, 1.0, _GPFS_OPERATIONS),
    "gpfs_fs_size_bytes": _gpfs("filesystem", "total_bytes", False),
    "gpfs_fs_free_bytes": _gpfs("filesystem", "free_bytes", False),
    "gpfs_fs_inodes": _gpfs("filesystem", "total_inodes", False),
    "gpfs_fs_used_inodes": _gpfs("filesystem", "used_inodes", False),
    "gpfs_fs_free_inodes": _gpfs("filesystem", "free_inodes", False),
    "gpfs_fs_allocated_inodes": _gpfs("filesystem", "allocated_inodes", False),
    "gpfs_fs_metadata_size_bytes": _gpfs("filesystem", "metadata_total_bytes", False),
    "gpfs_fs_metadata_free_bytes": _gpfs("filesystem", "metadata_free_bytes", False),
    "gpfs_fs_pool_total_bytes": _gpfs("pool", "total_bytes", False),
    "gpfs_fs_pool_free_bytes": _gpfs("pool", "free_bytes", False),
    "gpfs_fs_pool_free_fragments_bytes": _gpfs("pool", "free_fragments_bytes", False),
    "gpfs_fs_bytes_read": _gpfs("client", "read_bytes", True),
    "gpfs_fs_bytes_written": _gpfs("client", "written_bytes", True),
    "gpfs_fs_read_ops": _gpfs("client", "read_ops", True),
    "gpfs_fs_write_ops": _gpfs("client", "write_ops", True),
    "gpfs_nsdds_bytes_read": _gpfs("nsd", "read_bytes", True),
    "gpfs_nsdds_bytes_written": _gpfs("nsd", "written_bytes", True),
    "gpfs_nsdds_read_ops": _gpfs("nsd", "read_ops", True),
    "gpfs_nsdds_write_ops": _gpfs("nsd", "write_ops", True),
    "gpfs_health_status": MetricMeaning("health", "healthy", False, only=("status", "HEALTHY")),
    "gpfs_disk_availability": MetricMeaning(
        "disk", "available", False, only=("availability", "up")
    ),
    "gpfs_disk_status": MetricMeaning("disk", "ready", False, only=("status", "ready")),
    "gpfs_qos_iops": _gpfs("qos", "ops_per_s", False),
    "gpfs_qos_bytes_per_second": _gpfs("qos", "bytes_per_s", False),
    "gpfs_qos_average_pending_requests": _gpfs("qos", "in_flight_ops", False),
    "gpfs_qos_ioql": _gpfs("qos", "in_flight_ops", False),
    "gpfs_qos_qsdl": _gpfs("qos", "queued_ops", False),
    "gpfs_qos_average_queued_requests": _gpfs("qos", "queued_ops", False),
    "lustre_client_stats": MetricMeaning("mount", "", True, 1.0, _LLITE_OPERATIONS),
    "lustre_client_stats_total": MetricMeaning("mount", "", True, 1.0, _LLITE_OPERATIONS),
    "node_mountstats_nfs_total_read_bytes_total": MetricMeaning("nfs", "read_bytes", True),
    "node_mountstats_nfs_total_write_bytes_total": MetricMeaning("nfs", "written_bytes", True),
    "node_mountstats_nfs_operations_requests_total": MetricMeaning(
        "nfs", "", True, 1.0, _NFS_OPERATIONS
    ),
    "node_mountstats_nfs_operations_queue_time_seconds_total": MetricMeaning(
        "nfs", "", True, 1.0, _nfs_waits("queue_wait")
    ),
    "node_mountstats_nfs_operations_response_time_seconds_total": MetricMeaning(
        "nfs", "", True, 1.0, _nfs_waits("round_trip")
    ),
    "node_mountstats_nfs_operations_request_time_seconds_total": MetricMeaning(
        "nfs", "", True, 1.0, _nfs_waits("execution")
    ),
    **DISKS,
}
"""Name in Prometheus -> metric. Sizes in "kilobytes" are KiB, as those in "kibibytes"."""
_LUSTRE_LEVELS = {"ost": "ost", "mdt": "mdt", "client": "client", "mds": "mds", "oss": "oss"}


def series(
    name: str, labels: Mapping[str, str], system: str, node: str = ""
) -> tuple[MetricMeaning, ComponentSeries] | None:
    """Metric and component of a sample; None for unknown names, operations or components.

    ``system``: of samples that name no file system; ``node``: of disks that name no host. What runs on several hosts
    is told apart by ``nodename``, ``node`` or ``instance``.
    """
    what = NAMES.get(name)
    if what is None:
        return None
    metric = what.metric or what.operations.get(labels.get("operation", ""), "")
    if not metric or (what.only is not None and labels.get(what.only[0]) != what.only[1]):
        return None
    place = disk_place(labels, node) if what.family == "disks" else _place(what.family, labels)
    if place is None:
        return None
    level, component, of = place
    return what, ComponentSeries(of or system, level, metric, component or system)


def _place(family: str, labels: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Level, component and file system of a sample; None if not given."""
    if family == "lustre":
        return _lustre_place(labels)
    if family == "mount":
        target = labels.get("target", "")
        return ("client", host_of(labels) or target, target.rpartition("-")[0]) if target else None
    if family == "nfs":
        export = labels.get("export", "")
        return ("client", host_of(labels) or export, export) if export else None
    return _gpfs_place(family, labels)


def _lustre_place(labels: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Level, component and file system. Older exporters have a label ``ost``, newer ``component`` and ``target``."""
    kind = labels.get("component", "")
    target = labels.get("target", "")
    for older in () if kind else _LUSTRE_LEVELS:
        if older in labels:
            kind, target = older, labels[older]
    level = _LUSTRE_LEVELS.get(kind, "server")
    host = host_of(labels)
    system, dash, _ = target.rpartition("-")
    system = system if dash and level in ("ost", "mdt", "client") else ""
    if job := labels.get("jobid"):
        return "job", f"{job}@{target or host}", system
    if (
        level == "client"
    ):  # of a mount, lustrefs-ffff88105db50000; which host is said by the scraper
        return level, host or target, system
    return level, target or host, system


def _gpfs_place(family: str, labels: Mapping[str, str]) -> tuple[str, str, str] | None:
    system = labels.get("fs") or labels.get("gpfs_fs_name") or ""
    if family == "filesystem":
        return family, system, system
    if family == "pool":
        pool = labels.get("pool") or labels.get("gpfs_diskpool_name") or ""
        return (family, pool, system) if pool else None
    host = host_of(labels)
    if family in _STATES:
        return _gpfs_state(family, labels, host, system)
    if family == "nsd":
        disk = (
            labels.get("gpfs_nsd_name") or labels.get("gpfs_disk_name") or labels.get("nsd") or ""
        )
        return (family, f"{disk}@{host}" if host else disk, system) if disk else None
    return family, host, system


_STATES = ("health", "disk", "qos")
_ENTITIES = {"FILESYSTEM": "filesystem", "DISK": "nsd", "POOL": "pool"}


def _gpfs_state(
    family: str, labels: Mapping[str, str], host: str, system: str
) -> tuple[str, str, str] | None:
    """Level, component and file system of a state, named as in ``mmhealth``, ``mmlsdisk`` and ``mmlsqos``."""
    if family == "disk":
        name = labels.get("name", "")
        return ("nsd", name, system) if name else None
    if family == "qos":
        pool, of = labels.get("pool", ""), labels.get("class", "")
        return ("pool", f"{pool}/{of}", system) if pool and of else None
    component, entity = labels.get("component", ""), labels.get("entityname", "")
    kind = labels.get("entitytype", "")
    if not component or not entity:
        return None
    if kind == "NODE":
        return "server", entity if component == "NODE" else f"{entity}/{component}", system
    level = _ENTITIES.get(kind, "device")
    return (
        level,
        f"{entity}@{host}" if host else entity,
        entity if level == "filesystem" else system,
    )
