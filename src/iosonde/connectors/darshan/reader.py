"""Client side of ``darshan_worker``: sends requests and survives the worker's death."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Any

import iosonde
from iosonde.connectors.darshan.frames import read_frame, write_frame
from iosonde.connectors.darshan.library import missing, there
from iosonde.connectors.darshan.worker import LONGEST_S
from iosonde.model.errors import InputFileError, MissingPartError
from iosonde.model.text import clean_text

_EXPECTED = "a whole Darshan log"
AHEAD = 8
"""Most requests in flight to one worker: they fit into a pipe, so that neither side blocks."""

Answer = dict[str, Any]


class Reader:
    """A worker process. ``waiting``: paths sent and not answered yet, oldest first.

    Raises MissingPartError where pydarshan is not installed or does not load.
    """

    def __init__(self) -> None:
        if not there():
            raise missing()
        self.waiting: deque[Path] = deque()
        self._answered = False
        self._process = self._start()

    @staticmethod
    def _start() -> subprocess.Popen[bytes]:
        home = str(Path(iosonde.__file__).parent.parent)
        inherited = os.environ.get("PYTHONPATH")
        environ = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([home, inherited] if inherited else [home]),
            # One worker a CPU: threads of its own would only be in the way, and forks have none.
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        }
        return subprocess.Popen(
            # -P: a folder of logs must not be able to bring modules of its own.
            [sys.executable, "-P", "-m", "iosonde.connectors.darshan.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )

    def fileno(self) -> int:
        """File descriptor, readable when an answer is there."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, path: Path, ask: str = "job") -> None:
        """Request a log. At most ``AHEAD`` may be in flight."""
        assert self._process.stdin is not None
        self.waiting.append(path)
        try:
            write_frame(self._process.stdin.fileno(), {"path": str(path), "ask": ask})
        except BrokenPipeError:
            return  # It has died: the answer will say so.

    def receive(self) -> tuple[Path, Answer | InputFileError]:
        """Receive the answer for the oldest request; an error for a damaged log.

        Raises MissingPartError: pydarshan does not load.
        """
        answer = read_frame(self.fileno())
        path = self.waiting.popleft()
        if answer is None:
            code = self._process.wait()
            if not self._answered:
                raise MissingPartError(
                    f"the reader of Darshan logs does not start (exit code {code})"
                )
            self._again()
            return path, _dead(path, f"exit code {code}", "")
        self._answered = True
        if "missing" in answer:
            raise MissingPartError(str(answer["missing"]))
        if "died" in answer:
            return path, _dead(path, str(answer["died"]), str(answer.get("said", "")))
        if "bad" in answer:
            why = _reason(str(answer.get("said", "")))
            expected = str(answer.get("expected") or _EXPECTED)
            return path, InputFileError(str(answer["bad"]) + why, expected=expected)
        return path, answer

    def _again(self) -> None:
        """Restart a dead worker and resend the unanswered requests."""
        self.close()
        rest, self.waiting = self.waiting, deque()
        self._process = self._start()
        for path in rest:
            self.send(path)

    def close(self) -> None:
        """End the worker; unanswered requests are lost."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


def _dead(path: Path, how: str, said: str) -> InputFileError:
    if how == "SIGALRM":
        return InputFileError(f"{path}: not read after {LONGEST_S} s", expected=_EXPECTED)
    what = f"{path}: the library that reads Darshan logs died of it ({how})"
    return InputFileError(what + _reason(said), expected=_EXPECTED)


def _reason(said: str) -> str:
    """First line of the library's message."""
    for line in said.splitlines():
        text = line.removeprefix("Error:").strip().rstrip(".")
        if text:
            return f" ({clean_text(text[:160])})"
    return ""
