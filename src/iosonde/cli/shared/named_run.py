"""Lookup of a run by name: its id, its prefix, or both ends as tables cut it (``selftest…r-easy``)."""

from __future__ import annotations

import difflib

from iosonde.model.errors import UsageError

_SHORTEST = 4


def run_named(word: str, names: list[str]) -> str:
    """Run of this id, prefix or cut name. Raises UsageError."""
    if word in names:
        return word
    first, _, last = word.partition("…")
    found = [name for name in names if name.startswith(first) and name.endswith(last)]
    if len(word) < _SHORTEST:
        found = []
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{word!r} begins {len(found)} runs", expected="one of " + ", ".join(found[:5])
        )
    begins = {name.partition("-")[0]: name for name in names}
    near = difflib.get_close_matches(word, names, n=1)
    near += [begins[one] for one in difflib.get_close_matches(word, begins, n=1)]
    some = ", ".join(names[-8:]) + (", ..." if len(names) > 8 else "")
    raise UsageError(
        f"there is no run {word!r}",
        expected=f"one of {some}",
        hint=repr(near[0]) if near else "",
    )
