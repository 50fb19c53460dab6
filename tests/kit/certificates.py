"""A certificate of this machine's loopback and its key, for a test."""

import subprocess
from pathlib import Path


def made_pair(folder: Path) -> tuple[Path, Path]:
    """``cert.pem`` and ``key.pem`` in a folder."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = f"-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout {key} -out {cert}"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", *made.split(), *subject]
    subprocess.run(command, check=True, capture_output=True)
    return cert, key
