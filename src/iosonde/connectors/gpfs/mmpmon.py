"""GPFS ``mmpmon -p``: counters of a node since its daemon started, per file system (fs_io_s) or total (io_s).

::

    _fs_io_s_ _n_ 10.0.0.12 _nn_ n012 _rc_ 0 _t_ 1795259243 _tu_ 53212 _cl_ c _fs_ scratch _d_ 48
        _br_ 205607400434 _bw_ 74839282351 _oc_ 2377656 _cc_ 2201576 _rdc_ 59420404 _wc_ 18874626
        _dir_ 40971 _iu_ 544768                                            (one line)

Without ``-p`` the same comes as lines for people, from ``mmpmon node 10.0.0.12 name n012 fs_io_s OK`` to ``inode
updates:``. Logged again and again (ggiostat) two readings of a node and file system make one delta; one reading makes
none.
``_t_`` and ``_tu_`` are seconds and microseconds of that node's own clock: where nodes answer the same request at
different times, their clocks disagree, and that is noted. Source: IBM Storage Scale, mmpmon, "fs_io_s" and "io_s".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.connectors.lines import bad, read_lines, shown
from iosonde.connectors.many_files import of_one, read_each
from iosonde.connectors.plain_numbers import count
from iosonde.connectors.source import Head, Item, Settings, Warn
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note
from iosonde.model.units import LATEST_S

KIND = "mmpmon"
COUNTERS: dict[str, str] = {
    "_br_": "read_bytes",
    "_bw_": "written_bytes",
    "_oc_": "opens",
    "_cc_": "closes",
    "_rdc_": "read_ops",
    "_wc_": "write_ops",
    "_dir_": "readdirs",
    "_iu_": "inode_updates",
}
"""mmpmon's keyword -> metric. ``_rdc_`` and ``_wc_`` are calls of applications."""
_BEGIN = re.compile(r"_(fs_io|io)_s_ _n_ \S+ _nn_ \S+ _rc_ -?\d+ _t_ \d+ _tu_ \d+( |$)")
_PLAIN = re.compile(r"mmpmon node (\S+) name (\S+) (fs_io_s|io_s) (\S+)(?: .*)?")
_PLAIN_FIELD = re.compile(r"([a-z][a-z ]{3,16}):\s+(\S{1,200})")
_PLAIN_NAMES = {
    "cluster": "_cl_", "filesystem": "_fs_", "bytes read": "_br_", "bytes written": "_bw_", "opens": "_oc_",
    "closes": "_cc_", "reads": "_rdc_", "writes": "_wc_", "readdir": "_dir_", "inode updates": "_iu_",
}  # fmt: skip
_SKEW_S = 2.0
_MOST_NODES = 100_000


def recognises(head: Head) -> bool:
    """True if one of the first lines is an answer of mmpmon."""
    return any(
        _BEGIN.match(line) or _PLAIN.fullmatch(line.strip()) for line in islice(head.lines, 200)
    )


