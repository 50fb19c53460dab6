"""Sources and manuals of programs: they quote outputs of tools, and are no data."""

from __future__ import annotations

import re

from iosonde.connectors.source import Head

_ENDINGS = frozenset(
    [
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".h",
        ".hh",
        ".hpp",
        ".f",
        ".f90",
        ".go",
        ".java",
        ".js",
        ".jsx",
        ".ts",
        ".tsx",
        ".lua",
        ".m4",
        ".pl",
        ".pm",
        ".py",
        ".pyi",
        ".r",
        ".rb",
        ".rs",
        ".scala",
        ".ac",
        ".am",
        ".cmake",
        ".bash",
        ".sh",
        ".zsh",
        ".css",
        ".htm",
        ".html",
        ".ipynb",
        ".md",
        ".rst",
        ".tex",
        ".diff",
        ".patch",
    ]
)
_BEGINS = re.compile(rb"#!\s*/|\.\\\"|\.T[Hh] |'\\\"|<!doctype |<html", re.IGNORECASE)
"""A script's interpreter, a manual page, a page of HTML."""


def is_program(head: Head) -> bool:
    """True for the source of a program, a script, a manual page or a document, by its name or first bytes."""
    return head.path.suffix.lower() in _ENDINGS or _BEGINS.match(head.data[:80]) is not None
