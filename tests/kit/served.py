"""``iosonde serve`` as a process of its own: its address, its log, its end."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_PATIENCE_S = 60.0
_LIMITED = (
    "import os, resource, sys; files = int(sys.argv[1]); "
    "resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)); os.execv(sys.argv[2], sys.argv[2:])"
)


class Served(NamedTuple):
    """A server on the loopback. ``log``: the file of its stderr."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def said_until_its_end(self) -> str:
        """The whole log, after SIGTERM."""
        self.process.terminate()
        self.process.wait(_PATIENCE_S)
        return self.log.read_text()


@contextmanager
def served(
    store: Path, log: Path, *options: str | Path, files: int | None = None
) -> Iterator[Served]:
    """A server on a free port; ``files``: how many it may open (None: as many as this process)."""

    begin = [] if files is None else ["-c", _LIMITED, str(files), sys.executable]
    command = [sys.executable, *begin, "-m", "iosonde.cli.main", "serve", "--store", store]
    with log.open("wb") as file:
        process = subprocess.Popen([*command, "--listen", "127.0.0.1:0", *options], stderr=file)
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while (found := re.search(r"://127\.0\.0\.1:(\d+)/", log.read_text())) is None:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, "the server does not begin"
            time.sleep(0.05)
        yield Served(process, int(found[1]), log)
    finally:
        process.kill()
        process.wait(_PATIENCE_S)
