"""iosonde completion: a shell's completion on stdout; for packages all of them and manual pages as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from iosonde.cli.completion.parsers import CommandHelp
from iosonde.cli.shared import options

EXAMPLES = """\
  iosonde completion bash > ~/.local/share/bash-completion/completions/iosonde
  iosonde completion zsh > ~/.zfunc/_iosonde               with ~/.zfunc in $fpath
  iosonde completion fish > ~/.config/fish/completions/iosonde.fish

A wheel and 'make install' bring all three, and manual pages: man iosonde-now.
"""
FILES = {
    "bash": "bash-completion/completions/iosonde",
    "zsh": "zsh/site-functions/_iosonde",
    "fish": "fish/vendor_completions.d/iosonde.fish",
}
"""Path of each below a prefix's ``share``."""


def main(arguments: Sequence[str]) -> int:
    """Print the completion of a shell."""
    summary = "Print the completion of a shell: commands, options, choices, targets."
    parser = options.Parser("completion", summary, EXAMPLES)
    parser.add_argument("shell", choices=tuple(FILES), help="shell")
    args = parser.parse(arguments)
    options.put_text(scripts()[args.shell](_commands()), None)
    return 0


def scripts() -> dict[str, Callable[[Sequence[CommandHelp]], str]]:
    """The generator of each shell."""
    from iosonde.cli.completion import bash, fish, zsh

    return {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}


def write(share: Path) -> list[Path]:
    """Write completions and manual pages below ``share``; returns the files. Raises OSError."""
    from iosonde.cli.completion.manual import pages

    commands = _commands()
    texts = {FILES[shell]: make(commands) for shell, make in scripts().items()}
    texts |= {f"man/man1/{name}": page for name, page in pages(commands).items()}
    for name, text in texts.items():
        path = share / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [share / name for name in texts]


def _commands() -> list[CommandHelp]:
    from iosonde.cli.completion.parsers import command_helps

    return command_helps()
