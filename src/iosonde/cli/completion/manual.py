"""Manual pages, section 1: one of ``iosonde`` and one per command."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde import __version__
from iosonde.cli.completion.parsers import CommandHelp, CommandOption

ENVIRONMENT = (
    ("IOSONDE_STORE", "store folder (default: ~/.local/state/iosonde)"),
    ("NO_COLOR", "text without colours"),
)
EXITS = (
    ("0", "done"),
    ("1", "failed"),
    ("2", "wrong request"),
    ("130", "interrupted by Ctrl-C"),
)
CHECK_EXITS = (("0", "ok"), ("1", "warning"), ("2", "critical"), ("3", "unknown"))


def pages(commands: Sequence[CommandHelp]) -> dict[str, str]:
    """File name -> page."""
    found = {f"{_name(one)}.1": _page(one) for one in commands}
    return {"iosonde.1": _front(commands), **found}


def _name(one: CommandHelp) -> str:
    return "-".join(("iosonde", *one.words))


def _front(commands: Sequence[CommandHelp]) -> str:
    lines = _head("iosonde", "weather station for shared storage")
    lines += [".SH SYNOPSIS", ".B iosonde", ".I COMMAND", "[options]", ".SH COMMANDS"]
    for one in commands:
        lines += [".TP", f".BR {_word(_name(one))} (1)", *_text(one.summary)]
    lines += _pairs("ENVIRONMENT", ENVIRONMENT) + _pairs("EXIT STATUS", EXITS)
    return "\n".join(lines) + "\n"


def _page(one: CommandHelp) -> str:
    lines = _head(_name(one), one.summary.rstrip("."))
    lines += [".SH SYNOPSIS", *_text(one.usage), ".SH DESCRIPTION", *_text(one.summary)]
    if one.operands:
        lines += [".SH OPERANDS"]
        for operand in one.operands:
            lines += [".TP", f".I {_word(operand.name)}", *_text(_told(operand))]
    lines += [".SH OPTIONS"]
    for option in one.options:
        flags = ", ".join(f"\\fB{_word(flag)}\\fR" for flag in option.flags)
        value = f" \\fI{_word(option.name)}\\fR" if option.takes_value else ""
        lines += [".TP", flags + value, *_text(_told(option))]
    if one.examples:
        lines += [".SH EXAMPLES", ".nf", *map(_line, one.examples.split("\n")), ".fi"]
    exits = CHECK_EXITS if one.words == ("check",) else EXITS
    lines += _pairs("ENVIRONMENT", ENVIRONMENT) + _pairs("EXIT STATUS", exits)
    lines += [".SH SEE ALSO", ".BR iosonde (1)"]
    return "\n".join(lines) + "\n"


def _told(argument: CommandOption) -> str:
    known = argument.choices and argument.choices != (argument.name,)
    if not known:
        return argument.help or argument.name
    return f"{argument.help}; one of {', '.join(argument.choices)}".removeprefix("; ")


def _head(name: str, summary: str) -> list[str]:
    title = f'.TH {_word(name).upper()} 1 "" "iosonde {__version__}" "User Commands"'
    return [
        title,
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{_word(name)} \\- {_escaped(' '.join(summary.split()))}",
    ]


def _pairs(title: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f".SH {title}"]
    for word, told in pairs:
        lines += [".TP", f".B {_word(word)}", *_text(told)]
    return lines


def _text(text: str) -> list[str]:
    return [_line(" ".join(text.split()))]


def _line(text: str) -> str:
    """A line of text that starts no roff request."""
    escaped = _escaped(text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _word(text: str) -> str:
    return _escaped(text).replace(" ", "\\ ")


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    return "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
