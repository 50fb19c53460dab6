"""Text of others on a page: neither markup nor characters that a terminal or a browser obeys."""

import pytest

from iosonde.bench.report.content import RunPage
from iosonde.bench.report.html import render
from iosonde.drawing.html_page import html_page, list_html
from iosonde.drawing.html_text import escape
from iosonde.serve.status.badge import badge

HOSTILE = "a\x1b[31m\u202eb\x07<i>\x9b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain & <b>", "plain &amp; &lt;b&gt;"),
        ("\x1b[31m", "␛[31m"),
        ("a\u202eb", "a?b"),
        ("two\nlines", "two\nlines"),
        ('"', "&quot;"),
    ],
)
def test_what_is_obeyed_is_made_visible(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_no_page_and_no_badge_has_such_characters() -> None:
    run = RunPage(
        title=HOSTILE,
        subtitle=HOSTILE,
        headline=HOSTILE,
        slow=False,
        rates=((HOSTILE,), [(HOSTILE,)]),
        notes=(HOSTILE,),
        components=None,
        cautions=(HOSTILE,),
        parameters=((HOSTILE, HOSTILE),),
        machine=((HOSTILE, HOSTILE),),
        command=HOSTILE,
        pictures=(),
    )
    for made in (
        html_page((HOSTILE, HOSTILE), list_html([HOSTILE]), HOSTILE, ""),
        render(run, HOSTILE),
        badge(HOSTILE, HOSTILE, "ok", HOSTILE),
    ):
        assert "␛[31m" in made
        assert not [c for c in made if not c.isprintable() and c != "\n"]
        assert "<i>" not in made
