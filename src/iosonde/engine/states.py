"""Live states: a small JSON file per target, replaced by the probe every second.

Light imports only: ``iosonde now`` and ``iosonde check`` live on this module. The reader is the agent's own.

``heard_ns`` is the modification time of the file: the clock of the storage, beside ``written_ns`` of the probe's.
``shipped_ns`` is set in a copy only: when ``iosonde store seal --to`` made it, by the clock of its host.
``namesake_ns`` is when another machine was last seen to write this state (ns, UTC): two have one host name.

Older agents do not say with what they probe (``backend`` to ``file_bytes``, ``budget``, ``keep``): then
these are None.

A state file is foreign input. What is not of the expected type becomes None, control characters in
names are replaced (they would reach a terminal), and a file that cannot be read as a state at all
is reported as a state of its own::

    {"state": "damaged", "host": <folder>, "target": <file stem>, "error": "what is wrong", ...}

so that one bad file never hides the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from iosonde import _core
from iosonde.engine.left_out import leave_out
from iosonde.engine.reading import reading

MAX_BYTES = _core.STATE_BYTES
"""A larger file is not a state."""


def read_states(root: Path) -> list[dict[str, Any]]:
    """Every state below ``root/state``, sorted by host and target. No folder: no states.

    A host's folder that cannot be listed is a damaged state of all its targets. ``root/state`` that cannot be listed is
    named and left out.
    """
    try:
        return _core.read_states(root, reading)
    except OSError as error:
        reason = str(error).rpartition(": ")[2]
        leave_out(Path(root) / "state", f"cannot be listed: {reason}", "the right to read it")
        return []


def namesakes(states: Sequence[dict[str, Any]]) -> list[str]:
    """Hosts whose name two machines have: their states replace each other, and their samples count as one host's.

    Sorted. A probe found another's state in place of its own, or two boots write at once.
    """
    return _core.namesakes(list(states))


def remove_files(files: Iterable[Path]) -> list[Path]:
    """Remove states and their companions, then empty folders; returns the removed files."""
    gone = []
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
            gone.append(file)
        with contextlib.suppress(OSError):
            file.parent.rmdir()
    return gone
