"""Whether a dashboard is as Grafana's published schema says, by the classes that Grafana generates from it.

Reading keeps what the schema has; what is lost on the way is unknown to it. Reading checks no types, so they are
checked here, attribute by attribute.
"""

import enum
import json
import types
import typing
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def misfits(text: str) -> list[str]:
    """What of a dashboard the schema does not allow, each with its place."""
    register_default_plugins()
    raw = json.loads(text)
    read = Dashboard.from_json(raw)
    again = json.loads(JSONEncoder().encode(read))
    return [*_differences(raw, again, "$"), *_of_object(read, "$")]


def _differences(raw: Any, again: Any, place: str) -> Iterator[str]:
    if isinstance(raw, dict) and isinstance(again, dict):
        for key in raw.keys() | again.keys():
            yield from _differences(raw.get(key), again.get(key), f"{place}.{key}")
    elif isinstance(raw, list) and isinstance(again, list) and len(raw) == len(again):
        for n, pair in enumerate(zip(raw, again, strict=True)):
            yield from _differences(*pair, f"{place}[{n}]")
    elif raw != again:
        yield f"{place}: {raw!r} is read as {again!r}"


def _of_object(value: Any, place: str) -> Iterator[str]:
    for name, hint in typing.get_type_hints(type(value)).items():
        if name in vars(value):
            yield from _of(vars(value)[name], hint, f"{place}.{name}")


def _of(value: Any, hint: Any, place: str) -> Iterator[str]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        tried = [list(_of(value, one, place)) for one in arguments]
        if all(tried):  # the alternative that fits furthest is the one that was meant
            yield from max(tried, key=lambda found: len(found[0].partition(": ")[0]))
    elif origin in (list, dict) and isinstance(value, origin):
        for key, part in value.items() if origin is dict else enumerate(value):
            yield from _of(part, arguments[-1], f"{place}[{key}]")
    elif hasattr(hint, "from_json") and isinstance(value, dict):
        yield from _of_object(hint.from_json(value), place)
    elif not _fits(value, hint):
        yield f"{place}: {value!r}, expected {hint}"
    elif hasattr(value, "to_json"):  # options of a panel too, of the class of its kind
        yield from _of_object(value, place)


def _fits(value: Any, hint: Any) -> bool:
    if hint in (Any, object):
        return True
    if typing.get_origin(hint) is typing.Literal:
        return value in typing.get_args(hint)
    if not isinstance(hint, type):
        return False
    if issubclass(hint, enum.Enum):
        return value in {one.value for one in hint} or isinstance(value, hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint)
