"""What happens to stores: agents, sealers, shipments, merges, retention, clocks; any may die between two changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from iosonde.engine.layout.contents import Contents, holders, rank, shared
from iosonde.engine.layout.dates import utc_date
from iosonde.model.units import DAY_NS, HOUR_NS
from iosonde.weather.upkeep.compact import FEW, Compacted, Grace, merge_day, remove_held
from iosonde.weather.upkeep.day import ROLLUPS, SAMPLES
from tests.kit.law.readers import read_slowly
from tests.kit.law.world import MemoryDay, MemoryStore, World

GRACES_NS = (0, 600_000_000_000, HOUR_NS)
CLOCK_NS = (HOUR_NS, 600_000_000_000, DAY_NS, 2 * DAY_NS)
INTERVALS = 12
"""Ten minutes of a day that rows lie in: so few that segments share them."""


def write(world: World, own: MemoryStore) -> None:
    """The agent closes a segment of one or two intervals."""
    name = f"{world.dice.getrandbits(64):016x}-{len(world.rows):06}"
    first = world.dice.randrange(INTERVALS)
    world.rows[name] = {
        first + i: world.dice.randint(1, 9) for i in range(world.dice.randint(1, 2))
    }
    world.dates[name] = own.spool[name] = utc_date(world.now_ns)
    own.law.written(name)
    world.between("written")


def seal(world: World, own: MemoryStore) -> None:
    """As ``iosonde.weather.seal``: samples, roll-up, spool."""
    for name in sorted(own.spool):
        date = world.dates[name]
        world.between("seal")
        if name not in own.spool:
            continue
        if name not in own.folder(SAMPLES, date):
            world.put(own, SAMPLES, date, world.file(name, (), Counter({name: 1})))
            world.between("sealed")
            if world.dice.random() < 0.9:
                world.put(own, ROLLUPS, date, world.file(name, (), world.summed((name,))))
            world.between("rolled up")
        own.spool.pop(name, None)


def ship(world: World, source: MemoryStore, to: MemoryStore) -> None:
    """As ``iosonde.weather.upkeep.ship``: what counts and is not there, samples before roll-ups.

    What is merged meanwhile, the next shipment brings.
    """
    since = world.steps
    came: dict[str, set[str]] = {SAMPLES: set(), ROLLUPS: set()}
    to.law.may_come(source.law.may)
    there = {table: _names(to, table) for table in (SAMPLES, ROLLUPS)}
    files = [
        (table, date, stem, source.folder(table, date)[stem])
        for table in (SAMPLES, ROLLUPS)
        for date in source.dates()
        for stem in _counted(source, table, date)
    ]
    for table, date, stem, file in files:
        world.between("ship")
        if (date, stem) not in there[table]:
            if stem not in source.folder(table, date):
                continue
            world.put(to, table, date, file._replace(written_ns=world.file_time_ns()))
        came[table] |= file.contents.segments
    to.law.came(*_left(source, source.law.must & came[SAMPLES], came[ROLLUPS], since), since)


def fetch(world: World, bucket: MemoryStore, copy: MemoryStore) -> None:
    """As ``iosonde.engine.remote.mirror``: what is new, then what is gone goes."""
    since = world.steps
    law = copy.law
    had, there = (
        {table: _names(store, table) for table in (SAMPLES, ROLLUPS)} for store in (copy, bucket)
    )
    held = _held(bucket)
    must, rolled = (
        bucket.law.must & held[SAMPLES],
        bucket.law.rolled & (held[ROLLUPS] | held[SAMPLES]),
    )
    law.may_come(bucket.law.may)
    law.must &= must
    law.rolled &= rolled
    for table in (SAMPLES, ROLLUPS):
        for date, stem in there[table]:
            world.between("fetch")
            file = bucket.folder(table, date).get(stem)
            if file is not None and stem not in copy.folder(table, date):
                world.put(copy, table, date, file)
    for table in (SAMPLES, ROLLUPS):
        for date, stem in had[table]:
            if (date, stem) not in there[table]:
                world.between("gone")
                world.drop(copy, table, date, stem)
    law.came(*_left(bucket, must, rolled, since), since)


def _left(
    source: MemoryStore, must: set[str], rolled: set[str], since: int
) -> tuple[set[str], set[str]]:
    """What retention has not taken of a source since."""
    law = source.law
    taken = {one for one, step in law.lost.items() if step >= since}
    unrolled = {one for one, step in law.unrolled.items() if step >= since}
    return must - taken, (rolled & law.rolled) - unrolled - taken


def compact(world: World, store: MemoryStore) -> None:
    """The real functions; in one of four runs footers are those of an earlier version."""
    if store.busy:
        return
    store.busy = True
    try:
        done, grace_ns = Compacted(), world.dice.choice(GRACES_NS)
        full, now_ns = world.dice.random() < 0.75, world.now_ns
        days = [MemoryDay(world, store, date, full) for date in store.dates()]
        made = {merge_day(day, done, world.between, least=FEW) for day in days}
        fresh = {stem for stem in made if stem is not None and grace_ns}
        for day in days:
            remove_held(day, Grace(now_ns, grace_ns, fresh), done, world.between)
    finally:
        store.busy = False


def retain(world: World, store: MemoryStore) -> None:
    """As ``iosonde.weather.upkeep.retain``: old days whose roll-ups are there; hidden files first."""
    dates = store.dates()[:-1]
    if store.busy or not dates:
        return
    store.busy = True
    try:
        old = dates[: world.dice.randint(1, len(dates))]
        gone = {one for one, date in world.dates.items() if date in old}
        store.law.may_go(gone, world.steps)
        for date in old:
            _retain_day(world, store, date)
    finally:
        store.busy = False
        store.law.may_go(gone, world.steps)


def _retain_day(world: World, store: MemoryStore, date: str) -> None:
    listed = [file.contents for file in store.folder(SAMPLES, date).values()]
    hidden = holders(listed)
    counted = {one.stem: one.segments for one in listed if one.stem not in hidden}
    several = shared(counted)
    for one in sorted(listed, key=rank):
        world.between("retain")
        if one.stem in several:
            continue
        file = store.folder(SAMPLES, date).get(one.stem)
        if file is not None and one.stem in counted and one.stem not in store.folder(ROLLUPS, date):
            made = world.file(one.stem, sorted(one.names), world.summed(file.held.elements()))
            world.put(store, ROLLUPS, date, made)
            world.between("rolled up")
        world.drop(store, SAMPLES, date, one.stem)
        store.law.may_go(one.segments, world.steps)  # a shipment may have come meanwhile


def make_room(world: World, own: MemoryStore) -> None:
    """As the agent's retention: by date and name, the segment before its Parquet file; roll-ups stay as they are."""
    raws = sorted(
        {(world.dates[name], name) for name in own.spool}
        | {(date, stem) for date in own.dates() for stem in own.folder(SAMPLES, date)}
    )
    for date, stem in raws[: world.dice.randint(1, 3)]:
        file = own.folder(SAMPLES, date).get(stem)
        segments = {stem} if file is None else set(file.contents.segments)
        own.law.may_go(segments, world.steps)
        unrolled = segments - _held(own)[ROLLUPS]
        own.law.may_unroll(unrolled, world.steps)
        world.between("make room")
        if own.spool.pop(stem, None) is not None:
            world.between("make more room")
        world.drop(own, SAMPLES, date, stem)
        own.law.may_go(segments, world.steps)  # a shipment may have come meanwhile
        own.law.may_unroll(unrolled, world.steps)


