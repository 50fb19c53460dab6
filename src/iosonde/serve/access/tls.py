"""TLS certificate and key: read before serving, so that a wrong one is reported at once."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NamedTuple

from iosonde.model.errors import UsageError


class Tls(NamedTuple):
    """Two PEM files. The certificate's may also hold the chain."""

    cert: Path
    key: Path


def context_of(tls: Tls) -> ssl.SSLContext:
    """TLS context of a server: version 1.2 or later. Raises ssl.SSLError, OSError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(tls.cert, tls.key, password=_no_password)
    return context


def checked_tls(cert: Path | None, key: Path | None) -> Tls | None:
    """The pair, if given. Raises UsageError: only one, unreadable, no pair."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        given, missing = (
            ("--tls-key", "--tls-cert") if cert is None else ("--tls-cert", "--tls-key")
        )
        raise UsageError(f"{given} alone is not enough", expected=f"{missing}, too")
    try:
        context_of(Tls(cert, key))
    except ssl.SSLError as error:
        raise UsageError(
            f"cannot use the certificate {cert} with the key {key}: {error.reason or error}",
            expected="PEM files that belong together, the key without a password",
        ) from error
    except OSError as error:
        missing_file = cert if not cert.is_file() else key
        raise UsageError(f"cannot read {missing_file}: {error.strerror}") from error
    return Tls(cert, key)


def _no_password() -> str:
    """Empty password: OpenSSL would ask the terminal otherwise."""
    return ""
