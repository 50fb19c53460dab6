"""What numbers about a job mean: unit, which way is good, what they can be (``schema/metrics/jobs.toml``)."""

from __future__ import annotations

from typing import Literal, NamedTuple

Good = Literal["high", "low"] | None
Role = Literal["performance", "cause", "effect", "own", "climate"]
"""``performance``: what is explained. ``cause``: can slow a job. ``effect``: a fast job itself raises or lowers it.
``own``: what the job itself did. ``climate``: changes over weeks, not from job to job."""


class About(NamedTuple):
    """What a metric of a job is."""

    unit: str
    label: str
    """For axes and sentences, without the unit."""
    good: Good = None
    """Which way is good for the job; None: neither (neutral), or not known."""
    role: Role = "cause"
    group: str = ""
    """Metrics of one group say nearly the same."""


_OPS = {
    "opens": "opens",
    "closes": "closes",
    "getattrs": "stats",
    "setattrs": "attribute changes",
    "getxattrs": "extended attribute reads",
    "mkdirs": "directories made",
    "rmdirs": "directories removed",
    "mknods": "creates",
    "links": "links",
    "unlinks": "deletes",
    "renames": "renames",
    "statfss": "statfs calls",
    "readdirs": "directory reads",
    "inode_updates": "inode updates",
}

