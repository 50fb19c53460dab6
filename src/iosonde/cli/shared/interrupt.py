"""Ctrl-C once ends cleanly with a summary; twice aborts."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class Interrupt:
    """While entered, the first SIGINT or SIGTERM only sets a flag; the second one raises."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupt:
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

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt
        self._stop.set()

    @property
    def wanted(self) -> bool:
        """Whether the user wants an end."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep; True as soon as the user wants an end."""
        return self._stop.wait(seconds)
