"""The static agent holds no server client and no benchmark: what it does not need cannot fail in it."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def crates(package):
    asked = ["cargo", "tree", "--offline", "-p", package, "-e", "normal", "--prefix", "none"]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in found.splitlines() if line}


def test_no_client_of_a_server_in_the_agent():
    clients = {"ureq", "rusty-s3", "rustls", "tokio", "tokio-postgres"}
    assert clients <= crates("iosonde-python")
    assert crates("iosonde-agent") & (clients | {"iosonde-bench"}) == set()
