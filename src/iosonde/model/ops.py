"""Timed operations, in the order of every table, plot and page."""

from __future__ import annotations

from iosonde.model.errors import UsageError

OPS: tuple[str, ...] = (
    "data_read",
    "data_write",
    "md_create",
    "md_stat",
    "md_read",
    "md_delete",
)

OP_WORDS: dict[str, str] = {
    "data_read": "reads",
    "data_write": "writes",
    "md_create": "creates",
    "md_stat": "stats",
    "md_read": "small reads",
    "md_delete": "deletes",
}
"""Plural nouns of operations in sentences."""

TRIPLE: tuple[str, ...] = ("typ", "tail", "lost")
"""The three numbers of a slowdown: the typical operation, the slow tail, the lost share."""
OF_WINDOW: tuple[str, ...] = ("mean", "q25", "median", "q75", "q90", "q95", "q99", "max")
"""Statistics of a window's latencies: the paper's eight."""
STATISTICS: tuple[str, ...] = (*TRIPLE, *OF_WINDOW)
"""Statistics of a slowdown: one of the three, or a statistic of the window over the usual median."""

SECOND_NS = 1_000_000_000
DEFAULT_WINDOW_NS = 60 * SECOND_NS
DEFAULT_TRAILING_NS = 7 * 86_400 * SECOND_NS

SLOW_AT = 2.0
"""Least slowdown of a slow window ..."""
SLOW_LOWER_AT = 1.5
"""... and least lower end of its interval."""


def op_order(op: str) -> int:
    """Index of ``op`` in ``OPS``; unknown operations come last."""
    return OPS.index(op) if op in OPS else len(OPS)


def op_word(op: str) -> str:
    """The plural noun for ``op``; an unknown operation keeps its name."""
    return OP_WORDS.get(op, op)


def parse_op(text: str) -> str:
    """Parse ``md_create``, or a word of the sentences (``creates``).

    Raises UsageError with the nearest name.
    """
    name = text.strip().lower()
    for op, word in OP_WORDS.items():
        if name in (op, word, word.rstrip("s"), word.replace(" ", "_")):
            return op
    import difflib

    near = difflib.get_close_matches(name, [*OPS, *OP_WORDS.values()], n=1)
    raise UsageError(
        f"there is no operation {text!r}",
        expected="one of " + ", ".join(OPS),
        hint=f"{near[0]!r}" if near else "",
    )
