"""The links of an answer to "why is it slow?", as data.

::

    slowness      what is slow, how much, from when to when            weather: events, live states
    recurrence    does it come back every day or week?                 weather: eight weeks
    component     which part of the storage is it?                     probes side by side, locate, servers' records
    load          whose operations explain its course?                 jobs: blame
    host          is it this host alone, or its processor?             weather: run queue, other hosts
    change        is it a level that stays?                            weather: lasting changes
    remedy        what would help?                                     queue: a model fitted to reads and loads

A link is a finding with its evidence, ruled out with evidence, or not known with the reason. Ratios are
observed / usual or this / others; instants are ns since the epoch (UTC). No sentence is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from iosonde.model.verdicts import Reason

if TYPE_CHECKING:
    from iosonde.jobs.attribution.culprits import Confidence
    from iosonde.jobs.blame.interval import Grouping
    from iosonde.model.events import WeekSpan
    from iosonde.model.verdicts import Unjudged
    from iosonde.weather.peers.peers import PeerFinding

T = TypeVar("T")


class LinkStanding(StrEnum):
    """What is known of a link."""

    FOUND = "found"
    RULED_OUT = "ruled out"
    UNKNOWN = "not known"


class Gap(StrEnum):
    """Why a link is not known. ``words`` has the sentences."""

    NOTHING_SLOW = "nothing slow"
    NO_WINDOWS = "no windows"
    SHORT_HISTORY = "short history"
    NOTHING_BESIDE = "nothing beside"
    PEERS_UNKNOWN = "peers unknown"
    NO_RECORDS = "no records"
    PART_OF_RECORDS = "part of records"
    FEW_SLOTS = "few slots"
    NO_COURSE = "no course"
    ALIKE = "jobs alike"
    NO_CONTROL = "no control"
    LEARNING = "learning"
    NO_LOAD = "no load found"
    FEW_LOADS = "few loads"
    NO_FIT = "no fit"
    NEVER_FULL = "never full"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Link(Generic[T]):
    """``fact``: the finding, or what rules it out; None where ``gap`` says why it is not known."""

    standing: LinkStanding
    fact: T | None = None
    gap: Gap | None = None

    @property
    def found(self) -> T | None:
        """The fact of a finding; None otherwise."""
        return self.fact if self.standing is LinkStanding.FOUND else None

    @property
    def unknown(self) -> bool:
        """Whether nobody can say."""
        return self.standing is LinkStanding.UNKNOWN


def found(fact: T) -> Link[T]:
    """A finding."""
    return Link(LinkStanding.FOUND, fact)


def ruled_out(fact: T) -> Link[T]:
    """The evidence that this is not the reason."""
    return Link(LinkStanding.RULED_OUT, fact)


def not_known(gap: Gap) -> Link[T]:
    """Nobody can say, and why."""
    return Link(LinkStanding.UNKNOWN, gap=gap)


class Ratio(NamedTuple):
    """A ratio with its 95 % interval; NaN ends: too few windows for one."""

    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class StretchFacts:
    """The stretch. ``kind``: as of ``model.events.SlowEvent``, ``failing``, or ``host_busy``.

    ``whole``: the target that ``target`` is a component of, else the same. ``end_ns`` None: it goes on; then it was
    looked at until ``seen_until_ns``. ``factor`` None: hung, failing or lost. ``event``: its id, as ``iosonde events``
    has it; None: no event yet. ``hits``: where fewer operations came from a cache, the share that did, and the usual
    one.
    """

    host: str
    target: str
    whole: str
    component: str | None
    op: str
    kind: str
    begin_ns: int
    end_ns: int | None
    seen_until_ns: int
    factor: Ratio | None
    peak: float | None
    lost: float | None
    windows: int
    event: str | None
    hits: float | None = None
    hits_usual: float | None = None
    added_ns: float | None = None
    """Latency added to the usual one; None: not known."""


@dataclass(frozen=True)
class RecurrenceEvidence:
    """Slow in ``seen`` of ``of``, at ``span`` of every ``period_h`` hours in ``zone``.

    Ruled out: ``span`` is None, and ``looked_ns`` says in how much time nothing came back.
    """

    span: WeekSpan | None
    period_h: int | None
    zone: str
    seen: int
    of: int
    sure: bool
    looked_ns: int


class PartSource(StrEnum):
    """Who says that a part is slow."""

    PROBED = "probed component"
    LOCATED = "located in a run"
    SERVERS = "servers' records"
    BESIDE = "other targets"


@dataclass(frozen=True)
class SlowPart:
    """A part of the storage that is slow beside its ``peers``, which are ``peers_slow`` times slower than usual.

    ``against_peers``: its slowdown over theirs; of a run's transfers their times; of servers' records the metric's
    value over that of the others. ``run``: of ``locate``; ``metric``: of servers' records, ``value`` during the
    stretch, ``usual`` before it. ``peers_too``: others beside the peers, which were slow in the stretch, too.
    """

    source: PartSource
    name: str
    against_peers: Ratio
    peers: int
    peers_slow: float | None = None
    run: str = ""
    metric: str = ""
    value: float | None = None
    usual: float | None = None
    peers_too: int = 0


@dataclass(frozen=True)
class Parts:
    """``slow``: the most precise first. ``looked``: parts that were compared, by who says so.

    ``all_slow``: other targets, of which every one was slow for most of the stretch, too; 0: not all, or too few.
    """

    slow: tuple[SlowPart, ...]
    looked: tuple[tuple[PartSource, int], ...]
    all_slow: int = 0

    @property
    def precise(self) -> SlowPart | None:
        """A part below a target: a component, an OST, a server."""
        return next((one for one in self.slow if one.source is not PartSource.BESIDE), None)

    @property
    def alone(self) -> SlowPart | None:
        """The target, where it alone of several is slow."""
        return next((one for one in self.slow if one.source is PartSource.BESIDE), None)


@dataclass(frozen=True)
class Culprit:
    """A job whose load explains the course of the slowdown; ``share`` of it with its 90 % interval.

    ``share`` None: it stands out by its operations alone. ``ops_share``: its part of all recorded operations, 0 to 1.
    ``by`` user or account: all of their jobs together; ``job`` is empty then.
    """

    job: str
    user: str
    began_ns: int | None
    confidence: Confidence
    share: Ratio | None
    ops_share: float | None
    by: Grouping = "job"
    account: str = ""

    @property
    def name(self) -> str:
        """``job 4711``, ``user mallory``."""
        return f"{self.by} {getattr(self, self.by)}"


@dataclass(frozen=True)
class LoadEvidence:
    """``culprits``: the largest first. ``together``: the sum of all loads explains it, nobody stands out.

    ``dismissed``: jobs whose load follows the course too, but the healthy servers have that load and are as usual.
    ``per_s``: operations recorded per second; ``p``: chance that unrelated loads fit as well; ``of_peers``: the course
    of the healthy components was explained, not that of the slow one.
    """

    culprits: tuple[Culprit, ...]
    together: bool
    per_s: float
    jobs: int
    p: float
    of_peers: bool = False
    dismissed: tuple[Culprit, ...] = ()


@dataclass(frozen=True)
class HostEvidence:
    """The probing host explains ``busy`` of ``slow`` windows; ``hosts`` of ``of_hosts`` saw the target slow.

    ``of_hosts`` 0: too few hosts watch it to tell. ``woken``: what is added is no more than a processor takes to wake.
    """

    host: str
    busy: int
    slow: int
    hosts: int
    of_hosts: int
    woken: bool = False


@dataclass(frozen=True)
class Change:
    """A level that stays: ``factor`` times the one before, since ``since_ns``. Ruled out: None.

    ``certain``: weather's baseline took it for a new level; else it has stayed for a day at least so far.
    """

    factor: float | None
    since_ns: int | None
    certain: bool = True


@dataclass(frozen=True)
class Remedy:
    """Median of reads (s) at ``load_per_s`` now and then, from the queue model.

    ``without_job``: then the load is ``then_per_s``; else the queue holds ``then_queue`` operations instead of
    ``queue``.
    """

    load_per_s: float
    now_s: Ratio
    then_s: Ratio
    without_job: str = ""
    then_per_s: float | None = None
    queue: float | None = None
    then_queue: int | None = None


class LookedAt(NamedTuple):
    """What was looked at. ``dark``: targets of which nothing was judged; ``not_judged``: intervals, with reasons.

    ``peers``: parts that are slow beside others like them, however long, where no stretch was slow.
    """

    targets: tuple[str, ...]
    hosts: tuple[str, ...]
    begin_ns: int
    end_ns: int
    dark: tuple[str, ...] = ()
    not_judged: tuple[Unjudged, ...] = ()
    peers: tuple[PeerFinding, ...] = ()

    @property
    def learning(self) -> tuple[str, ...]:
        """Targets of which nothing was judged because the baseline was still learning."""
        young = {one.target for one in self.not_judged if one.reason is Reason.LEARNING}
        return tuple(name for name in self.dark if name in young)


@dataclass(frozen=True)
class Links:
    """All links of one stretch."""

    slowness: Link[StretchFacts]
    recurrence: Link[RecurrenceEvidence]
    component: Link[Parts]
    load: Link[LoadEvidence]
    host: Link[HostEvidence]
    change: Link[Change]
    remedy: Link[Remedy]


class Kind(StrEnum):
    """The verdict."""

    NOTHING_SLOW = "nothing slow"
    THIS_HOST = "this host"
    RECURRING = "recurring"
    LASTING_CHANGE = "lasting change"
    SEVERAL = "several at once"
    ONE_JOB = "one job's load"
    OVERLOAD = "queue overload"
    SLOW_COMPONENT = "slow component"
    NO_CAUSE = "no cause found"
    EVERYTHING = "network or everything"


@dataclass(frozen=True)
class Why:
    """The answer: the verdict and all links. ``others``: other targets that were slow in the stretch."""

    kind: Kind
    links: Links
    looked: LookedAt
    others: tuple[str, ...] = ()
