"""The built page: static files, made by ``npm run build`` in ``web/``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
_HASHED = "assets/"
"""Prefix of names with a content hash, which a browser may cache forever."""
_MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>iosonde</title>
<h1>The page has not been built</h1>
<p>The server works (see <a href="api/targets">api/targets</a>), but this copy of iosonde was
installed without its page. In a checkout, <code>make build</code> builds it; it needs Node.</p>
</html>
"""


class Page(StaticFiles):
    """The files of ``folder``; ``/`` is index.html. Follows no symbolic link out of it."""

    def __init__(self, folder: Path = STATIC) -> None:
        super().__init__(directory=folder, html=True, check_dir=False)
        self._folder = folder

    async def check_config(self) -> None:
        """Accept a missing folder: a page that was not built is explained, and is no error."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file with its cache lifetime; advice if there is no page."""
        if path == "." and not (self._folder / "index.html").is_file():
            return HTMLResponse(_MISSING, status_code=503)
        response = await super().get_response(path, scope)
        keep = "public, max-age=31536000, immutable" if path.startswith(_HASHED) else "no-cache"
        response.headers["cache-control"] = keep
        return response
