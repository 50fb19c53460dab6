"""Processes of a benchmark: this one alone, or those that mpirun or srun started.

The only importer of mpi4py. Nothing here is called in a timed section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from iosonde.model.errors import MissingPartError

T = TypeVar("T")

LAUNCHERS: dict[str, tuple[str, str]] = {
    "OMPI_COMM_WORLD_SIZE": ("OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"),
    "PMI_SIZE": ("PMI_RANK", "MPICH's mpiexec"),
    "MPI_LOCALNRANKS": ("MPI_LOCALRANKID", "mpiexec"),
    "SLURM_NTASKS": ("SLURM_PROCID", "srun"),
}
"""Environment variables of launchers: number of processes, and number of this one."""


class Processes(Protocol):
    """The processes of a run; all make the same calls, in the same order."""

    number: int
    size: int

    def barrier(self) -> None:
        """Wait until every process has called it."""

    def all_gather(self, value: T) -> list[T]:
        """Values of all processes, by number, in every process."""

    def gather(self, value: T) -> list[T]:
        """Values of all processes, by number, in process 0; elsewhere only the process's own."""

    def broadcast(self, value: T) -> T:
        """Value of process 0, in every process."""

    def reduce(self, value: T, merge: Callable[[T, T], T]) -> T | None:
        """Merge all values in a tree, at process 0; None elsewhere."""

    def abort(self) -> None:
        """End every process of the run, if one cannot continue and the others would wait for it."""


class Alone:
    """A single process."""

    number = 0
    size = 1

    def barrier(self) -> None:
        """Return at once."""

    def all_gather(self, value: T) -> list[T]:
        """The own value."""
        return [value]

    def gather(self, value: T) -> list[T]:
        """The own value."""
        return [value]

    def broadcast(self, value: T) -> T:
        """The own value."""
        return value

    def reduce(self, value: T, merge: Callable[[T, T], T]) -> T | None:  # noqa: ARG002
        """The own value."""
        return value

    def abort(self) -> None:
        """There is no other process."""


class MpiProcesses:
    """The processes of an MPI job. mpi4py pickles values: arrays travel as their bytes."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self.number = int(world.Get_rank())
        self.size = int(world.Get_size())

    def barrier(self) -> None:
        """MPI_Barrier."""
        self._world.Barrier()

    def all_gather(self, value: T) -> list[T]:
        """MPI_Allgather."""
        return list(self._world.allgather(value))

    def gather(self, value: T) -> list[T]:
        """MPI_Gather."""
        every: list[T] | None = self._world.gather(value, root=0)
        return [value] if every is None else every

    def broadcast(self, value: T) -> T:
        """MPI_Bcast."""
        received: T = self._world.bcast(value, root=0)
        return received

    def reduce(self, value: T, merge: Callable[[T, T], T]) -> T | None:
        """MPI_Reduce."""
        result: T | None = self._world.reduce(value, op=merge, root=0)
        return result

    def abort(self) -> None:
        """MPI_Abort."""
        self._world.Abort(1)


def find_processes(environ: Mapping[str, str]) -> Processes:
    """Processes started together with this one.

    Raises MissingPartError when a launcher started several and mpi4py is not there to speak to them.
    """
    launched = launcher(environ)
    if launched is None:
        return Alone()
    world = load_mpi(f"{launched}, but mpi4py cannot be used").COMM_WORLD
    if world.Get_size() == 1:
        raise MissingPartError(
            f"{launched} but MPI knows of one",
            expected="an mpi4py that belongs to the launcher's MPI library",
            hint="the mpiexec of that library, or 'srun --mpi=list'",
        )
    return MpiProcesses(world)


def is_first(environ: Mapping[str, str]) -> bool:
    """True if this process is the launcher's first, or has no launcher. Uses no MPI library."""
    if launcher(environ) is None:
        return True
    return any(environ.get(rank) == "0" for rank, _ in LAUNCHERS.values())


def load_mpi(failing: str) -> Any:
    """mpi4py's module MPI; importing it initialises MPI.

    Raises MissingPartError without it, or without the MPI library that it belongs to; ``failing`` says what does not
    work then.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingPartError(
            f"{failing}: {error}",
            expected="mpi4py and the MPI library that it belongs to",
            hint="pip install 'iosonde[mpi]', and load your site's MPI module",
        ) from error
    return MPI


def launcher(environ: Mapping[str, str]) -> str | None:
    """Launcher with several processes, by the environment; None if there is none."""
    for size, (rank, name) in LAUNCHERS.items():
        # A batch script's own shell has the job's size, but no rank of a step.
        if environ.get(size, "").isdigit() and rank in environ and int(environ[size]) > 1:
            if size == "SLURM_NTASKS" and "SLURM_STEP_ID" not in environ:
                continue
            return f"{name} started {environ[size]} processes"
    return None
