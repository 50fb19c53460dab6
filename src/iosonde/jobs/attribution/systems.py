"""What records of clients and jobs call the file system of a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.engine.states import read_states
from iosonde.jobs.environment.servers import JobSpan, systems_of
from iosonde.jobs.store.scan import Passing

if TYPE_CHECKING:
    from collections.abc import Collection

_LEVELS = ("client", "job")


def recorded_systems(root: Path, target: str, begin_ns: int, end_ns: int) -> tuple[str, ...] | None:
    """Systems of the records that are about a target's file system; None: none says so, and all may be.

    A system is the target's by its name or its mount point, by that of the whole of which it is a component, or by
    its path: then the mount point is the longest that the path begins with. Operations of jobs on a file system that
    nothing names, "", may be the target's, too. Raises StoreError.
    """
    names, paths = {target}, set()
    for state in read_states(root):
        whole = state.get("component") or {}
        if target in (state["target"], whole.get("of")):
            names |= {str(whole["of"])} if whole else set()
            paths.add(str(state["path"]))
    with Passing(root) as passing:
        mine = {
            system
            for name in names
            for system in systems_of(passing, JobSpan(name, begin_ns, end_ns))
        }
        series = passing.series_names(begin_ns, end_ns)
    there = {one.system for one in series if one.level in _LEVELS}
    mine |= {point for path in paths if (point := _mount(path, there))}
    if not mine & there:
        return None
    nowhere = {one.system for one in series if one.level == "job" and not one.system}
    return tuple(sorted(mine & there | nowhere))


def _mount(path: str, systems: Collection[str]) -> str:
    """The longest mount point among systems that a path lies in; "" for none.

    The root's device is meant only by its own path: what is mounted below it need not be on a device.
    """
    points = [
        point
        for point in systems
        if point.startswith("/")
        and (path == point or (point != "/" and path.startswith(f"{point}/")))
    ]
    return max(points, key=len, default="")
