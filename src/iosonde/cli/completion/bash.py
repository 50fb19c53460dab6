"""Completion for bash: one static script, without Python at a TAB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iosonde.cli.completion.parsers import TARGETS, CommandHelp, CommandOption, Operand

_HEAD = """\
# bash completion for iosonde, made by 'iosonde completion bash'
_iosonde_targets() {
    local store=${IOSONDE_STORE:-${XDG_STATE_HOME:-$HOME/.local/state}/iosonde}
    @TARGETS@ "$store"/state/*/*.json 2>/dev/null | sort -u
}
_iosonde_offer() {
    local IFS=$'\\n'
    case $1 in
        file) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$cur")) ;;
        directory) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$cur")) ;;
        target) compopt -o filenames 2>/dev/null
            COMPREPLY+=($({ compgen -W "$(_iosonde_targets)" -- "$cur"; compgen -d -- "$cur"; } | sort -u)) ;;
        nothing) ;;
        *) IFS=' '; COMPREPLY+=($(compgen -W "$1" -- "$cur")) ;;
    esac
}
_iosonde() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} key=${COMP_WORDS[1]} at=2
    local options= values=
    COMPREPLY=()
    if [[ $cur == = ]]; then cur=
    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
"""
_TAIL = """\
    if [[ -n $values ]]; then _iosonde_offer "$values"; return; fi
    if [[ $cur == -* ]]; then _iosonde_offer "$options"; return; fi
    _iosonde_offer "${operand:-nothing}"
}
complete -F _iosonde iosonde
"""


def script(commands: Sequence[CommandHelp]) -> str:
    """Script for ``source``."""
    first = list(dict.fromkeys(one.words[0] for one in commands))
    text = _HEAD.replace("@TARGETS@", TARGETS)
    text += "    local operand=\n    if (( COMP_CWORD == 1 )); then\n"
    text += f'        _iosonde_offer "{" ".join([*first, "help", "--help", "--version"])}"; return\n    fi\n'
    text += "    case $key in\n"
    for name in first:
        if inner := _inner(commands, name):
            text += f"        {name})\n"
            text += f'            if (( COMP_CWORD == 2 )); then _iosonde_offer "{" ".join(inner)}"; fi\n'
            text += f"            case ${{COMP_WORDS[2]}} in {'|'.join(inner)})\n"
            text += f'                key="{name} ${{COMP_WORDS[2]}}"; at=3 ;; esac ;;\n'
    text += "    esac\n    case $key in\n"
    text += "".join(_command(one) for one in commands)
    return text + "    esac\n" + _TAIL


def _inner(commands: Iterable[CommandHelp], name: str) -> list[str]:
    return [one.words[1] for one in commands if one.words[0] == name and len(one.words) > 1]


def _command(one: CommandHelp) -> str:
    flags = " ".join(flag for option in one.options for flag in option.flags)
    text = f'        "{" ".join(one.words)}")\n            options="{flags}"\n'
    valued = [option for option in one.options if option.takes_value]
    if valued:
        text += "            case $prev in\n"
        for option in valued:
            text += f'                {"|".join(option.flags)}) values="{_offered(option)}" ;;\n'
        text += "            esac\n"
    operands = one.operands
    for place, operand in enumerate(operands):
        last = place == len(operands) - 1
        test = f"(( COMP_CWORD {'>=' if last else '=='} at + {place} ))"
        text += f'            {test} && operand="{_offered(operand)}"\n'
    return text + "            ;;\n"


def _offered(argument: CommandOption) -> str:
    if argument.offers is Operand.CHOICES:
        return " ".join(argument.choices)
    return argument.offers.value
