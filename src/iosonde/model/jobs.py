"""Jobs and their I/O: single records, and many of them as a table for analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from iosonde.model.frames import NULL_NS
from iosonde.model.job_metrics import About, about
from iosonde.model.quality import LeftOut

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places, Texts

    Rows = Flags | Places | slice

LABELS = ("user", "account", "name", "node_names", "state", "raw_id", "system")
"""Texts of ``JobTable.labels``; ``node_names``: comma between them; ``system``: the cluster.

``raw_id``: the scheduler's, where ``job_id`` is as users write it.
"""
SIZES = ("nodes", "ranks")
"""Numbers of ``JobTable.sizes``."""
Mode = Literal["fpp", "shared", ""]
Direction = Literal["read", "write", "mixed", ""]
By = Literal["file_system", "motif"]
JobKey = tuple[str, str, str, int | None, str]
"""Source, raw id, step, start, cluster."""
KeyAnywhere = tuple[str, str, str, int | None]
"""A job's key without its cluster, which not every record names."""


class Scalar(NamedTuple):
    """A number about a job, with its source and quality. ``value`` None = missing."""

    value: float | None
    unit: str
    source: str
    n: int | None = None
    """Samples (steps x servers) it was made from."""
    missing: float | None = None
    """Share of the expected samples that are missing, 0 to 1."""
    age_ns: int | None = None
    """Age of the record at the job's start."""
    flags: tuple[str, ...] = ()
    """Flags of ``model.quality.QUALITY``."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Run of an application within a job: a Darshan log, a step of a scheduler, a row of a table.

    Strings are "" and numbers None where nothing says them. ``scalars``: name -> Scalar, of ``job_metrics``.
    """

    source: str
    job_id: str
    step: str = ""
    """Distinguishes runs within one job; "" for the job as a whole."""
    system: str = ""
    """The cluster."""
    user: str = ""
    account: str = ""
    name: str = ""
    """Name of the job or of the program."""
    app: str = ""
    """Program without path and arguments."""
    api: str = ""
    """posix, mpiio, stdio, hdf5."""
    mode: Mode = ""
    direction: Direction = ""
    file_system: str = ""
    nodes: int | None = None
    node_names: tuple[str, ...] = ()
    ranks: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    state: str = ""
    shown_id: str = ""
    """Id as users write it (``4711_7``, ``600+1``) where ``job_id`` is raw; "": the same, or not known."""
    scalars: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def key(self) -> JobKey:
        """Unique key of the record."""
        return (self.source, self.job_id, self.step, self.start_ns, self.system)

    @property
    def written_id(self) -> str:
        """Id as users write it, as far as known."""
        return self.shown_id or self.job_id

    @property
    def motif(self) -> str:
        """``app mode direction``, as far as known: common to repeated runs."""
        return " ".join(word for word in (self.app, self.mode, self.direction) if word)

    def with_scalars(self, more: Mapping[str, Scalar]) -> Job:
        """The job with more scalars; those of ``more`` win."""
        return replace(self, scalars={**self.scalars, **more})


@dataclass(frozen=True)
class JobTable:
    """Many jobs as columns, in the order of ``start_ns``.

    Shapes (n,). ``metrics``: name -> float64, missing is NaN. ``flags``: (row, metric) -> flags, sparse.
    ``labels``: of ``LABELS`` those that some row has, "" where a row has none; ``sizes``: of ``SIZES``, NaN.
    ``reasons``: rows that were left out, and why. ``source``: where the table is from.
    """

    job_id: Texts
    step: Texts
    start_ns: Instants
    end_ns: Instants
    file_system: Texts
    motif: Texts
    metrics: dict[str, Floats]
    abouts: dict[str, About] = field(default_factory=dict)
    """Descriptions of metrics by this table; others are described in ``job_metrics``."""
    flags: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    reasons: tuple[LeftOut, ...] = ()
    source: str = ""
    labels: dict[str, Texts] = field(default_factory=dict)
    categories: dict[str, Texts] = field(default_factory=dict)
    """Texts that may be causes, by the name that a mapping gives them (compiler, queue); "" where missing."""
    sizes: dict[str, Floats] = field(default_factory=dict)
    base_motif: Texts | None = None
    """``motif`` without classes of size, if a table has them (``jobs.table.sizes``); None: ``motif`` has none."""

    def __len__(self) -> int:
        return len(self.job_id)

    def label(self, name: str) -> Texts:
        """Text column of ``LABELS``, "" if missing."""
        import numpy as np

        return self.labels.get(name, np.full(len(self), "", dtype=object))

    def size(self, name: str) -> Floats:
        """Number column of ``SIZES``, NaN if missing."""
        import numpy as np

        return self.sizes.get(name, np.full(len(self), np.nan))

    def about(self, metric: str) -> About:
        """Description of a metric."""
        return self.abouts.get(metric) or about(metric)

    def take(self, rows: Rows) -> JobTable:
        """Rows of a mask, an index array or a slice, in their order."""
        import numpy as np

        picked = np.arange(len(self))[rows]
        place = {int(old): new for new, old in enumerate(picked.tolist())}
        flags = {(place[r], m): f for (r, m), f in self.flags.items() if r in place}
        return replace(
            self,
            job_id=self.job_id[picked],
            step=self.step[picked],
            start_ns=self.start_ns[picked],
            end_ns=self.end_ns[picked],
            file_system=self.file_system[picked],
            motif=self.motif[picked],
            base_motif=None if self.base_motif is None else self.base_motif[picked],
            metrics={name: column[picked] for name, column in self.metrics.items()},
            flags=flags,
            labels={name: column[picked] for name, column in self.labels.items()},
            categories={name: column[picked] for name, column in self.categories.items()},
            sizes={name: column[picked] for name, column in self.sizes.items()},
        )

    def with_metrics(self, more: Mapping[str, Floats]) -> JobTable:
        """The table with columns added or replaced."""
        return replace(self, metrics={**self.metrics, **more})

    def duration_s(self) -> Floats:
        """Run time of each job; NaN if start or end is missing."""
        import numpy as np

        known = (self.start_ns != NULL_NS) & (self.end_ns != NULL_NS)
        seconds = (self.end_ns - np.where(known, self.start_ns, 0)) / 1e9
        return np.where(known, seconds, np.nan)

    def strata(self) -> dict[tuple[str, str], Places]:
        """Rows by (file system, motif), in the order of these."""
        return {
            (system, motif): rows
            for (system, motif), rows in self.alike("file_system", "motif").items()
        }

    def alike(self, *columns: By) -> dict[tuple[str, ...], Places]:
        """Group row indices by `columns`, in row order; without columns one group `()`."""
        import numpy as np

        if not columns:
            return {(): np.arange(len(self))} if len(self) else {}
        code = np.zeros(len(self), dtype=np.intp)
        for name in columns:
            cells = getattr(self, name).tolist()
            numbers = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
            code = code * len(numbers) + np.fromiter(map(numbers.__getitem__, cells), np.intp)
        order = np.argsort(code, kind="stable")
        edges = np.flatnonzero(np.diff(code[order], prepend=-1))
        rows = np.split(order, edges[1:]) if len(edges) else []
        keyed = {tuple(getattr(self, name)[some[0]] for name in columns): some for some in rows}
        return dict(sorted(keyed.items()))
