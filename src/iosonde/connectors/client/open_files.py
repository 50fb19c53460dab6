"""The file system of a process's calls: the one on which it has files open, as a log of record-jobs says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from iosonde.connectors.client.mounts import Mounts


class OpenFiles:
    """Mounts of the files that processes have open, a record after the other."""

    def __init__(self, mounts: Mounts) -> None:
        self._mounts = mounts
        self._now: dict[tuple[str, str], set[str]] = {}
        self.of_job: dict[str, set[str]] = defaultdict(set)
        """File systems that processes of each job certainly used, so far."""

    def take(self, process: str, kind: str, mount: str) -> None:
        """Take one line. ``kind``: ``stdio`` for standard input and output, else ``files``."""
        self._now.setdefault((process, kind), set()).add(mount)

    def placed(self, jobs: Mapping[str, str]) -> dict[str, str]:
        """Finish a record: the mount point of each process of ``jobs`` (process -> job); "": not certain.

        Where a process has no file open, standard input and output decide, then what others of its job have open; not
        where it has something open that is not mounted on the node: it may be a container's file.
        """
        now, self._now = self._now, {}
        placed, others = {}, {}
        for process, job in jobs.items():
            files = now.get((process, "files"), set())
            places = self._mounts.of_files(files)
            if not places and self._mounts.knows(files):
                places = self._mounts.of_files(now.get((process, "stdio"), ()))
                if not places:
                    others[process] = job
            placed[process] = _only(places)
            if placed[process]:
                self.of_job[job].add(placed[process])
        return placed | {process: _only(self.of_job[job]) for process, job in others.items()}


def _only(places: Collection[str]) -> str:
    return next(iter(places)) if len(places) == 1 else ""
