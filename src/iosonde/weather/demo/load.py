"""Artificial load on a directory, for demonstrations and tests."""

from dataclasses import dataclass
from pathlib import Path

from iosonde import _core
from iosonde.model import errors


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Report of a load: instants in UTC ns, the median latency of its own operations, and the reason of an early
    end.
    """

    began_ns: int
    ended_ns: int
    ops: int
    bytes: int
    median_ns: int | None
    error: str | None


class Load:
    """``kind`` is ``writer`` (4 MiB blocks forced to the device) or ``create_delete`` (small files).

    Its files lie in a directory of their own below ``directory`` and are removed by ``stop``.
    Raises ``MeasureError`` if the directory cannot be written.
    """

    def __init__(self, directory: Path, kind: str, threads: int = 1) -> None:
        self._directory = directory
        self._load = _core.Load(str(directory), kind, threads)

    def start(self) -> None:
        """Start the load; returns at once."""
        try:
            self._load.start()
        except OSError as error:
            raise errors.MeasureError(
                f"{self._directory}: cannot put a load on it: {error}"
            ) from None

    def stop(self) -> LoadReport:
        """End the load and remove its files."""
        return LoadReport(**self._load.stop())
