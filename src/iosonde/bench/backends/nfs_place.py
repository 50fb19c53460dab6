"""``nfs://HOST[:PORT]/EXPORT`` as a user writes it."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass

from iosonde.model.errors import UsageError

FORM = "nfs://HOST[:PORT]/EXPORT[?mountport=PORT&portmapport=PORT&uid=N&gid=N&resvport=0|1]"
_PORTMAP = 111
_PORTS = ("nfsport", "mountport", "portmapport")
_NUMBERS = dict.fromkeys(_PORTS, 65535) | {"uid": 2**32 - 1}
_NUMBERS |= {"gid": _NUMBERS["uid"], "resvport": 1}


@dataclass(frozen=True, slots=True)
class NfsPlace:
    """Exported directory of a server. A port of None: from the port mapper."""

    host: str
    path: str
    nfs_port: int | None = None
    mount_port: int | None = None
    portmap_port: int = _PORTMAP
    uid: int | None = None
    gid: int | None = None
    reserved: bool | None = None
    """True for a source port below 1024; None: if this user may bind one."""

    @property
    def name(self) -> str:
        """The place as written, without options."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"nfs://{host}{self.path}"


def parse_nfs(text: str) -> NfsPlace:
    """Parse a place. Raises UsageError."""
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError:
        raise UsageError(f"{text}: no address of an NFS server", expected=FORM) from None
    if parts.scheme != "nfs" or not parts.hostname or "@" in parts.netloc:
        raise UsageError(f"{text}: no address of an NFS server", expected=FORM)
    numbers = {name: _number(name, value) for name, value in _options(parts.query)}
    path = urllib.parse.unquote(parts.path) or "/"
    if len(path.encode()) > 1024 or "\0" in path:
        raise UsageError("nfs: the path is too long", expected="at most 1024 bytes")
    return NfsPlace(
        parts.hostname,
        path,
        numbers.get("nfsport", port),
        numbers.get("mountport"),
        numbers.get("portmapport", _PORTMAP),
        numbers.get("uid"),
        numbers.get("gid"),
        bool(numbers["resvport"]) if "resvport" in numbers else None,
    )


def _options(query: str) -> list[tuple[str, str]]:
    return urllib.parse.parse_qsl(query, keep_blank_values=True)


def _number(name: str, value: str) -> int:
    if name not in _NUMBERS:
        raise UsageError(f"nfs: no option `{name}`", expected=f"one of {', '.join(_NUMBERS)}")
    least = 1 if name in _PORTS else 0
    if not value.isascii() or not value.isdigit() or not least <= int(value) <= _NUMBERS[name]:
        raise UsageError(
            f"nfs: {name} is {value[:20]!r}", expected=f"a number from {least} to {_NUMBERS[name]}"
        )
    return int(value)
