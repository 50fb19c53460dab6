"""Deduplication of equal questions: many clients of the same target cost one answer.

Store work is blocking, so it runs on a few threads of its own, never on the event loop. A question ends when nobody
waits for it any more: its SQL is interrupted. Beyond ``most_open`` questions the next one is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from iosonde.engine.kept import Kept
from iosonde.engine.stopping import Stop, stopped_by
from iosonde.serve.params import BusyError

T = TypeVar("T")

_THREADS = 2
"""Number of threads: DuckDB itself uses several cores for one question."""
MOST_OPEN = 64
"""Most different questions in progress or queued."""


@dataclass
class _Open:
    """A question in progress or queued, and the number of clients waiting for it."""

    work: Future[Any]
    answer: asyncio.Future[Any]
    stop: Stop
    clients: int = 0


class Shared:
    """Answers by key, each cached for ``keep_s`` seconds; at most ``most``.

    A key that is being worked on is joined, not asked again. Errors reach every one who joined and
    are not kept. ``seconds`` is a monotonic clock.
    """

    def __init__(
        self,
        seconds: Callable[[], float],
        keep_s: float = 1.0,
        most: int = 16,
        threads: int = _THREADS,
        most_open: int = MOST_OPEN,
    ) -> None:
        self._most_open = most_open
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="iosonde-store")
        self._open: dict[Hashable, _Open] = {}
        self._kept: Kept[Hashable, Any] = Kept(most, keep=keep_s, clock=seconds)

    async def answer(self, key: Hashable, work: Callable[[], T]) -> T:
        """Result of ``work``, shared with concurrent and recent calls for the same key. Raises BusyError: too many
        questions.
        """
        kept: T | None = self._kept.peek(key)
        if kept is not None:
            return kept
        asked = self._open.get(key) or self._begin(key, work)
        asked.clients += 1
        try:
            # One who gives up (a client that went away) must not cancel the others' answer.
            return await asyncio.shield(asked.answer)
        finally:
            asked.clients -= 1
            if not asked.clients and not asked.answer.done():
                self._forget(key, asked)
                if not asked.work.cancel():  # it has begun
                    asked.stop.set()

    def close(self) -> None:
        """Close without waiting; threads end with their last question."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _begin(self, key: Hashable, work: Callable[[], Any]) -> _Open:
        if len(self._open) >= self._most_open:
            raise BusyError
        stop = Stop()
        submitted = self._threads.submit(_stoppable, work, stop)
        asked = _Open(submitted, asyncio.wrap_future(submitted), stop)
        self._open[key] = asked
        asked.answer.add_done_callback(lambda done: self._finished(key, asked, done))
        return asked

    def _forget(self, key: Hashable, asked: _Open) -> None:
        if self._open.get(key) is asked:
            del self._open[key]

    def _finished(self, key: Hashable, asked: _Open, done: asyncio.Future[Any]) -> None:
        self._forget(key, asked)
        if not done.cancelled() and done.exception() is None:
            self._kept.put(key, done.result())


def _stoppable(work: Callable[[], T], stop: Stop) -> T:
    with stopped_by(stop):
        return work()
