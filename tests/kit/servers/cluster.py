"""A Dask scheduler and its workers: real processes on loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from distributed import Client

from tests.kit.servers.loopback import START_S


class Cluster:
    """``workers`` maps a worker's address to its process; all are gone after ``close``."""

    def __init__(self, folder: Path, workers: int, environment: dict[str, str]) -> None:
        self._folder = folder
        self._started = 0
        self._environment = {**os.environ, **environment}
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self.address = self._said(self._scheduler, r"Scheduler at:\s+(tcp://\S+)")
        self.url = self.address.replace("tcp:", "dask:")
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        for _ in range(workers):
            self.add_worker()
        self.client = Client(self.address, timeout=START_S, set_as_default=False)
        if workers:
            self.client.wait_for_workers(workers, timeout=START_S)

    def add_worker(self, **environment: str) -> str:
        """Start a worker of one thread; its address."""
        process = self._start(
            *("worker", self.address, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1"),
            *("--local-directory", str(self._folder), "--memory-limit", "2GiB"),
            **environment,
        )
        address = self._said(process, r"Start worker at:\s+(tcp://\S+)")
        self.workers[address] = process
        return address

    def freeze(self, address: str) -> None:
        """Let it hold its connection and answer nothing."""
        self.workers[address].send_signal(signal.SIGSTOP)

    def kill_worker(self, address: str) -> None:
        """As a node's failure would: no farewell."""
        process = self.workers.pop(address)
        process.kill()
        process.wait()

    def close(self) -> None:
        self.client.close()
        for process in [*self.workers.values(), self._scheduler]:
            process.kill()
            process.wait()

    def _start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        self._started += 1
        with self._log().open("wb") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    f"distributed.cli.dask_{arguments[0]}",
                    *arguments[1:],
                    "--no-dashboard",
                ],
                env=self._environment | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _log(self) -> Path:
        return self._folder / f"log-{self._started}"

    def _said(self, process: subprocess.Popen[bytes], pattern: str) -> str:
        """What the process started last says of itself once it listens."""
        give_up = time.monotonic() + START_S
        while True:
            said = self._log().read_text(errors="replace")
            if found := re.search(pattern, said):
                return found[1]
            if process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"Dask did not start:\n{said[-2000:]}")
            time.sleep(0.02)
