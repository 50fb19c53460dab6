"""The operations that are timed, in the order in which every table, plot and page lists them."""

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
"""How a sentence calls an operation."""

TRIPLE: tuple[str, ...] = ("typ", "tail", "lost")
"""The three numbers of a slowdown: the typical operation, the slow tail, the share that was lost."""
OF_WINDOW: tuple[str, ...] = ("mean", "q25", "median", "q75", "q90", "q95", "q99", "max")
"""Statistics of a window's latencies: the paper's eight."""
STATISTICS: tuple[str, ...] = (*TRIPLE, *OF_WINDOW)
"""What a slowdown can be asked for: one of the three, or a statistic of the window / the usual median."""

SECOND_NS = 1_000_000_000
DEFAULT_WINDOW_NS = 60 * SECOND_NS
DEFAULT_TRAILING_NS = 7 * 86_400 * SECOND_NS

SLOW_AT = 2.0
"""A window is slow when its slowdown is at least this ..."""
SLOW_LOWER_AT = 1.5
"""... and the lower end of its interval at least this."""


def op_order(op: str) -> int:
    """Place of ``op`` in ``OPS``; unknown operations come last."""
    return OPS.index(op) if op in OPS else len(OPS)


def op_word(op: str) -> str:
    """The plural noun for ``op``; an unknown operation keeps its name."""
    return OP_WORDS.get(op, op)


def parse_op(text: str) -> str:
    """``md_create``, or a word of the sentences (``creates``).

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
