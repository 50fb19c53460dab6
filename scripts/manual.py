"""Write completions and manual pages below a folder: ``python scripts/manual.py build/wheel/data/share``.

Those of ``iosonde`` follow from its parsers, those of ``iosonde-agent`` from the crate's: Cargo builds what writes
them as it builds the static agent, so that little is compiled twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from iosonde.cli.completion.completion import write

ROOT = Path(__file__).resolve().parents[1]


def write_agent(share: Path) -> None:
    """Completions and pages of ``iosonde-agent``. Raises CalledProcessError."""
    about = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    triple = about.partition("host: ")[2].split()[0]
    command = ["cargo", "run", "--release", "--quiet", "--target", triple, "-p", "iosonde-agent"]
    environ = {**os.environ, "RUSTFLAGS": "-C target-feature=+crt-static"}
    command += ["--example", "manual", "--", str(share.resolve())]
    subprocess.run(command, cwd=ROOT, env=environ, check=True)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    write(target)
    write_agent(target)
    print(f"wrote {sum(path.is_file() for path in target.rglob('*'))} files below {target}")
