"""Table of a bandwidth run for terminals, and its outliers."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.bench.bandwidth.words import EXPLAINED, HEAD, phase_cells, say_slow_ranks, say_tail
from iosonde.cli.shared.text import table, wrapped
from iosonde.model.runs import RunRow
from iosonde.model.text import clean_text

_MOST_LINES = 400
_MOST_SAID = 8


def bandwidth_table(rows: Sequence[RunRow]) -> str:
    """A line per phase, then slow ranks and the meaning of columns."""
    cells = [tuple(map(clean_text, line)) for line in phase_cells(rows)]
    kept = [i for i, name in enumerate(HEAD) if name != "slowest rank" or any(c[i] for c in cells)]
    head = [HEAD[i] for i in kept]
    said = [*say_tail(rows), *say_slow_ranks(rows)]
    text = table(head, [[line[i] for i in kept] for line in cells][:_MOST_LINES])
    lines = [line for one in [*said[:_MOST_SAID], EXPLAINED] for line in wrapped(one)]
    return f"{text}\n\n" + "\n".join(lines)
