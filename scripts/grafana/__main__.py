"""Write ``dashboards/*.json``, or with ``--check`` fail if they differ."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from grafana_foundation_sdk.builders.dashboard import Dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as model

from scripts.grafana.pages import PAGES

FOLDER = Path(__file__).resolve().parents[2] / "dashboards"


def texts() -> dict[Path, str]:
    """Every dashboard by its file."""
    encoder = JSONEncoder(indent=1, sort_keys=True)
    return {
        FOLDER / f"{name}.json": encoder.encode(_numbered(page())) + "\n"
        for name, page in PAGES.items()
    }


def _numbered(page: Dashboard) -> model.Dashboard:
    """A dashboard whose panels have ids: links to a panel need them."""
    made = page.build()
    for number, panel in enumerate(made.panels or (), 1):
        if isinstance(panel, model.Panel):
            panel.id_val = number
    return made


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file differs")
    check = parser.parse_args().check
    for file, text in texts().items():
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.name} differs; run python -m scripts.grafana", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
