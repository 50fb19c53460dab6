"""The one renderer of answers: sentences and tables for a terminal; JSON, CSV or Parquet; pictures as files.

Light imports only: ``iosonde now`` runs through here.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.cli.shared import options
from iosonde.cli.shared.fitting import columns
from iosonde.cli.shared.terminal import one_line
from iosonde.cli.shared.text import table, wrapped
from iosonde.model.answer import (
    AnswerForms,
    Block,
    Coloured,
    PageFormat,
    PlainPicture,
    Prose,
    RowTable,
    TableBlock,
    TableForms,
)

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet
    from iosonde.model.frames import Frame


def show(
    answer: AnswerForms | TableForms, args: argparse.Namespace, *, indent: int | None = 2
) -> None:
    """Print an answer, or write it as ``--format`` and ``-o`` ask. ``indent``: of JSON. Raises StoreError."""
    if args.format in ("table", "text"):
        print_blocks(answer.shown())
    elif args.format == "json":
        put_json(answer.data(), args.output, indent=indent)
    else:
        put_table(answer.table(), args.format, args.output)  # type: ignore[union-attr]


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print sentences and tables, no wider than the terminal."""
    if shown := list(blocks):
        print(text_of(shown))


def text_of(blocks: Iterable[Block]) -> str:
    """Blocks as lines."""
    return "\n".join(map(laid_out, blocks))


def laid_out(block: Block) -> str:
    """Lines of a sentence, a table or a diagram; control characters are shown, not sent."""
    if isinstance(block, TableBlock):
        return table(*block)
    if isinstance(block, Prose):
        lines = wrapped(one_line(block.text), block.first, block.rest)
        coloured = bool(block.tone) and options.colourful()
        return "\n".join(options.colour(line, block.tone, coloured) for line in lines)
    if isinstance(block, Coloured):
        parts = ((one_line(text), name) for text, name in block.parts)
        return "".join(options.colour(text, name, options.colourful()) for text, name in parts)
    return one_line(block) if isinstance(block, str) else block(page())


def page() -> PageFormat:
    """Stdout as a page."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return PageFormat(columns, options.colourful(), not encoding.startswith("utf"))


def put_json(data: Mapping[str, Any], output: Path | None, *, indent: int | None = 2) -> None:
    """Write JSON to a file or stdout; what is not finite is null."""
    try:
        text = json.dumps(data, indent=indent, allow_nan=False)
    except (TypeError, ValueError):
        from iosonde.model.json_types import as_json  # with numpy, which plain data do not need

        text = json.dumps(as_json(data), indent=indent, allow_nan=False)
    options.put_text(f"{text}\n", output)


def put_table(rows: RowTable | Frame, format_name: str, output: Path | None) -> None:
    """Write rows to a file or stdout. Raises StoreError."""
    from iosonde.engine.files import csv_text, write_frame

    if isinstance(rows, RowTable):
        options.put_text(csv_text(rows.rows, rows.names), output)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = output or Path(folder) / "rows"
        write_frame(rows, path, format_name)
        if output is None:
            options.copy_to_stdout(path)
        else:
            options.note(f"wrote {output}")


def draw(
    picture: Sheet | PlainPicture | None,
    args: argparse.Namespace,
    *,
    width_in: float | None = None,
    zone: tzinfo | None = None,
    without: str | None = None,
    said: bool = True,
) -> None:
    """Write the picture that ``--plot`` asks for, also as JSON, and say so.

    ``width_in``: None: ``--width``; ``without``: note about a picture that is None; ``said``: name the file.
    Raises StoreError, UsageError.
    """
    from iosonde.drawing.sheet import Sheet
    from iosonde.engine.files import write_text
    from iosonde.model.json_types import as_json

    if picture is None:
        if without is not None:
            options.note(without)
        return
    width = args.width if width_in is None else width_in
    if args.plot.suffix == ".json":
        from iosonde.drawing.sheet import plain

        data = plain(picture) if isinstance(picture, Sheet) else as_json(picture.plain())
        write_text(json.dumps(data, allow_nan=False) + "\n", args.plot)
    elif isinstance(picture, Sheet):
        from iosonde.drawing.render_sheet import save_sheet

        save_sheet(picture, args.plot, width_in=width, dark=args.dark)
    else:
        from iosonde.drawing.canvas import write

        write(picture.drawn(width_in=width, dark=args.dark, zone=zone), args.plot)
    if said:
        options.note(f"wrote {args.plot}")
