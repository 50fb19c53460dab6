"""Common options of commands. Light imports only."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from iosonde.engine.layout.root import default_root, is_bucket
from iosonde.model.errors import IosondeError, UnitError, UsageError

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.model.frames import Choice

T = TypeVar("T")
Arguments = argparse.Namespace


_INVALID = re.compile(
    r"argument (?P<argument>.*?): invalid choice: '(?P<value>.*?)' \(choose from (?P<choices>.*)\)"
)
"""argparse's message on an invalid choice."""
_NEAR = 0.7
_ELSEWHERE = {"--job": "'iosonde explain JOB'"}
"""Options that another command answers."""


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The most similar choice; None without a near one."""
    import difflib

    named = {choice.lstrip("-"): choice for choice in choices}
    near = difflib.get_close_matches(word.lstrip("-"), named, n=1, cutoff=_NEAR)
    return named[near[0]] if near else None


DESCRIBE = "--describe-parser\0"
"""Argument by which ``parse`` exposes its parser; no command line can contain it."""


class ParserAskedError(Exception):
    """Carries a command's parser to its describers: completions, manual pages, tests."""

    def __init__(self, parser: Parser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


class Parser(argparse.ArgumentParser):
    """argparse with our errors, our help layout, and values such as ``-2h``."""

    def __init__(self, command: str, summary: str, examples: str) -> None:
        super().__init__(
            prog=f"iosonde {command}",
            description=summary,
            epilog="examples:\n" + examples,
            formatter_class=_layout,
            allow_abbrev=False,
        )
        self._formats: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError; argparse would print the whole usage and exit."""
        hint, command = f"'{self.prog} --help'", self.prog.removeprefix("iosonde ")
        if unknown := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            near = _ELSEWHERE.get(unknown[1]) or nearest(unknown[1], self._option_string_actions)
            raise UsageError(f"{command}: {message}", hint=f"{near}, or {hint}" if near else hint)
        if wrong := _INVALID.fullmatch(message):
            choices = re.findall(r"'([^']*)'", wrong["choices"])
            near = nearest(wrong["value"], choices)
            raise UsageError(
                f"{command}: {wrong['argument']}: there is no {wrong['value']!r}",
                expected=f"one of {', '.join(choices)}",
                hint=f"{near!r}" if near else hint,
            )
        raise UsageError(f"{command}: {message}", hint=hint)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Like parse_args, but ``--since -2h`` needs no ``=``, and options may stand between operands."""
        if list(arguments) == [DESCRIBE]:
            raise ParserAskedError(self)
        joined: list[str] = []
        for word in self._spelled_out(arguments):
            takes_value = joined and re.fullmatch(r"--?[a-z][a-z-]*", joined[-1])
            if takes_value and re.match(r"-\d", word):
                option = joined.pop()
                joined.append(f"{option}={word}" if option.startswith("--") else f"{option}{word}")
            else:
                joined.append(word)
        args = self.parse_intermixed_args(joined)
        if self._formats:
            _settle_format(args, self._formats)
        return args

    def actions(self) -> list[argparse.Action]:
        """Options and operands, in the order in which they were added."""
        return list(self._actions)

    def _spelled_out(self, arguments: Sequence[str]) -> list[str]:
        """Expand ``--json`` to ``--format json`` if the command has it."""
        action = self._option_string_actions.get("--format")
        has_json = action is not None and "json" in (action.choices or ())
        return ["--format=json" if w == "--json" and has_json else w for w in arguments]

    def add_text_or_json(self) -> None:
        """Add --format of a command that answers in sentences."""
        told = "output format (default: text); --json is short for --format json"
        self.add_argument("--format", choices=("text", "json"), default="text", help=told)
        self.set_defaults(output=None)

    def add_store(self, *, states_only: bool = False) -> None:
        """Add --store, common to all commands. ``states_only``: of a bucket only states are fetched."""
        self.set_defaults(states_only=states_only)
        self.add_argument(
            "--store",
            metavar="DIR",
            help="store folder; to read also s3://bucket/prefix, 'A,B' or '/shared/*' "
            "(default: $IOSONDE_STORE, else ~/.local/state/iosonde)",
        )

    def add_data(self, formats: tuple[str, ...] = ("json", "csv", "parquet")) -> None:
        """Add --format and -o, of a command that prints a table by default."""
        self._formats = ("table", *formats)
        told = "(default: the file's ending, else table)"
        self.add_argument("--format", choices=self._formats, help=told)
        told = "write data here instead of stdout"
        self.add_argument("-o", "--output", type=Path, metavar="FILE", help=told)

    def add_op(self, told: str = "one op only; repeatable") -> None:
        """--op, repeatable, in any spelling."""
        from iosonde.model.ops import parse_op

        self.add_argument("--op", action="append", type=reads(parse_op), metavar="OP", help=told)

    def add_host(self) -> None:
        """--host."""
        self.add_argument("--host", help="samples of one host only")

    def add_picture(self, told: str | None, width_in: float | None = None) -> None:
        """--plot (``told``; None: the picture is the output), --dark, and --width where it can be chosen."""
        add = self.add_argument
        if told is not None:
            add("--plot", type=Path, metavar="FILE", help=told)
        add("--dark", action="store_true", help="a dark picture")
        if width_in is not None:
            told = f"width of the picture (default: {width_in:g})"
            add("--width", type=float, default=width_in, metavar="INCHES", help=told)

    def add_range(self, since: str | None = None) -> None:
        """Add --since and --until."""
        self.add_argument(
            "--since",
            metavar="TIME",
            default=since,
            help="-2h, yesterday, 14:05, 2026-07-01T12:00"
            + (f" (default: {since})" if since else ""),
        )
        self.add_argument("--until", metavar="TIME", help="the same (default: now)")


def _settle_format(args: argparse.Namespace, formats: tuple[str, ...]) -> None:
    """Set a missing format by the file's ending. Raises UsageError."""
    *others, last = formats[1:]
    data = f"--format {', '.join(others)} or {last}"
    if args.format is None:
        args.format = args.output.suffix[1:].lower() if args.output else "table"
        if args.format not in formats:
            raise UsageError(f"cannot tell the format of {args.output}", expected=data)
    if args.format == "table" and args.output:
        raise UsageError("a table goes to the terminal only", hint=data)
    if args.format == "parquet" and args.output is None:
        raise UsageError("Parquet cannot go to a terminal or pipe", hint="-o FILE")


def _layout(prog: str) -> argparse.HelpFormatter:
    """Help as wide as the terminal, up to 100 columns; 80 in a pipe."""
    from iosonde.cli.shared.fitting import columns

    width = min(100, max(60, columns(80)))
    return argparse.RawDescriptionHelpFormatter(prog, width=width, max_help_position=28)


def reads(parse: Callable[[str], T]) -> Callable[[str], T]:
    """An argparse type from one of our parsers: the error then names the option."""

    def convert(text: str) -> T:
        try:
            return parse(text)
        except IosondeError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def store_root(args: argparse.Namespace) -> Path:
    """Path of --store, or this user's default folder; for a bucket or several folders, a folder to read.

    Raises UsageError, StoreError.
    """
    if _is_elsewhere(store := _asked_store(args)):
        from iosonde.cli.shared.stores import readable

        return readable(store, os.environ, states_only=args.states_only)
    return Path(args.store) if args.store else default_root(os.environ)


def store_name(args: argparse.Namespace) -> str:
    """Name of the store in errors, without access to a bucket. Raises UsageError, StoreError."""
    store = _asked_store(args)
    return store if is_bucket(store) else str(store_root(args))


def store_folder(args: argparse.Namespace) -> Path:
    """Store of a command that writes: one folder. Raises UsageError."""
    if _is_elsewhere(store := _asked_store(args)):
        asked = f"--store {store}" if args.store else f"IOSONDE_STORE={store}"
        raise UsageError(
            f"{asked} can be read only",
            expected="one folder",
            hint="" if args.store else "--store DIR",
        )
    return Path(args.store) if args.store else default_root(os.environ)


def store_bucket(args: argparse.Namespace) -> str | None:
    """Bucket of the store, None for a folder."""
    store = _asked_store(args)
    return store if is_bucket(store) else None


def _asked_store(args: argparse.Namespace) -> str:
    return str(args.store or os.environ.get("IOSONDE_STORE") or "")


def _is_elsewhere(store: str) -> bool:
    """True for a bucket, or several folders: a pattern, or names with commas between them."""
    if not is_bucket(store) and not any(letter in store for letter in "*?[,"):
        return False  # a plain name is not looked at here: what it lies on may hang
    return not Path(store).exists()


def time_range(args: argparse.Namespace, now_ns: int) -> tuple[int | None, int | None]:
    """Instants (ns) of --since and --until; None = open."""
    from iosonde.model.units import parse_time

    since = parse_time(args.since, now_ns) if args.since else None
    until = parse_time(args.until, now_ns) if args.until else None
    if since is not None and until is not None and since >= until:
        raise UsageError("--since is not before --until")
    return since, until


def baseline_choice(text: str, now_ns: int) -> tuple[Choice, int | None]:
    """Parse ``guarded``, ``all-time``, ``7d`` or ``2026-11-01..2026-11-08``; a sliding one with its length.

    Raises UsageError.
    """
    from iosonde.model.frames import Choice
    from iosonde.model.units import parse_duration, parse_time

    if text in ("guarded", "all-time"):
        return Choice(text), None
    if ".." in text:
        first, _, last = text.partition("..")
        since, until = parse_time(first, now_ns), parse_time(last, now_ns)
        if since >= until:
            raise UsageError(
                f"the reference period {text} is empty", expected="an end after its begin"
            )
        return Choice("period", since, until), None
    try:
        return Choice("sliding"), parse_duration(text)
    except UnitError as error:
        raise UsageError(
            f"there is no baseline {text!r}",
            expected="guarded, all-time, a time such as 7d, or a period BEGIN..END",
        ) from error


def local_zone() -> tzinfo | None:
    """Zone of this machine with its rules for summer time; None if only an offset is known."""
    from zoneinfo import ZoneInfo

    link = os.path.realpath("/etc/localtime")
    name = os.environ.get("TZ") or link.partition("/zoneinfo/")[2]
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError, KeyError):
        return None


