"""An agent that calls its host otherwise than the kernel does."""

from pathlib import Path

import pytest

from tests.kit import harness

pytestmark = pytest.mark.service


def test_what_it_wrote_is_sealed_once_it_ended_and_not_before(tmp_path: Path) -> None:
    config = f'host = "login 2"\n{harness.target(tmp_path)}'
    with harness.running(tmp_path, config) as agent:
        harness.wait_for("rows", lambda: agent.metric("iosonde_spool_rows_total"))
        harness.run(["store", "seal", "--store", agent.store])
        assert not list(agent.store.glob("samples/*/*/*.parquet"))
        agent.kill()
        harness.run(["store", "seal", "--store", agent.store])
    (file,) = agent.store.glob("samples/*/host=login-2-*/*.parquet")
    assert file.stat().st_size > 0
    assert not list(agent.store.glob("spool/*/*.spool"))