def expire(world: World, bucket: MemoryStore) -> None:
    """A lifecycle rule of a bucket takes the objects of its oldest date, in any order."""
    dates = bucket.dates()[:-1]
    if not dates:
        return
    for table in (SAMPLES, ROLLUPS):
        stems = list(bucket.folder(table, dates[0]))
        world.dice.shuffle(stems)
        for stem in stems:
            file = bucket.folder(table, dates[0]).get(stem)
            segments = set() if file is None else set(file.contents.segments)
            bucket.law.may_go(segments, world.steps)
            bucket.law.may_unroll(segments, world.steps)
            world.between("expire")
            world.drop(bucket, table, dates[0], stem)
            bucket.law.may_go(segments, world.steps)
            bucket.law.may_unroll(segments, world.steps)


def set_clock(world: World) -> None:
    """A step forwards or backwards."""
    world.now_ns += world.dice.choice((-1, 1, 1)) * world.dice.choice(CLOCK_NS)
    world.between("clock")


def operations(world: World) -> list[tuple[int, str, Callable[[], None]]]:
    """Weight, name, and what is done."""
    own, shared_store, bucket, copy = (
        world.stores[name] for name in ("own", "shared", "bucket", "copy")
    )
    return [
        (8, "write", lambda: write(world, own)),
        (4, "seal", lambda: seal(world, own)),
        (3, "ship own", lambda: ship(world, own, shared_store)),
        (2, "ship on", lambda: ship(world, shared_store, bucket)),
        (1, "ship up", lambda: ship(world, own, bucket)),
        (2, "fetch", lambda: fetch(world, bucket, copy)),
        (4, "compact own", lambda: compact(world, own)),
        (4, "compact shared", lambda: compact(world, shared_store)),
        (1, "retain own", lambda: retain(world, own)),
        (1, "retain shared", lambda: retain(world, shared_store)),
        (1, "make room", lambda: make_room(world, own)),
        (1, "expire", lambda: expire(world, bucket)),
        (2, "clock", lambda: set_clock(world)),
        (2, "read own", lambda: read_slowly(world, own)),
        (2, "read shared", lambda: read_slowly(world, shared_store)),
        (1, "read copy", lambda: read_slowly(world, copy)),
    ]


def _held(store: MemoryStore) -> dict[str, set[str]]:
    """Segments that files of a table hold."""
    return {
        table: {
            segment
            for (of, _), files in store.folders.items()
            if of == table
            for file in files.values()
            for segment in file.contents.segments
        }
        for table in (SAMPLES, ROLLUPS)
    }


def _names(store: MemoryStore, table: str) -> list[tuple[str, str]]:
    return [(date, stem) for date in store.dates() for stem in store.folder(table, date)]


def _counted(store: MemoryStore, table: str, date: str) -> list[str]:
    listed: list[Contents] = [file.contents for file in store.folder(table, date).values()]
    hidden = holders(listed)
    return [one.stem for one in listed if one.stem not in hidden]
