"""What a store's records say of one job."""

from __future__ import annotations

from iosonde.jobs.environment.servers import environment_in
from iosonde.jobs.store.scan import Passing


def environment(root, job):
    with Passing(root) as store:
        return environment_in(store, job)
