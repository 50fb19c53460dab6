"""Parameters of a metadata benchmark, completed by a kept tree and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from iosonde.model.errors import UsageError

CYCLE_OPS = ("md_stat", "md_read", "md_delete", "md_create")
"""Step of the benchmark phase, in md-workbench's order."""
BULK_OPS = ("md_create", "md_stat", "md_read", "md_delete")
"""Phases of bulk, in mdtest's order; each is shifted by one offset more than the one before."""
PHASES: dict[str, tuple[str, ...]] = {
    "cycle": ("precreate", "benchmark", "cleanup"),
    "bulk": ("create", "stat", "read", "delete"),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """Parameters; letters as in the seed paper. None: the kept tree's value, else the default."""

    data_sets: int | None = None
    """D, data sets per rank."""
    objects: int | None = None
    """P, precreated objects per data set."""
    size_bytes: int | None = None
    """S."""
    iterations: int | None = None
    """I, iterations over the data sets in one benchmark phase."""
    offset: int = 1
    """O, distance between reader and writer in ranks."""
    pattern: str = "cycle"
    shared: bool = False
    """Bulk: all ranks in one directory."""
    one_by_one: bool = False
    """Cycle: each op as a separate step, between barriers."""
    random_order: bool = False
    verify: bool = False
    read_only: bool = False
    fsync: bool = False
    direct: bool = False
    limit_ns: int | None = None
    """Stonewall: time after which a rank stops ..."""
    wear_out_ns: int | None = None
    """... and time limit for all to catch up with the fastest. None: they do not catch up."""
    seed: int = 0
    max_errors: int = 100
    """Consecutive failures after which a rank stops."""
    rows: int = 0
    """Operations kept of each rank and phase."""
    faults: tuple[dict[str, Any], ...] = ()
    """Faults to inject, for tests and fire drills."""

    def parameters(self, ranks: int) -> dict[str, Any]:
        """Parameters as the core reads them."""
        return {
            "ranks": ranks,
            "data_sets": self.data_sets,
            "objects": self.objects,
            "iterations": self.iterations_in_core(ranks),
            "size_bytes": self.size_bytes,
            "offset": self.offset,
            "pattern": self.pattern,
            "shared": self.shared,
            "random_order": self.random_order,
            "verify": self.verify,
            "read_only": self.read_only,
            "manner": {"fsync": self.fsync, "direct": self.direct},
            "seed": self.seed,
            "give_up": self.max_errors,
            "rows": self.rows,
        }

    @property
    def by_time(self) -> bool:
        """True if the benchmark phase has no I, and runs until its time limit."""
        return self.iterations is None and self.limit_ns is not None and self.pattern == "cycle"

    def iterations_in_core(self, ranks: int) -> int:
        """I; for a time-limited phase the iterations of one lap, in which no reader can overtake its writer."""
        if self.iterations is not None:
            return self.iterations
        objects = self.objects or 1
        if self.random_order and not self.read_only:
            return max(1, objects // 2)
        sets = range(1, (self.data_sets or 1) + 1)
        apart = not self.read_only and any(d * self.offset % ranks for d in sets)
        return objects if apart else max(objects, _LONG_LAP)

    def operations(self) -> int:
        """Number of operations of a rank in its longest phase."""
        iterations = self.iterations or (_LONG_LAP if self.by_time else 1)
        return max(4 * iterations, self.objects or 0) * (self.data_sets or 1)

    def kept(self, ranks: int) -> dict[str, Any]:
        """Note of a tree: its creation parameters."""
        names = ("data_sets", "objects", "size_bytes", "pattern", "shared", "seed")
        return {"format": 1, "ranks": ranks, **{name: getattr(self, name) for name in names}}


_LONG_LAP = 10_000
"""Iterations of a lap if ranks use only their own objects."""
DEFAULTS = {"data_sets": 10, "objects": 1000, "size_bytes": 3901, "iterations": 200}


def settled(
    spec: Spec, kept: dict[str, Any] | None, ranks: int, phases: Sequence[str], place: str
) -> Spec:
    """The spec completed by a kept tree and the defaults.

    Raises UsageError when the tree was made with other parameters than those of the command.
    """
    if spec.pattern == "cycle" and "benchmark" not in phases:
        # Nothing iterates: neither the number of iterations nor the order matters.
        spec = replace(spec, iterations=1, random_order=False)
    if kept is None:
        needs = [phase for phase in ("benchmark", "stat", "read") if phase in phases]
        if needs and not {"precreate", "create"} & set(phases):
            raise UsageError(
                f"{place}: there is no kept tree for the phase {needs[0]}",
                expected="a tree made by an earlier run",
                hint=f"--phases {PHASES[spec.pattern][0]} first",
            )
        return _with_iterations(
            replace(
                spec,
                data_sets=spec.data_sets or DEFAULTS["data_sets"],
                objects=spec.objects or DEFAULTS["objects"],
                size_bytes=DEFAULTS["size_bytes"] if spec.size_bytes is None else spec.size_bytes,
            )
        )
    adopted = replace(
        spec,
        data_sets=kept["data_sets"] if spec.data_sets is None else spec.data_sets,
        objects=kept["objects"] if spec.objects is None else spec.objects,
        size_bytes=kept["size_bytes"] if spec.size_bytes is None else spec.size_bytes,
        seed=kept["seed"],
    )
    wanted = adopted.kept(ranks)
    different = [n for n in wanted if wanted[n] != kept.get(n)]
    if different and set(phases) != {"cleanup"}:
        what = ", ".join(f"{n} {kept.get(n)} (asked for: {wanted[n]})" for n in different)
        raise UsageError(
            f"{place}: the kept tree was made with {what}",
            expected="the same parameters",
            hint="--phases cleanup to remove it",
        )
    return _with_iterations(adopted)


def _with_iterations(spec: Spec) -> Spec:
    """The spec with I set to the pool's limit if missing. Raises UsageError for too large an I."""
    if spec.iterations is not None:
        if spec.one_by_one and not spec.read_only and spec.iterations > (spec.objects or 0):
            raise UsageError(
                f"--one-by-one with {spec.iterations} iterations on data sets of {spec.objects} objects: "
                "each op would find no more",
                expected="at most as many iterations (-I) as objects (-P)",
            )
        return spec
    if spec.by_time and not spec.one_by_one:
        return spec
    most = (spec.objects or 1) - (1 if spec.random_order and not spec.read_only else 0)
    return replace(spec, iterations=max(1, min(DEFAULTS["iterations"], most)))


def as_dict(spec: Spec) -> dict[str, Any]:
    """The spec as a row's parameters."""
    return {name: value for name, value in asdict(spec).items() if value not in (None, ())}