JOB_METRICS: dict[str, About] = {
    "performance_bytes_per_s": About("bytes/s", "I/O rate of the job", "high", "performance"),
    **{
        f"performance_{api}_bytes_per_s": About(
            "bytes/s", f"I/O rate ({api})", "high", "performance"
        )
        for api in ("posix", "mpiio", "stdio")
    },
    "performance_ops_per_s": About("operations/s", "rate of the benchmark", "high", "performance"),
    "fraction_of_peak_ratio": About("ratio", "fraction of peak", "high", "performance"),
    "own_read_bytes": About("bytes", "bytes the job read", None, "own"),
    "own_written_bytes": About("bytes", "bytes the job wrote", None, "own"),
    "own_bytes": About("bytes", "bytes the job moved", None, "own"),
    "own_reads": About("operations", "reads of the job", None, "own"),
    "own_writes": About("operations", "writes of the job", None, "own"),
    "own_opens": About("operations", "opens of the job", None, "own"),
    "own_stats": About("operations", "stats of the job", None, "own"),
    "own_nodes": About("nodes", "nodes of the job", None, "own"),
    "own_node_hours": About("node hours", "node hours of the job", None, "own"),
    "own_io_s": About("s", "I/O time of the slowest rank", "low", "performance"),
    **{
        f"{name}_bytes": About("bytes", words, None, "own")
        for name, words in (
            ("peak_memory", "peak memory"),
            ("requested_memory", "memory asked for"),
            ("mean_task_read", "bytes a task read"),
            ("mean_task_written", "bytes a task wrote"),
            ("task_read", "bytes tasks read"),
            ("task_written", "bytes tasks wrote"),
        )
    },
    "exit_code": About("", "exit code", None, "own"),
    "exit_signal": About("", "signal that ended it", None, "own"),
    "own_files": About("files", "files of the job", None, "own"),
    "duration_s": About("s", "run time", None, "effect"),
    "cf_bandwidth_ratio": About(
        "ratio", "coverage factor (bandwidth)", "high", "cause", "contention"
    ),
    "cf_ops_ratio": About(
        "ratio", "coverage factor (reads and writes)", "high", "cause", "contention"
    ),
    "cf_opens_ratio": About("ratio", "coverage factor (opens)", "high", "cause", "contention"),
    "cf_stats_ratio": About("ratio", "coverage factor (stats)", "high", "cause", "contention"),
    "cf_node_hours_ratio": About(
        "ratio", "coverage factor (node hours)", "high", "cause", "contention"
    ),
    "contention_bandwidth_ratio": About(
        "ratio", "contention (bandwidth)", "low", "cause", "contention"
    ),
    "contention_ops_ratio": About(
        "ratio", "contention (reads and writes)", "low", "cause", "contention"
    ),
    "contention_opens_ratio": About("ratio", "contention (opens)", "low", "cause", "contention"),
    "contention_stats_ratio": About("ratio", "contention (stats)", "low", "cause", "contention"),
    "contention_node_hours_ratio": About(
        "ratio", "contention (node hours)", "low", "cause", "contention"
    ),
    "others_bytes_per_s": About("bytes/s", "traffic of others", "low", "cause", "contention"),
    **{
        f"others_{name}_per_s": About(
            "operations/s", f"{words} of others a second", "low", "cause", group
        )
        for name, words, group in (
            ("opens", "opens", "metadata"),
            ("getattrs", "stats", "metadata"),
            ("read_ops", "reads", "traffic"),
            ("write_ops", "writes", "traffic"),
        )
    },
    "server_read_bytes": About("bytes", "bytes read from the servers", "low", "cause", "traffic"),
    "server_written_bytes": About(
        "bytes", "bytes written to the servers", "low", "cause", "traffic"
    ),
    "server_read_ops": About("operations", "reads at the servers", "low", "cause", "traffic"),
    "server_write_ops": About("operations", "writes at the servers", "low", "cause", "traffic"),
    "server_rw_ops": About(
        "operations", "reads and writes at the servers", "low", "cause", "traffic"
    ),
    "server_opens_closes": About(
        "operations", "opens and closes at the servers", "low", "cause", "metadata"
    ),
    **{
        f"server_{name}": About("operations", f"{words} at the servers", "low", "cause", "metadata")
        for name, words in _OPS.items()
    },
    **{
        f"server_{name}_per_s": About(
            "operations/s", f"{words} a second", "low", "cause", "metadata"
        )
        for name, words in _OPS.items()
    },
    "oss_cpu_mean_percent": About("percent", "mean OSS CPU", "low", "effect", "cpu"),
    "oss_cpu_max_percent": About("percent", "max OSS CPU", "low", "cause", "cpu"),
    "mds_cpu_mean_percent": About("percent", "mean MDS CPU", "low", "cause", "cpu"),
    "mds_cpu_max_percent": About("percent", "max MDS CPU", "low", "cause", "cpu"),
    "server_missing_ratio": About("ratio", "server samples missing", None, "own", "quality"),
    "fullest_ost_percent": About("percent", "fullest OST", "low", "climate", "fullness"),
    "emptiest_ost_percent": About("percent", "emptiest OST", "low", "climate", "fullness"),
    "mean_fullness_percent": About("percent", "mean fullness", "low", "climate", "fullness"),
    "overloaded_oss": About("servers", "servers with too many OSTs", "low", "cause", "failover"),
    "overloaded_osts": About("OSTs", "OSTs on failed-over servers", "low", "cause", "failover"),
    "overloaded_osts_percent": About(
        "percent", "share of OSTs on failed-over servers", "low", "cause", "failover"
    ),
    "osts_per_overloaded_oss": About(
        "OSTs", "OSTs on each failed-over server", "low", "cause", "failover"
    ),
    "overload_factor_ratio": About(
        "ratio", "overload of failed-over servers", "low", "cause", "failover"
    ),
    "radius_min_hops": About(
        "hops", "smallest distance of a node from the middle", "low", "cause", "placement"
    ),
    "radius_mean_hops": About("hops", "mean job radius", "low", "cause", "placement"),
    "radius_max_hops": About("hops", "max job radius", "low", "cause", "placement"),
    "concurrent_jobs": About("jobs", "jobs at the same time", "low", "cause", "concurrency"),
    "concurrent_nodes": About(
        "nodes", "nodes of jobs at the same time", "low", "cause", "concurrency"
    ),
    "concurrent_node_hours": About(
        "node hours", "node hours at the same time", "low", "effect", "concurrency"
    ),
    **{
        f"probe_{name}_s": About("s", f"probed {words} just before", "low", "cause", "probe")
        for name, words in (("read", "reads"), ("write", "writes"), ("metadata", "metadata"))
    },
    "host_load": About("", "load of the client", "low", "cause", "client"),
    "room_used_percent": About("percent", "room used", "low", "climate", "fullness"),
}
"""Name -> what it is; the unit is the name's last word."""


def about(metric: str) -> About:
    """What a metric is; one that nobody has described has no good way. Features of a job's own doing are its own."""
    if metric.startswith("feature_"):
        unit = metric.rpartition("_")[2]
        return About(unit, metric.removesuffix(f"_{unit}").replace("_", " "), None, "own")
    return JOB_METRICS.get(metric) or About("", metric.replace("_", " "), None, "cause")
