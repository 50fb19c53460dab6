"""``iosonde bench`` driven as a user would: in this process, as one of its own, and what it left."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from iosonde.bench.runs import store as runs
from tests.kit.commands import ENVIRON, run

PATIENCE_S = 60
SMALL = ("-D", "2", "-P", "20", "-I", "5", "-R", "1")
OPS = ("md_create", "md_delete", "md_read", "md_stat")


def bench(*words, store=None):
    """The exit code of the benchmark in this process."""
    return run(
        "bench", "metadata", *map(str, words), *(() if store else ("--no-store",)), store=store
    )


def bandwidth(*words, store=None):
    """The exit code of the bandwidth benchmark in this process."""
    kept = () if store else ("--no-store",)
    return run("bench", "bandwidth", *map(str, words), *kept, store=store)


def command(*words, benchmark="metadata"):
    return [sys.executable, "-m", "iosonde.cli.main", "bench", benchmark, *map(str, words)]


def impatient(*words):
    """The same, and a rank that hangs is given up after half a second."""
    program = (
        "import sys; from iosonde.cli import main; from iosonde.bench.runtime import rank_group; "
        "rank_group.PATIENCE_S = 0.5; sys.exit(main.main(sys.argv[1:]))"
    )
    return [sys.executable, "-c", program, "bench", "metadata", *map(str, words)]


@contextmanager
def started(*words, environ=None, arguments=None):
    """A process of its own; killed at the end if it still runs."""
    with subprocess.Popen(
        arguments or command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRON | (environ or {}),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process):
    """Exit code, stdout and the rest of stderr."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def until(process, words):
    """Read its stderr up to a line with these words."""
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended and never said {words!r}")


def until_it_stands(process):
    """Read its stderr until two progress lines of the benchmark phase, a second apart, are the same."""
    before = None
    for line in process.stderr:
        if line == before and '"benchmark"' in line:
            return
        before = line
    raise AssertionError("it ended and never stood still")


def wait_for(condition):
    give_up = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up, "that never came true"
        time.sleep(0.005)


def rows_of(store, **question):
    return runs.read(store, **question)


def counts(rows, *, ranks=False):
    """(phase, repetition, op, rank): operations; of all ranks together, or of each."""
    return {
        (row.phase, row.repetition, row.op, row.rank): row.ops
        for row in rows
        if row.op is not None and (row.rank is not None) == ranks
    }


def by_op(rows, phase, repetition=0):
    """Operations of one phase by op, all ranks together."""
    return {key[2]: n for key, n in counts(rows).items() if key[:2] == (phase, repetition)}


def whole(rows, phase="benchmark"):
    """The rows of a phase, all ops and ranks together."""
    return [r for r in rows if r.phase == phase and r.op is None and r.rank is None]


def progress(err):
    """The lines for programs among those of stderr."""
    return [json.loads(line) for line in err.splitlines() if line.startswith("{")]


def left_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def data_set(folder, rank=0, number=0):
    """The folder of a data set of a kept tree."""
    (found,) = Path(folder).glob(f".iosonde-*/bench-metadata/r{rank:05}/d{number:05}")
    return found


def pool(folder, rank=0, number=0):
    """The numbers of its objects."""
    return sorted(int(path.name, 16) for path in data_set(folder, rank, number).iterdir())


def lines_of_table(out):
    """Lines of the comparison, one a run."""
    return [line for line in out.splitlines() if line.startswith("metadat")]
