"""Asks hostile stores and buckets and prints what they answered: ``python -m tests.hostile``.

A process of its own asks (``--worker``), case by case: one that hangs or eats memory is ended. Of each case it says how
many of the rows that are good came, whether the entry was named, and the seconds and MiB it took. Exit code 1 if a row
was missing or counted twice, nothing was named, a traceback came, or a bound did not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import duckdb

from iosonde.cli.shared import stores
from iosonde.engine.remote import mirror, s3
from tests import mischief
from tests.kit.hostile import BUCKETS, CASES, Case
from tests.kit.hostile_s3 import BUCKET, PREFIX, HostileS3, serving
from tests.kit.reaper import memory_folder

MOST_S = 120.0
"""Seconds after which a case counts as one that hangs, however busy the machine; on an idle one a store takes 2."""
MOST_MIB = 300
PATIENCE_S, LOST_S = 1, 5
"""What the worker makes of the bounds of the same names, so that silent servers take seconds."""
OF_BUCKET = (("export", "samples", "--format", "csv"), ("now", "--format", "json"))


class Result(NamedTuple):
    """``rows``: good ones that came; ``right``: how many there are; ``wrong``: what does not hold, "" for nothing."""

    name: str
    rows: int
    right: int
    seconds: float
    mib: int
    said: str
    wrong: str


def rows_of(question: Sequence[str], text: str) -> Counter[str]:
    """Rows of an answer: lines of CSV, elements of JSON, without remarks on entries or on time that was not judged."""
    if question[0] == "check":
        return Counter()
    if "json" not in question:
        return Counter(text.splitlines())
    document = json.loads(text)
    told = ("left_out", "not_judged")
    lists = (one for name, one in document.items() if name not in told and isinstance(one, list))
    plain = (json.dumps(one, sort_keys=True) for some in lists for one in some)
    return Counter(one for one in plain if '"kind": "damaged"' not in one)


class Asker:
    """Makes each case and asks; the clock of commands stands still."""

    def __init__(self, folder: Path, whole: Path) -> None:
        self._folder, self._whole = folder, whole
        self._right: dict[str, list[Counter[str]]] = {}

    def ask(self, case: Case, server: HostileS3) -> Result:
        """The result of one case."""
        self._ask_good(case, server)
        Path("/proc/self/clear_refs").write_text("5")
        began = time.monotonic()
        try:
            told, right, got, least = (self._store if case.store else self._bucket)(case, server)
        finally:
            took = time.monotonic() - began
        err = [f"{one.err}\n{one.out if 'json' in question else ''}" for question, one in got]
        came = [rows_of(question, one.out) if one.out else Counter() for question, one in got]
        good = sum(sum((found & known).values()) for found, known in zip(came, right, strict=True))
        every = sum(sum(known.values()) for known in right)
        doubled = sum(
            sum((found - known).values()) for found, known in zip(came, right, strict=True)
        )
        lines = [line for text in err for line in text.splitlines() if told in line]
        fitting = (line for line in lines if re.search(case.said, line))
        said = next(fitting, lines[0] if lines else "")
        wrong = [one.broke.strip().splitlines()[-1] for _, one in got if one.broke]
        wrong += ["rows are missing"] if good < every - least else []
        wrong += ["rows that are none"] if doubled else []
        wrong += [f"not named: {err}"] if not said else []
        named = [line for line in err[0].splitlines() if told in line and "warning" in line]
        wrong += ["named twice"] if len(set(named)) < len(named) else []
        wrong += [f"no reason: {said}"] if said and not re.search(case.said, said) else []
        return Result(case.name, good, every - least, took, _peak_mib(), said, "; ".join(wrong))

    def _ask_good(self, case: Case, server: HostileS3) -> None:
        """What the untouched store, or bucket, answers to the questions of a case."""
        kind = _kind(case)
        if kind not in self._right:
            of_store = mischief.KINDS[kind].questions if case.store else ()
            found = self._asked(self._fresh(), of_store) if case.store else self._asked_of(server)
            self._right[kind] = [rows_of(question, one.out) for question, one in found]

    def _store(self, case: Case, _: HostileS3) -> tuple[Any, ...]:
        assert case.store is not None
        kind = _kind(case)
        questions = mischief.KINDS[kind].questions
        root = self._fresh()
        told = case.store(root)
        for path in root.rglob("*"):
            if path.is_file():
                os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
        if not case.thorough:
            questions = questions[:1]
        return told, self._right[kind][: len(questions)], self._asked(root, questions), 0

    def _bucket(self, case: Case, server: HostileS3) -> tuple[Any, ...]:
        """A spoilt file of samples costs its rows, a spoilt state its target, and nothing else."""
        assert case.bucket is not None
        told = case.bucket(server)
        least = 0
        if case.asks.startswith("samples"):
            path = next(iter(sorted(server.root.glob(case.asks))))
            with duckdb.connect() as con:
                least = int(con.execute(f"SELECT count(*) FROM '{path}'").fetchall()[0][0])
        elif case.asks:
            least = 1
        got = self._asked_of(server)
        server.clear()
        return told, self._right["bucket"], got, least

    def _fresh(self) -> Path:
        root = self._folder / "asked"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self._whole, root, symlinks=True)
        return root

    def _asked(self, root: Path, questions: Sequence[Sequence[str]]) -> list[Any]:
        return list(zip(questions, mischief.answers(root, questions), strict=True))

    def _asked_of(self, server: HostileS3) -> list[Any]:
        shutil.rmtree(self._folder / "cache", ignore_errors=True)
        stores._once.cache_clear()
        os.environ["AWS_ENDPOINT_URL"] = server.endpoint
        name = cast("Path", f"s3://{BUCKET}/{PREFIX}".rstrip("/"))
        return self._asked(name, OF_BUCKET)


def _kind(case: Case) -> str:
    """Which questions a case asks."""
    if not case.store:
        return "bucket"
    return "runs" if case.asks == "parts" else case.asks


def _peak_mib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) >> 10


def work(folder: Path) -> None:
    """Answer cases by name, one a line."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "a-secret-of-tests",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    s3.PATIENCE_S, mirror.LOST_S = PATIENCE_S, LOST_S
    asker = Asker(folder, folder / "whole")
    replies = sys.stdout
    with mischief._in_this_process(), serving(folder / "whole") as server:
        for line in sys.stdin:
            result = asker.ask(CASES[line.strip()], server)
            print(json.dumps(result), file=replies, flush=True)


