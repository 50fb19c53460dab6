"""What a reader of stores in memory counts: by the real rules, over one store or several as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from iosonde.engine.layout.contents import holders, shared
from iosonde.engine.layout.segments import settled
from iosonde.weather.rollups.choice import choose
from iosonde.weather.upkeep.day import ROLLUPS, SAMPLES
from tests.kit.law.model import check_rows, check_sums
from tests.kit.law.world import Folder, MemoryFile, MemoryStore, World

TRIES = 10


def check(world: World, stores: Sequence[MemoryStore]) -> None:
    """Hold what a reader of some stores counts now against the law."""
    laws = [store.law for store in stores]
    where = " and ".join(law.name for law in laws)
    must, may = set().union(*(law.must for law in laws)), set().union(*(law.may for law in laws))
    check_rows(_rows(world, stores), must, may, where)
    _check_rollups(world, stores, where)


def read_slowly(world: World, store: MemoryStore) -> None:
    """A reader during whose listing, and between that and its reading, others work."""
    law = store.law
    must, since = set(law.must), world.steps
    found: Counter[str] = Counter()
    for _ in range(TRIES):
        live = sorted(store.spool)
        world.between("reader lists")
        files = [(date, stem) for date in _dates([store]) for stem in _listed(world, store, date)]
        world.between("reader reads")
        if not all(stem in store.folder(SAMPLES, date) for date, stem in files):
            continue
        found = Counter()
        for date in {date for date, _ in files}:
            folder = store.folder(SAMPLES, date)
            found += _counted({stem: folder[stem] for day, stem in files if day == date})
        found.update(segment for segment in live if segment not in found)
        taken = {one for one, step in law.lost.items() if step >= since}
        check_rows(found, must - taken, law.may, f"slow reader of {law.name}")
        return


def _listed(world: World, store: MemoryStore, date: str) -> list[str]:
    """Names in the folder of a date, of which some were looked up before others worked."""

    def listing() -> list[str]:
        names = list(store.folder(SAMPLES, date))
        world.dice.shuffle(names)
        early = set(names[: world.dice.randint(0, len(names))])
        world.between("listing")
        late = [one for one in store.folder(SAMPLES, date) if one not in names]
        seen = [one for one in names if one in early or one in store.folder(SAMPLES, date)]
        return seen + [one for one in late if world.dice.random() < 0.5]

    return settled(listing, lambda: store.changed_ns.get((SAMPLES, date)), world.now_ns)


def _dates(stores: Sequence[MemoryStore]) -> list[str]:
    return sorted({date for store in stores for date in store.dates()})


def _folder(stores: Sequence[MemoryStore], table: str, date: str) -> Folder:
    """Of two files of one name the first store's counts."""
    found: Folder = {}
    for store in reversed(stores):
        found |= store.folder(table, date)
    return found


def _visible(folder: Folder) -> dict[str, MemoryFile]:
    hidden = holders(file.contents for file in folder.values())
    return {stem: file for stem, file in folder.items() if stem not in hidden}


def _counted(folder: Folder) -> Counter[str]:
    """How many times each segment counts."""
    counted = _visible(folder)
    several = set(shared({stem: file.contents.segments for stem, file in counted.items()}))
    found: Counter[str] = Counter()
    for stem, file in counted.items():
        if stem not in several:
            found += file.held
    found.update({segment for stem in several for segment in counted[stem].held})
    return found


def _rows(world: World, stores: Sequence[MemoryStore]) -> Counter[str]:
    found: Counter[str] = Counter()
    for date in _dates(stores):
        files = _visible(_folder(stores, SAMPLES, date))
        found += _counted(files)
        world.met["shared"] += bool(shared({s: f.contents.segments for s, f in files.items()}))
    found.update({one for store in stores for one in store.spool if one not in found})
    return found


def _check_rollups(world: World, stores: Sequence[MemoryStore], where: str) -> None:
    sealed, kept = (
        {
            stem: file
            for date in _dates(stores)
            for stem, file in _visible(_folder(stores, table, date)).items()
        }
        for table in (SAMPLES, ROLLUPS)
    )
    choice = choose(
        {stem: file.contents.segments for stem, file in sealed.items()},
        {stem: file.contents.segments for stem, file in kept.items()},
    )

    def made(group: Sequence[str]) -> Counter[str]:
        rows = {segment for stem in group for segment in sealed[stem].held}
        return world.summed(rows if len(group) > 1 else sealed[group[0]].held.elements())

    sums: Counter[str] = Counter()
    known: set[str] = set()
    for stem in choice.kept:
        sums += kept[stem].held
        known |= kept[stem].contents.segments
    for group in choice.new:
        sums += made(group)
        known |= {segment for stem in group for segment in sealed[stem].contents.segments}
    world.met["rivals"] += bool(choice.rivals)
    for files, groups in choice.rivals:
        most: Counter[str] = Counter()
        for part in [*(kept[stem].held for stem in files), *map(made, groups)]:
            most |= part
        sums += most
        known |= {one for stem in files for one in kept[stem].contents.segments}
        known |= {one for group in groups for stem in group for one in sealed[stem].held}
    live = {segment for store in stores for segment in store.spool} - known
    sums += world.summed(live)
    known |= live
    found = Counter({int(interval): n for interval, n in sums.items()})
    rolled = set().union(*(store.law.rolled for store in stores))
    may = set().union(*(store.law.may for store in stores))
    check_rows(dict.fromkeys(known, 1), rolled, may, f"roll-ups of {where}")
    check_sums(found, known, world.rows, not choice.rivals, where)
