"""Every command with its parser, as plain data: the source of completions and manual pages."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from iosonde.cli.shared.options import DESCRIBE, Parser, ParserAskedError

TARGETS = """sed -n 's/^{"schema_version":[^{]*"target":"\\([^"]*\\)".*/\\1/p'"""
"""Shell words that print the target of every state file: no Python, a millisecond."""

OF_SEVERAL = {"bench": "benchmarks, by name", "store": "upkeep of a store, by name"}
"""Summaries of commands without their own."""


class Operand(StrEnum):
    """Completion of a value by the shell."""

    NOTHING = "nothing"
    CHOICES = "choices"
    FILE = "file"
    DIRECTORY = "directory"
    TARGET = "target"
    """A watched target of the store, or a directory."""


@dataclass(frozen=True)
class CommandOption:
    """An option (``flags``), or an operand (no flags)."""

    flags: tuple[str, ...]
    name: str
    """Metavariable; empty: a switch without a value."""
    help: str
    choices: tuple[str, ...]
    offers: Operand
    repeats: bool

    @property
    def takes_value(self) -> bool:
        """True if a value follows the flag."""
        return bool(self.name)


@dataclass(frozen=True)
class CommandHelp:
    """A command: ``words`` is ``("bench", "metadata")`` for one of several benchmarks."""

    words: tuple[str, ...]
    summary: str
    usage: str
    examples: str
    arguments: tuple[CommandOption, ...]

    @property
    def options(self) -> tuple[CommandOption, ...]:
        """Arguments that start with a dash."""
        return tuple(one for one in self.arguments if one.flags)

    @property
    def operands(self) -> tuple[CommandOption, ...]:
        """Arguments without a dash."""
        return tuple(one for one in self.arguments if not one.flags)


def command_helps() -> list[CommandHelp]:
    """All commands with a parser, in the order of the help."""
    from iosonde.cli.commands import every

    found = []
    for command in every():
        module = importlib.import_module(f"iosonde.cli.{command.module}")
        found += [_command_help(module.main, words) for words in _words(command.name)]
    return found


def _words(name: str) -> Iterator[tuple[str, ...]]:
    """Words of a command: ``bench`` and ``store`` have a parser per second word, ``selftest`` one of its own and one
    per test.
    """
    from iosonde.cli.bench.bench import BENCHMARKS
    from iosonde.cli.selftest.selftest import TESTS
    from iosonde.cli.store.store import UPKEEP

    if name not in ("bench", "store"):
        yield (name,)
    inner = {"bench": BENCHMARKS, "selftest": TESTS, "store": UPKEEP}.get(name, {})
    yield from ((name, word) for word in inner)


def _command_help(main: object, words: tuple[str, ...]) -> CommandHelp:
    assert callable(main)
    try:
        main([*words[1:], DESCRIBE])
    except ParserAskedError as asked:
        parser = asked.parser
    else:
        raise AssertionError(f"{' '.join(words)} does not parse its arguments")
    return CommandHelp(
        words,
        parser.description or "",
        parser.format_usage().partition(": ")[2].strip(),
        (parser.epilog or "").partition("\n")[2].rstrip("\n"),
        tuple(_argument(parser, action) for action in parser.actions() if _shown(action)),
    )


def _shown(action: argparse.Action) -> bool:
    return action.help is not argparse.SUPPRESS


def _argument(parser: Parser, action: argparse.Action) -> CommandOption:
    choices = tuple(map(str, action.choices or ()))
    switch = bool(action.option_strings) and action.nargs == 0
    metavar = action.metavar if isinstance(action.metavar, str) else None
    shown = "{" + ",".join(choices) + "}" if choices else action.dest.upper()
    text = (action.help or "") % {"default": action.default, "prog": parser.prog}
    return CommandOption(
        tuple(action.option_strings),
        "" if switch else metavar or (shown if action.option_strings else action.dest.upper()),
        text,
        choices,
        Operand.NOTHING if switch else _offers(action, metavar or "", choices),
        isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+"),
    )


def _offers(action: argparse.Action, metavar: str, choices: tuple[str, ...]) -> Operand:
    if choices:
        return Operand.CHOICES
    if action.dest == "store" or metavar in ("DIR", "PLACE"):
        return Operand.DIRECTORY
    if action.dest in ("target", "what") or metavar.startswith("TARGET"):
        return Operand.TARGET
    if action.type is Path or "FILE" in metavar or metavar == "TABLE":
        return Operand.FILE
    return Operand.NOTHING
