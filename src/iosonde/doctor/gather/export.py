"""Facts of an NFS export that is probed from user space. Runs in an expendable child."""

from __future__ import annotations

import errno

from iosonde import _core
from iosonde.host.child import Reporter

SCHEME = "nfs://"
"""Prefix of the address of an export."""
_LIMIT_MS = 60_000
"""Timeout above that of the examination, which then names the hung call."""


def gather_export(address: str, report: Reporter) -> None:
    """Report ``space`` of an export, or its ``errno``, ``error`` and a ``remedy``."""
    report.trying(f"to mount {address.partition('?')[0]} and ask for free space")
    try:
        total, free, files, free_files = _core.export_space(address, _LIMIT_MS)
    except _core.NfsError as error:
        text, number, remedy = error.args
        report.found(errno=errno.errorcode.get(number, str(number)), error=text, remedy=remedy)
        return
    space = {"total_bytes": total, "free_bytes": free, "inodes": files, "free_inodes": free_files}
    report.found(space=space)
