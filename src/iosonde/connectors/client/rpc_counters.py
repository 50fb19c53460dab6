"""Lines ``proc3`` and ``proc4`` of ``/proc/net/rpc/nfs``: requests of an NFS client since its module was loaded.

::

    proc3 22 null getattr setattr lookup access readlink read write create mkdir symlink mknod remove rmdir rename link
             readdir readdirplus fsstat fsinfo pathconf commit
    proc4 69 null read write commit open ...         (48, 60 or 69 of them: the count leads)

Counters are of the host, over all its mounts. Source: Linux, fs/nfs/nfs3xdr.c, include/linux/nfs4.h.
"""

from __future__ import annotations

from iosonde.connectors.client.mountstats_log import OPERATIONS
from iosonde.connectors.lines import shown
from iosonde.connectors.plain_numbers import count

_V3 = (
    *("NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE"),
    *("MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS"),
    *("FSSTAT", "FSINFO", "PATHCONF", "COMMIT"),
)
_V4 = (
    *("NULL", "READ", "WRITE", "COMMIT", "OPEN", "OPEN_CONFIRM", "OPEN_NOATTR", "OPEN_DOWNGRADE"),
    *("CLOSE", "SETATTR", "FSINFO", "RENEW", "SETCLIENTID", "SETCLIENTID_CONFIRM", "LOCK", "LOCKT"),
    *("LOCKU", "ACCESS", "GETATTR", "LOOKUP", "LOOKUP_ROOT", "REMOVE", "RENAME", "LINK", "SYMLINK"),
    *("CREATE", "PATHCONF", "STATFS", "READLINK", "READDIR", "SERVER_CAPS", "DELEGRETURN"),
)
"""Operations in the order common to all kernels; later ones (ACLs, sessions, layouts) are ``other_ops``."""
_VERSIONS = {"proc3": _V3, "proc4": _V4}
_QUIET = frozenset(("NULL", "RENEW"))
"""Operations that a client sends on its own."""
_MOST = 200


def operations(line: str) -> tuple[str, dict[str, int]] | None:
    """Version (``proc3``, ``proc4``) and counters by metric; None for other lines.

    Raises ValueError: fewer numbers than the line announces, or one that is no count. More than it announces, and
    procedures that are not known by name, hurt nothing.
    """
    words = line.split(None, _MOST)
    if not words or words[0] not in _VERSIONS:
        return None
    many = count(words[1]) if len(words) > 1 else None
    if many is None or many > _MOST - 2 or len(words) < many + 2:
        raise ValueError(
            f"{words[0]} announces {shown(words[1] if len(words) > 1 else '')} numbers"
        )
    names = _VERSIONS[words[0]]
    found: dict[str, int] = {}
    for place, word in enumerate(words[2 : many + 2]):
        value = count(word)
        if value is None:
            raise ValueError(f"{words[0]} has {shown(word)}")
        name = names[place] if place < len(names) else ""
        if name not in _QUIET:
            metric = OPERATIONS.get(name, "other_ops")
            found[metric] = found.get(metric, 0) + value
    return words[0], found
