"""Every connector of monitors', schedulers' and jobs' records, and which of them can read a file."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from iosonde.connectors.source import Head, Item, Settings, Warn, head_of

MODULES: tuple[str, ...] = (
    *("darshan.log", "lustre.lmt.sql", "scheduler.job_table", "lustre.tokio_timeseries"),
    *("lustre.h5lmt", "lustre.proc", "darshan.text", "gpfs.mmperfmon", "gpfs.mmpmon", "gpfs.mmdf"),
    *("gpfs.mmhealth", "gpfs.mmdiag", "gpfs.mmlsdisk", "gpfs.mmlsqos"),
    *("lustre.lfs_df", "lustre.lctl_dl", "lustre.lmt.wire", "lustre.get_param", "lustre.job_stats"),
    *(
        "client.mountstats",
        "client.nfsiostat",
        "client.raw_collectl",
        "client.collectl",
        "client.proc_net_rpc",
    ),
    *("client.cgroups", "scheduler.sacct", "scheduler.sacct_json"),
    *("scheduler.squeue", "scheduler.jobcomp", "scheduler.xtdb2proc", "prometheus.text"),
)
"""In the order in which they are asked: what says most clearly what it is comes first."""


class Connector(Protocol):
    """What a module of ``MODULES`` offers."""

    KIND: str
    """What its files are called."""

    def recognises(self, head: Head) -> bool:
        """Whether a file is one of its own, by what it holds."""
        ...

    def read(self, path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        """What a file holds; bad rows are told of, what cannot be read at all raises InputFileError."""
        ...


def every() -> Iterator[Connector]:
    """All connectors, imported one by one as they are asked for."""
    for name in MODULES:
        module: Connector = importlib.import_module(f"iosonde.connectors.{name}")
        yield module


def connector_of(path: Path) -> Connector | None:
    """The connector that can read a file or folder; None if none can. Raises InputFileError: unreadable."""
    if path.is_dir():
        return next((one for one in every() if _takes_folder(one, path)), None)
    head = head_of(path)
    return next((one for one in every() if one.recognises(head)), None)


def _takes_folder(one: Connector, path: Path) -> bool:
    recognises = getattr(one, "recognises_folder", None)
    return recognises is not None and bool(recognises(path))
