"""Aliases in a history of load: for its runs' users, accounts, programs and ids."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iosonde.jobs.load.history import LoadHistory
    from iosonde.serve.privacy.pseudonyms import Pseudonyms


def aliased_load(history: LoadHistory, names: Pseudonyms) -> LoadHistory:
    """The history with aliases, if the policy requires them."""
    if not names.hashed:
        return history
    runs = history.runs
    return replace(
        history,
        runs=replace(
            runs,
            user=names.column("user", runs.user),
            account=names.column("account", runs.account),
            name=names.column("app", runs.name),
            job_id=names.column("job", runs.job_id),
        ),
        _rows={},
        _lock=threading.Lock(),
    )
