"""The instrument on a place, one op after the other."""

from __future__ import annotations

from iosonde.bench.backends.places import Place
from iosonde.bench.metadata.session import Session
from iosonde.bench.metadata.spec import Spec
from iosonde.bench.metadata.tallies import OpLap
from iosonde.bench.ranks import Alone


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

    def __init__(self, place: Place, objects: int, size_bytes: int = 3901) -> None:
        spec = Spec(data_sets=1, objects=objects, size_bytes=size_bytes, pattern="bulk", offset=0)
        self._session = Session(spec, place, Alone(), 1, Quiet())

    def begin(self) -> None:
        self._session.begin(making=True)

    def phase(self, op: str) -> OpLap:
        """What one op of all objects came to."""
        lap = self._session.bulk(op, 0, None).total
        assert lap is not None
        return lap.ops[op]

    def end(self) -> None:
        self._session.end()
