from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.engine.layout.root import default_root
from iosonde.engine.layout.segments import (
    parquet_path,
    parquet_segments,
    settled,
    spool_segments,
)
from iosonde.model.errors import DamagedFileWarning, StoreError

START = 1_790_000_000_000_000_000
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"IOSONDE_STORE": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/iosonde"),
        ({"IOSONDE_STORE": "", "HOME": "/c"}, "/c/.local/state/iosonde"),
    ],
)
def test_the_default_folder(environ, root):
    assert default_root(environ) == Path(root)


def test_an_absent_store_is_an_empty_one(tmp_path):
    assert spool_segments(tmp_path / "no") == []
    assert parquet_segments(tmp_path / "no") == []


def test_only_segments_are_listed(tmp_path):
    for name in ("spool/h/r-1.spool", "spool/h/r-1.torn", "spool/h/.x.spool", "spool/stray.spool"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for day in ("2026-09-20", "2026-09-21"):
        folder = tmp_path / "samples" / f"date={day}" / "host=h"
        folder.mkdir(parents=True)
        for name in ("r-0.parquet", ".r-2.77.parquet"):
            (folder / name).touch()
    assert [(s.host, s.stem) for s in spool_segments(tmp_path)] == [("h", "r-1")]
    assert len(parquet_segments(tmp_path)) == 2
    later = parquet_segments(tmp_path, "2026-09-21")
    assert [s.path for s in later] == [parquet_path(tmp_path, "h", "r-0", START)]


def test_a_file_in_place_of_a_folder_is_left_out_and_named(tmp_path):
    (tmp_path / "spool").touch()
    with pytest.warns(DamagedFileWarning, match="spool cannot be listed: Not a directory"):
        assert spool_segments(tmp_path) == []


def test_a_file_in_place_of_a_store_is_explained(tmp_path):
    (tmp_path / "store").touch()
    with pytest.raises(StoreError, match="cannot list"):
        spool_segments(tmp_path / "store")


@pytest.mark.parametrize("stepped_ns", [0, 3600 * SECOND, -3600 * SECOND])
def test_a_folder_that_changes_while_it_is_listed_is_listed_again(stepped_ns):
    """Merged in the middle of the first listing, by whatever clock: the merged file and its parts are both missed."""
    folder, changed = ["a", "b"], [0]
    passes = []

    def listing() -> list[str]:
        passes.append(len(passes))
        if len(passes) > 1:
            return list(folder)
        folder[:] = ["M"]
        changed[0] = 200 * SECOND + stepped_ns
        return []

    assert settled(listing, lambda: changed[0], 200 * SECOND) == ["M"]
    assert len(passes) == 3


def test_a_quiet_folder_is_listed_once():
    passes = []
    assert settled(lambda: passes.append(1) or ["a"], lambda: 0, 200 * SECOND) == ["a"]
    assert len(passes) == 1
