"""What tests of connectors share: read a file, find blocks in what came out, mutate bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.connectors.source import Settings, head_of
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock


class Out:
    """Everything a connector gave out and told."""

    def __init__(self, connector: Any, paths: Path | Iterable[Path], settings: Settings) -> None:
        self.told: list[str] = []
        self.ended: str | None = None
        self.items: list[Any] = []
        try:
            for item in _items(connector, paths, settings, self._warn):
                self.items.append(item)
        except InputFileError as error:
            self.ended = str(error)

    def _warn(self, error: InputFileError) -> None:
        assert isinstance(error, InputFileError)
        self.told.append(str(error))

    @property
    def blocks(self) -> list[MetricBlock]:
        return [item for item in self.items if isinstance(item, MetricBlock)]

    @property
    def jobs(self) -> list[Job]:
        return [item for item in self.items if isinstance(item, Job)]

    @property
    def edges(self) -> list[Edge]:
        return [item for item in self.items if isinstance(item, Edge)]

    def series(
        self, metric: str, component: str, system: str | None = None, level: str | None = None
    ) -> list[tuple[int, int, float]]:
        """(time, step, value) of one component, in the order of time."""
        rows = []
        for block in self.blocks:
            if block.metric != metric or component not in block.components:
                continue
            if system not in (None, block.system) or level not in (None, block.level):
                continue
            column = block.value[:, block.components.index(component)]
            rows += list(
                zip(block.time_ns.tolist(), block.step_ns.tolist(), column.tolist(), strict=True)
            )
        return sorted(rows)

    def values(self, metric: str, component: str, system: str | None = None) -> list[float]:
        return [value for _, _, value in self.series(metric, component, system)]

    def flags(self, metric: str | None = None) -> dict[str, int]:
        """Flag -> how often, at most, a block says it."""
        found: dict[str, int] = {}
        for block in self.blocks:
            if metric in (None, block.metric):
                for note in block.notes:
                    found[note.flag] = max(found.get(note.flag, 0), note.n)
        return found


def _items(
    connector: Any,
    paths: Path | Iterable[Path],
    settings: Settings,
    warn: Callable[[InputFileError], None],
) -> Iterator[Any]:
    if isinstance(paths, Path):
        return connector.read(paths, settings, warn)
    return connector.read_many(list(paths), settings, warn)


def take(connector: Any, paths: Path | Iterable[Path], **said: Any) -> Out:
    out = Out(connector, paths, Settings(**said))
    for block in out.blocks:
        sound(block)
    return out


def sound(block: MetricBlock) -> None:
    """What every block must be."""
    assert block.time_ns.dtype == np.int64
    assert block.step_ns.dtype == np.int64
    assert block.value.dtype == np.float64
    assert (np.diff(block.time_ns) > 0).all(), (block.metric, block.time_ns)
    assert (block.step_ns >= 0).all()
    assert not np.isinf(block.value).any()
    assert len(set(block.components)) == len(block.components)
    if block.kind == "delta":
        assert not (block.value < 0).any()
        assert (block.step_ns > 0).all()


def mutants(data: bytes, n: int, seed: int = 7) -> Iterator[bytes]:
    """The data with bytes changed, cut, doubled or put in."""
    rng = random.Random(seed)
    words = (
        b"nan",
        b"-inf",
        b"1e999",
        b"9" * 40,
        b"\x00",
        b"\xff\xfe",
        b"[1-999999999]",
        b"{" * 50,
    )
    for _ in range(n):
        piece = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(piece) + 1)
            what = rng.randrange(5)
            if what == 0 and at < len(piece):
                piece[at] = rng.randrange(256)
            elif what == 1:
                del piece[at : at + rng.randint(1, 200)]
            elif what == 2:
                piece[at:at] = rng.choice(words)
            elif what == 3:
                piece[at:at] = piece[at : at + rng.randint(1, 300)]
            else:
                del piece[at:]
        yield bytes(piece)


def survives(connector: Any, path: Path, data: bytes, n: int = 60, **said: Any) -> None:
    """Whatever is done to the data, reading ends with InputFileError at worst, and blocks are sound."""
    for piece in mutants(data, n):
        path.write_bytes(piece)
        connector.recognises(head_of(path))
        take(connector, path, **said)
