"""Header of md-workbench and io-probing output: options, number of objects, start time.

::

    Args: ./md-workbench "-P=500" "--process-reports" "--" "-D=/work/x"
    MD-Workbench total objects: 8800 workingset size: 14.881 MiB (version: 4.1) time: 2026-11-21 10:30:11
            precreate-per-set=500

Of options only those known are kept: others may hold credentials.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from iosonde.connectors.lines import local_ns

_TITLE = re.compile(
    r"MD-(?:Workbench|REAL-IO) total objects: (\d{1,15}) (?:workingset size: (\d{1,12}\.\d{1,6}) MiB )?"
    r"\(version: ([^)]{0,80})\)(?: time: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d))?"
)
_OPTION = re.compile(r"\t([a-z][a-z-]{1,30})(?:=(.*))?")
TOTAL = re.compile(r"Total runtime: (\d{1,12})s time: (\S+ \S+)")
_SHORT = {
    **{"-O": "offset", "-I": "obj-per-proc", "-P": "precreate-per-set", "-D": "data-sets"},
    **{"-S": "object-size", "-R": "iterations", "-t": "waiting-time", "-i": "interface"},
    **{"-T": "adaptive-waiting", "-w": "stonewall-timer", "-W": "stonewall-wear-out"},
    **{"-a": "interface", "--api": "interface", "-o": "root-dir", "-G": "random-seed"},
    **{"-X": "verify-read", "-m": "lim-free-mem", "-M": "lim-free-mem-phase"},
}
_NUMBERS = {
    "data-sets": "data_sets",
    "precreate-per-set": "objects",
    "obj-per-proc": "iterations",
    "object-size": "size_bytes",
    "offset": "offset",
    "iterations": "repetitions",
    "waiting-time": "waiting_factor",
    "stonewall-timer": "stonewall_s",
    "start-item": "start_item",
    "start-index": "start_item",
    "lim-free-mem": "lim_free_mem_mib",
    "lim-free-mem-phase": "lim_free_mem_phase_mib",
    "random-seed": "seed",
    "ra-count": "blocks",
    "ra-size": "block_bytes",
    "interval": "interval_s",
}
_FLAGS = {
    "adaptive-waiting": "adaptive",
    "stonewall-wear-out": "wear_out",
    "read-only": "read_only",
    "verify-read": "verify",
    "ignore-precreate-errors": "ignore_precreate_errors",
    "ra-enable": "random_access",
}
_DEFAULTS = {"data_sets": 10, "objects": 3000, "iterations": 1000, "repetitions": 3}
_BACKENDS = {
    **{"posix": "posix", "mpiio": "mpiio", "mpi": "mpiio", "s3": "s3", "dummy": "null"},
    **{"postgres": "postgresql", "mongo": "mongodb"},
}


@dataclass
class RunHead:
    """Known facts of one program start."""

    options: dict[str, Any] = field(default_factory=dict)
    root: str | None = None
    interface: str | None = None
    has_args: bool = False
    has_title: bool = False
    total_objects: int | None = None
    nodemap: int | None = None
    began_ns: int | None = None

    @property
    def backend(self) -> str:
        """Backend name of the storage interface."""
        if self.interface is None:
            return "posix" if self.has_args else "unknown"
        name = self.interface.lower()
        return _BACKENDS.get(name, "s3" if name.startswith("s3") else name)

    def feed(self, text: str, zone: tzinfo | None) -> bool:
        """Parse a line; False if it belongs to no header."""
        if text.startswith("Args: "):
            self._args(text)
        elif match := _TITLE.match(text):
            self.has_title = True
            self.total_objects = int(match[1])
            self.options["total_objects"] = int(match[1])
            if match[2]:  # md-real-io does not print it before 2017
                self.options["working_set_mib"] = float(match[2])
            self.options["tool_version"] = "".join(c for c in match[3] if c.isprintable())
            self.began_ns = local_ns(match[4], "%Y-%m-%d %H:%M:%S", zone) if match[4] else None
        elif match := _OPTION.fullmatch(text.rstrip()):
            self._option(match[1], match[2])
        elif match := re.fullmatch(r"Nodemap: ([01]{1,1048576})", text.rstrip()):
            self.nodemap = len(match[1])
        else:
            return False
        return True

    def _args(self, text: str) -> None:
        self.has_args = True
        words = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
        mine = words[: words.index("--")] if "--" in words else words
        place = 0
        while place < len(mine):
            name, equals, value = mine[place].partition("=")
            place += 1
            name = _SHORT.get(name, name.removeprefix("--"))
            if name in _FLAGS:
                self._option(name, None)
                continue
            follows = place < len(mine) and not mine[place].startswith("-")
            if not equals and follows and name in {**_NUMBERS, "interface": "", "root-dir": ""}:
                value, place = mine[place], place + 1
            if equals or value:
                self._option(name, value)
        for word in words[len(mine) :]:
            name, _, value = word.partition("=")
            if name in ("-D", "--root-dir"):
                self._option("root-dir", value)

    def _option(self, name: str, value: str | None) -> None:
        if name in _FLAGS and value in (None, ""):
            self.options[_FLAGS[name]] = True
        elif name in _NUMBERS and value and re.fullmatch(r"-?\d{1,15}(\.\d{1,9})?", value.strip()):
            number = float(value)
            self.options[_NUMBERS[name]] = int(number) if number.is_integer() else number
        elif name == "interface" and value and re.fullmatch(r"[A-Za-z0-9_-]{1,30}", value.strip()):
            self.interface = value.strip()
        elif name == "root-dir" and value and value.isprintable():
            self.root = value[:400]

    def ranks(self, dsets: int | None, objects: int | None, phase: str) -> int | None:
        """N as printed, or from the number of data sets or objects."""
        known = {**_DEFAULTS, **self.options} if self.has_args else self.options
        sets, pool, steps = (known.get(n) for n in ("data_sets", "objects", "iterations"))
        each = known.get("repetitions")
        in_all = None
        if sets is not None and pool is not None and steps is not None and each is not None:
            in_all = sets * (pool + steps * each)
        of_pool = objects if phase != "benchmark" else None
        ways = [
            (self.total_objects, in_all),
            (dsets, sets),
            (of_pool, sets and pool and sets * pool),
            (objects if phase == "benchmark" else None, sets and steps and sets * steps),
        ]
        if self.options.get("stonewall_s"):
            ways.pop()  # it went as far as it came
        if self.nodemap:
            return self.nodemap
        for whole, part in ways:
            if whole and part and part > 0 and whole % part == 0 and whole // part < 2**31:
                return int(whole // part)
        return None

    def expected(self, phase: str, ranks: int | None) -> int | None:
        """Number of objects in a phase of ``ranks`` ranks that runs to its end."""
        of_set = "iterations" if phase == "benchmark" else "objects"
        sets, each = self.options.get("data_sets"), self.options.get(of_set)
        return None if ranks is None or sets is None or each is None else ranks * sets * each
