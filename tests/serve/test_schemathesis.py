"""Requests made from the description, right and wrong ones: no mistake of ours, no hang, answers as described."""

import contextlib

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
)

from tests.kit.samples import stores
from tests.kit.samples.stores import HOUR, NOW

EXAMPLES = 15
"""Of each route and way, right and wrong."""
LONGEST_S = 20.0
"""A request that takes longer hangs."""
CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("store")
    hang = [{"op": "md_create", "after": "35m", "for": "25s", "hang": True}]
    stores.simulate(root, HOUR, stores.target("/work", hang))
    stores.say_it_runs(root, NOW)
    with stores.running(root, clock=lambda: NOW) as (found, _):
        yield found


@pytest.fixture(scope="module")
def schema(address: str):
    return schemathesis.openapi.from_url(f"{address}/api/openapi.json")


def test_the_description_is_openapi_3_1(schema) -> None:
    assert schema.specification.version.startswith("3.1")
    schema.validate()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_finds_a_mistake_or_hangs(schema, address: str, mode) -> None:
    operations = [found.ok() for found in schema.get_all_operations()]
    # The feed has no end; tests/serve/test_feed.py asks it.
    asked = [one for one in operations if one.path != "/api/feed"]
    assert len(asked) >= 17
    for operation in asked:
        with contextlib.suppress(Unsatisfiable):  # nothing to get wrong: it takes no parameters
            try_out(operation, mode, address)


def try_out(operation, mode: GenerationMode, address: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def tried(case) -> None:
        response = case.call(base_url=address, timeout=LONGEST_S)
        case.validate_response(response, checks=CHECKS)
        assert b"Traceback" not in response.content

    tried()
