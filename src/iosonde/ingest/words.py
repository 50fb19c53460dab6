"""Sentences of an import, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.ingest.report import FileImport, Imported, RunImport, SamplesWritten
from iosonde.model.quality import QUALITY
from iosonde.model.units import format_count, format_option, format_time

_MOST_RUNS, _MOST_FILES, _MOST_NAMES = 20, 20, 40
_SYSTEMS, _SHOWN, _LOGS = 4, 3, 5
_MOST_LINES = 200


def counted(n: int, noun: str) -> str:
    """``1 job``, ``2 jobs``."""
    return f"{format_count(n)} {noun}{'' if n == 1 else 's'}"


def file_lines(one: FileImport, now_ns: int) -> Iterator[str]:
    """Records of a file: a line, and indented lines of notes."""
    parts = []
    if one.samples:
        systems = sorted({system for system, _ in one.series if system})
        of = f" of {', '.join(systems[:_SYSTEMS])}" if systems else ""
        metrics = counted(len({metric for _, metric in one.series}), "metric")
        parts.append(f"{counted(one.samples, 'sample')} of {metrics}{of}")
        if one.missing:
            parts[-1] += f", {one.missing / one.samples:.2%} missing"
    if one.jobs:
        parts.append(counted(one.jobs, "job"))
    if one.edges:
        parts.append(f"{counted(one.edges, 'place')} of components")
    when = "" if one.span_ns is None else f", {_span(one.span_ns, now_ns)}"
    known = one.rows and not (one.new_samples or one.new_jobs or one.new_edges)
    again = "; already in the store" if known else ""
    if one.changed_samples:
        again = f"; {counted(one.changed_samples, 'value')} take the place of others in the store"
    yield f"{one.name}: {one.kind}: {'; '.join(parts or ['nothing in it'])}{when}{again}"
    if one.unnamed:
        yield "  it names no file system: pass --system NAME"
    yield from (f"  {remark}" for remark in one.remarks)
    if n := len(one.endless):
        some = ", ".join(one.endless[:_SHOWN]) + (", ..." if n > _SHOWN else "")
        have = "job or step has" if n == 1 else "jobs and steps have"
        yield f"  missing ({format_count(n)}): {have} no end in this record, so no run time ({some})"
    for flag, n in sorted(one.flags.items()):
        if flag == "missing" and n == len(one.endless):
            continue
        where = ", ".join(one.examples[flag])
        yield f"  {flag} ({format_count(n)}): {QUALITY[flag]} ({where})"


def samples_lines(one: SamplesWritten, now_ns: int) -> Iterator[str]:
    """Single operations of related files."""
    written = one.written
    if written.rows:
        of = ", ".join(one.targets[:_SYSTEMS]) + (", ..." if len(one.targets) > _SYSTEMS else "")
        yield f"imported {counted(written.rows, 'sample')} of {of}, {_span(one.span_ns, now_ns)}"
        if one.run_ids:
            yield "sample runs: " + ", ".join(one.run_ids)
        for period_ns, n in sorted(one.schedules.regular.items()):
            yield f"due every {format_option(period_ns)} in {format_count(n)} series: their period"
        if n := one.schedules.irregular:
            yield (
                f"{format_count(n)} series have due times without a regular step: due is when they began; "
                "--period TIME keeps them"
            )
    if n := written.known_rows:
        were = "sample was" if n == 1 else "samples were"
        yield f"{format_count(n)} {were} already in the store"
    if one.unread:
        yield f"columns that are not read: {', '.join(one.unread)}"
    yield from one.remarks


def run_lines(runs: Sequence[RunImport]) -> Iterator[str]:
    """New runs, and the number of known ones."""
    new = [run for run in runs if run.new]
    for run in new[:_MOST_RUNS]:
        yield f"run {run.run_id} of {run.target}: {counted(run.rows, 'row')}"
    if (more := len(new) - _MOST_RUNS) > 0:
        yield f"and {format_count(more)} more runs ('iosonde runs')"
    if known := len(runs) - len(new):
        yield f"the store already had {counted(known, 'run')}"


def join_lines(done: Imported) -> Iterator[str]:
    """Coverage of jobs by server records in the store."""
    for name, osts in done.located[:_LOGS]:
        yield f"files of {name} lie on {counted(osts, 'OST')}: 'iosonde locate {name}'"
    if (more := len(done.located) - _LOGS) > 0:
        yield f"and files of {format_count(more)} more logs: 'iosonde locate JOB'"
    found = done.joined
    if found is not None and found.jobs:
        of = counted(found.jobs, "job")
        yield f"server records of the store cover {format_count(found.with_more)} of {of}"
    elif n := sum(one.jobs for one in done.files):
        have = "job has" if n == 1 else "jobs have"
        advice = "import Darshan logs, or a table (--mapping)"
        yield f"{format_count(n)} {have} no I/O performance value: {advice}"


def left_out_lines(done: Imported) -> Iterator[str]:
    """Unreadable files of folders, then ignored items of the others; nothing for none."""
    files = done.unknown
    names = [(one.name, *item) for one in done.files for item in one.left_out.items()]
    if files or names:
        yield "left out:"
    yield from (f"  {place}: {why}" for place, why in files[:_MOST_FILES])
    if (more := len(files) - _MOST_FILES) > 0:
        yield f"  and {counted(more, 'more file')}"
    for file, what, n in names[:_MOST_NAMES]:
        yield f"  {file}: {what}" + (f" (x {format_count(n)})" if n > 1 else "")
    if (more := len(names) - _MOST_NAMES) > 0:
        yield f"  and {counted(more, 'more name')}"


def _span(span_ns: tuple[int, int], now_ns: int) -> str:
    return " to ".join(format_time(at, now_ns, seconds=True) for at in span_ns)


def lines_of(done: Imported, now_ns: int) -> Iterator[str]:
    """What an import did, without files one by one."""
    for one in done.samples:
        yield from samples_lines(one, now_ns)
    yield from done.remarks[:_MOST_LINES]
    if (over := len(done.remarks) - _MOST_LINES) > 0:
        yield f"and {format_count(over)} more lines"
    yield from run_lines(done.runs)
    yield from join_lines(done)
    yield from left_out_lines(done)
