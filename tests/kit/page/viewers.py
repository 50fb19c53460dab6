"""Many viewers of the page Now at once: each asks for all targets again and again over a connection of its own."""

import asyncio
import json
import time
from typing import NamedTuple


class Seen(NamedTuple):
    """What the viewers got. ``seconds``: one a request."""

    seconds: list[float]
    errors: list[str]


async def _viewer(host: str, port: int, rounds: int, every_s: float, seen: Seen) -> None:
    request = f"GET /api/targets HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    try:
        reader, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        seen.errors.append(str(error))
        return
    try:
        for _ in range(rounds):
            begun = time.monotonic()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            seen.seconds.append(time.monotonic() - begun)
            if not head.startswith(b"HTTP/1.1 200") or not json.loads(body):
                seen.errors.append(head.partition(b"\r\n")[0].decode())
            await asyncio.sleep(every_s)
    except (OSError, EOFError, ValueError) as error:
        seen.errors.append(repr(error))
    finally:
        writer.close()


def look(address: str, viewers: int, rounds: int, every_s: float) -> Seen:
    """``viewers`` at once, each with ``rounds`` requests and a pause of ``every_s`` between them."""
    host, _, port = address.removeprefix("http://").partition(":")
    seen = Seen([], [])

    async def all_of_them() -> None:
        some = (_viewer(host, int(port), rounds, every_s, seen) for _ in range(viewers))
        await asyncio.gather(*some)

    asyncio.run(all_of_them())
    return seen
