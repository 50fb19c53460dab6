"""Token check for every request: as ``Authorization: Bearer``, or as the password in a browser."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.engine.opener import WORD_BYTES, opened
from iosonde.model.errors import IosondeError, UsageError
from iosonde.serve.errors import error_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LEAST = 16
"""Least length of a token; shorter ones can be guessed."""
_MOST = 4096
_MAKE = "openssl rand -hex 32 > FILE && chmod 600 FILE"
_CHALLENGE = 'Basic realm="iosonde", charset="UTF-8"'


def read_token(path: Path) -> str:
    """Read the token from the first line of a file. Raises UsageError: missing, readable by others, too short."""
    try:
        with opened(path, WORD_BYTES) as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(_MOST).decode("ascii").strip()
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else "not ASCII"
        raise UsageError(f"cannot read the token {path}: {what}", hint=_MAKE) from error
    if mode & 0o077:
        raise UsageError(
            f"others may read the token {path} (mode {mode:03o})",
            expected="a file for its owner alone",
            hint=f"chmod 600 {path}",
        )
    if len(text) < LEAST or not text.isprintable() or " " in text:
        raise UsageError(
            f"the token in {path} is no token",
            expected=f"one word of at least {LEAST} characters",
            hint=_MAKE,
        )
    return text


class TokenGuard:
    """ASGI middleware: a request without the token gets 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] != "http" or self._carried(scope):
            await self._app(scope, receive, send)
            return
        error = IosondeError(
            "this server answers only with its token",
            expected="Authorization: Bearer TOKEN, or TOKEN as the password",
        )
        refusal = error_answer(401, error, {"www-authenticate": _CHALLENGE})
        await refusal(scope, receive, send)

    def _carried(self, scope: Scope) -> bool:
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(values) != 1:
            return False
        scheme, _, rest = values[0].strip().partition(b" ")
        if scheme.lower() == b"bearer":
            return hmac.compare_digest(rest.strip(), self._token)
        if scheme.lower() != b"basic":
            return False
        try:
            pair = base64.b64decode(rest.strip(), validate=True)
        except binascii.Error:
            return False
        return hmac.compare_digest(pair.partition(b":")[2], self._token)
