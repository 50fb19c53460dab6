"""Paths and file names as shown to clients.

Where the store lies is nobody's business, so a path begins with the store's name. Runs that an import named after a
log's job and program get an alias: ``transfers/date=2026-11-18/darshan-4711-vpicio_uni-....parquet``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.darshan.log_transfers import PREFIX
from iosonde.engine.layout.root import SCHEME
from iosonde.engine.left_out import left_out
from iosonde.engine.remote.mirror import EVERYTHING

if TYPE_CHECKING:
    from iosonde.serve.privacy.pseudonyms import Pseudonyms

_IN_BUCKET = re.compile(rf"^{SCHEME}.*?/(?=(?:{'|'.join(EVERYTHING)})/)")
"""Bucket and prefix before the key of a store's object."""
_LOG_RUN = re.compile(rf"(?<![\w.-]){re.escape(PREFIX)}[\w.-]+?(?=\.parquet|[^\w.-]|\.?$)")


def aliased_run(run: str, names: Pseudonyms) -> str:
    """A run's id; for one named after a log an alias, if the policy requires it."""
    return names.of("run", run) if run.startswith(PREFIX) else run


class ShownPaths:
    """Filter of texts with paths of one store."""

    def __init__(self, root: Path, names: Pseudonyms) -> None:
        self._root, self._names = Path(root), names

    def without_root(self, text: str) -> str:
        """The text with the store's folder reduced to its name: for a refusal, which repeats the request."""
        whole = self._root.absolute()
        for path in (str(whole), str(self._root)):
            if len(path) > 1:  # neither "." nor "/" stands for a place in a text
                text = text.replace(path, whole.name)
        return _IN_BUCKET.sub("", text)

    def text(self, text: str) -> str:
        """The text also with aliases for runs of logs. Not for words of a question: it would reveal the alias of a
        guess.
        """
        text = self.without_root(text)
        if not self._names.hashed:
            return text
        return _LOG_RUN.sub(lambda found: self._names.of("run", found[0]), text)

    def left_out(self) -> list[dict[str, str]]:
        """Skipped files, as in answers."""
        return [
            {name: self.text(text) for name, text in one.items()} for one in left_out(self._root)
        ]
