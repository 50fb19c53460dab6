"""Policy on names of users, accounts and jobs: ``policy.toml`` in the store, or ``iosonde serve --names``.

::

    names = "hashed"      nobody: a stable alias stands for each name (without a policy it is so)
    names = "loopback"    who asks a server that listens on a loopback address
    names = "shown"       everyone who can reach the server
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from iosonde.engine.opener import WORD_BYTES, content
from iosonde.model.errors import StoreError, UsageError
from iosonde.serve.privacy.pseudonyms import KEY_BYTES, Pseudonyms

Shown = Literal["hashed", "loopback", "shown"]
SHOWN: tuple[Shown, ...] = get_args(Shown)
POLICY, KEY = "policy.toml", "names.key"


def read_policy(root: Path) -> Shown:
    """Policy of the store; ``hashed`` without one. Raises UsageError: a malformed policy."""
    path = Path(root) / POLICY
    try:
        said = tomllib.loads(content(path, WORD_BYTES).decode()).get("names", "hashed")
    except FileNotFoundError:
        return "hashed"
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the policy {path}: {error}", expected=_EXPECTED) from error
    found = next((one for one in SHOWN if one == said), None)
    if found is None:
        raise UsageError(f"{path}: names = {said!r}", expected=_EXPECTED)
    return found


def pseudonyms(
    root: Path, shown: Shown, *, loopback: bool, randomness: Callable[[int], bytes]
) -> Pseudonyms:
    """Aliases of this store, or plain names. ``randomness``: returns so many random bytes.

    The key lies in the store, for its owner alone; the first name that is hashed makes it. Where none can be written,
    aliases are those of this process. A key that is damaged is a StoreError then.
    """
    if shown == "shown" or (shown == "loopback" and loopback):
        return Pseudonyms(None)
    return Pseudonyms(lambda: _key(Path(root) / KEY, randomness))


def _key(path: Path, randomness: Callable[[int], bytes]) -> bytes:
    made = randomness(KEY_BYTES)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    if not path.exists() and path.parent.is_dir():
        # A link appears whole, and only where there is none: two servers that start together share a key.
        with contextlib.suppress(OSError):
            with os.fdopen(
                os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(made.hex().encode() + b"\n")
            os.link(draft, path)
        with contextlib.suppress(OSError):
            draft.unlink()
    try:
        key = bytes.fromhex(content(path, WORD_BYTES).decode().strip())
    except FileNotFoundError:
        return made
    except (OSError, ValueError) as error:
        raise StoreError(
            f"cannot read the key of names {path}: {error}",
            expected=f"{2 * KEY_BYTES} hexadecimal digits",
            hint="remove it: every name then gets another alias",
        ) from error
    if len(key) != KEY_BYTES:
        raise StoreError(
            f"the key of names {path} has {len(key)} bytes",
            expected=f"{KEY_BYTES}",
            hint="remove it: every name then gets another alias",
        )
    return key


_EXPECTED = "names = one of " + ", ".join(f'"{one}"' for one in SHOWN)
