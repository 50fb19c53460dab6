"""Equal questions are answered once: many clients that look at the same target cost one answer.

Store work is blocking, so it runs on a few threads of its own, never on the event loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

_THREADS = 2
"""DuckDB itself uses several cores for one question."""


class Shared:
    """Answers by key, each kept for ``keep_s`` seconds after it was given; at most ``most``.

    A key that is being worked on is joined, not asked again. Errors reach every one who joined and
    are not kept. ``seconds`` is a monotonic clock.
    """

    def __init__(
        self,
        seconds: Callable[[], float],
        keep_s: float = 1.0,
        most: int = 16,
        threads: int = _THREADS,
    ) -> None:
        self._seconds = seconds
        self._keep_s = keep_s
        self._most = most
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="iosonde-store")
        self._running: dict[Hashable, asyncio.Future[Any]] = {}
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()

    async def answer(self, key: Hashable, work: Callable[[], T]) -> T:
        """What ``work`` returns or returned a moment ago for the same key."""
        kept = self._kept.get(key)
        if kept is not None and self._seconds() - kept[0] < self._keep_s:
            return kept[1]  # type: ignore[no-any-return]
        running = self._running.get(key)
        if running is None:
            loop = asyncio.get_running_loop()
            running = asyncio.ensure_future(loop.run_in_executor(self._threads, work))
            self._running[key] = running
            running.add_done_callback(lambda done: self._finished(key, done))
        # One who gives up (a client that went away) must not cancel the others' answer.
        return await asyncio.shield(running)

    def close(self) -> None:
        """Wait for nobody; threads end with their last question."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _finished(self, key: Hashable, done: asyncio.Future[Any]) -> None:
        self._running.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._kept[key] = (self._seconds(), done.result())
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
