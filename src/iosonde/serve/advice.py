"""Advice as the page and its API spell it: parameters of a query, and commands that somebody runs in a terminal."""

from __future__ import annotations

from iosonde.model.advice import Action, Argument, command_line

_PARAMETERS = {
    "host": "host",
    "mapping": "an import with a mapping",
    "metrics": "metric",
    "since": "since_ns",
    "target": "target",
    "until": "until_ns",
}
_ACTIONS = {"jobs": "the search of jobs", "table": "a table of jobs"}


def page(part: Argument | Action) -> str:
    """``since_ns``; what only a command takes stays as the command line has it."""
    words = _PARAMETERS if isinstance(part, Argument) else _ACTIONS
    return words.get(part.name) or command_line(part)
