"""The NFS server with a known queue in a process of its own: it can be stopped, resumed and killed."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.harness import IOSONDE, wait_for


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class NfsServer:
    """``iosonde selftest nfs --serve`` on a port of its own; files lie in its memory."""

    def __init__(self, service: str = "20us", queue: int = 100) -> None:
        self.port = free_port()
        self._words = ["--service", service, "--queue", str(queue), "--port", str(self.port)]
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nfs://127.0.0.1/export?portmapport={self.port}"

    def start(self) -> None:
        """Listen; a server that was killed has forgotten its files."""
        command = [IOSONDE, "selftest", "nfs", "--serve", *self._words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for("the NFS server", self._listens)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def freeze(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(20)


@contextmanager
def nfs_server(service: str = "20us", queue: int = 100) -> Iterator[NfsServer]:
    """One that ends with the block."""
    server = NfsServer(service, queue)
    try:
        server.start()
        yield server
    finally:
        server.kill()
