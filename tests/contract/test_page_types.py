"""The page's types of answers (web/api/generated.ts) follow from the server's description of them."""

import json
import subprocess
from pathlib import Path

import pytest

from iosonde.serve.app import create

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"


def generated(description: dict) -> str:
    made = subprocess.run(
        ["node", "scripts/types.mjs"],
        cwd=WEB,
        input=json.dumps(description),
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise ValueError(made.stderr)
    return made.stdout


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return create(tmp_path_factory.mktemp("store")).openapi()


def test_committed_types_are_those_of_the_server(description: dict) -> None:
    committed = (WEB / "api/generated.ts").read_text()
    assert generated(description) == committed, "web/api/generated.ts is stale: run `make types`"


def test_nanoseconds_without_a_format_are_refused(description: dict) -> None:
    schemas = json.loads(json.dumps(description))
    del schemas["components"]["schemas"]["SeriesJson"]["properties"]["window_ns"]["format"]
    with pytest.raises(ValueError, match="window_ns is neither an instant nor a duration"):
        generated(schemas)
