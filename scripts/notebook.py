"""Run the notebooks of examples/ with this repository's iosonde, and keep what they show in them.

::

    scripts/notebook.py                       all of them, in place
    scripts/notebook.py examples/umami.ipynb

The kernel is the Python that runs this, known by a folder that is gone afterwards: nothing is installed, and neither
times nor names of this machine are kept. Cells show the same on every machine as far as their data say.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[1]
KERNEL = "python3"
SECONDS = 120
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": KERNEL},
    "language_info": {"name": "python"},
}


def executed(notebook: Path, source: Path) -> NotebookNode:
    """The notebook with fresh outputs, run in its own folder; ``source``: where its iosonde is.

    Raises nbclient's CellExecutionError.
    """
    book = nbformat.read(notebook, as_version=4)
    with (
        tempfile.TemporaryDirectory() as name,
        _kernels(Path(name)) as kernels,
        _env(Path(name), source),
    ):
        manager = AsyncKernelManager(
            kernel_name=KERNEL, kernel_spec_manager=kernels, transport_encryption="auto"
        )
        client = NotebookClient(
            book,
            km=manager,
            timeout=SECONDS,
            record_timing=False,
            resources={"metadata": {"path": str(notebook.parent)}},
        )
        client.owns_km = True  # it ends the kernel, too
        client.execute()
    book.metadata = nbformat.from_dict(METADATA)
    return book


@contextmanager
def _kernels(folder: Path) -> Iterator[KernelSpecManager]:
    """One kernel: the Python that runs this."""
    place = folder / "kernels" / KERNEL
    place.mkdir(parents=True)
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "metadata": {"supported_encryption": ["curve"]},
    }
    (place / "kernel.json").write_text(json.dumps(spec))
    yield KernelSpecManager(kernel_dirs=[str(place.parent)], ensure_native_kernel=False)


@contextmanager
def _env(folder: Path, source: Path) -> Iterator[None]:
    """What the kernel sees: our iosonde first, folders of its own, no colours, no terminal's width."""
    own = {
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
    }
    own |= {"IPYTHONDIR": "ipython", "MPLCONFIGDIR": "matplotlib"}
    wanted = {name: str(folder / place) for name, place in own.items()}
    path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    wanted |= {"PYTHONPATH": path, "JUPYTER_PLATFORM_DIRS": "1", "TZ": "UTC"}
    wanted |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    before = {name: os.environ.get(name) for name in (*wanted, "COLUMNS")}
    os.environ.update(wanted)
    os.environ.pop("COLUMNS", None)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def shown(book: NotebookNode) -> dict[str, str]:
    """What each cell says as text, by the cell's id; pictures are not text."""
    found = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            texts = [
                out.text if out.output_type == "stream" else _plain(out) for out in cell.outputs
            ]
            found[cell.id] = "".join(texts)
    return found


def _plain(out: NotebookNode) -> str:
    data = out.get("data", {})
    return "" if "image/png" in data else data.get("text/html", data.get("text/plain", ""))


def main() -> None:
    """Run what was named, or all."""
    for path in map(Path, sys.argv[1:] or sorted((ROOT / "examples").glob("*.ipynb"))):
        book = executed(path.resolve(), ROOT / "src")
        path.write_text(nbformat.writes(book) + "\n", "utf-8")
        print(f"wrote {path.name}: {path.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
