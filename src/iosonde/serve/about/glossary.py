"""The glossary of the documentation as data: sections of words and meanings.

``npm run build`` puts docs/glossary.md beside the built page, so an installed copy has it without the documentation.
A word's row is ``| **word**, **other** | meaning |``; emphasis is dropped, code keeps its backquotes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NAME = "glossary.md"
_ROW = re.compile(r"\| (?P<word>.*?) \| (?P<meaning>.*) \|")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def read_glossary(folder: Path) -> dict[str, Any]:
    """``sections`` of ``title`` and ``words``; none if ``folder`` has no glossary."""
    try:
        text = (folder / NAME).read_text(encoding="utf-8")
    except OSError:
        return {"sections": []}
    sections: list[dict[str, Any]] = []
    for line in text.splitlines():
        if line.startswith("## "):
            sections.append({"title": line.removeprefix("## ").strip(), "words": []})
        elif sections and (found := _ROW.fullmatch(line.strip())) and "**" in found["word"]:
            word, meaning = (_plain(found[name]) for name in ("word", "meaning"))
            sections[-1]["words"].append({"word": word, "meaning": meaning})
    return {"sections": sections}


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("**", "").replace("\\|", "|")
