"""Words per sentence of the commands that answer in sentences, on the stores of the tests.

``python -m benchmarks.sentences [TEST ...]`` runs these tests (default: those of the commands) and
reads what ``now``, ``explain`` ... print meanwhile. A row a command: answers, words of the first
sentence (median, most), words of all sentences (median, most), how many have more than 25.
"""

from __future__ import annotations

import io
import os
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout

import pytest

COMMANDS = ("now", "explain", "compare", "bench", "climate", "doctor", "events", "blame")
TESTS = (
    *("tests/cli/test_cli_ask.py", "tests/cli/test_cli_leave.py", "tests/weather/test_troubled.py"),
    *("tests/jobs/explain", "tests/jobs/climate", "tests/jobs/blame", "tests/jobs/scheduled"),
    *("tests/weather/events", "tests/weather/test_compare.py", "tests/doctor"),
    *("tests/bench/test_ends.py", "tests/bench/test_small_run.py", "tests/serve/test_runs.py"),
)
MOST = 25


def sentences(printed: str) -> list[str]:
    """The sentences of an output; data, rows of tables and lines of one or two words are none."""
    if printed.lstrip().startswith(("{", "[", "usage")):
        return []
    found: list[str] = []
    for line in printed.splitlines():
        cells = re.split(r"\s{2,}", line.strip(" -"))
        text = max(cells, key=len)
        if len(cells) > 2 and len(text.split()) < 6:
            continue
        found += [one for one in re.split(r"(?<=[a-z0-9)])[.;] ", text) if len(one.split()) > 2]
    return found


class Recorder:
    """Keeps what each command prints."""

    def __init__(self, inner: Callable[[Sequence[str] | None], int]) -> None:
        self.inner = inner
        self.printed: dict[str, list[str]] = defaultdict(list)

    def __call__(self, argv: Sequence[str] | None = None) -> int:
        """Run the command, pass its output on, keep it."""
        heard = io.StringIO()
        try:
            with redirect_stdout(heard):
                code = self.inner(argv)
        finally:
            sys.stdout.write(heard.getvalue())
        if argv and argv[0] in COMMANDS and "--help" not in argv:
            self.printed[argv[0]].append(heard.getvalue())
        return code


def table(printed: dict[str, list[str]]) -> str:
    """A row a command."""
    rows = [
        f"{'':9}{'answers':>8}{'first: median':>15}{'most':>6}{'all: median':>13}{'most':>6}{'> 25':>6}"
    ]
    for command in COMMANDS:
        answers = [found for text in printed.get(command, ()) if (found := sentences(text))]
        if not answers:
            rows.append(f"{command:9}{0:8}")
            continue
        first = [len(found[0].split()) for found in answers]
        every = [len(one.split()) for found in answers for one in found]
        long = sum(n > MOST for n in every)
        rows.append(
            f"{command:9}{len(answers):8}{statistics.median(first):15g}{max(first):6}"
            f"{statistics.median(every):13g}{max(every):6}{long:6}"
        )
    return "\n".join(rows)


def main(tests: Sequence[str]) -> None:
    """Run the tests and print the table."""
    import iosonde.cli.main as door

    os.environ["COLUMNS"] = "2000"
    recorder = Recorder(door.main)
    door.main = recorder
    pytest.main(["-q", "-p", "no:xdist", "-m", "not service", *(tests or TESTS)])
    print(table(recorder.printed))
    if os.environ.get("SENTENCES"):
        for command, texts in sorted(recorder.printed.items()):
            for one in sorted({one for text in texts for one in sentences(text)}, key=len):
                if len(one.split()) > MOST:
                    print(f"{command}: {one}")


if __name__ == "__main__":
    main(sys.argv[1:])
