"""Records of server monitors, as blocks: one metric of several components over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants


Kind = Literal["gauge", "delta"]
"""``gauge``: a state at an instant or over a step (CPU %, bytes used). ``delta``: an amount in a step."""

_WAITS = ("queue_wait", "round_trip", "execution")
SERIES: dict[str, tuple[str, Kind]] = {
    **dict.fromkeys(("read_bytes", "written_bytes", "in_bytes", "out_bytes"), ("bytes", "delta")),
    **dict.fromkeys(
        (
            *("read_ops", "write_ops", "opens", "closes", "getattrs", "setattrs", "getxattrs"),
            *("setxattrs", "mkdirs", "rmdirs", "mknods", "links", "unlinks", "renames", "statfss"),
            *("readdirs", "inode_updates", "creates", "syncs", "punches", "lookups", "accesses"),
            *("other_ops", "retransmissions", "timeouts", "failed_ops", "seeks", "destroys"),
        ),
        ("operations", "delta"),
    ),
    **dict.fromkeys(
        (
            *("queue_wait_s", "round_trip_s", "execution_s", "io_time_s"),
            *(f"{way}_{what}_s" for way in ("read", "write") for what in _WAITS),
        ),
        ("s", "delta"),
    ),
    **dict.fromkeys(
        (
            *("cpu_percent", "memory_percent", "cpu_wait_percent"),
            *("cpu_user_percent", "cpu_system_percent", "cpu_idle_percent"),
        ),
        ("percent", "gauge"),
    ),
    **dict.fromkeys(
        (
            *("total_bytes", "used_bytes", "free_bytes", "available_bytes", "memory_used_bytes"),
            *(f"memory_{kind}_bytes" for kind in ("free", "cached", "buffered", "total")),
            *("memory_slab_bytes", "memory_slab_unreclaimable_bytes"),
            *(f"metadata_{kind}_bytes" for kind in ("total", "used", "free")),
            "free_fragments_bytes",
        ),
        ("bytes", "gauge"),
    ),
    **dict.fromkeys(
        ("total_inodes", "used_inodes", "free_inodes", "allocated_inodes"), ("inodes", "gauge")
    ),
    **dict.fromkeys(
        (
            *("clients", "locks", "in_flight_ops", "degraded", "healthy"),
            *("available", "ready", "waiters", "queued_ops"),
        ),
        ("", "gauge"),
    ),
    "longest_wait_s": ("s", "gauge"),
    "ops_per_s": ("operations/s", "gauge"),
    "bytes_per_s": ("bytes/s", "gauge"),
}
"""Names of series: unit and kind. A source may have others, named like these, unit last."""

LEVELS: tuple[str, ...] = (
    *("filesystem", "ost", "mdt", "oss", "mds", "nsd", "server", "client", "pool", "job", "device"),
)
"""Kinds of components. ``server``: of unknown kind."""


@dataclass(frozen=True)
class MetricBlock:
    """Block of a metric: several components over time.

    ``time_ns`` int64 (T,): left edge of each step, or the instant of a gauge; UTC, ascending, no value twice.
    ``step_ns`` int64 (T,): length of each step; 0 for instants. ``value`` float64 (T, N): missing is NaN, and
    only that. A delta is the amount that passed in [time, time + step), never a rate and never a counter.
    """

    source: str
    """The tool that recorded it: ``lmt``, ``tokio``, ``mmpmon``."""
    system: str
    """File system (or cluster) of the components; "" if unknown."""
    level: str
    """Kind of the components, of ``LEVELS``."""
    metric: str
    unit: str
    kind: Kind
    components: tuple[str, ...]
    time_ns: Instants
    step_ns: Instants
    value: Floats
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.time_ns), len(self.components))
        if self.value.shape != shape or self.step_ns.shape != self.time_ns.shape:
            raise ValueError(f"{self.metric}: values {self.value.shape}, expected {shape}")


class Edge(NamedTuple):
    """``child`` is served by (or is part of, or lies at) ``parent``, as seen at an instant."""

    source: str
    system: str
    time_ns: int
    level: str
    """Kind of the child: of ``LEVELS``, or ``node``."""
    child: str
    parent: str
    """For ``node``: its coordinates, as ``x,y,z``."""
