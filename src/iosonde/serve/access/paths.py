"""Paths as they leave the server: below the store's name, for where the store lies is nobody's business."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.engine.layout.root import SCHEME
from iosonde.engine.left_out import left_out
from iosonde.engine.remote.mirror import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Iterator


_IN_BUCKET = re.compile(rf"^{SCHEME}.*?/(?=(?:{'|'.join(EVERYTHING)})/)")
"""What stands before the key of an object of a store."""


def without_root(text: str, root: Path) -> str:
    """The text with the store's folder as its name alone."""
    whole = root.absolute()
    for path in (str(whole), str(root)):
        if len(path) > 1:  # neither "." nor "/" stands for a place in a text
            text = text.replace(path, whole.name)
    return text


def left_out_below(root: Path) -> list[dict[str, str]]:
    """Files that readers left out, as answers have them."""
    return [dict(_short(one, root)) for one in left_out(root)]


def _short(one: dict[str, str], root: Path) -> Iterator[tuple[str, str]]:
    for name, text in one.items():
        yield name, _IN_BUCKET.sub("", without_root(text, root))
