"""A run's page as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.report.content import Components, RunPage, Table
from iosonde.bench.report.pictures import RunPicture
from iosonde.drawing.html_page import html_page, list_html, picture_html, picture_of
from iosonde.drawing.html_text import escape
from iosonde.drawing.page_style import PAGE_STYLE

MOST_ROWS = 200


def render(page: RunPage, made: str) -> str:
    """Render the page. ``made``: time and program, plain text. Raises MissingPartError (no matplotlib)."""
    parts = [
        f'<p class="headline {"slow" if page.slow else "usual"}">{escape(_capital(page.headline))}</p>',
        "<h3>Rates</h3>",
        _table(page.rates),
        list_html(page.notes),
        _components(page.components),
        "<h3>Cautions</h3>",
        list_html(page.cautions) or "<p>None.</p>",
        _pictures(page.pictures),
        "<h3>Parameters</h3>",
        _facts(page.parameters),
        "<h3>Machine and file system</h3>",
        _facts(page.machine),
        _repeat(page.command),
    ]
    return html_page(
        (page.title, page.subtitle), "\n".join(part for part in parts if part), made, PAGE_STYLE
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(table: Table) -> str:
    head, rows = table
    kept = [n for n, _ in enumerate(head) if any(row[n] not in ("", "n/a") for row in rows)]
    names = "".join(f"<th scope=col>{escape(head[n])}</th>" for n in kept)
    lines = "".join(_line([row[n] for n in kept]) for row in rows[:MOST_ROWS])
    more = len(rows) - MOST_ROWS
    rest = f"<p>and {more} more rows that are not listed here</p>" if more > 0 else ""
    return (
        f'<div class="scroll"><table class="ops"><thead><tr>{names}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>{rest}"
    )


def _line(cells: Sequence[str]) -> str:
    data = "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:])
    return f"<tr><th scope=row>{escape(cells[0])}</th>{data}</tr>"


def _components(found: Components | None) -> str:
    title = "<h3>Which component is slow</h3>"
    if found is None:
        return ""
    table = _table(found.findings) if found.findings[1] else ""
    limits = f"<p>What this run cannot tell:</p>{list_html(found.limits)}" if found.limits else ""
    return f"{title}{list_html(found.say)}{table}{limits}"


def _pictures(found: Sequence[RunPicture]) -> str:
    return "\n".join(
        picture_html(picture_of(one.sheet, one.sheet.title, f"run-{one.name}")) for one in found
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(name.replace('_', ' '))}</th><td>{escape(value)}</td></tr>"
        for name, value in facts
    )
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def _repeat(command: str | None) -> str:
    if command is None:
        return ""
    return f"<h3>How to repeat it</h3><pre><code>{escape(command)}</code></pre>"
