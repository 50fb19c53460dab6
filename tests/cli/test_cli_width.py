"""Terminals of 80, 100 and 140 columns, COLUMNS unset: no line is wider than the terminal, no word is cut."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from pathlib import Path

import pytest

from iosonde.cli.commands import every
from iosonde.cli.shared.fitting import fitted_columns, fitted_text, visible
from tests.kit.commands import run
from tests.kit.harness import IOSONDE
from tests.kit.samples.makers import simulated

WIDTHS = (80, 100, 140)
COMMANDS = {
    "now": ["now"],
    "check": ["check"],
    "slowdown": ["slowdown"],
    "events": ["events", "--since", "2000-01-01"],
    "runs": ["runs"],
    "run": ["runs", "--ops"],
    "jobs": ["jobs"],
    "doctor": ["doctor"],
    "error": [
        "compare",
        "a word that nobody knows",
        "and another one that is just as long as this",
    ],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("widths")
    simulated(root, 2400, {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0})
    for ranks in ("1", "2"):
        words = ("bench", "metadata", "null:", "-n", ranks, "-I", "20", "-P", "20")
        assert run(*words, store=root) == 0
    return root


def on_terminal(width: int, words: list[str], store: Path) -> list[str]:
    """What a command prints on a terminal, line by line, without colours."""
    pid, master = pty.fork()
    if pid == 0:
        environ = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        told = {"TERM": "xterm", "IOSONDE_STORE": str(store)}
        os.execve(IOSONDE, ["iosonde", *words], environ | told)
    said = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.waitpid(pid, 0)
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode(errors="replace"))
    return text.replace("\r\n", "\n").split("\n")


def words_of(lines: list[str]) -> set[str]:
    """Without times and numbers, which differ from call to call."""
    return {word for line in lines for word in line.split() if not re.search(r"[\d…]", word)}


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_fit_and_words_stay_whole(name: str, store: Path) -> None:
    whole = words_of(on_terminal(1000, COMMANDS[name], store))
    assert whole
    for width in WIDTHS:
        lines = on_terminal(width, COMMANDS[name], store)
        wide = [
            line
            for line in lines
            # A path or an id that is as wide itself is not cut.
            if len(line) > width and max(map(len, line.split())) < width - 30
        ]
        assert not wide, (width, wide)
        if name == "doctor":  # says of this host what it sees just then
            continue
        told = {w for w in words_of(lines) if w.isalpha()}
        assert told <= whole | {"not", "shown", "for", "want", "of", "room:", "room"}, told - whole


def test_help_fits(store: Path) -> None:
    for command in (command.name for command in every()):
        lines = on_terminal(80, [command, "--help"], store)
        assert max(map(len, lines)) <= 120, command
        # Examples and formulas stand as they are; options and sentences fit.
        assert not [line for line in lines if len(line) > 80 and line.startswith("  -")], command


def test_a_line_goes_on_behind_its_label() -> None:
    text = "slow    reads on /work are 3.1x slower than usual since 14:05"
    assert fitted_text(text, 40) == (
        "slow    reads on /work are 3.1x slower\n        than usual since 14:05"
    )
    coloured = f"\x1b[33m{text}\x1b[0m"
    assert [visible(line) for line in fitted_text(coloured, 40).split("\n")] == [38, 30]
    path = "/" + "x" * 60
    assert path in fitted_text(f"the path {path} is long", 40).split("\n")[1]
    assert fitted_text("short\n", 40) == "short\n"
    assert fitted_text("\r" + "x " * 60, 40) == "\r" + "x " * 60


def test_columns_of_least_worth_go_first_and_sentences_are_wrapped() -> None:
    head = ("job", "what it did", "rate", "peak", "n")
    rows = [("4711", "read one shared file of many ranks for a while", "1.2 GiB/s", "12%", "4")]
    lines, hidden = fitted_columns(head, rows, 2, 48, ("peak",))
    assert hidden == ["peak"]
    assert lines[0] == ("job", "what it did", "rate", "n")
    assert " ".join(line[1] for line in lines[1:]) == rows[0][1]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    assert sum(widths) + 6 <= 48
    assert fitted_columns(head, rows, 2, 200)[1] == []
