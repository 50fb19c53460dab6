"""The one cache of values in memory: each is made once for all who ask."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Generic, TypeVar, cast

from iosonde.model.errors import IosondeError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(eq=False)
class _Entry(Generic[V]):
    making: threading.Lock = field(default_factory=threading.Lock)
    value: V | None = None
    made: bool = False
    version: Hashable = None
    at: float = 0.0
    size: float = 0.0


class Kept(Generic[K, V]):
    """Values by key. The first who asks makes one, others wait for it; an error reaches who asked and is not kept.

    A value counts while its version is the one asked for and it was made less than ``keep`` ago by ``clock``. Of more
    than ``most`` values, or ``most_size`` of their ``size``, the least recently used go first; the newest stays.
    ``behind``: who asks for an old value gets it at once, and a thread makes it anew. Safe to use from several threads.
    """

    def __init__(
        self,
        most: float = inf,
        *,
        keep: float = inf,
        clock: Callable[[], float] = lambda: 0.0,
        most_size: float = inf,
        size: Callable[[V], float] = lambda _: 1.0,
        behind: bool = False,
    ) -> None:
        self._most, self._most_size, self._size_of = most, most_size, size
        self._keep, self._clock, self._behind = keep, clock, behind
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self.size = 0.0
        """Sum of the sizes held."""

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def get(self, key: K, make: Callable[[V | None], V], version: Hashable = None) -> V:
        """Value of a key; ``make`` gets the one before it (None: there is none) and raises what it raises."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        if self._behind and entry.made:
            value = entry.value
            if not self._fresh(entry, version) and entry.making.acquire(blocking=False):
                making = (key, entry, make, version)
                threading.Thread(target=self._renew, args=making, daemon=True).start()
            return cast("V", value)
        with entry.making:
            self._make(key, entry, make, version)
            return cast("V", entry.value)

    def peek(self, key: K, version: Hashable = None) -> V | None:
        """Value of a key if it counts; None otherwise."""
        with self._lock:
            entry = self._entries.get(key)
            return entry.value if entry is not None and self._fresh(entry, version) else None

    def put(self, key: K, value: V, version: Hashable = None) -> None:
        """Hold a value that was made elsewhere."""
        with self._lock:
            self._hold(key, _Entry(), value, version)

    def drop_oldest(self, unwanted: Callable[[K], bool]) -> None:
        """Let the least recently used values go while they are unwanted."""
        with self._lock:
            while self._entries and unwanted(next(iter(self._entries))):
                self.size -= self._entries.popitem(last=False)[1].size

    def _fresh(self, entry: _Entry[V], version: Hashable) -> bool:
        same = entry.made and entry.version == version
        return same and 0 <= self._clock() - entry.at < self._keep

    def _make(
        self, key: K, entry: _Entry[V], make: Callable[[V | None], V], version: Hashable
    ) -> None:
        """Make a value, unless another thread did; ``entry.making`` is held."""
        if self._fresh(entry, version):
            return
        try:
            value = make(entry.value)
        except BaseException:
            with self._lock:
                if not entry.made and self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        with self._lock:
            self._hold(key, entry, value, version)

    def _renew(self, key: K, entry: _Entry[V], *making: Any) -> None:
        try:
            self._make(key, entry, *making)
        except IosondeError:
            entry.at = self._clock()  # the old value stays for another while
        finally:
            entry.making.release()

    def _hold(self, key: K, entry: _Entry[V], value: V, version: Hashable) -> None:
        if (before := self._entries.pop(key, None)) is not None:
            self.size -= before.size
        entry.value, entry.made, entry.version = value, True, version
        entry.at, entry.size = self._clock(), self._size_of(value)
        self._entries[key] = entry
        self.size += entry.size
        while len(self) > 1 and (len(self) > self._most or self.size > self._most_size):
            self.size -= self._entries.popitem(last=False)[1].size
