"""Boot identity of the kernel: tells two machines of one name apart."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Boot(NamedTuple):
    """``boot_id``: the kernel's id of its start; ``started_ns``: time of the start (UTC, whole seconds)."""

    boot_id: str
    started_ns: int


def this_boot(proc: Path = Path("/proc")) -> Boot | None:
    """Boot of this machine; None if the kernel does not tell."""
    try:
        boot_id = (proc / "sys/kernel/random/boot_id").read_text().strip()
        began = re.search(r"^btime (\d+)$", (proc / "stat").read_text(), re.MULTILINE)
    except OSError:
        return None
    return Boot(boot_id, int(began[1]) * 1_000_000_000) if boot_id and began else None
