"""Default store folder, if no option names one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def default_root(environ: Mapping[str, str]) -> Path:
    """``$IOSONDE_STORE``, else ``$XDG_STATE_HOME/iosonde``, else ``~/.local/state/iosonde``."""
    if environ.get("IOSONDE_STORE"):
        return Path(environ["IOSONDE_STORE"])
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"]) / "iosonde"
    return (
        (Path(environ["HOME"]) if environ.get("HOME") else Path.home())
        / ".local"
        / "state"
        / "iosonde"
    )


SCHEME = "s3://"


def is_bucket(store: str) -> bool:
    """True if a store's name is that of a bucket, ``s3://bucket/prefix``."""
    return store.startswith(SCHEME)
