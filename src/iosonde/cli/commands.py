"""All commands with modules and summaries: eight first, the others in folded groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Command(NamedTuple):
    """A command, its module below ``iosonde.cli``, and its line in the help."""

    name: str
    module: str
    summary: str


FIRST = (
    Command("ping", "weather.ping", "how a directory answers now: a verdict within ten seconds"),
    Command("now", "weather.now", "current verdict per target; --hosts: this node or the storage"),
    Command("why", "attribution.why", "what is slow, since when, which part, whose load"),
    Command("explain", "explain", "why a job was slow: one sentence with its evidence"),
    Command("events", "weather.events", "slow stretches, hangs, outages; what recurs"),
    Command("compare", "compare", "two periods, targets or runs: faster, slower, same?"),
    Command("bench", "bench.bench", "what storage can do: small objects, large files, NFS"),
    Command("serve", "serve", "the web page, on this machine only by default"),
)
GROUPS: dict[str, tuple[Command, ...]] = {
    "Watch": (
        Command("probe", "weather.probe", "watch directories and see how they answer"),
        Command("check", "weather.check", "now, as a monitoring plugin (exit code 0, 1, 2, 3)"),
        Command("doctor", "doctor", "mounts, caches and clocks that distort what a probe measures"),
        Command("selftest", "selftest.selftest", "phases of a benchmark that slow operations"),
        Command("demo", "demo", "watch a directory, put a load on it, see it found"),
    ),
    "Look closer": (
        Command("slowdown", "weather.slowdown", "slowdown over time: baseline, interval and n"),
        Command("bursts", "weather.bursts", "seconds in which operations waited, within a run"),
        Command("runs", "runs", "benchmark runs side by side, or one in detail"),
        Command("jobs", "jobs", "jobs to choose from, newest first"),
        Command("locate", "locate", "slow OST, server, link, router or client of a run"),
        Command(
            "blame", "attribution.blame", "jobs, users and nodes behind a slow event or a load"
        ),
        Command("correlate", "correlate", "metrics that go with the performance of jobs"),
        Command("climate", "climate", "lasting changes, and what changed with them"),
    ),
    "What if": (
        Command(
            "simulate", "queue.simulate", "clients of a storage queue; --from: fitted to reads"
        ),
    ),
    "In and out": (
        Command("import", "import_", "records of servers, schedulers, jobs, other benchmarks"),
        Command("export", "export", "samples, windows or runs as Parquet, CSV or JSON"),
        Command("figure", "weather.figure", "figures of the method's paper, from your store"),
        Command("report", "report", "a week or a benchmark run on one page; --mail: as a mail"),
    ),
    "Store": (Command("store", "store.store", "upkeep: seal, compact, check, forget, clean"),),
}
HIDDEN = (Command("completion", "completion.completion", "completion of bash, zsh or fish"),)
RENAMED: dict[str, tuple[str, ...]] = {
    "seal": ("store", "seal"),
    "compact": ("store", "compact"),
    "forget": ("store", "forget"),
    "clean": ("store", "clean"),
    "fleet": ("now", "--hosts"),
    "umami": ("explain", "--diagram"),
    "digest": ("report", "--mail"),
    "what-if": ("simulate", "--from"),
}
"""Former commands, and the words that replace each."""


def every() -> Iterator[Command]:
    """All commands, in the order of the help; unlisted ones come last."""
    yield from FIRST
    for group in GROUPS.values():
        yield from group
    yield from HIDDEN


def renamed(arguments: Sequence[str]) -> tuple[list[str], str]:
    """Arguments with a former command replaced, and a note with the new words; "" if unchanged."""
    if not arguments or arguments[0] not in RENAMED:
        return list(arguments), ""
    words = RENAMED[arguments[0]]
    return [*words, *arguments[1:]], f"'{arguments[0]}' is now '{' '.join(words)}'"


def listed(*, all_of_them: bool) -> str:
    """The eight main commands, then the groups: folded to a line each, or with every summary."""
    lines = [_line(command) for command in FIRST] + [""]
    for title, commands in GROUPS.items():
        if all_of_them:
            lines += [f"{title}:", *map(_line, commands), ""]
        else:
            lines.append(f"  {title + ':':<14}{' '.join(command.name for command in commands)}")
    return "\n".join(lines).rstrip("\n")


def _line(command: Command) -> str:
    return f"  {command.name:<11}{command.summary}"
