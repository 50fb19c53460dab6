"""Completion for fish: a line per command, option and choice."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.cli.completion.parsers import OF_SEVERAL, TARGETS, CommandHelp, CommandOption, Operand

_HEAD = """\
# fish completion for iosonde, made by 'iosonde completion fish'
function __iosonde_targets
    set -l store $IOSONDE_STORE
    if test -z "$store"
        set -l home $XDG_STATE_HOME
        test -n "$home"; or set home $HOME/.local/state
        set store $home/iosonde
    end
    set -l states $store/state/*/*.json
    test (count $states) -gt 0; and cat $states 2>/dev/null | @TARGETS@ | sort -u
    __fish_complete_directories
end
complete -c iosonde -f
"""


def script(commands: Sequence[CommandHelp]) -> str:
    """Content of ``iosonde.fish``."""
    lines = []
    told: set[str] = set()
    for one in commands:
        name = one.words[0]
        if name not in told:
            told.add(name)
            said = OF_SEVERAL.get(name) or one.summary
            lines.append(
                f"complete -c iosonde -n __fish_use_subcommand -a {name} -d {_quoted(said)}"
            )
        if len(one.words) > 1:
            second = one.words[1]
            inner = [w.words[1] for w in commands if w.words[0] == name and len(w.words) > 1]
            when = f"__fish_seen_subcommand_from {name}; and not __fish_seen_subcommand_from {' '.join(inner)}"
            lines.append(
                f"complete -c iosonde -n {_quoted(when)} -a {second} -d {_quoted(one.summary)}"
            )
        lines += _arguments(one, commands)
    return _HEAD.replace("@TARGETS@", TARGETS) + "\n".join(lines) + "\n"


def _arguments(one: CommandHelp, commands: Sequence[CommandHelp]) -> list[str]:
    when = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in one.words)
    others = [w.words[1] for w in commands if w.words[0] == one.words[0] and len(w.words) > 1]
    if len(one.words) == 1 and others:
        when += f"; and not __fish_seen_subcommand_from {' '.join(others)}"
    begin = f"complete -c iosonde -n {_quoted(when)}"
    return [f"{begin} {_parts(argument)}" for argument in one.arguments]


def _parts(argument: CommandOption) -> str:
    parts = []
    for flag in argument.flags:
        parts.append(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}")
    value = _value(argument)
    if argument.takes_value and argument.flags:
        parts.append("-r" if argument.offers is Operand.FILE else "-x")
    if value:
        parts.append(value)
    return " ".join([*parts, f"-d {_quoted(argument.help)}"])


def _value(argument: CommandOption) -> str:
    match argument.offers:
        case Operand.CHOICES:
            return f"-a {_quoted(' '.join(argument.choices))}"
        case Operand.FILE:
            return "-F"
        case Operand.DIRECTORY:
            return "-a '(__fish_complete_directories)'"
        case Operand.TARGET:
            return "-a '(__iosonde_targets)'"
        case _:
            return ""


def _quoted(text: str) -> str:
    return "'" + " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'") + "'"
