"""Write completions and manual pages below a folder: ``python scripts/manual.py build/wheel/data/share``."""

from __future__ import annotations

import sys
from pathlib import Path

from iosonde.cli.completion.completion import write

if __name__ == "__main__":
    files = write(Path(sys.argv[1]))
    print(f"wrote {len(files)} files below {sys.argv[1]}")
