"""A real Prometheus that scrapes addresses on loopback, and its query API."""

import json
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.kit.harness import wait_for


class Scraper:
    """A Prometheus on loopback."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, **parameters: str) -> Any:
        """``data`` of an answer of its API; an error is one here."""
        query = urllib.parse.urlencode(parameters)
        address = f"http://127.0.0.1:{self.port}/api/v1/{path}?{query}"
        try:
            with urllib.request.urlopen(address, timeout=10) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(f"{parameters}: {error.read().decode()}") from None

    def query(self, expr: str) -> list[dict[str, Any]]:
        """What an instant query returns."""
        return self.ask("query", query=expr)["result"]


@contextmanager
def scraping(
    folder: Path, *addresses: str, extra: str = "", flags: tuple[str, ...] = ()
) -> Iterator[Scraper]:
    """A Prometheus that asks these once a second; ``extra`` is added to its configuration."""
    config = folder / "prometheus.yml"
    targets = ", ".join(f"'{one}'" for one in addresses)
    config.write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\nscrape_configs:\n"
        f"- {{job_name: iosonde, static_configs: [{{targets: [{targets}]}}]}}\n{extra}"
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [
        *("prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}"),
        *(f"--web.listen-address=127.0.0.1:{port}", *flags),
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log)
    try:
        scraper = Scraper(port)

        def answers() -> bool:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=10):
                    return bool(scraper.query("count(up)"))
            except OSError:
                return False

        wait_for("Prometheus to have scraped", answers)
        yield scraper
    finally:
        process.terminate()
        process.wait(20)
