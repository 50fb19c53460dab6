"""Latency of our S3, PostgreSQL and MongoDB backends, beside the vendors' own clients.

    python -m benchmarks backends [--rounds 9] [--objects 300] [--size 3901] [--cpus 0]

Every server is a real one on loopback (tests/kit/servers/loopback.py). A round creates, stats, reads and deletes all
objects, op after op, four times: theirs, ours, ours, theirs. A cell is the median over rounds of the ratio of the
medians. Client and server share one CPU unless --cpus says otherwise: on two, whether a client happens to sleep when
the answer comes decides more than what it does. obstore and boto3 stand for S3, psycopg for PostgreSQL, pymongo for
MongoDB; each does what our backend does with one kept connection and nothing else in the loop. Last, what the way
through Python costs an op.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from iosonde.bench.backends.places import StorageLocation, parse_place
from tests.kit.runs.bench import Bench
from tests.kit.servers.loopback import Ferretdb, Postgresql, Versitygw
from tests.services.conftest import running

OPS = ("create", "stat", "read", "delete")
Medians = dict[str, float]
Calls = dict[str, Callable[[str], Any]]
"""What a loop calls with the name of an object, by op."""


class Given(NamedTuple):
    """Rounds, objects of a round and their bytes."""

    rounds: int
    objects: int
    size: int


def loop(calls: Calls, objects: int) -> Medians:
    """Medians in ns of a plain loop over a vendor's calls."""
    names = [f"{i:016x}" for i in range(objects)]
    medians = {}
    for op in OPS:
        call, took = calls[op], []
        for name in names:
            began = time.perf_counter_ns()
            call(name)
            took.append(time.perf_counter_ns() - began)
        medians[op] = statistics.median(took)
    return medians


def ours(bench: Bench) -> Medians:
    """The same by the instrument."""
    return {op: bench.phase(f"md_{op}").quantile(0.5) or float("nan") for op in OPS}


@contextmanager
def begun(place: StorageLocation, objects: int, size: int) -> Iterator[Bench]:
    """The instrument, connected and with its data set made."""
    bench = Bench(place, objects, size)
    bench.begin()
    yield bench
    bench.end()


def s3_calls(server: Versitygw, content: bytes) -> Iterator[tuple[str, Calls]]:
    """obstore, and boto3 where it is installed."""
    store = server.by_obstore()
    yield (
        "obstore",
        {
            "create": lambda name: store.put(name, content, mode="create", use_multipart=False),
            "stat": store.head,
            "read": lambda name: store.get(name).bytes(),
            "delete": store.delete,
        },
    )
    try:
        import boto3
    except ImportError:
        print("boto3 is not installed: its rows are left out")
        return
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=server.access,
        aws_secret_access_key=server.secret,
    )
    where = {"Bucket": server.bucket}
    yield (
        "boto3",
        {
            "create": lambda name: client.put_object(
                **where, Key=name, Body=content, IfNoneMatch="*"
            ),
            "stat": lambda name: client.head_object(**where, Key=name),
            "read": lambda name: client.get_object(**where, Key=name)["Body"].read(),
            "delete": lambda name: client.delete_object(**where, Key=name),
        },
    )


@contextmanager
def postgresql_calls(server: Postgresql, content: bytes) -> Iterator[Calls]:
    """Psycopg with prepared statements, each its own transaction, binary both ways."""
    import psycopg

    with psycopg.connect(server.uri, autocommit=True) as connection:
        connection.execute("CREATE TABLE theirs (id bigint PRIMARY KEY, content bytea NOT NULL)")
        cursor = connection.cursor(binary=True)

        def ask(text: str) -> Callable[..., Any]:
            return lambda *values: cursor.execute(text, values, prepare=True)

        create = ask("INSERT INTO theirs (id, content) VALUES (%b, %b)")
        stat = ask("SELECT length(content) FROM theirs WHERE id = %b")
        read = ask("SELECT content FROM theirs WHERE id = %b")
        delete = ask("DELETE FROM theirs WHERE id = %b")
        try:
            yield {
                "create": lambda name: create(int(name, 16), content),
                "stat": lambda name: stat(int(name, 16)).fetchone(),
                "read": lambda name: read(int(name, 16)).fetchone(),
                "delete": lambda name: delete(int(name, 16)),
            }
        finally:
            connection.execute("DROP TABLE theirs")


@contextmanager
def mongodb_calls(server: Ferretdb, content: bytes) -> Iterator[Calls]:
    """Pymongo with one connection."""
    import pymongo

    with pymongo.MongoClient(server.uri, maxPoolSize=1) as client:
        objects = client["theirs"]["objects"]
        yield {
            "create": lambda name: objects.insert_one(
                {"_id": name, "size": len(content), "content": content}
            ),
            "stat": lambda name: objects.find_one({"_id": name}, {"size": 1}),
            "read": lambda name: objects.find_one({"_id": name}, {"content": 1}),
            "delete": lambda name: objects.delete_one({"_id": name}),
        }
        client.drop_database("theirs")


def compare(name: str, place: StorageLocation, calls: Calls, given: Given) -> None:
    """Print the row of one client."""
    ratios: dict[str, list[float]] = {op: [] for op in OPS}
    us: dict[str, list[float]] = {op: [] for op in OPS}
    with begun(place, given.objects, given.size) as bench:
        loop(calls, given.objects)
        ours(bench)
        for _ in range(given.rounds):
            first, second = loop(calls, given.objects), ours(bench)
            third, fourth = ours(bench), loop(calls, given.objects)
            for op in OPS:
                us[op].append((second[op] + third[op]) / 2e3)
                ratios[op].append((second[op] + third[op]) / (first[op] + fourth[op]))
    cells = "".join(
        f"{statistics.median(us[op]):>10.0f} {statistics.median(ratios[op]):>5.2f}" for op in OPS
    )
    print(f"{name:<24}{cells}", flush=True)


def bridge(given: Given) -> None:
    """What a call through Python adds, on stores that do nothing."""
    price: dict[str, list[float]] = {op: [] for op in OPS}
    with (
        begun(parse_place("null:", {}), 20_000, given.size) as native,
        begun(parse_place("python-null:", {}), 20_000, given.size) as python,
    ):
        for _ in range(given.rounds):
            without, through = ours(native), ours(python)
            for op in OPS:
                price[op].append(through[op] - without[op])
    cells = "".join(f"{statistics.median(price[op]):>10.0f}      " for op in OPS)
    print(f"{'bridge to Python, ns':<24}{cells}")


def main(
    rounds: int = 9,
    objects: int = 300,
    size: int = 3901,
    cpus: str = "0",  # which, like 0 or 0,1
) -> None:
    """Print the table."""
    os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    given = Given(rounds, objects, size)
    content = bytes(i * 7919 >> 3 & 255 for i in range(size))
    print(f"{rounds} rounds ABBA of {objects} objects of {size} bytes, CPUs {cpus}")
    print("ours in us, ours / theirs\n")
    print(f"{'':<24}" + "".join(f"{op:>16}" for op in OPS))
    with running(Versitygw()) as s3:
        place = parse_place("s3://bench", s3.environ)
        for name, calls in s3_calls(s3, content):
            compare(f"S3 / {name}", place, calls, given)
    with (
        running(Postgresql()) as postgresql,
        postgresql_calls(postgresql, content) as calls,
    ):
        compare("PostgreSQL / psycopg", parse_place(postgresql.uri, {}), calls, given)
    with running(Ferretdb()) as mongodb, mongodb_calls(mongodb, content) as calls:
        compare("MongoDB / pymongo", parse_place(mongodb.uri, {}), calls, given)
    bridge(given)