def now_ns() -> int:
    """Read the wall clock: commands are the outermost layer."""
    return time.time_ns()


def chosen(states: list[dict[str, Any]], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """States of the targets requested by name or path, all servers of one by its name; all for none.

    Raises UsageError for an unknown one.
    """
    if not wanted:
        return states
    picked: list[dict[str, Any]] = []
    for name in wanted:
        names = {name, name.rstrip("/") or "/", str(Path(name).absolute())}
        found = [
            s
            for s in states
            if s["target"] in names or s["path"] in names or whole_target(s) in names
        ]
        if not found:
            known = sorted({str(s["target"]) for s in states})
            raise unwatched(name, known, ", ".join(known))
        picked += [state for state in found if state not in picked]
    return picked


def unwatched(name: str, known: Iterable[str], listed: str) -> UsageError:
    """Error for a target without a probe; the nearest name is the hint: ``/work`` for ``work`` and ``/wrok``."""
    by_word = {target.strip("/"): target for target in known}
    near = nearest(name.strip("/"), by_word)
    hint = f"'{by_word[near]}'" if near else "'iosonde now'"
    return UsageError(f"no probe watches {name}", expected=f"one of {listed}", hint=hint)


def whole_target(state: dict[str, Any]) -> str | None:
    """Target that a state's server belongs to."""
    component = state.get("component")
    return str(component["of"]) if component else None


def note(text: str) -> None:
    """Print a message for people on stderr: stdout is for data."""
    print(text, file=sys.stderr, flush=True)


def put_text(text: str, output: Path | None) -> None:
    """Print text, or write it to a file and report that. Raises OSError."""
    from iosonde.engine.files import write_text

    if output is None:
        sys.stdout.write(text)
    else:
        write_text(text, output)
        note(f"wrote {output}")


def copy_to_stdout(path: Path) -> None:
    """Copy a file byte for byte; to a terminal as safe text."""
    if sys.stdout.isatty():
        sys.stdout.write(path.read_text(encoding="utf-8", errors="replace"))
        return
    sys.stdout.flush()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


COLOURS = {
    "ok": "32",
    "info": "36",
    "slow": "33",
    "hung": "31;1",
    "unknown": "35",
    "dim": "2",
    "bold": "1",
}


def colour(text: str, name: str, enabled: bool) -> str:
    """``text`` in the colour of a severity."""
    return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if enabled else text


def colourful() -> bool:
    """True if stdout may be coloured: a terminal, and neither NO_COLOR nor a dumb one."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
