"""Entry point: finds the command, loads only its module, turns errors into one line and an exit code.

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

from iosonde import __version__
from iosonde.cli.commands import Command, every, listed, renamed
from iosonde.cli.shared.notes import Notes
from iosonde.cli.shared.terminal import safe_output
from iosonde.engine.stopping import interruptible
from iosonde.model.errors import IosondeError, UsageError

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
"""Errors of writing to stdout."""

EXAMPLES = """\
Try it:
  iosonde demo                        two minutes, needs nothing but a directory
  iosonde ping /work                  one directory, now, without a store
  iosonde probe /work /home           watch two directories; Ctrl-C ends with a summary
  iosonde now                         one sentence a target, from the running probes
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``iosonde`` and return its exit code; handles our errors, Ctrl-C and closed pipes."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _make_writable()
    with safe_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    notes = Notes()
    try:
        with interruptible():
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
    """Print a line on an unusable file or stdout."""
    if error.filename is not None:
        print(f"iosonde: {error.filename}: {error.strerror}", file=sys.stderr)
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    print(f"iosonde: cannot write the output: {error.strerror}", file=sys.stderr)


def _make_writable() -> None:
    """Discard output to a closed stream; print ``?`` for characters that its encoding lacks.

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
        if len(arguments) > 1 and arguments[1] != "all" and not arguments[1].startswith("-"):
            return _dispatch([*renamed(arguments[1:])[0], "--help"], notes)
        print(help_text(all_of_them=arguments[1:] == ["all"]))
        return 0 if arguments else UsageError.exit_code
    if arguments[0] in ("-V", "--version", "version"):
        print(f"iosonde {__version__}")
        return 0
    notes.listen()
    arguments, new_words = renamed(arguments)
    if new_words:
        print(f"iosonde: note: {new_words}", file=sys.stderr)
    command = _find(arguments[0])
    module = importlib.import_module(f"iosonde.cli.{command.module}")
    code: int = module.main(arguments[1:])
    return code


def _find(name: str) -> Command:
    commands = {command.name: command for command in every()}
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
        hint=f"'iosonde {near}'" if near else "'iosonde help all'",
    )


def help_text(*, all_of_them: bool = False) -> str:
    """Help of ``iosonde`` itself: the eight main commands, or all."""
    lines = [
        "usage: iosonde COMMAND [options]",
        "",
        "The weather station for shared storage.",
        "",
        EXAMPLES,
        "Commands:",
        listed(all_of_them=all_of_them),
        "",
        "'iosonde COMMAND --help' shows options and examples; 'iosonde help all' lists every command.",
        "Environment: IOSONDE_STORE (the store folder), NO_COLOR.",
    ]
    return "\n".join(lines)


def run() -> int:
    """Run the installed command."""
    return main()


if __name__ == "__main__":
    sys.exit(main())
