"""Cancellation of requests: the client has gone, or the server ends.

uvicorn tells an application that its client has gone only if it asks, and logs a cancelled one with its traceback. Here
the connection cancels the task that answers (``connections``), and that task ends quietly.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from iosonde.model.errors import IosondeError
from iosonde.serve.errors import error_answer

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TASK, _GONE = "iosonde.task", "iosonde.gone"


def client_gone(scope: MutableMapping[str, Any] | None) -> None:
    """Cancel the task that answers the request of ``scope``."""
    task = None if scope is None else scope.get(_TASK)
    if scope is not None and task is not None:
        scope[_GONE] = True
        task.cancel()


class EndedRequests:
    """Outermost ASGI middleware: a cancelled request is no error, and gets a 503 if a client still waits."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or end silently."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[_TASK] = asyncio.current_task()
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            if not begun and _GONE not in scope:
                refusal = error_answer(
                    503, IosondeError("the server ends"), {"connection": "close"}
                )
                await refusal(scope, receive, send)
        finally:
            del scope[_TASK]
