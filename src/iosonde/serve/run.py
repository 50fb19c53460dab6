"""``iosonde serve``: the application on one address, until Ctrl-C."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from iosonde.model.errors import IosondeError, UsageError
from iosonde.serve.access.connections import (
    ACCEPTED_AT_ONCE,
    QUEUED,
    FewLines,
    bounded_connections,
)
from iosonde.serve.access.tls import Tls, context_of
from iosonde.serve.app import create
from iosonde.serve.privacy.policy import POLICY, Shown, pseudonyms, read_policy
from iosonde.serve.security import LOOPBACK_NAMES
from iosonde.serve.upkeep import Repeated, Upkeep

DEFAULT_LISTEN = "127.0.0.1:8765"


def run(
    store_root: Path,
    listen: str = DEFAULT_LISTEN,
    note: Callable[[str], None] = print,
    *,
    upkeep: Upkeep | None = None,
    name: str = "",
    names_shown: Shown | None = None,
    token: str | None = None,
    tls: Tls | None = None,
) -> None:
    """Serve the store on ``listen`` (HOST:PORT, port 0 = any free one) until Ctrl-C or SIGTERM.

    ``note`` gets the lines for people; the first one says the address. ``upkeep``: what is done to the store meanwhile;
    ``name``: what people call it. ``names_shown``: who sees names of users and jobs (None: as the store's policy says).
    ``token``: what requests must carry.
    Raises UsageError for an address or a policy that cannot be read, IosondeError when the address cannot be used.
    """
    policy = read_policy(store_root) if names_shown is None else names_shown
    host, port = parse_listen(listen)
    bound = bind(host, port)
    address = bound.getsockname()
    loopback = ipaddress.ip_address(address[0]).is_loopback
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    scheme = "http" if tls is None else "https"
    note(
        f"iosonde serves {name or store_root} at {scheme}://{shown}:{address[1]}/ (Ctrl-C ends it)"
    )
    if not loopback and (warning := _exposed(token, tls)):
        note(f"note: {warning}")
    names = pseudonyms(store_root, policy, loopback=loopback, randomness=os.urandom)
    if names_shown is None and names.hashed and not (Path(store_root) / POLICY).exists():
        note(
            "note: aliases stand for names of users and jobs; --names shown, or a policy, shows them"
        )
    hosts = LOOPBACK_NAMES if loopback else None
    server = serving(create(store_root, hosts=hosts, names=names, token=token), tls)
    repeated = None if upkeep is None else Repeated(upkeep, note)
    if repeated is not None:
        repeated.start()
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:  # uvicorn raises it again after it has ended cleanly
        pass
    finally:
        bound.close()
        if repeated is not None:
            repeated.stop()


def _exposed(token: str | None, tls: Tls | None) -> str:
    """Risk of the address for the operator; empty for none."""
    if token is None:
        return "others can reach this address without a password; --token-file FILE asks for one"
    if tls is None:
        return "the token crosses the network unencrypted; --tls-cert and --tls-key encrypt it"
    return ""


def serving(app: FastAPI, tls: Tls | None = None) -> Server:
    """A server for ``app``, not started yet; ``stop()`` ends it from another thread."""
    config = uvicorn.Config(
        app,
        http=bounded_connections(None if tls is None else context_of(tls)),
        backlog=ACCEPTED_AT_ONCE,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    for name in ("uvicorn.error", "asyncio"):
        log = logging.getLogger(name)
        if not any(isinstance(one, FewLines) for one in log.filters):
            log.addFilter(FewLines())
    return Server(config, app)


class Server(uvicorn.Server):
    """uvicorn that also ends live streams, for which it would wait forever."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._live = app.state.live

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections; the kernel queues more of them than are accepted at once."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(QUEUED)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C or SIGTERM."""
        self._live.stop()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """End as on a signal."""
        self._live.stop()
        self.should_exit = True


def parse_listen(text: str) -> tuple[str, int]:
    """``127.0.0.1:8765``, ``[::1]:8765``, ``localhost:8765``, ``:8765`` -> host, port.

    Without a host it is the loopback; other machines must be let in by an address of their own.
    Raises UsageError.
    """
    wanted = "HOST:PORT such as 127.0.0.1:8765 or [::1]:8765"
    host, colon, port = text.strip().rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > 65_535:
        raise UsageError(f"cannot read the address {text!r}", expected=wanted)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise UsageError(f"cannot read the address {text!r}", expected=wanted)
    return host or "127.0.0.1", int(port)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket: early clients wait, and are not refused.

    Raises IosondeError: taken, not ours, not allowed.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise UsageError(
            f"there is no address {host!r} ({error.strerror})",
            expected="an address of this machine",
        ) from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise _cannot_bind(host, port, error) from error
    return bound


def _cannot_bind(host: str, port: int, error: OSError) -> IosondeError:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return IosondeError(
            f"{where} is taken by another program",
            expected="a free port",
            hint=f"--listen {host}:{port + 1 if port < 65_535 else 0}, or open the page there",
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return UsageError(
            f"{host} is not an address of this machine", hint="--listen 127.0.0.1:8765"
        )
    if error.errno == errno.EACCES:
        return IosondeError(f"may not listen on {where}", expected="a port from 1024 on")
    return IosondeError(f"cannot listen on {where}: {error.strerror}")


def in_thread(server: Server, bound: socket.socket) -> threading.Thread:
    """Start a server in a thread (for tests and the demo); ``server.stop()`` ends it."""
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    return thread
