"""What was asked of the storage, and what of it came to nothing: counted by the engine."""

from __future__ import annotations

from iosonde.engine.contract import DERIVED, SERIES_KEY

_LOST = "outcome <> 'shed' AND (outcome <> 'ok' OR began_ns - due_ns > period_ns // 10)"
"""Late by more than a tenth of the period, skipped, timed out, failed or pending."""
_MOVING = "('data_read', 'data_write', 'md_create', 'md_read')"
"""Operations that move their ``size_bytes``."""
CACHES = ("direct", "buffered", "evicted", "cached", "unknown")


def tally_sql() -> str:
    """SQL that counts the view ``samples`` by series (see ``Store.tally``)."""
    key = ", ".join(SERIES_KEY)
    caches = ", ".join(
        f"count(*) FILTER (outcome = 'ok' AND cache = '{name}') AS {name}" for name in CACHES
    )
    return (
        f"SELECT {key}, count(*) FILTER (outcome <> 'shed') AS n_due, "
        f"count(*) FILTER ({_LOST}) AS n_lost, count(began_ns) AS n_begun, "
        f"coalesce(sum(size_bytes) FILTER (outcome = 'ok' AND op IN {_MOVING}), 0)::BIGINT "
        f"AS moved_bytes, coalesce(sum({DERIVED['service_ns']}), 0)::BIGINT AS busy_ns, {caches} "
        f"FROM samples GROUP BY {key} ORDER BY {key}"
    )
