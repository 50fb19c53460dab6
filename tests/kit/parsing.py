"""``ast.parse`` that nothing interrupts, where CPython needs it: before 3.12.

There the depth of the parser is one number a process (CPython's gh-106905). While it makes nodes, the garbage collector
may run finalizers. asyncio's logs a call that failed and that nobody awaited, as a browser leaves them when it is late;
its traceback is parsed for the carets; and the parse that was interrupted ends with "SystemError: AST constructor
recursion depth mismatch". pytest parses to show the source of a failed test: it ended with an INTERNALERROR.
"""

from __future__ import annotations

import ast
import gc
import sys
import threading
from typing import Any

import pytest

PARSE = ast.parse
_ONE_AT_A_TIME = threading.RLock()


def whole(*arguments: Any, **options: Any) -> Any:
    """``ast.parse`` without a garbage collection in it, by one thread at a time."""
    with _ONE_AT_A_TIME:
        collects = gc.isenabled()
        gc.disable()
        try:
            return PARSE(*arguments, **options)
        finally:
            if collects:
                gc.enable()


class WholeParses:
    """The plugin."""

    def pytest_configure(self, config: pytest.Config) -> None:
        if sys.version_info < (3, 12):
            patch = pytest.MonkeyPatch()
            patch.setattr(ast, "parse", whole)
            config.add_cleanup(patch.undo)
