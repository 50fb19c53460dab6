"""Completion for zsh: a function for ``$fpath``, with a description per option."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iosonde.cli.completion.parsers import OF_SEVERAL, TARGETS, CommandHelp, CommandOption, Operand

_HEAD = """\
#compdef iosonde
# zsh completion for iosonde, made by 'iosonde completion zsh'
_iosonde_targets() {
    local store=${IOSONDE_STORE:-${XDG_STATE_HOME:-$HOME/.local/state}/iosonde}
    local -a names
    names=(${(f)"$(@TARGETS@ $store/state/*/*.json(N) /dev/null)"})
    compadd -a names
    _files -/
}
"""
_ACTIONS = {
    Operand.NOTHING: " ",
    Operand.FILE: "_files",
    Operand.DIRECTORY: "_files -/",
    Operand.TARGET: "_iosonde_targets",
}


def script(commands: Sequence[CommandHelp]) -> str:
    """Content of ``_iosonde``."""
    text = _HEAD.replace("@TARGETS@", TARGETS) + "".join(_function(one) for one in commands)
    text += "_iosonde() {\n    local -a commands\n    commands=(\n"
    told = {one.words[0]: one.summary for one in reversed(commands)}
    several = {one.words[0] for one in commands if len(one.words) > 1}
    first = list(dict.fromkeys(one.words[0] for one in commands))
    for name in first:
        said = OF_SEVERAL.get(name) or told[name]
        text += f"        '{_quoted(name)}:{_quoted(said)}'\n"
    text += "    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
    text += "    local key=$words[2]\n    shift words; (( CURRENT-- ))\n    case $key in\n"
    for name in first:
        if name not in several:
            text += f"        {name}) _iosonde_{_name((name,))} ;;\n"
            continue
        inner = [one.words for one in commands if one.words[0] == name and len(one.words) > 1]
        text += f"        {name})\n"
        text += (
            f"            if (( CURRENT == 2 )); then compadd {' '.join(w[1] for w in inner)}; fi\n"
        )
        text += "            case $words[2] in\n"
        for words in inner:
            text += f"                {words[1]}) shift words; (( CURRENT-- )); _iosonde_{_name(words)} ;;\n"
        alone = any(one.words == (name,) for one in commands)
        text += f"                *) _iosonde_{_name((name,))} ;;\n" if alone else ""
        text += "            esac ;;\n"
    return text + '    esac\n}\n_iosonde "$@"\n'


def _function(one: CommandHelp) -> str:
    lines = [_option(option) for option in one.options]
    for place, operand in enumerate(one.operands, 1):
        before = "*" if operand.repeats else str(place)
        lines.append(f"'{before}:{_quoted(operand.name)}:{_action(operand)}'")
    joined = " \\\n        ".join(lines)
    return f"_iosonde_{_name(one.words)}() {{\n    _arguments \\\n        {joined}\n}}\n"


def _option(option: CommandOption) -> str:
    value = f":{_quoted(option.name)}:{_action(option)}" if option.takes_value else ""
    group = "'*'" if option.repeats else f"'({' '.join(option.flags)})'"
    flags = "{" + ",".join(option.flags) + "}" if len(option.flags) > 1 else option.flags[0]
    return f"{group}{flags}'[{_quoted(option.help)}]{value}'"


def _action(argument: CommandOption) -> str:
    if argument.offers is Operand.CHOICES:
        return f"({' '.join(argument.choices)})"
    return _ACTIONS[argument.offers]


def _name(words: tuple[str, ...]) -> str:
    return "_".join(words).replace("-", "_")


def _quoted(text: str) -> str:
    """Text quoted for an argument of ``_arguments`` within single quotes."""
    return re.sub(r"([\[\]:\\])", r"\\\1", " ".join(text.split())).replace("'", "'\\''")
