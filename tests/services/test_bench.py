"""The instrument at every place: four ranks in one process, both patterns, every operation well."""

import pytest

from iosonde.bench.backends.places import parse_place
from iosonde.bench.metadata.spec import BULK_OPS, Spec
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.host.processes import Alone
from iosonde.model.errors import UsageError
from tests.kit.runs.bench import Quiet

pytestmark = pytest.mark.service

RANKS = 4


@pytest.fixture(params=["s3", "postgresql", "mongodb", "python-null"])
def place(request):
    if request.param == "python-null":
        return parse_place("python-null:", {})
    server = request.getfixturevalue(request.param)
    if request.param == "s3":
        return parse_place("s3://bench/ranks", server.environ)
    return parse_place(server.uri, {})


def test_four_ranks_cycle(place):
    spec = Spec(
        data_sets=2, objects=4, size_bytes=3901, iterations=4, verify=place.kind[-4:] != "null"
    )
    steps = MetadataSteps(spec, place, Alone(), RANKS, Quiet())
    steps.begin(making=True)
    assert steps.precreate().total.ok == RANKS * 2 * 4
    cycled = steps.benchmark(0).total
    assert cycled.failures == 0
    assert {op: tally.ok for op, tally in cycled.ops.items()} == dict.fromkeys(
        BULK_OPS, RANKS * 2 * 4
    )
    if place.kind != "python-null":
        assert steps.cleanup().total.ok == RANKS * 2 * 4


def test_four_ranks_bulk(place):
    spec = Spec(data_sets=1, objects=5, size_bytes=3901, pattern="bulk")
    steps = MetadataSteps(spec, place, Alone(), RANKS, Quiet())
    steps.begin(making=True)
    for op in BULK_OPS:
        total = steps.bulk(op, 0, None).total
        assert (total.ok, total.failures) == (RANKS * 5, 0)
    steps.end()


def test_mpiio_ranks_are_processes(tmp_path):
    spec = Spec(data_sets=1, objects=1, size_bytes=1)
    steps = MetadataSteps(spec, parse_place(f"mpiio:{tmp_path}", {}), Alone(), 2, Quiet())
    with pytest.raises(UsageError, match="process"):
        steps.begin(making=True)


def test_direct_access_is_refused(postgresql):
    spec = Spec(data_sets=1, objects=1, size_bytes=512, direct=True)
    place = parse_place(f"{postgresql.uri}?schema=direct", {})
    steps = MetadataSteps(spec, place, Alone(), 1, Quiet())
    with pytest.raises(UsageError, match="O_DIRECT"):
        steps.begin(making=True)
