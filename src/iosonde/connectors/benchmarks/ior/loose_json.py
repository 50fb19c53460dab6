"""Parser for IOR's JSON, which may be malformed: missing tokens are assumed, and each assumption has its place.

IOR has written it without commas, with bare ``nan`` and ``inf``, with quotes and backslashes of the command line as
they are, between lines of its log, and without an end when it died (hpc/ior threads 102, 233, 264, 503).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_DEEPEST = 60
_MOST_ASSUMED = 1000
_TOKEN = re.compile(
    r'(?P<space>[ \t\r\n]+)|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<mark>[{}\[\]:,])'
    r"|(?P<number>-?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,4})?)(?![\w.])"
    r"|(?P<word>true|false|null|-?nan|-?inf(?:inity)?)\b",
    re.IGNORECASE | re.ASCII,
)
_RAW = re.compile(r'^(\s*,?\s*"[^"\n]{1,40}"\s*:\s*")(.*)("\s*,?[ \t]*)$')
_STRAY = re.compile(r'\\(?!["\\/bfnrtu])|(?<!\\)"')
_WORDS = {"true": True, "false": False}
_LOG_LINE = re.compile(r'\s*(?:[A-Za-z*\d][^"{}\[\]]*|.*(?:Task=\d|stonewalling).*)$')
_VALUE_LINE = re.compile(
    r"\s*(?:[\"{}\[\],]|(?:-?[\d.eE+]+|true|false|null|-?nan|-?inf)\s*,?\s*$|$)", re.IGNORECASE
)


class Assumed(NamedTuple):
    """Place of malformed JSON, and the token assumed."""

    line: int
    what: str


def load(text: str) -> tuple[Any, list[Assumed]]:
    """The value of a text, and the assumptions made; (None, ...) if it holds no object. Never raises."""
    begin = text.find("{")
    if begin < 0:
        return None, []
    before = text.count("\n", 0, begin)
    try:
        value, end = json.JSONDecoder(parse_int=_int, parse_constant=_none).raw_decode(text, begin)
        if not text[end:].strip() or _only_log(text[end:]):
            return value, []
    except (ValueError, RecursionError):
        pass
    assumed: list[Assumed] = []
    lines = text[begin:].split("\n")
    cleaned = "\n".join(_clean(line, before + n, assumed) for n, line in enumerate(lines, 1))
    return _Builder(before, assumed).build(cleaned), assumed[:_MOST_ASSUMED]


def _only_log(text: str) -> bool:
    return all(_LOG_LINE.match(line) or not line.strip() for line in text.splitlines())


def _int(text: str) -> float | int:
    return int(text) if len(text) < 30 else float(text)


def _none(_: str) -> None:
    return None


def _clean(line: str, number: int, assumed: list[Assumed]) -> str:
    """A line with its one value quoted as a JSON string, or without log text."""
    match = _RAW.match(line)
    if match and '": "' not in match[2] and '", "' not in match[2] and '","' not in match[2]:
        inner = _STRAY.sub(lambda found: "\\" + found[0], match[2])
        if inner != match[2]:
            assumed.append(Assumed(number, "a quote or backslash within a text is part of it"))
            return match[1] + inner + match[3]
    elif _LOG_LINE.match(line) and not _VALUE_LINE.match(line):
        assumed.append(Assumed(number, "a line of the log between is left out"))
        return ""
    return line


class _Builder:
    """Build a value from tokens without recursion."""

    def __init__(self, before: int, assumed: list[Assumed]) -> None:
        self._before, self._assumed = before, assumed
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str | None] = []
        self._comma = True
        self._line = 0

    def build(self, text: str) -> Any:
        root: Any = None
        for line, kind, token in self._tokens(text):
            self._line = line
            if kind == "mark" and token in "{[":
                child: dict[str, Any] | list[Any] = {} if token == "{" else []
                if root is None:
                    root = child
                elif not self._stack or len(self._stack) >= _DEEPEST:
                    break
                else:
                    self._put(child)
                self._stack.append(child)
                self._keys.append(None)
                self._comma = True
            elif kind == "mark" and token in "}]":
                self._close(token)
                if not self._stack:
                    break
            elif kind == "mark":
                self._comma = self._comma or token == ","
            else:
                self._value(kind, token)
        if self._stack:
            self._say("the text ends within the object: it ends here")
        return root

    def _tokens(self, text: str) -> Iterator[tuple[int, str, str]]:
        place, line = 0, self._before + 1
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                end = text.find("\n", place)
                end = len(text) if end < 0 else end
                self._line = line
                if text[place:end].strip():
                    self._say("what is no JSON is left out up to the end of the line")
                place = end
                continue
            if match.lastgroup == "space":
                line += match[0].count("\n")
            else:
                yield line, match.lastgroup or "", match[0]
            place = match.end()

    def _value(self, kind: str, token: str) -> None:
        value: Any
        if kind == "text":
            try:
                value = json.loads(token, strict=False)
            except ValueError:
                value = token[1:-1]
            if isinstance(self._stack[-1], dict) and self._keys[-1] is None:
                if not self._comma:
                    self._say("a comma is missing: one belongs here")
                self._keys[-1], self._comma = str(value), False
                return
        elif kind == "number":
            number = float(token)
            value = number if math.isfinite(number) else None
            if re.fullmatch(r"-?\d{1,18}", token):
                value = int(token)
        else:
            value = _WORDS.get(token.lower())
            if value is None and token.lower() != "null":
                self._say(f"{token} is no number of JSON: missing")
        self._put(value)

    def _put(self, value: Any) -> None:
        top = self._stack[-1]
        if isinstance(top, list):
            if top and not self._comma:
                self._say("a comma is missing: one belongs here")
            top.append(value)
        elif self._keys[-1] is None:
            self._say("a value without a name is left out")
        else:
            top[self._keys[-1]] = value
            self._keys[-1] = None
        self._comma = False

    def _close(self, token: str) -> None:
        wanted = dict if token == "}" else list
        if not isinstance(self._stack[-1], wanted):
            if not any(isinstance(one, wanted) for one in self._stack):
                self._say(f"a {token} that closes nothing is left out")
                return
            self._say(f"what a {token} closes is not what was opened last: both end here")
            while not isinstance(self._stack[-1], wanted):
                self._stack.pop()
                self._keys.pop()
        self._stack.pop()
        self._keys.pop()
        self._comma = False

    def _say(self, what: str) -> None:
        if len(self._assumed) < _MOST_ASSUMED:
            self._assumed.append(Assumed(self._line, what))
