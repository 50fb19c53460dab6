"""Lines of ``darshan-parser --base``, one counter each, to records and their sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from iosonde.connectors.darshan.counts import ModuleCounts
from iosonde.connectors.darshan.records import MODULES, MOST_RECORDS, PLACES, STREAMS, Records
from iosonde.connectors.lines import Line, Warn, bad, shown

_BLOCK = 8192
_MOST_SEEN = 1 << 21
_MISSING = -1.0
_NAMES = {"MPIIO": "MPI-IO"}
_COLUMNS = 8
_EXPECTED = "module, rank, record id, counter, value, file, mount point, type, separated by tabs"
_STREAMS = frozenset(name.decode() for name in STREAMS)

Key = tuple[str, str, str]


class RecordRows:
    """Records built from lines. Malformed lines are reported and left out."""

    def __init__(self, path: Path, warn: Warn, ranks: int) -> None:
        self._path, self._warn, self._ranks = path, warn, ranks
        self.tallies: dict[str, ModuleCounts] = {}
        self.mounts: dict[int, str] = {}
        """Record id -> mount point, where it is known."""
        self._key: Key = ("", "", "")
        self._record: tuple[str, int, int] | None = None
        self._kept = True
        self._values: list[float] = []
        self._counters: set[str] = set()
        self._full: dict[str, int] = {}
        self._waiting: dict[str, list[tuple[int, int, list[float]]]] = {}
        self._seen: set[Key] = set()
        self._total = 0

    def tally(self, module: str) -> ModuleCounts | None:
        """Sums of a module, created if needed; None for modules that do not count."""
        if module in MODULES and module not in self.tallies:
            self.tallies[module] = ModuleCounts(module, self._ranks, partial=False)
        return self.tallies.get(module)

    def take(self, line: Line) -> None:
        """Parse one line. Raises InputFileError for an implausible number of records."""
        columns = line.text.split("\t")
        module = _NAMES.get(columns[0], columns[0])
        if len(columns) != _COLUMNS:
            self._warn(bad(self._path, line.number, f"{len(columns)} columns", _EXPECTED))
            return
        if module not in MODULES:
            return
        key = (module, columns[1], columns[2])
        if key != self._key:
            self._flush()
            self._begin(key, columns, line)
        if self._record is None:
            return
        counter, text = columns[3], columns[4]
        if counter in self._counters:
            what = f"{shown(counter)} of this record again"
            self._warn(bad(self._path, line.number, what, "each counter once"))
            return
        self._counters.add(counter)
        place = PLACES[module].get(counter.partition("_")[2])
        if place is not None:
            self._values[place] = self._number(text, line)

    def _number(self, text: str, line: Line) -> float:
        try:
            value = float(text) if len(text) <= 40 and "_" not in text else np.nan
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            self._warn(bad(self._path, line.number, shown(text), "a number"))
            return _MISSING
        return value

    def _begin(self, key: Key, columns: list[str], line: Line) -> None:
        """Start a record. A malformed one is reported once, and all its lines are left out."""
        self._key, self._record = key, None
        module, rank_text, id_text = key
        whole = rank_text.removeprefix("-").isdecimal() and id_text.isdecimal()
        if not whole or len(rank_text) > 12 or len(id_text) > 20 or int(id_text) >= 1 << 64:
            what = f"rank {shown(rank_text)}, record {shown(id_text)}"
            self._warn(bad(self._path, line.number, what, "a rank and a 64-bit record id"))
            return
        rank, number = int(rank_text), int(id_text)
        if not -1 <= rank < self._ranks:
            what = f"rank {rank} of a job of {self._ranks} processes"
            self._warn(bad(self._path, line.number, what, f"-1 to {self._ranks - 1}"))
            return
        if key in self._seen:
            what = f"the record of {module}, rank {rank}, {number} again"
            self._warn(bad(self._path, line.number, what, "each record once"))
            return
        if len(self._seen) < _MOST_SEEN:
            self._seen.add(key)
        self._total += 1
        if self._total > MOST_RECORDS:
            raise bad(self._path, line.number, "too many records", f"at most {MOST_RECORDS}")
        self.tally(module)
        self._kept = module != "STDIO" or columns[5] not in _STREAMS
        if self._kept and columns[6] != "UNKNOWN" and number not in self.mounts:
            self.mounts[number] = columns[6]
        self._record = (module, rank, number)
        self._values = [_MISSING] * len(PLACES[module])
        self._counters = set()

    def _flush(self) -> None:
        """Add the finished record to the sums."""
        if self._record is None:
            return
        module, rank, number = self._record
        self._full.setdefault(module, len(self._counters))
        self._record = None
        if not self._kept:
            return
        waiting = self._waiting.setdefault(module, [])
        waiting.append((number, rank, self._values))
        if len(waiting) >= _BLOCK:
            self._add(module)

    def _add(self, module: str) -> None:
        waiting = self._waiting.pop(module, [])
        tally = self.tally(module)
        if tally is None or not waiting:
            return
        ids, ranks, values = zip(*waiting, strict=True)
        shape = (len(waiting), len(PLACES[module]))
        tally.add(
            Records(
                module,
                np.array(ids, dtype=np.uint64),
                np.array(ranks, dtype=np.int64),
                np.array(values, dtype=np.float64).reshape(shape),
            )
        )

    def finish(self, last: int) -> dict[str, ModuleCounts]:
        """Return all sums. ``last``: the number of the last line. Raises InputFileError: the last record is cut."""
        if self._record is not None:
            module = self._record[0]
            here, full = len(self._counters), self._full.get(module, 0)
            if here < full:
                what = f"the text ends within a record of {module}: {here} of {full} counters"
                raise bad(self._path, last, what, "the whole text")
        self._flush()
        for module in list(self._waiting):
            self._add(module)
        return self.tallies
