"""Types of members of answers: JSON's own, with the units that ``/openapi.json`` and the page's types take from them.

A dataclass ``JsonObject`` of a room describes an object of an answer: commands write it with ``as_json``, and the
server's description follows from its fields. Pydantic reads the notes and is not imported here.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from iosonde.model.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Callable


class Unit(NamedTuple):
    """Note of a number: ``form`` is the ``format`` of its JSON schema."""

    form: str
    description: str

    def __get_pydantic_json_schema__(
        self, schema: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """The schema of the number with its unit."""
        return {**handler(schema), "format": self.form, "description": self.description}


class Numbers(NamedTuple):
    """Note of an array: its JSON is a list of ``of``."""

    of: Any

    def __get_pydantic_core_schema__(self, _source: Any, handler: Callable[[Any], Any]) -> Any:
        """The schema of the list."""
        numbers: Any = list
        return handler(numbers[self.of])


Ns = Annotated[int, Unit("ns", "duration, nanoseconds")]
Instant = Annotated[int, Unit("unix-ns", "ns since the epoch")]
Second = Annotated[float, Unit("unix-s", "s since the epoch")]
Millisecond = Annotated[int, Unit("unix-ms", "ms since the epoch")]
Op = Literal["data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete"]
Severity = Literal["ok", "info", "unknown", "slow", "hung"]
Values = Annotated[Floats, Numbers(float | None)]
"""Numbers; null where one is missing."""
KnownValues = Annotated[Floats, Numbers(float)]
"""Numbers of which none is missing."""
Seconds = Annotated[Floats, Numbers(Second)]


class JsonObject:
    """Base of dataclasses that describe an object with exactly their members."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid",
        "use_attribute_docstrings": True,
        "json_schema_serialization_defaults_required": True,
    }


def as_json(value: Any) -> Any:
    """Plain data: a dataclass as an object, tuples and arrays as lists, what is not finite as None."""
    if is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if isinstance(value, dict):
        return {name: as_json(one) for name, one in value.items()}
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
