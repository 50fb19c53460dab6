"""Ask every door of a live agent the same, as root: ``python -m benchmarks doors_live --minutes 90``.

The site of ``live``: four file systems, three jobs, an agent that begins with an empty store. Drills follow one
another: a limited device, a frozen file system, a dead server, busy loops. At each look the store is copied, and every
door is asked about the copy at the instant it was made, as ``tests/agree`` does: judgement, begin, factor, interval.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from benchmarks import machine
from benchmarks.truth.why.live import FAULTS, Site, site_in
from tests.agree.compared import agree
from tests.agree.doors import doors_of
from tests.agree.kinds import Kind

WARM_S, CALM_S = 300.0, 45.0
HOG_MIB_S = 5.0
"""Each of four writers: together with the probe more than the limited device takes, and little without the limit."""
SECOND_NS = 1_000_000_000


class _Captured:
    """Output of commands in this process, in the way of pytest's ``capsys``."""

    def __init__(self, out: io.TextIOWrapper, err: io.StringIO) -> None:
        self._out, self._err = out, err

    def readouterr(self) -> tuple[str, str]:
        """Both outputs since the last call."""
        raw = self._out.buffer
        assert isinstance(raw, io.BytesIO)
        found = raw.getvalue().decode(), self._err.getvalue()
        for stream in (raw, self._err):
            stream.seek(0)
            stream.truncate()
        return found


class Look(NamedTuple):
    """One look: seconds since the begin, what was going on, how long the doors took, and a disagreement."""

    at_s: float
    drill: str
    took_s: float
    wrong: str


def look(store: Path, copy: Path, begin_ns: int) -> tuple[int, str]:
    """Copy a store and hold its doors to each other: the instant they were asked at; "" or where they disagree."""
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["cp", "-a", store, copy], check=False, capture_output=True)
    now_ns = time.time_ns()
    length_s = (now_ns - begin_ns) // SECOND_NS + 1
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    err = io.StringIO()
    kind = Kind(lambda *_: None, length_s)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.object(time, "time_ns", return_value=now_ns),
            doors_of(copy, now_ns, length_s * SECOND_NS, _Captured(out, err)) as doors,
        ):
            agree(kind, doors)
    except AssertionError as error:
        return now_ns, _where(error)
    return now_ns, ""


def _where(error: AssertionError) -> str:
    """The assertion that failed, with the values beside it."""
    frames = list(traceback.walk_tb(error.__traceback__))
    frame, line = frames[-1]
    text = traceback.extract_tb(error.__traceback__)[-1].line
    names = [name for name in frame.f_locals if name not in ("doors", "kind")]
    values = ", ".join(f"{name}={str(frame.f_locals[name])[:400]}" for name in names)
    said = str(error).splitlines()[0][:400] if str(error) else ""
    return f"{frame.f_code.co_name}:{line}: {text} {said} {values}"


class _Drills(threading.Thread):
    """Faults of a site, one after the other, until ``ended``."""

    def __init__(self, site: Site) -> None:
        super().__init__(daemon=True)
        self.site, self.ended, self.now, self.number = site, threading.Event(), "learning", 0

    def run(self) -> None:
        self.ended.wait(WARM_S)
        for fault in itertools.cycle(FAULTS):
            if self.ended.is_set():
                return
            self.now, self.number = fault.name, self.number + 1
            with self.site.fault(fault.name):
                self.ended.wait(fault.seconds)
            self.now = "calm"
            self.ended.wait(CALM_S)


def main(minutes: float = 90.0, every: float = 10.0, keep: Path | None = None) -> None:
    """Print looks and disagreements by drill. ``every``: s between looks; ``keep``: folder for stores that disagree."""
    print(machine.line(), flush=True)
    looks: list[Look] = []
    with tempfile.TemporaryDirectory(prefix="iosonde-doors-") as name, ExitStack() as stack:
        begin = time.time()
        length = 60 * minutes + 60
        hog = (begin, begin + length)
        site = site_in(Path(name), begin, length, stack, hog=hog, rate=HOG_MIB_S)
        drills = _Drills(site)
        drills.start()
        stack.callback(drills.join)
        stack.callback(drills.ended.set)
        with contextlib.suppress(KeyboardInterrupt):
            while (now := time.time()) < begin + 60 * minutes:
                drill, copy = drills.now, Path(name) / "copy"
                now_ns, wrong = look(site.agent.store, copy, int(begin * SECOND_NS))
                looks.append(Look(now - begin, drill, time.time() - now, wrong))
                print(
                    f"{now - begin:.0f} s, {drill}: {wrong or 'agree'}", file=sys.stderr, flush=True
                )
                if wrong and keep is not None:
                    subprocess.run(["cp", "-a", copy, keep / str(now_ns)], check=False)
                time.sleep(max(0.0, now + every - time.time()))
    if looks:
        _print(looks, drills.number)


def _print(looks: list[Look], drills: int) -> None:
    took = statistics.median(one.took_s for one in looks)
    print(f"{len(looks)} looks, {drills} drills; the doors of a look took {took:.1f} s (median)")
    print("\n| at the look | looks | disagreements |")
    print("|---|---|---|")
    for drill in dict.fromkeys(one.drill for one in looks):
        mine = [one for one in looks if one.drill == drill]
        print(f"| {drill} | {len(mine)} | {sum(bool(one.wrong) for one in mine)} |")
    for one in [one for one in looks if one.wrong][:10]:
        print(f"{one.at_s:.0f} s, {one.drill}: {one.wrong[:240]}")
