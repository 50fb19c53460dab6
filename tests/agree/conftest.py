"""Stores of the kinds, each made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agree.kinds import KINDS

pytest.register_assert_rewrite("tests.agree.compared")


@pytest.fixture(scope="session")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the store of a kind. Tests may add jobs to it, and nothing else."""
    made: dict[str, Path] = {}

    def found(name: str) -> Path:
        if name not in made:
            root = tmp_path_factory.mktemp("kind")
            KINDS[name].make(root, KINDS[name].length_s)
            made[name] = root
        return made[name]

    return found