class Worker:
    """The process that asks; ended and begun again when it does not answer."""

    def __init__(self) -> None:
        parent = memory_folder(str(os.getpid()))
        parent.mkdir(exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="hostile-", dir=parent))
        with mischief._in_this_process():
            mischief.build(self.folder / "whole")
        self._process: subprocess.Popen[str] | None = None

    def result(self, name: str) -> Result:
        """What became of a case."""
        process = self._process or self._begun()
        self._process = process
        ask, hear = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        print(name, file=ask, flush=True)
        if not select.select([hear], [], [], MOST_S)[0]:
            self.end()
            return Result(name, 0, 0, MOST_S, 0, "", f"no answer within {MOST_S:.0f} s")
        line = hear.readline()
        if not line:
            self.end()
            return Result(name, 0, 0, 0, 0, "", "the process that asks ended")
        found = Result(*json.loads(line))
        if found.mib > MOST_MIB:
            found = found._replace(
                wrong=f"{found.wrong} {found.mib} MiB, expected {MOST_MIB}".strip()
            )
        return found

    def _begun(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.hostile", "--worker", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def close(self) -> None:
        """End it and remove its folder."""
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    """The table; 1 if something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    args = parser.parse_args()
    if args.worker:
        work(args.worker)
        return 0
    worker = Worker()
    failed = 0
    try:
        print(f"{'case':<42}{'good rows':>15}{'s':>7}{'MiB':>5}  said")
        for name in CASES:
            if args.only in name:
                one = worker.result(name)
                failed += bool(one.wrong)
                said = one.said.replace(str(worker.folder), "").strip()
                end = f"WRONG: {one.wrong}" if one.wrong else said[:110]
                rows = f"{one.rows} of {one.right}"
                print(f"{name:<42}{rows:>15}{one.seconds:>7.2f}{one.mib:>5}  {end}", flush=True)
        stores_, buckets = len(CASES) - len(BUCKETS), len(BUCKETS)
        print(f"{stores_} hostile stores, {buckets} hostile buckets: {failed} do not hold")
    finally:
        worker.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
