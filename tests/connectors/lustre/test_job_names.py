"""Ids of jobs in the names of job_stats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.lustre.job_names import job_ids
from iosonde.connectors.lustre.job_stats import read
from iosonde.connectors.source import Settings
from iosonde.model.jobs import Job


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["4711", "4711:1000:n001", "4711-x", "cp.1000"], ["4711", "4711", "4711-x", "cp.1000"]),
        (
            ["n001:alice:4712", "n002:alice:4712", "n003:bob:4713_7"],
            ["4712", "4712", "4713_7"],
        ),
        (["n001:1000:4712", "n001:1000:4713"], ["4712", "4713"]),
        # %e:%h:%u: a user on two hosts.
        (["cp:n001:1000", "mv:n002:1000", "ior:n003:1001"], None),
        # One name alone tells no format.
        (["cp:n001:1000"], None),
        (["n001:kworker/0:1", "n001:cp:x"], None),
    ],
)
def test_ids_of_names(names: list[str], ids: list[str] | None) -> None:
    found, _ = job_ids(names)
    assert [found[name] for name in names] == (ids or names)


@given(st.lists(st.text(max_size=20)))
def test_every_name_has_one_id(names: list[str]) -> None:
    found, n_last = job_ids(names)
    assert set(found) == set(names)
    assert 0 <= n_last <= len(found)


def test_nodes_of_a_job_are_summed_and_the_guess_is_noted(tmp_path) -> None:
    entry = (
        "- job_id: {}\n  snapshot_time: {}\n"
        "  read_bytes: {{ samples: 1, unit: bytes, min: 1, max: 1, sum: {} }}\n"
    )
    text = ""
    for when, read_bytes in ((1_790_000_000, 100), (1_790_000_600, 700)):
        text += f"BEGIN {when}\nobdfilter.work-OST0000.job_stats=job_stats:\n"
        for name in ("n001:alice:4712", "n002:alice:4712", "n003:bob:4713"):
            text += entry.format(name, when, read_bytes)
    path = tmp_path / "jobs.txt"
    path.write_text(text)
    warnings: list[object] = []
    items = list(read(path, Settings(), warnings.append))
    jobs = {one.job_id: one for one in items if isinstance(one, Job)}
    assert set(jobs) == {"4712", "4713"}
    assert jobs["4712"].scalars["own_read_bytes"].value == 1_400
    blocks = [one for one in items if not isinstance(one, Job)]
    assert any("node:user:id" in note.what for block in blocks for note in block.notes)
    assert not warnings
