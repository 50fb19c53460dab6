"""Make the pictures of the README: the demo's plot on this machine's disk, and the page as its test sees it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
COLOURS = 128
PANELS_PX = 945


def small(source: Path, name: str, height: int | None = None) -> None:
    """Save the top of a picture with few colours: text and lines need no more."""
    with Image.open(source) as picture:
        top = picture.convert("RGB").crop((0, 0, picture.width, height or picture.height))
        top.quantize(COLOURS).save(IMAGES / name, optimize=True)


def main() -> None:
    """Run the demo and the page's test, keep what they draw."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    binaries = Path(sys.executable).parent
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="iosonde-pictures-") as name:
        folder = Path(name)
        quiet = {**os.environ, "DEMO_SERVE": "0"}
        subprocess.run([binaries / "iosonde", "demo"], cwd=folder, check=True, env=quiet)
        small(folder / "iosonde-demo.png", "demo.png")
        shots = {**os.environ, "IOSONDE_SCREENSHOTS": name}
        page = [binaries / "pytest", "tests/e2e/test_page.py"]
        subprocess.run(page, cwd=ROOT, check=True, env=shots)
        small(folder / "wide-light.png", "page.png", PANELS_PX)


if __name__ == "__main__":
    main()
