"""The seed's parameter sweep on this machine: two file systems and three servers, one command, one table.

    sudo python -m benchmarks.sweep [--ranks 1,4] [--sets 1,10] [--iterations 200,20] [--objects 1000,100]

ext4 lies on a loop device in memory; the servers of the tests run on loopback: S3 (versitygw), PostgreSQL, MongoDB's
protocol (FerretDB on SQLite). The command is printed as it was run, without passwords.
"""

import argparse
import contextlib
import os
import subprocess
import tempfile

from benchmarks import machine
from benchmarks.metadata import IOSONDE, ext4, tmpfs
from tests.kit.servers.loopback import Ferretdb, Postgresql, Versitygw
from tests.services.conftest import running


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, value in (
        ("ranks", "1,4"),
        ("sets", "1,10"),
        ("iterations", "200,20"),
        ("objects", "1000,100"),
    ):
        parser.add_argument(f"--{name}", default=value)
    args = parser.parse_args()
    print(machine.line())
    with contextlib.ExitStack() as stack:
        folders = [str(stack.enter_context(fresh())) for fresh in (ext4, tmpfs)]
        s3, postgresql, mongodb = (
            stack.enter_context(running(kind())) for kind in (Versitygw, Postgresql, Ferretdb)
        )
        store = stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
        password = {"PGPASSWORD": postgresql.password}
        database = postgresql.uri.replace(f":{postgresql.password}@", "@")
        places = [*folders, f"s3://{s3.bucket}/sweep", database, f"{mongodb.uri}/sweep"]
        sizes = ["-n", args.ranks, "-D", args.sets, "-I", args.iterations, "-P", args.objects]
        command = ["bench", "metadata", *places, *sizes]
        print("iosonde " + " ".join(command) + "\n")
        subprocess.run(
            [str(IOSONDE), *command, "--store", store],
            check=True,
            stderr=None,
            env={**os.environ, **s3.environ, **password, "COLUMNS": "160"},
        )


if __name__ == "__main__":
    main()
