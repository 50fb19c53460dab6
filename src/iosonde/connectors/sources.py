"""Registry of connectors for monitors, schedulers and jobs: the one that reads a file, or the error if none does."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from iosonde.connectors.benchmarks.kinds import KINDS
from iosonde.connectors.compressed import unreadable
from iosonde.connectors.containers import container_error
from iosonde.connectors.darshan.head import old_log
from iosonde.connectors.lines import bad, shown
from iosonde.connectors.samples.header import columns_in, lacking
from iosonde.connectors.source import Connector, Head, head_of
from iosonde.connectors.unsupported import near_miss
from iosonde.model.errors import InputFileError

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
    *("disks.iostat", "disks.iostat_json", "disks.diskstats"),
    *("client.cgroups", "scheduler.sacct", "scheduler.sacct_json"),
    *("scheduler.squeue", "scheduler.jobcomp", "scheduler.xtdb2proc", "prometheus.text"),
    "tables.places",
)
"""In the order of trial: unambiguous formats first."""


NO_KIND = (
    f"one of: {', '.join(KINDS)}; or a record of servers or jobs as docs/importing.md lists them"
)
"""Expected kinds of files, for errors about unknown ones."""


def every() -> Iterator[Connector]:
    """Yield all connectors, imported one by one on demand."""
    for name in MODULES:
        module: Connector = importlib.import_module(f"iosonde.connectors.{name}")
        yield module


def connector_of(path: Path) -> Connector | None:
    """Connector that can read a file; None if none can. Raises InputFileError: unreadable."""
    return source_of(head_of(path))


def source_of(head: Head) -> Connector | None:
    """Connector for a file with this start."""
    return next((one for one in every() if one.recognises(head)), None)


def of_folder(folder: Path) -> list[Connector]:
    """Connectors that read a folder as a whole."""
    found = []
    for one in every():
        recognises = getattr(one, "recognises_folder", None)
        with suppress(InputFileError):
            if recognises is not None and recognises(folder):
                found.append(one)
    return found


def refusal(path: Path) -> InputFileError:
    """Error that explains why no connector can read a file."""
    if path.is_dir():
        what = f"{path}: a folder with nothing in it that can be read"
        expected = "files of the kinds that docs/importing.md lists"
        return InputFileError(what, expected=expected)
    try:
        why = unreadable(path) or container_error(path) or old_log(path, head_of(path).data)
        if why is not None:
            return why
        lines = head_of(path).lines
    except InputFileError as error:
        return error
    columns = columns_in(lines[0] if lines else "")
    if columns.near:
        return lacking(path, columns)
    if (near := near_miss(lines)) is not None:
        expected = "a record of servers or jobs as docs/importing.md lists them"
        what = f"{path}, line {near.line}, looks like {near.what}"
        return InputFileError(what, expected=expected, hint=near.hint)
    first = lines[0].strip() if lines else ""
    return bad(path, 1, f"the first line is {shown(first) if first else 'missing'}", NO_KIND)
