"""Levels of detail keep sums and maxima, whatever the spans are."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.load.spans import CellSpans, dense, levels, masked_sums, merged, sums

CELLS = 600
spans_made = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, CELLS - 1),
        st.lists(st.integers(0, 1000), min_size=0, max_size=200),
    ),
    min_size=0,
    max_size=12,
)


def made(parts: list[tuple[int, int, list[int]]]) -> tuple[CellSpans, np.ndarray]:
    """Spans, and the same as a matrix of 4 rows."""
    truth = np.zeros((4, CELLS))
    row, first, values = [], [], []
    for who, begin, ops in parts:
        kept = ops[: CELLS - begin]
        row.append(who)
        first.append(begin)
        values.append(np.array(kept, np.float32))
        truth[who, begin : begin + len(kept)] += kept
    offset = np.concatenate([[0], np.cumsum([len(one) for one in values])]).astype(np.int64)
    flat = np.concatenate([np.zeros(0, np.float32), *values])
    whole = CellSpans(np.array(row, np.int64), np.array(first, np.int64), offset, flat)
    return whole, truth


@settings(deadline=None, max_examples=150)
@given(spans_made, st.integers(0, CELLS), st.integers(0, CELLS))
def test_every_level_has_the_sums_and_the_largest_cells(parts, one: int, other: int) -> None:
    found, truth = made(parts)
    whole = merged(found, found.row)
    place = np.arange(4)
    for level, spans in enumerate(levels(whole, CELLS * 64)):
        size = 4**level
        low, high = sorted((one // size, -(-other // size)))
        seen = dense(spans, low, high, place, 4)
        padded = np.zeros((4, max(1, -(-CELLS // size)) * size))
        padded[:, :CELLS] = truth
        cells = padded.reshape(4, -1, size)
        high = min(high, cells.shape[1])
        width = max(0, high - low)
        assert np.allclose(seen.ops[:, :width], cells.sum(axis=2)[:, low:high])
        assert np.array_equal(seen.most[:, :width], cells.max(axis=2)[:, low:high])
        assert np.allclose(
            sums(spans, low, low + width, 4), cells[:, low : low + width].sum(axis=(1, 2))
        )


@settings(deadline=None, max_examples=50)
@given(spans_made, st.integers(0, 2**32 - 1))
def test_a_mask_takes_exactly_its_cells(parts, seed: int) -> None:
    found, truth = made(parts)
    wanted = np.random.default_rng(seed).random(CELLS) < 0.3
    assert np.allclose(masked_sums(found, 0, wanted, 4), truth[:, wanted].sum(axis=1))
