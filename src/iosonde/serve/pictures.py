"""Parameters of the form of an answer: numbers or a picture, and its look.

Pictures are drawn on one thread only: matplotlib has global settings.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from iosonde.serve.params import Parameters, Zone

Inches = Annotated[
    float, Field(ge=3.0, le=24.0, allow_inf_nan=False, description="width of a picture, inches")
]


class PictureParameters(Parameters):
    """Parameters common to routes with pictures."""

    format: Literal["json", "csv", "png", "svg", "pdf"] = Field(
        "json", description="numbers, a table, or a picture"
    )
    theme: Literal["light", "dark"] = Field("light", description="looks of a picture")
    width: Inches = 10.0
    scale: float = Field(
        1.0, ge=1.0, le=3.0, allow_inf_nan=False, description="pixels of a PNG to a point of a page"
    )
    zone: Zone = None

    @property
    def dark(self) -> bool:
        """True for a dark background."""
        return self.theme == "dark"
