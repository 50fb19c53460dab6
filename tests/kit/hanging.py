"""A file whose opening waits, as on a mount that hangs: somebody holds a lease on it and does not give it back."""

from __future__ import annotations

import fcntl
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hanging(path: Path) -> Iterator[Path]:
    """Make the file; until the end of the block, or 45 s (``/proc/sys/fs/lease-break-time``), who opens it waits."""
    path.write_bytes(b"{}")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel asks for it back
    try:
        with path.open("r+b") as file:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            yield path
    finally:
        signal.signal(signal.SIGIO, before)
