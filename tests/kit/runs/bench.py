"""The instrument on a place, one op after the other."""

from __future__ import annotations

from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata.spec import Spec
from iosonde.bench.metadata.steps import MetadataSteps
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.host.processes import Alone


class Quiet:
    """Nobody looks on."""

    def progress(self, phase, ended, planned, failed):
        pass

    def wanted(self):
        return False

    def note(self, text):
        pass

    def result(self, result):
        pass


class Bench:
    """One rank with one data set of ``objects`` objects; raises what the command would print."""

    def __init__(self, place: StorageLocation, objects: int, size_bytes: int = 3901) -> None:
        spec = Spec(data_sets=1, objects=objects, size_bytes=size_bytes, pattern="bulk", offset=0)
        self._steps = MetadataSteps(spec, place, Alone(), 1, Quiet())

    def begin(self) -> None:
        self._steps.begin(making=True)

    def phase(self, op: str) -> OpTally:
        """What one op of all objects came to."""
        total = self._steps.bulk(op, 0, None).total
        assert total is not None
        return total.ops[op]

    def end(self) -> None:
        self._steps.end()
