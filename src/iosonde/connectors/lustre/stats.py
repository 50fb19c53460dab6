"""Parsers for Lustre's counters as servers and clients print them: ``stats``, ``md_stats`` and ``job_stats``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from iosonde.connectors.lines import shown
from iosonde.connectors.lustre.names import OPERATIONS, number

Complain = Callable[[int, str], None]
"""Callback with the number of a line and the reason why it is malformed."""
_SAMPLES = re.compile(r"(\w{1,64})\s+(\d{1,20}) samples \[(\w{1,16})\]((?: -?\d{1,25}){0,5})\s*")
_JOB = re.compile(r"- job_id:\s*(.*?)\s*")
_FIELD = re.compile(r"\s+(\w{1,64}):\s*(.*?)\s*")
_IN_FIELD = re.compile(r"\s*(\w{1,16}):\s*([\w.]{1,32})\s*")
_HISTOGRAM = re.compile(r",\s*hist:\s*\{[^{}]{0,4000}\}")
"""Histogram of sizes in braces after a counter (2.15 and later)."""
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))")
_TIME = re.compile(r"(\d{1,10})(?:\.(\d{1,9}))?(?: s?ecs\.[nu]?secs)?")
_MOST_JOBS = 1_000_000


def instant_ns(text: str) -> int | None:
    """``1705616007.024163818 secs.nsecs`` -> ns since the epoch; None if malformed, or before 2001."""
    found = _TIME.fullmatch(text.strip())
    if found is None or int(found[1]) < 978_307_200:
        return None
    return int(found[1]) * 10**9 + int((found[2] or "").ljust(9, "0"))


class Stats(NamedTuple):
    """Contents of one ``stats`` file."""

    time_ns: int | None
    counters: dict[str, float]
    """Metric -> reading."""
    twice: tuple[str, ...]
    """Repeated counters; the first counts."""


def stats(lines: Iterable[str], complain: Complain) -> Stats:
    """Parse ``name N samples [unit] min max sum [sum of squares]``, of any version. Unknown names are skipped."""
    time_ns, seen, twice = None, set(), []
    counters: dict[str, float] = {}
    for place, line in enumerate(lines, 1):
        name, _, rest = line.strip().partition(" ")
        name = name.removesuffix(":")
        if name == "snapshot_time":
            time_ns = instant_ns(rest)
            continue
        if not name or name in ("start_time", "elapsed_time"):
            continue
        found = _SAMPLES.fullmatch(line.strip())
        if found is None:
            complain(place, f"no counter: {shown(line)}")
        elif name in seen:
            twice.append(name)
        else:
            seen.add(name)
            total = found[4].split()[2:3]
            known = bool(total) and not total[0].startswith("-")
            _take(counters, name, float(found[2]), float(total[0]) if known else None)
    return Stats(time_ns, counters, tuple(twice))


def _take(counters: dict[str, float], name: str, samples: float, total: float | None) -> None:
    """Store one counter: bytes have a sum, and their samples are the operations that moved them."""
    for word, moved, ops in (
        ("read", "read_bytes", "read_ops"),
        ("write", "written_bytes", "write_ops"),
    ):
        if name == f"{word}_bytes":
            counters[ops] = samples
            if total is not None or not samples:
                counters[moved] = total or 0.0
        elif name == word:
            counters.setdefault(ops, samples)
    if name in OPERATIONS:
        counters[OPERATIONS[name]] = samples


class JobStats(NamedTuple):
    """Counters of one target for one job."""

    target: str
    """"" if the text names none."""
    job_id: str
    time_ns: int | None
    start_ns: int | None
    counters: dict[str, float]


def job_stats(lines: Iterable[str], target: str, complain: Complain) -> Iterator[JobStats]:
    """Jobs of a ``job_stats`` file, or of ``lctl get_param`` output with several.

    A job's name may be anything, quoted or not: all behind ``job_id:`` up to the end of its line.
    """
    job: list[str] = []
    times: dict[str, int | None] = {}
    counters: dict[str, float] = {}
    jobs = 0

    def done() -> Iterator[JobStats]:
        if job:
            yield JobStats(
                target, job[0], times.get("snapshot_time"), times.get("start_time"), dict(counters)
            )

    for place, line in enumerate(lines, 1):
        text = line.rstrip()
        if not text or text in ("job_stats:", "---", "..."):
            continue
        named = re.fullmatch(r"(?:obdfilter|mdt)\.([^=]{1,200})\.job_stats=(?:job_stats:)?", text)
        begins = _JOB.fullmatch(text)
        if named or begins:
            yield from done()
            job, times, counters = [], {}, {}
        if named:
            target = named[1]
        elif begins:
            jobs += 1
            if jobs > _MOST_JOBS:
                complain(place, "more jobs than can be")
                return
            job = [_unquoted(begins[1])]
        elif (found := _FIELD.fullmatch(text)) and job:
            _field(found[1], found[2], times, counters, partial(complain, place))
        else:
            complain(place, f"nothing of job_stats: {shown(text)}")
    yield from done()


def _field(
    name: str,
    text: str,
    times: dict[str, int | None],
    counters: dict[str, float],
    complain: Callable[[str], None],
) -> None:
    """Parse one line of a job."""
    if name in ("snapshot_time", "start_time", "elapsed_time"):
        times[name] = instant_ns(text)
        return
    inside = _HISTOGRAM.sub("", text.removeprefix("{").removesuffix("}"), count=1)
    pairs = [_IN_FIELD.fullmatch(pair) for pair in inside.split(",")]
    if not text.startswith("{") or not text.endswith("}") or None in pairs:
        if name not in ("hist", "unit"):
            complain(f"no counter: {shown(text)}")
        return
    values = {pair[1]: pair[2] for pair in pairs if pair}
    samples, total = number(values.get("samples", "")), number(values.get("sum", ""))
    if samples is None:
        complain(f"{name} has no samples")
        return
    _take(counters, name, samples, total)


def _unquoted(text: str) -> str:
    r"""A job's name without the quotes Lustre puts around odd ones, cut to 256 characters.

    Between quotes ``\x20`` is a byte that a name should not hold; what cannot be printed stays as it is written.
    """
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = _ESCAPED.sub(_byte, text[1:-1])
    return text[:256]


def _byte(found: re.Match[str]) -> str:
    """Decode an escape sequence."""
    if found[1] is None:
        return found[2]
    letter = chr(int(found[1], 16))
    return letter if letter.isascii() and letter.isprintable() else found[0]
