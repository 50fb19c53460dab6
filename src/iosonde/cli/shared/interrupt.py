"""Ctrl-C handling: once ends cleanly with a summary; twice aborts."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType


class Interrupt:
    """While entered, the first SIGINT or SIGTERM only sets a flag; the second one raises.

    A pipe ends a wait: ``threading.Event`` takes a lock in both ``set`` and ``wait``, so a signal that arrives
    while the main thread is in ``wait`` would block for ever.
    """

    def __init__(self) -> None:
        self._asked = False
        self._reader, self._writer = -1, -1
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupt:
        self._reader, self._writer = os.pipe()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        os.close(self._reader)
        os.close(self._writer)

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        os.write(self._writer, b"x")

    @property
    def wanted(self) -> bool:
        """True if the user wants to end."""
        return self._asked

    def wait(self, seconds: float) -> bool:
        """Sleep; True as soon as the user wants to end."""
        select.select([self._reader], [], [], seconds)
        return self._asked
