"""Parameters of an IOR test: from its tables of options and parameters, and from its command line.

Only what is listed here is taken: everything else, the environment that ``-vvv`` prints above all, may hold
credentials. A value that IOR rounded (``9.46 TiB``) gives way to one that is exact (``blockSize=10401873920000``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from iosonde.connectors.lines import NUMBER

_UNITS = {"bytes": 0, "byte": 0, "kib": 10, "mib": 20, "gib": 30, "tib": 40, "pib": 50, "eib": 60}
_SUFFIXES = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_HUMAN = re.compile(rf"({NUMBER}) ?([A-Za-z]{{3,5}})", re.ASCII)
_OPTION = re.compile(r"(\d{1,19})([kmgtKMGT]?)", re.ASCII)
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_CLOSE = 0.006
"""Tolerance for values printed with two decimals."""
_EXACT, _SAID, _ROUNDED = 3, 2, 1

_SIZES = {
    **{"xfersize": "transfer_bytes", "blocksize": "block_bytes", "transfersize": "transfer_bytes"},
    **{"aggregate filesize": "expected_bytes"},
}
_COUNTS = {
    **{"segments": "segments", "segmentcount": "segments", "tasks": "ranks", "nodes": "nodes"},
    **{"participating tasks": "ranks", "clients per node": "ranks_per_node"},
    **{"taskspernode": "ranks_per_node", "repetitions": "repetitions"},
    **{"stonewallingtime": "stonewall_s", "deadlineforstonewall": "stonewall_s"},
    **{"task offset": "task_offset", "intertestdelay": "inter_test_delay_s"},
}
_FLAGS = {
    **{"filePerProc": "file_per_process", "useO_DIRECT": "direct", "fsync": "fsync"},
    **{"fsyncperwrite": "fsync_per_write", "readFile": "reads", "writeFile": "writes"},
    **{"checkRead": "check_read", "checkWrite": "check_write", "collective": "collective"},
    **{"stoneWallingWearOut": "wear_out", "reorderTasks": "reorder", "randomOffset": "random"},
    **{"reorderTasksRandom": "reorder_random", "useExistingTestFile": "existing_file"},
    **{"multiFile": "file_per_repetition", "keepFile": "keep", "uniqueDir": "unique_dirs"},
}
_FLAGS = {name.lower(): of for name, of in _FLAGS.items()}
_LETTERS = {
    **{"F": "file_per_process", "B": "direct", "e": "fsync", "Y": "fsync_per_write"},
    **{"r": "reads", "w": "writes", "R": "check_read", "W": "check_write", "c": "collective"},
    **{"C": "reorder", "z": "random", "Z": "reorder_random", "E": "existing_file", "k": "keep"},
    **{"m": "file_per_repetition", "u": "unique_dirs", "g": "barriers"},
}
_SILENT_LETTERS = "vxKnpPSUq"
_WITH_VALUE = "aAbdDfGHiIjJlMNoOQsStTUVX"
_OF_OPTION = {"-t": "transfer_bytes", "-b": "block_bytes"}
_COUNT_OF_OPTION = {"-s": "segments", "-N": "ranks", "-i": "repetitions", "-D": "stonewall_s"}
_BACKENDS = {"dummy": "null", "mpiio": "mpiio"}
_USERINFO = re.compile(r"(//)[^/@\s]*@")


def human_size(text: str) -> tuple[int, bool] | None:
    """Parse ``4 GiB``, ``262144 bytes`` to bytes, and True if exact; None if malformed."""
    match = _HUMAN.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        return None
    value = float(match[1]) * 2.0 ** _UNITS[match[2].lower()]
    return (round(value), "." not in match[1]) if value < 2.0**63 else None


def option_size(text: str) -> int | None:
    """Parse ``4m`` of IOR's options to bytes."""
    match = _OPTION.fullmatch(text)
    return None if match is None else int(match[1]) << _SUFFIXES[match[2].lower()]


def clean_place(text: str) -> str | None:
    """A file name without credentials, fit to be stored; None if not printable."""
    text = _USERINFO.sub(r"\1", text.strip())
    return text[:400] if text and text.isprintable() else None


