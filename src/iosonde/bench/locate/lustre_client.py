"""Servers of OSTs from a Lustre client: the network address of each OST, readable without root.

``osc.<fs>-OST000c-osc-<client>.ost_conn_uuid``, as ``lctl get_param`` prints it: a file below /sys or /proc.
A failed-over OST is on the server that serves it now. Router groups and failover pairs are not there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from iosonde.model.errors import InputFileError
from iosonde.model.text import clean_text
from iosonde.model.transfers import Topology

WORD = "lustre"
"""As a topology: this client's servers; ``lustre:NAME`` those of one file system."""
TREES = (
    Path("/sys/fs/lustre/osc"),
    Path("/sys/kernel/debug/lustre/osc"),
    Path("/proc/fs/lustre/osc"),
)
_DEVICE = re.compile(r"(?P<name>.+)-OST(?P<ost>[0-9a-f]{4,8})-osc-[^M].*")
_EXPECTED = "a client with the file system mounted, or a table child,parent,level"


def is_client(text: str) -> bool:
    """True if the text means this client, and not a file."""
    return text == WORD or text.startswith(f"{WORD}:")


def topology_of_client(text: str) -> Topology:
    """Server of each OST of the file system named in ``text``. Raises InputFileError: none, or several."""
    wanted = text.partition(":")[2]
    found: dict[str, dict[str, str]] = {}
    for tree in TREES:
        for path in sorted(tree.glob("*-OST*-osc-*/ost_conn_uuid")):
            device = _DEVICE.fullmatch(path.parent.name)
            with suppress(OSError):
                server = clean_text(path.read_text(errors="replace").strip())
                if device and server and "\n" not in server:
                    name = f"OST{int(device['ost'], 16):04x}"
                    found.setdefault(device["name"], {}).setdefault(name, server)
    if wanted:
        found = {name: osts for name, osts in found.items() if name == wanted}
    if not found:
        what = f"this machine has no Lustre file system{f' {wanted}' if wanted else ''}"
        raise InputFileError(f"{what} whose servers can be read", expected=_EXPECTED)
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise InputFileError(
            f"this machine has several Lustre file systems: {names}",
            expected=f"one of them: --topology {WORD}:{min(found)}",
        )
    (osts,) = found.values()
    return Topology({"ost": osts})
