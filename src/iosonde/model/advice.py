"""Advice of an error or a note, as a value: every door spells arguments and actions in its own way.

::

    Advice(Argument("mapping", "FILE"))             --mapping FILE            mapping=FILE
    Advice(Action("import"), ", or ", TABLE)        'iosonde import', or TABLE
                                                    .import_files(), or iosonde.read_jobs()

``str`` of an advice spells it for the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Argument(NamedTuple):
    """An argument of the question. ``value``: placeholder for its value, such as FILE."""

    name: str
    value: str = ""


class Action(NamedTuple):
    """Another thing to do: a command, a function. ``arguments``: its words and arguments."""

    name: str
    arguments: tuple[str | Argument, ...] = ()


TABLE = Action("table")
"""The reader's own table instead of the store."""

Spelling = Callable[[Argument | Action], str]
_OPTIONS = {"y": "with"}
"""Command-line names of arguments that differ."""


class Advice:
    """Text with arguments and actions."""

    def __init__(self, *parts: str | Argument | Action) -> None:
        self.parts = parts

    def spelled(self, spelling: Spelling) -> str:
        """The text as a door spells it."""
        words = (part if isinstance(part, str) else spelling(part) for part in self.parts)
        return "".join(words)

    def __str__(self) -> str:
        return self.spelled(command_line)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Advice) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


Text = str | Advice


def spelled(text: Text, spelling: Spelling) -> str:
    """A text or an advice, as a door spells it."""
    return text.spelled(spelling) if isinstance(text, Advice) else text


def command_line(part: Argument | Action) -> str:
    """``--mapping FILE``, ``'iosonde jobs --search WORDS'``."""
    if isinstance(part, Argument):
        option = "--" + _OPTIONS.get(part.name, part.name).replace("_", "-")
        return f"{option} {part.value}".rstrip()
    if part == TABLE:
        return "TABLE"
    words = (command_line(one) if isinstance(one, Argument) else one for one in part.arguments)
    return f"'{' '.join(('iosonde', part.name, *words))}'"