@dataclass
class Setup:
    """Known parameters of one test. ``values``: named as in ``parameters`` of its rows."""

    version: str | None = None
    api: str | None = None
    file: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    node: str | None = None
    """Host of rank 0."""
    has_command: bool = False
    rank_table: str | None = None
    """File name of the table of ranks on the command line."""
    op_prefix: str | None = None
    """Prefix of the names of operation files."""
    _command: dict[str, int] = field(default_factory=dict)
    _weight: dict[str, int] = field(default_factory=dict)

    def put(self, name: str, value: Any, weight: int = _SAID) -> None:
        """Store a value unless a more reliable one exists."""
        if weight >= self._weight.get(name, 0):
            self.values[name], self._weight[name] = value, weight

    def get(self, name: str) -> Any:
        """A parameter's value; None if unknown."""
        return self.values.get(name)

    @property
    def backend(self) -> str:
        """Backend name of the storage interface."""
        if not self.api:
            return "unknown"
        word = self.api.lower()
        return _BACKENDS.get(word, "s3" if word.startswith("s3") else word)

    @property
    def expected_bytes(self) -> int | None:
        """Bytes that all ranks move in a phase without time limit."""
        parts = [self.get(name) for name in ("ranks", "segments", "block_bytes")]
        if None not in parts:
            ranks, segments, block = parts
            if self._weight["block_bytes"] > _ROUNDED:
                return int(ranks * segments * block)
        said = self.get("expected_bytes")
        return None if said is None or self._weight["expected_bytes"] == _ROUNDED else int(said)

    def feed(self, key: str, value: str) -> bool:
        """Parse a line ``key : value`` or ``key=value``; False if it belongs to no test."""
        name, value = key.strip().lower(), value.strip()
        if name in _SIZES:
            self._size(_SIZES[name], value)
        elif name in _COUNTS and _WHOLE.fullmatch(value):
            self.put(_COUNTS[name], int(value))
        elif name in _FLAGS and _WHOLE.fullmatch(value):
            self.put(_FLAGS[name], int(value) != 0)
        else:
            return self._words(name, value)
        return True

    def _words(self, name: str, value: str) -> bool:
        """Store values that are words, or numbers within words."""
        if name == "api" and re.fullmatch(r"[A-Za-z0-9_-]{1,30}( \(.{0,60}\))?", value):
            self.api = value.split(maxsplit=1)[0]
        elif name in ("test filename", "testfilename"):
            self.file = clean_place(value)
        elif name == "access" and value.startswith(("file-per-process", "single-shared-file")):
            self.put("file_per_process", value.startswith("file"))
            if "," in value:
                self.put("collective", value.endswith("collective"))
        elif name == "type" and value in ("independent", "collective"):
            self.put("collective", value == "collective")
        elif name == "ordering in a file":
            self.put("random", value.startswith("random"))
        elif name == "ordering inter file":
            self.put("reorder", value.startswith("constant"))
            self.put("reorder_random", value.startswith("random"))
        else:
            return self._counted(name, value)
        return True

    def _counted(self, name: str, value: str) -> bool:
        """Store numbers as IOR 2.10.3 and 3.0 print them."""
        if name == "clients" and (match := re.match(r"(\d{1,9}) \((\d{1,9}) per node\)", value)):
            self.put("ranks", int(match[1]))
            self.put("ranks_per_node", int(match[2]))
        elif name == "pattern" and (match := re.search(r"\((\d{1,12}) segment", value)):
            self.put("segments", int(match[1]))
        elif name == "using stonewalling" and (match := re.match(r"(\d{1,9}) second", value)):
            self.put("stonewall_s", int(match[1]))
            self.put("wear_out", "phase out" in value)
        else:
            return False
        return True

    def _size(self, name: str, text: str) -> None:
        if _WHOLE.fullmatch(text):
            self.put(name, int(text), _EXACT)
            return
        size = human_size(text)
        if size is None:
            return
        value, exact = size
        asked = self._command.get(name)
        if not exact and asked is not None and abs(asked - value) <= _CLOSE * max(asked, 1):
            value, exact = asked, True
        if not exact and self._weight.get(name) == _SAID:
            self._weight[name] = 0  # a test of a script, which the command line does not describe
        self.put(name, value, _SAID if exact else _ROUNDED)

    def command(self, text: str) -> None:
        """Parse the known options of a command line."""
        words = [word.strip("\"'") for word in text.split()][1:]
        self.has_command, place, asked = True, 0, set[str]()
        while place < len(words):
            word = words[place]
            place += 1
            option, value = word[:2], word[2:].removeprefix("=")
            if not re.fullmatch(r"-[A-Za-z].*", word):
                if word in ("--posix.odirect", "--odirect"):
                    self.put("direct", True)
            elif word[1] in _WITH_VALUE:
                if not value and place < len(words):
                    value, place = words[place], place + 1
                self._option(option, value)
            else:
                letters = [letter for letter in word[1:] if letter in _LETTERS]
                if len(letters) + sum(c in _SILENT_LETTERS for c in word[1:]) == len(word) - 1:
                    asked |= {_LETTERS[letter] for letter in letters}
        for name in asked:
            self.put(name, True)
        if not asked & {"reads", "writes", "check_read", "check_write"}:
            asked |= {"reads", "writes"}
        self.put("writes", bool(asked & {"writes", "check_write"}), _ROUNDED)
        self.put("reads", bool(asked & {"reads", "check_read"}), _ROUNDED)

    def _option(self, option: str, value: str) -> None:
        if option in _OF_OPTION and (size := option_size(value)) is not None and size < 2**63:
            self._command[_OF_OPTION[option]] = size
            self.put(_OF_OPTION[option], size)
        elif option in _COUNT_OF_OPTION and _WHOLE.fullmatch(value):
            self.put(_COUNT_OF_OPTION[option], int(value))
        elif option == "-a" and re.fullmatch(r"[A-Za-z0-9_-]{1,30}", value):
            self.api = value
        elif option == "-o":
            self.file = clean_place(value)
        elif option == "-O":
            for part in value.split(","):
                self._directive(*part.partition("=")[::2])

    def _directive(self, name: str, value: str) -> None:
        word = name.lower()
        if word == "saveperopdatacsv":
            self.op_prefix = PurePath(value).name or None
        elif word == "saverankperformancedetailscsv":
            self.rank_table = PurePath(value).name or None
        elif word in ("stonewallingwearout", "useo_direct") and _WHOLE.fullmatch(value):
            self.put(_FLAGS[word], int(value) != 0)

    def parameters(self) -> dict[str, Any]:
        """Parameters for the rows of the test."""
        values = dict(self.values)
        if self.version:
            values["tool_version"] = self.version
        return {name: value for name, value in values.items() if value is not False}
