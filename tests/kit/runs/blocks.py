"""A second workload for the runtime, in Python: every rank writes blocks into a file of its own, block by block.

Not a benchmark: the interpreter runs between its operations. It shows that the runtime knows nothing of metadata.
"""

from __future__ import annotations

import errno
import queue
import threading
import time
from pathlib import Path

import numpy as np

from iosonde.bench.runtime.histogram import Histogram
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.series import BinnedSeries
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import RankProgress
from iosonde.model.errors import MeasureError

BIN_NS = 1_000_000


class BlockRank:
    """One rank: its thread takes one job after the other and answers each."""

    def __init__(self, number, folder, block, pace_s):
        self.number, self.path, self.block, self.pace_s = (
            number,
            folder / f"r{number}",
            block,
            pace_s,
        )
        self.jobs, self.answers = queue.Queue(), queue.Queue()
        self.stop = threading.Event()
        self.load(0)
        threading.Thread(target=self._work, daemon=True).start()

    def load(self, steps):
        self.of_steps, self.done, self.began_ns = steps, 0, None
        self.writes, self.failed = [], {}
        self.path.unlink(missing_ok=True)
        return steps

    def _work(self):
        while (job := self.jobs.get()) is not None:
            try:
                self.answers.put(job())
            except Exception as error:
                self.answers.put(error)

    def go(self, limit):
        self.began_ns = self.began_ns or time.time_ns()
        end = "done"
        while self.done < self.of_steps:
            if self.stop.is_set():
                end = "stopped"
            elif self._beyond(limit):
                end = "limit"
            if end != "done":
                break
            self._write()
        return self.tally(end)

    def _beyond(self, limit):
        if limit.steps is not None and self.done >= limit.steps:
            return True
        return limit.after_ns is not None and time.time_ns() - self.began_ns > limit.after_ns

    def _write(self):
        began = time.time_ns()
        try:
            with self.path.open("ab") as file:
                file.write(self.block)
            time.sleep(self.pace_s)
            self.writes.append((began, time.time_ns() - began))
        except OSError as error:
            name = errno.errorcode[error.errno]
            self.failed[name] = self.failed.get(name, 0) + 1
        self.done += 1

    def tally(self, end):
        writes = np.array(self.writes, dtype=np.int64).reshape(-1, 2)
        latencies = np.sort(writes[:, 1])
        bins = writes.sum(axis=1) // BIN_NS
        first = int(bins.min()) if len(bins) else 0
        size = len(self.block)
        op = OpTally(
            op="data_write",
            ok=len(writes),
            sum_ns=int(latencies.sum()),
            min_ns=int(latencies[0]) if len(writes) else None,
            max_ns=int(latencies[-1]) if len(writes) else None,
            bytes=size * len(writes),
            failed=dict(self.failed),
            failed_ns=0,
            latencies=Histogram(*np.unique(latencies, return_counts=True)),
        )
        series = {"bytes": BinnedSeries(BIN_NS, first, np.bincount(bins - first) * size)}
        took = time.time_ns() - (self.began_ns or time.time_ns())
        return RankTally(
            self.number,
            self.began_ns,
            took,
            end,
            self.done,
            self.of_steps,
            0,
            0,
            (op,),
            0,
            (),
            series if len(bins) else {},
        )


class BlockWriter:
    """Ranks ``first .. first + count`` below ``folder``; ``missing``: ranks whose folder is not there."""

    def __init__(self, first, count, *, folder: Path, block=b"x" * 4096, pace_s=0.0, missing=()):
        if count > 100:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        self.ranks = [
            BlockRank(at, folder / "none" if at in missing else folder, block, pace_s)
            for at in range(first, first + count)
        ]
        self._give(lambda _: lambda: None)

    def _give(self, job_of):
        self._given = [None] * len(self.ranks)
        self._waiting = set(range(len(self.ranks)))
        for rank in self.ranks:
            rank.jobs.put(job_of(rank))

    def order(self, action, arguments):
        if action == "hang":
            self._give(lambda _: lambda: time.sleep(arguments["seconds"]))
        elif action == "refuse":
            self._give(lambda rank: lambda: self._refuse(rank, arguments["rank"]))
        else:
            raise MeasureError(f"no order {action}")

    @staticmethod
    def _refuse(rank, number):
        if rank.number == number:
            raise MeasureError(f"rank {number} refuses")
        return rank.number

    def load(self, _phase, work):
        self._give(lambda rank: lambda: rank.load(work["blocks"]))

    def go(self, _phase, limit):
        together = threading.Barrier(len(self.ranks))
        self._give(lambda rank: lambda: (together.wait(), rank.go(limit))[1])

    def poll(self, timeout_ms):
        until = time.monotonic() + timeout_ms / 1000
        for at in sorted(self._waiting):
            try:
                self._given[at] = self.ranks[at].answers.get(
                    timeout=max(0.0, until - time.monotonic())
                )
            except queue.Empty:
                return False
            self._waiting.discard(at)
        return True

    def answers(self):
        for answer in self._given:
            if isinstance(answer, Exception):
                raise answer
        return self._given

    def tallies(self):
        return self.answers()

    def progress(self):
        return [
            RankProgress(rank.done, rank.of_steps, sum(rank.failed.values()), "data_write", 0)
            for rank in self.ranks
        ]

    def partial(self):
        return [rank.tally("limit").ops for rank in self.ranks]

    def records(self, at):
        writes = np.array(self.ranks[at].writes, dtype=np.int64).reshape(-1, 2)
        return {"began_ns": writes[:, 0], "ended_ns": writes.sum(axis=1)}

    def stop(self):
        for rank in self.ranks:
            rank.stop.set()

    def resume(self):
        for rank in self.ranks:
            rank.stop.clear()

    def close(self, _timeout_ms):
        for rank in self.ranks:
            rank.jobs.put(None)
