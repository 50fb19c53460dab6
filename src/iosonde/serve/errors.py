"""The one form of all error answers: ``{"error": {"what": ..., "expected": ..., "try": ...}}``.

A request that cannot be answered as it is gets a 4xx, a store that cannot be read a 503. What a parameter
expects is read from ``/openapi.json``, so an error and the description never differ. Advice is spelled as
parameters of a query, and as commands that somebody runs in a terminal.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from iosonde.model.advice import Action, Argument, command_line, spelled
from iosonde.model.errors import IosondeError
from iosonde.serve.params import AGAIN_S, BusyError, RefusalError
from iosonde.serve.privacy.paths import ShownPaths
from iosonde.serve.wire import dumps

_PARAMETERS = {
    "host": "host",
    "mapping": "an import with a mapping",
    "metrics": "metric",
    "since": "since_ns",
    "target": "target",
    "until": "until_ns",
}
_ACTIONS = {"jobs": "the search of jobs", "table": "a table of jobs"}


def page(part: Argument | Action) -> str:
    """``since_ns``; arguments that only a command has are spelled as on the command line."""
    words = _PARAMETERS if isinstance(part, Argument) else _ACTIONS
    return words.get(part.name) or command_line(part)


def error_answer(
    status: int, error: IosondeError, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as JSON, not cacheable."""
    expected, hint = (spelled(part, page) for part in (error.expected, error.hint))
    body = dumps({"error": {"what": error.what, "expected": expected, "try": hint}})
    headers = {"cache-control": "no-store", **(headers or {})}
    return Response(body, status, media_type="application/json", headers=headers)


def add_error_handlers(app: FastAPI, paths: ShownPaths) -> None:
    """Make ``app`` answer every error in this form; ``paths``: of the store as shown to clients."""

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, IosondeError)
        status = error.status if isinstance(error, RefusalError) else 503
        again = {"retry-after": str(AGAIN_S)} if isinstance(error, BusyError) else None
        return error_answer(status, _shown(error, paths), again)

    async def unfit(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        question = app.openapi()["paths"][request.scope["route"].path]["get"]
        schemas = {one["name"]: one for one in question.get("parameters", ())}
        return error_answer(400, refusal(error.errors(), schemas))

    async def unanswered(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code != 404:
            return error_answer(error.status_code, IosondeError(str(error.detail)))
        *paths, last = (route.path for route in app.routes if isinstance(route, APIRoute))
        what = f"no page at {request.url.path[:200]}"
        return error_answer(404, IosondeError(what, expected=f"/, {', '.join(paths)} or {last}"))

    app.add_exception_handler(IosondeError, refused)
    app.add_exception_handler(RequestValidationError, unfit)
    app.add_exception_handler(HTTPException, unanswered)


def _shown(error: IosondeError, paths: ShownPaths) -> IosondeError:
    """The error with paths as shown to clients."""
    shown = paths.without_root if isinstance(error, RefusalError) else paths.text
    parts = (error.what, spelled(error.expected, page), spelled(error.hint, page))
    what, expected, hint = map(shown, parts)
    return IosondeError(what, expected=expected, hint=hint)


def refusal(errors: Any, parameters: Mapping[str, dict[str, Any]]) -> IosondeError:
    """Error about a query: an unknown parameter, else the first malformed one.

    ``errors`` are pydantic's, ``parameters`` those of the route by name, as OpenAPI describes them.
    """
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    name, kind, value = str(first["loc"][1]), first["type"], first["input"]
    if kind == "extra_forbidden":
        names = [one for one, parameter in parameters.items() if parameter["in"] == "query"]
        near = difflib.get_close_matches(name, names, n=1)
        expected = f"one of {', '.join(names)}" if names else "no parameters"
        what = f"there is no parameter {name[:80]!r}"
        return IosondeError(what, expected=expected, hint=near[0] if near else "")
    if kind in ("missing", "string_too_short"):
        return IosondeError(
            f"the parameter {name} is missing", expected=_expected(parameters[name])
        )
    if kind == "string_too_long":
        limit = first["ctx"]["max_length"]
        return IosondeError(f"{name} is too long", expected=f"at most {limit} characters")
    if kind == "too_long":
        limit = first["ctx"]["max_length"]
        return IosondeError(
            f"{len(value)} values of {name} are too many", expected=f"at most {limit}"
        )
    return IosondeError(f"{name} is {str(value)[:80]!r}", expected=_expected(parameters[name]))


def _expected(parameter: Mapping[str, Any]) -> str:
    """Valid values of a parameter, from its schema; its description if the schema has no limits."""
    schema = parameter["schema"]
    schema = schema.get("anyOf", [schema])[0]
    schema = schema.get("items", schema)
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if schema["type"] == "boolean":
        return "true or false"
    if "minimum" in schema:
        unit = schema.get("format", "")
        number = f"an integer number of {unit}" if unit else "a number"
        return f"{number} from {schema['minimum']} to {schema['maximum']}"
    return str(parameter["description"])