def read(path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments between readings, of each node and file system. Raises InputFileError (unreadable)."""
    yield from read_many([path], settings, warn)


def read_many(paths: Sequence[Path], settings: Settings, warn: Warn) -> Iterator[Item]:
    """Increments from several files, each with one reading or many."""
    log = _Log(settings, warn, of_one(paths, settings.progress))
    yield from read_each(paths, log.read, lambda: log.rest(paths), warn, settings.progress)


class _Log:
    def __init__(
        self, settings: Settings, warn: Warn, within: Callable[[int, int], None] | None
    ) -> None:
        self._settings, self._warn, self._within = settings, warn, within
        self._gather = Gather("mmpmon")
        self._clocks = _Clocks()

    def read(self, path: Path) -> Iterator[Item]:
        plain: _Plain | None = None
        for line in read_lines(path, self._warn, self._within):
            text = line.text.strip()
            found = _PLAIN.fullmatch(text)
            # Other answers (ver, rhist, ...) and what a script printed between them are not meant.
            machine = text.startswith(("_fs_io_s_ ", "_io_s_ "))
            if plain is not None and not (not machine and found is None and plain.take(text)):
                self._answer(path, plain.number, plain.text(), True)
                plain = None
            if found is not None:
                plain = _Plain(found, line.number)
            elif machine:
                self._answer(path, line.number, text, line.ended)
            if self._gather.full:
                yield from self._gather.blocks(self._clocks.notes())
        if plain is not None:
            self._answer(path, plain.number, plain.text(), True)
        self._clocks.close()

    def _answer(self, path: Path, number: int, text: str, ended: bool) -> None:
        """Parse one answer in ``-p`` format; a malformed one is reported."""
        try:
            self._take(text, ended)
        except ValueError as error:
            self._warn(bad(path, number, str(error), "an answer of mmpmon"))

    def rest(self, paths: Sequence[Path]) -> Iterator[Item]:
        alone = self._gather.alone
        if alone:
            place = str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
            self._warn(
                InputFileError(
                    f"{place}: {alone} counters were read once: no rate follows",
                    expected="two readings or more of a node and file system",
                    hint="all snapshots at once",
                )
            )
        yield from self._gather.rest(self._clocks.notes())

    def _take(self, text: str, ended: bool) -> None:
        words = text.split()
        if len(words) % 2 == 0 or len(words) > 200:
            raise ValueError(f"the line has {len(words)} words")
        pairs: dict[str, str] = {}
        for name, value in zip(words[1::2], words[2::2], strict=True):
            if pairs.setdefault(name, value) is not value:
                raise ValueError(f"{shown(name)} is there twice")
        if pairs.get("_rc_") == "1" and pairs.get("_fs_", "-") == "-" and "_br_" not in pairs:
            self._gather.note("left-out", "answers of nodes that mount nothing")
            return
        if (code := pairs.get("_rc_")) != "0":
            raise ValueError(f"mmpmon reports a failure: _rc_ is {shown(code)}")
        seconds, micros = count(pairs.get("_t_", "")), count(pairs.get("_tu_", ""))
        if seconds is None or seconds > LATEST_S or micros is None or micros > 999_999:
            raise ValueError(
                f"the time {shown(pairs.get('_t_'))} {shown(pairs.get('_tu_'))} cannot be"
            )
        node = pairs.get("_nn_") or pairs.get("_n_") or ""
        system = pairs.get("_fs_", "") if words[0] == "_fs_io_s_" else self._settings.system
        if not node or system == "-":
            raise ValueError("the node or the file system is missing")
        time_ns = (seconds * 1_000_000 + micros) * 1000
        self._clocks.saw(node, system, seconds + micros / 1e6)
        self._numbers(pairs, node, system, time_ns, ended)

    def _numbers(
        self, pairs: dict[str, str], node: str, system: str, time_ns: int, ended: bool
    ) -> None:
        """Store an answer's numbers. Malformed ones are missing; the last one of a cut line may be cut itself."""
        wrong, last = [], list(pairs)[-1]
        for name, metric in COUNTERS.items():
            value = count(pairs.get(name, ""))
            if value is None or (not ended and name == last and last != "_iu_"):
                wrong.append(name)
                self._gather.note("not-a-number", f"{name} of {node}")
            else:
                self._gather.counter(
                    ComponentSeries(system, "client", metric, node), time_ns, value
                )
        if wrong:
            raise ValueError(f"{', '.join(wrong)} missing or no count")


class _Plain:
    """Converts an answer in the table for people, line by line, to the words of ``-p``."""

    def __init__(self, found: re.Match[str], number: int) -> None:
        self.number = number
        code = "0" if found[4] == "OK" else "1"
        self._words = [f"_{found[3]}_", "_n_", found[1], "_nn_", found[2], "_rc_", code]

    def take(self, text: str) -> bool:
        """Parse a line; False if it is not part of the answer."""
        found = _PLAIN_FIELD.fullmatch(text)
        if found is None or len(self._words) > 100:
            return False
        if found[1] == "timestamp":
            seconds, _, micros = found[2].partition("/")
            self._words += ["_t_", seconds, "_tu_", micros or "0"]
        elif found[1] in _PLAIN_NAMES:
            self._words += [_PLAIN_NAMES[found[1]], found[2]]
        return True

    def text(self) -> str:
        return " ".join(self._words)


class _Clocks:
    """Offsets of the nodes' clocks, by the times of answers to one request.

    A request's answers follow one another; the next request begins where a node and file system come again.
    """

    def __init__(self) -> None:
        self._round: dict[str, float] = {}
        self._seen: set[tuple[str, str]] = set()
        self._off: dict[str, list[float]] = {}

    def saw(self, node: str, system: str, second: float) -> None:
        if (node, system) in self._seen or len(self._seen) > _MOST_NODES:
            self.close()
        self._seen.add((node, system))
        self._round.setdefault(node, second)

    def notes(self) -> tuple[Note, ...]:
        self.close()
        found = []
        for node, offs in self._off.items():
            off = median(offs)
            if abs(off) > _SKEW_S and len(offs) > 1:
                word = "ahead of" if off > 0 else "behind"
                what = f"{node} stamps its answers {abs(off):.1f} s {word} the other nodes"
                found.append(Note("clock-skew", what, len(offs)))
        return tuple(found)

    def close(self) -> None:
        if len(self._round) > 1:
            middle = median(self._round.values())
            for node, second in self._round.items():
                offs = self._off.setdefault(node, [])
                if len(offs) < 100:
                    offs.append(second - middle)
        self._round.clear()
        self._seen.clear()
