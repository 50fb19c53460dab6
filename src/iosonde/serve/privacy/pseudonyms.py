"""Aliases: a keyed hash of a name, short enough to read aloud, the same in every answer about a store.

An id of a job that is a scheduler's number stays: it names nobody. Any other (``ls.alice``, as Lustre makes them) is
hashed too. Two of 2,000 users share an alias in one of 500 stores.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Texts

Kind = Literal["user", "account", "app", "job", "run"]
"""``run``: distinguishes runs within a job, or a log."""
KEY_BYTES = 32
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Alphabet without i, l, o, u: unambiguous, and no alias is a word."""
_LONG = 6
_NUMBER = re.compile(r"\d+([_.+]\d+|_\[[\d,%-]*\]|\[\d*\])*")


class Pseudonyms:
    """Aliases by a key; None: plain names. A name has different aliases as a user and as an account.

    ``key`` is asked for once, when there is a first name to hash. Safe to use from several threads.
    """

    def __init__(self, key: Callable[[], bytes] | None) -> None:
        self._key = None if key is None else cache(key)

    @property
    def hashed(self) -> bool:
        """True if aliases replace names."""
        return self._key is not None

    def of(self, kind: Kind, name: str) -> str:
        """Alias of a name; empty for an empty name."""
        if self._key is None or not name or (kind == "job" and _NUMBER.fullmatch(name)):
            return name
        text = f"{kind}\0{name}".encode("utf-8", "surrogatepass")
        bits = int.from_bytes(hashlib.blake2b(text, key=self._key(), digest_size=8).digest(), "big")
        letters = (_LETTERS[bits >> (5 * place) & 31] for place in range(_LONG))
        return f"{kind}-{''.join(letters)}"

    def column(self, kind: Kind, names: Texts) -> Texts:
        """Aliases of many names, shape (n,)."""
        if self._key is None or not len(names):
            return names
        unique, place = np.unique(names.astype(str), return_inverse=True)
        aliases: Any = np.array([self.of(kind, name) for name in unique.tolist()], dtype=object)
        found: Texts = aliases[place]
        return found
