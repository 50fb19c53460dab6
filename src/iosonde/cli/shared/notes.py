"""Warnings of a command as lines on stderr: each once, and of bounded number."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO

from iosonde.model.errors import DamagedFileWarning

MOST = 20
"""Most damaged files with a line each."""


class Notes:
    """The lines of one run of a command."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._more = 0

    def listen(self) -> None:
        """Start receiving warnings."""
        warnings.simplefilter("always", DamagedFileWarning)
        warnings.showwarning = self._note

    def end(self) -> None:
        """Print the number of suppressed warnings."""
        if self._more:
            print(f"iosonde: warning: {self._more} more files are left out", file=sys.stderr)
            self._more = 0

    def _note(  # noqa: PLR0917 - the signature of warnings.showwarning
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,  # noqa: ARG002
        lineno: int,  # noqa: ARG002
        file: TextIO | None = None,  # noqa: ARG002
        line: str | None = None,  # noqa: ARG002
    ) -> None:
        text = str(message)
        if text in self._said:
            return
        self._said.add(text)
        damaged = issubclass(category, DamagedFileWarning)
        if damaged and len(self._said) > MOST:
            self._more += 1
        else:
            kind = "warning" if damaged else "note"
            print(f"iosonde: {kind}: {text}", file=sys.stderr)
