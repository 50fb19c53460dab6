"""Names of the commands that a shell script starts, read off its text. Enough for the scripts of this repository."""

from __future__ import annotations

import re

_OWN = """
if then elif else fi for in do done while until case esac ! { } [ [[ ]] ]
set cd exit exec export trap wait shift eval read return local unset command echo printf test true false : . source
umask ulimit type kill declare readonly let break continue getopts hash pwd
""".split()  # noqa: SIM905  (a list of fifty literals would fill a page)
"""Words and commands of the shell itself."""
_ASSIGNED = r"(?:[A-Za-z_]\w*\+?=\S*\s+)*"
_COMMAND = re.compile(
    rf"(?:^|[;&|(`]|(?<=\s){{|(?<=\s)!|\b(?:then|do|else|if|elif|while|until|exec|command)\b)[^\S\n]*{_ASSIGNED}"
    r"(?=([A-Za-z_][\w.+-]*)(?:[\s;)&|]|$))",
    re.MULTILINE,
)
_LABEL = re.compile(r"^[^\S\n]*[\w.*|\[\]\s-]+\)", re.MULTILINE)
_FUNCTION = re.compile(r"^[^\S\n]*([\w-]+)[^\S\n]*\(\)", re.MULTILINE)


def commands(script: str) -> set[str]:
    """The first words of its commands, without the shell's own and the script's functions."""
    script = re.sub(r"<<'?(\w+)'?\n.*?\n\1\n", "\n", script, flags=re.DOTALL)
    functions = set(_FUNCTION.findall(script))
    found: set[str] = set()
    texts = [_FUNCTION.sub("", script)]
    while texts:
        text, inner = _unquoted(texts.pop())
        texts += inner
        text = re.sub(r"\(\(.*?\)\)|\[\[.*?\]\]", " ", text)
        text = _LABEL.sub("", text)
        found |= set(_COMMAND.findall(text))
    return found - {*_OWN} - functions


def _unquoted(text: str) -> tuple[str, list[str]]:
    """The text without comments, quoted text and substitutions; the substitutions."""
    kept, inner, at, quoted = [], [], 0, False
    while at < len(text):
        here = text[at]
        if here == "\\":
            kept.append("x" if text[at + 1 : at + 2] != "\n" else " ")
            at += 2
        elif text.startswith("$((", at):
            at = _closed(text, at + 1)
            kept.append("$x")
        elif text.startswith("$(", at):
            end = _closed(text, at + 1)
            inner.append(text[at + 2 : end - 1])
            kept.append("$x")
            at = end
        elif text.startswith("${", at):
            at = _closed(text, at + 1, "{}")
            kept.append("$x")
        elif here == '"':
            quoted = not quoted
            kept.append("'")
            at += 1
        elif quoted:
            at += 1
        elif here == "'":
            at = text.index("'", at + 1) + 1
            kept.append("''")
        elif here == "#" and (at == 0 or text[at - 1].isspace()):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        else:
            kept.append(here)
            at += 1
    return "".join(kept), inner


def _closed(text: str, start: int, pair: str = "()") -> int:
    """Behind the bracket that closes the one at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at + 1
    return len(text)
