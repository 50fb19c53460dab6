"""The JSON of answers about the server itself, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.serve.shapes.weather import JsonModel


class WordJson(JsonModel):
    """A word and its meaning; code stands in backquotes."""

    word: str
    meaning: str


class SectionJson(JsonModel):
    """Words of one subject."""

    title: str
    words: list[WordJson]


class GlossaryJson(JsonModel):
    """The glossary of the documentation."""

    sections: list[SectionJson]
    """Empty: this copy was installed without its page."""
