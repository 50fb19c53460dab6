"""How a figure is wanted: as numbers or as a picture, and of which looks.

::

    format=json|png|svg|pdf      theme=light|dark   width=INCHES   scale=1..3   zone=Europe/Berlin

Pictures are drawn on one thread only: matplotlib has global settings.
"""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple

from iosonde.serve import params

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

DRAWN = ("png", "svg", "pdf")
FORMS = ("json", "csv", *DRAWN)
NAMES = ("format", "theme", "width", "scale", "zone")
_WIDTHS_IN, _SCALES = (3.0, 24.0), (1.0, 3.0)


class Wanted(NamedTuple):
    """``form``: ``json``, ``csv`` or one of ``DRAWN``. ``zone`` None: the server's."""

    form: str
    dark: bool
    width_in: float
    scale: float
    zone: tzinfo | None


def wanted(query: QueryParams, forms: tuple[str, ...], width_in: float) -> Wanted:
    """The checked parameters; the first of ``forms`` is the default. Raises RefusalError."""
    return Wanted(
        params.choice(query, "format", forms, forms[0]),
        params.choice(query, "theme", ("light", "dark"), "light") == "dark",
        params.decimal(query, "width", width_in, _WIDTHS_IN),
        params.decimal(query, "scale", 1.0, _SCALES),
        params.zone(query),
    )
