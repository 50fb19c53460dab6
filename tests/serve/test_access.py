"""A token, TLS: who may ask, and what is said of wrong files before anything is served."""

import base64
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient

from iosonde.model.errors import UsageError
from iosonde.serve.access.tls import checked_tls
from iosonde.serve.access.token import read_token
from iosonde.serve.app import create
from tests.kit.certificates import made_pair

TOKEN = "a-token-of-the-tests-0123"


def basic(word: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"me:{word}".encode()).decode()}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"bearer {TOKEN}"}, 200),
        (basic(TOKEN), 200),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"authorization": "Bearer"}, 401),
        (basic("guess"), 401),
        ({"authorization": "Basic ***"}, 401),
        ({"authorization": TOKEN}, 401),
    ],
)
@pytest.mark.parametrize("path", ["/api/about", "/badge.svg", "/api/openapi.json"])
def test_only_the_token_opens(tmp_path: Path, headers: dict, status: int, path: str) -> None:
    client = TestClient(create(tmp_path, token=TOKEN), base_url="http://127.0.0.1")
    answer = client.get(path, headers=headers)
    assert answer.status_code == status
    assert "content-security-policy" in answer.headers
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert TOKEN not in answer.text


def token_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_token_is_read_and_wrong_ones_are_named(tmp_path: Path) -> None:
    assert read_token(token_file(tmp_path, f"{TOKEN}\n")) == TOKEN
    for text, mode, what in (
        (TOKEN, 0o644, "others may read"),
        ("short", 0o600, "at least 16"),
        ("", 0o600, "at least 16"),
        ("a token of several words", 0o600, "one word"),
    ):
        with pytest.raises(UsageError, match=what):
            read_token(token_file(tmp_path, text, mode))
    with pytest.raises(UsageError, match="cannot read the token"):
        read_token(tmp_path / "missing")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return made_pair(tmp_path_factory.mktemp("tls"))


def test_wrong_certificates_are_named(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    cert, key = pair
    assert checked_tls(None, None) is None
    with pytest.raises(UsageError, match="--tls-key, too"):
        checked_tls(cert, None)
    with pytest.raises(UsageError, match="cannot use the certificate"):
        checked_tls(key, cert)
    with pytest.raises(UsageError, match="cannot read"):
        checked_tls(cert, tmp_path / "missing")


def test_the_command_serves_https_with_a_token(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    cert, key = pair
    token = token_file(tmp_path, TOKEN)
    command = [
        *(sys.executable, "-m", "iosonde.cli.main", "serve", "--store", tmp_path / "store"),
        *("--listen", "127.0.0.1:0", "--token-file", token, "--tls-cert", cert, "--tls-key", key),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = process.stderr.readline().partition(" at ")[2].partition(" ")[0]
        assert address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(cert))
        with httpx2.Client(verify=trusted, timeout=20) as client:
            assert client.get(f"{address}api/about").status_code == 401
            answer = client.get(f"{address}api/about", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        port = int(address.rstrip("/").rpartition(":")[2])
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(cert)
        with (
            socket.create_connection(("127.0.0.1", port)) as plain,
            old.wrap_socket(plain, server_hostname="127.0.0.1") as wrapped,
        ):
            assert wrapped.version() in ("TLSv1.2", "TLSv1.3")
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()
