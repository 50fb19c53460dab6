r"""``replace`` of a mapping: regular expressions of RE2, with time linear in the text.

Python's own may take longer than anybody waits (``(a+)+$``), and cannot be interrupted. RE2 comes with the engine.
It knows neither look-around nor references to groups within a pattern; ``\1`` in the new text is a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

Replacement = tuple[str, str]
"""A pattern, and the replacement of every match."""


def wrong(replacement: Replacement) -> str:
    """Reason why a replacement is invalid; "" if valid."""
    import duckdb

    try:
        replaced([""], [replacement])
    except duckdb.Error as error:
        return str(error).splitlines()[0].partition(": ")[2]
    return ""


def replaced(texts: Sequence[str], replacements: Sequence[Replacement]) -> list[str]:
    """Texts after all replacements, one after the other."""
    if not replacements or not texts:
        return list(texts)
    import duckdb
    import numpy as np

    with closing(duckdb.connect()) as con:
        con.register(
            "cells", {"cell": np.array(texts, dtype=object), "place": np.arange(len(texts))}
        )
        expression = "cell"
        given: list[str] = []
        for pattern, new in replacements:
            expression = f"regexp_replace({expression}, ?, ?, 'g')"
            given += [pattern, new]
        rows = con.execute(f"SELECT {expression} FROM cells ORDER BY place", given).fetchall()
    return [str(text) for (text,) in rows]
