"""The front door: finds the command, loads its module only, turns errors into one line and a code.

Exit codes: 0 done, 1 it failed, 2 the request was wrong, 130 Ctrl-C, 141 the reader of our output
went away. ``check`` keeps the codes of monitoring plugins (0 ok, 1 warning, 2 critical, 3 unknown).
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from iosonde import __version__
from iosonde.cli.shared.notes import Notes
from iosonde.cli.shared.terminal import safe_output
from iosonde.model.errors import IosondeError, UsageError


class Command(NamedTuple):
    """A command and what the help says of it."""

    name: str
    module: str
    summary: str


GROUPS: dict[str, tuple[Command, ...]] = {
    "Measure": (
        Command(
            "ping", "weather.ping", "how a directory answers now: a verdict within ten seconds"
        ),
        Command("probe", "weather.probe", "watch directories and see how they answer"),
        Command(
            "bench", "bench.bench", "what storage can do: small objects, large files, an NFS server"
        ),
        Command(
            "simulate",
            "queue.simulate",
            "who waits in a storage queue: a model from a scenario file",
        ),
    ),
    "Gather": (
        Command("import", "import_", "records of servers, schedulers, jobs, other benchmarks"),
    ),
    "Ask": (
        Command(
            "now", "weather.now", "current verdict per target: is it slow, how much, since when"
        ),
        Command("fleet", "weather.fleet", "this node or the storage? every host beside the others"),
        Command("check", "weather.check", "now, as a monitoring plugin (exit code 0, 1, 2, 3)"),
        Command(
            "slowdown", "weather.slowdown", "slowdown over time, with baseline, interval and n"
        ),
        Command(
            "events", "weather.events", "what happened: slow stretches, hangs, outages; what recurs"
        ),
        Command("bursts", "weather.bursts", "seconds in which operations waited, within a run"),
        Command("runs", "runs", "benchmark runs side by side, or one in detail"),
        Command(
            "why", "attribution.why", "what is slow, since when, which part, whose load: one answer"
        ),
        Command("blame", "attribution.blame", "who made it slow, or the load: jobs, users, nodes"),
        Command("locate", "locate", "which OST, server, link, router or client is slow"),
        Command("jobs", "jobs", "jobs to choose from, newest first"),
        Command("explain", "explain", "why was this job slow: one sentence with its evidence"),
        Command("umami", "umami", "a job among earlier runs of its kind: every metric, its class"),
        Command("correlate", "correlate", "what goes with the performance of jobs, from any table"),
        Command("climate", "climate", "what changed for good, when, and what changed with it"),
        Command(
            "what-if", "queue.what_if", "what a shorter queue would change, from measured reads"
        ),
        Command("compare", "compare", "two periods, targets or runs: faster, slower, same?"),
    ),
    "Keep": (
        Command("export", "export", "samples, windows or runs as Parquet, CSV or JSON"),
        Command("seal", "seal", "turn closed spool segments into Parquet"),
        Command("store", "store.store", "the upkeep of a store: check for rows that stand twice"),
        Command("compact", "compact", "merge small sealed files; remove old samples on request"),
        Command("forget", "weather.forget", "probes that have ended: their states and baselines"),
        Command("clean", "weather.clean", "remove what iosonde keeps in a directory"),
    ),
    "Check": (
        Command(
            "selftest", "selftest.selftest", "which phases of a benchmark slow which operations"
        ),
        Command("doctor", "doctor", "does what the probe measures mean what you think it does?"),
    ),
    "Show": (
        Command("figure", "weather.figure", "the figures of the method's paper, from your store"),
        Command("report", "report", "a target's week, or a benchmark run, on one HTML page"),
        Command("digest", "weather.digest", "a week of all targets as a mail in plain text"),
        Command("serve", "serve", "the web page, on this machine only by default"),
        Command("demo", "demo", "watch a directory, put a load on it, see it found"),
        Command("completion", "completion.completion", "completion of bash, zsh or fish"),
    ),
}

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""What writing to stdout may end with."""

EXAMPLES = """\
Try it:
  iosonde demo                        two minutes, needs nothing but a directory
  iosonde probe /work /home           watch two directories; Ctrl-C ends with a summary
  iosonde now                         what the running probes say
  iosonde slowdown --since -2h --plot slow.png
  iosonde check /work -w 2 -c 5       as a monitoring plugin
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``iosonde`` and return its exit code; errors of ours, Ctrl-C, closed pipes end here."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _make_writable()
    with safe_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    notes = Notes()
    try:
        code = _dispatch(arguments, notes)
        notes.end()
        sys.stdout.flush()
        return code
    except IosondeError as error:
        notes.end()
        print(f"iosonde: {error}", file=sys.stderr)
        return error.exit_code
    except SystemExit as stop:  # argparse, after it has printed help
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        if error.filename is None and error.errno not in _UNWRITABLE:
            raise
        _tell_os_error(error)
        return 1


def _tell_os_error(error: OSError) -> None:
    """One line, of a file that could not be used or of stdout."""
    if error.filename is not None:
        print(f"iosonde: {error.filename}: {error.strerror}", file=sys.stderr)
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    print(f"iosonde: cannot write the output: {error.strerror}", file=sys.stderr)


def _make_writable() -> None:
    """Output that was closed goes nowhere; a letter that its encoding has not becomes ``?``.

    A descriptor that is closed would also be given to the next file that is opened.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _dispatch(arguments: list[str], notes: Notes) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        if len(arguments) > 1 and not arguments[1].startswith("-"):
            return _dispatch([arguments[1], "--help"], notes)
        print(help_text())
        return 0 if arguments else UsageError.exit_code
    if arguments[0] in ("-V", "--version", "version"):
        print(f"iosonde {__version__}")
        return 0
    notes.listen()
    command = _find(arguments[0])
    module = importlib.import_module(f"iosonde.cli.{command.module}")
    code: int = module.main(arguments[1:])
    return code


def _find(name: str) -> Command:
    commands = {command.name: command for group in GROUPS.values() for command in group}
    if name in commands:
        return commands[name]
    if name.startswith("-"):
        raise UsageError(
            f"{name} stands before a command",
            expected="options after it",
            hint=f"'iosonde now {name}', or 'iosonde --help'",
        )
    from iosonde.cli.shared.options import nearest

    near = nearest(name, commands)
    raise UsageError(
        f"there is no command {name!r}",
        expected="one of " + ", ".join(commands),
        hint=f"'iosonde {near}'" if near else "'iosonde --help'",
    )


def help_text() -> str:
    """The help of ``iosonde`` itself."""
    lines = [
        "usage: iosonde COMMAND [options]",
        "",
        "The weather station for shared storage.",
        "",
        EXAMPLES,
    ]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        lines += [f"  {command.name:<11}{command.summary}" for command in commands]
        lines.append("")
    lines += [
        "'iosonde COMMAND --help' shows a command's options and examples.",
        "Environment: IOSONDE_STORE (the store folder), NO_COLOR.",
    ]
    return "\n".join(lines)


def run() -> int:
    """Run the installed command."""
    return main()


if __name__ == "__main__":
    sys.exit(main())
