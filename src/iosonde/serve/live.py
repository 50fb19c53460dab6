"""The live feed: one poll of the store per second, for all clients together.

::

    tick -> states and new rows are read once (in a thread) -> every client takes what is news to it

A client is its cursor: the instant up to which it has the rows. A slow client misses ticks, never
rows; one that was away for too long fetches the series again (event ``reload``). Without
clients nothing is read.

Events: ``targets`` (as /api/targets) every tick, of many in brief every third, with ``target``, a list of the one
that is asked for, every tick; ``points`` (``as_of_ns``, ``ops``), whose id a
reconnecting browser repeats; ``reload``; ``trouble`` (lines about what cannot be read) on change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import tzinfo
from functools import cached_property
from typing import Any

from iosonde.engine.left_out import left_out
from iosonde.model.errors import IosondeError
from iosonde.model.ops import OPS
from iosonde.serve.arrivals import Arrivals, Batch
from iosonde.serve.params import FeedQuery, RefusalError
from iosonde.serve.points import point_columns
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.serve.targets import Targets, in_brief
from iosonde.serve.wire import dumps

PERIOD_S = 1.0
MOST_CLIENTS = 256
MANY_EVERY = 3
"""Ticks between two messages with many targets."""


class _Told:
    """All targets as bytes; ``brief``: without operations, None if they are few, and then ``each`` is empty."""

    def __init__(self, described: list[dict[str, Any]]) -> None:
        self._described = described
        brief = in_brief(described)
        many = brief is not described
        self.brief = dumps(brief) if many else None
        self.each = {(one["host"], one["target"]): one for one in described} if many else {}

    @cached_property
    def whole(self) -> bytes:
        """Complete message, built for the first client that wants it."""
        return dumps(self._described)


class Live:
    """The feed of one store. ``clock``: ns since the epoch; ``paths``: as shown to clients."""

    def __init__(
        self, targets: Targets, arrivals: Arrivals, paths: ShownPaths, clock: Callable[[], int]
    ) -> None:
        self._paths = paths
        self._targets = targets
        self._arrivals = arrivals
        self._clock = clock
        self._zones: dict[tzinfo | None, int] = {}
        self._described: dict[tzinfo | None, _Told] = {}
        self._troubles: tuple[str, ...] = ()
        self._chunks: dict[tuple[int, str, str], bytes] = {}
        self._tick = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def check_room(self) -> None:
        """Raise RefusalError for too many clients."""
        if sum(self._zones.values()) >= MOST_CLIENTS:
            raise RefusalError(
                "too many pages are open", expected=f"at most {MOST_CLIENTS} clients", status=503
            )

    async def events(self, query: FeedQuery) -> AsyncIterator[bytes]:
        """Server-sent events until the client leaves or the server stops."""
        self._zones[query.zone] = self._zones.get(query.zone, 0) + 1
        try:
            cursor = self._clock() if query.after_ns is None else query.after_ns
            troubles: tuple[str, ...] = ()
            ticks = 0
            yield b"retry: 1500\n\n"
            await self._look()
            while not self._stopping:
                for event in self._of_targets(query, ticks):
                    yield event
                ticks += 1
                if troubles != self._troubles:
                    troubles = self._troubles
                    yield _event("trouble", dumps(list(troubles)))
                news, cursor = self._news(query, cursor)
                for event in news:
                    yield event
                self._start()
                async with self._tick:
                    await self._tick.wait()
        finally:
            self._zones[query.zone] -= 1
            if not self._zones[query.zone]:
                del self._zones[query.zone]

    def stop(self) -> None:
        """End every client's stream with the next tick, and start no other."""
        self._stopping = True

    def _of_targets(self, query: FeedQuery, ticks: int) -> list[bytes]:
        """All targets; of many, for a client that wants it, in brief now and then, and its own whole."""
        told = self._described.get(query.zone)
        if told is None:
            return []
        if not query.brief or told.brief is None:
            return [_event("targets", told.whole)]
        own = told.each.get((query.host or "", query.target or ""))
        now = [_event("targets", told.brief)] if ticks % MANY_EVERY == 0 else []
        return now if own is None else [*now, _event("target", dumps([own]))]

    def _news(self, query: FeedQuery, cursor: int) -> tuple[list[bytes], int]:
        """Events with rows new to a client, and its new cursor."""
        if query.host is None or query.target is None:
            return [], cursor
        batches = self._arrivals.since(cursor)
        if batches is None:
            return [_event("reload", b"{}")], self._clock()
        events = [
            _event("points", chunk, batch.seen_ns)
            for batch in batches
            if (chunk := self._chunk(batch, query.host, query.target))
        ]
        return events, batches[-1].seen_ns if batches else cursor

    def _chunk(self, batch: Batch, host: str, target: str) -> bytes:
        """Rows of a target in a batch; empty without any."""
        key = (batch.seen_ns, host, target)
        if key not in self._chunks:
            ops: dict[str, Any] = {}
            for rows, frame in batch.rows.items():
                if (rows.host, rows.target) == (host, target) and rows.op in OPS:
                    ops[rows.op] = point_columns(frame.columns)
            self._chunks[key] = dumps({"as_of_ns": batch.seen_ns, "ops": ops}) if ops else b""
        return self._chunks[key]

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        """Tick while there are clients."""
        loop = asyncio.get_running_loop()
        while self._zones:
            begun = loop.time()
            if not self._stopping:
                await self._look()
            self._chunks.clear()
            async with self._tick:
                self._tick.notify_all()
            if self._stopping:
                return
            await self._rest(begun + PERIOD_S - loop.time())

    async def _rest(self, left_s: float) -> None:
        """Sleep until the next tick, or briefly when stopping."""
        loop = asyncio.get_running_loop()
        end = loop.time() + max(left_s, 0.1)
        while not self._stopping and loop.time() < end:
            await asyncio.sleep(min(0.1, max(0.0, end - loop.time())))

    async def _look(self) -> None:
        """Poll the store in a thread."""
        zones = list(self._zones)
        described, troubles = await asyncio.to_thread(self._read, zones)
        self._described.update(described)
        for zone in self._described.keys() - self._zones.keys():
            del self._described[zone]
        self._troubles = troubles

    def _read(
        self, zones: list[tzinfo | None]
    ) -> tuple[dict[tzinfo | None, _Told], tuple[str, ...]]:
        self._arrivals.refresh()
        now_ns = self._clock()
        try:
            described = {zone: _Told(self._targets.described(zone, now_ns)) for zone in zones}
        except IosondeError as error:
            return {}, self._short(*self._arrivals.troubles, str(error))
        troubles = self._arrivals.troubles
        named = " ".join(troubles)
        left = [one for one in left_out(self._targets.root) if one["path"] not in named]
        noted = (f"{one['path']} {one['what']}; left out" for one in left)
        return described, self._short(*troubles, *noted)

    def _short(self, *lines: str) -> tuple[str, ...]:
        return tuple(map(self._paths.text, lines))


def _event(name: str, data: bytes, number: int | None = None) -> bytes:
    """Encode a server-sent event; JSON has no line breaks of its own."""
    head = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (head, name.encode(), data)
