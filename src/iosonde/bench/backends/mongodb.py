"""Objects as documents of a MongoDB database: a data set is a collection, as in md-workbench.

A document is ``{_id: name, size: bytes, content: binary}``; stat asks for ``size`` only, so that the content
is not sent. Needs pymongo.
"""

from __future__ import annotations

import errno
import os
import urllib.parse
import weakref
from collections.abc import Callable
from typing import Any

from iosonde.bench.backends.protocol import MARK, Capabilities, parse_set_name, set_name
from iosonde.model.errors import MeasureError, MissingPartError

_MARKS = "mark"
_CODES = {
    11000: errno.EEXIST,
    13: errno.EACCES,
    18: errno.EACCES,
    26: errno.ENOENT,
    50: errno.ETIMEDOUT,
    14031: errno.ENOSPC,
    10334: errno.EFBIG,
    8000: errno.EACCES,
}
"""Server error codes (MongoDB manual, "Error Codes") -> errno."""


def _pymongo() -> Any:
    try:
        import pymongo
    except ImportError:
        raise MissingPartError(
            "pymongo is not installed, so MongoDB cannot be measured",
            hint="pip install 'iosonde[mongodb]'",
        ) from None
    return pymongo


class _Words:
    """Converts pymongo's exceptions to OSErrors; timed operations go through ``call``."""

    def __init__(self) -> None:
        self._errors = _pymongo().errors

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._errors.PyMongoError as error:
            raise OSError(self.number(error), _one_line(error)) from None

    def number(self, error: Exception) -> int:
        code = getattr(error, "code", None)
        if code in _CODES:
            return _CODES[code]
        # The order counts: a network timeout is an AutoReconnect too.
        for kind, number in (
            (self._errors.NetworkTimeout, errno.ETIMEDOUT),
            (self._errors.ServerSelectionTimeoutError, errno.ECONNREFUSED),
            (self._errors.AutoReconnect, errno.ECONNRESET),
            (self._errors.DocumentTooLarge, errno.EFBIG),
        ):
            if isinstance(error, kind):
                return number
        return errno.EIO


def _one_line(error: Exception) -> str:
    """The server's message, without the driver's description of the topology."""
    return " ".join(str(error).split(", full error:")[0].split(", Timeout:")[0].split())


class MongoSet:
    """The documents of one collection."""

    def __init__(self, store: MongoStore, collection: Any, words: _Words) -> None:
        # The connection closes when the store goes.
        self._store = store
        self._insert = collection.insert_one
        self._find = collection.find_one
        self._delete = collection.delete_one
        self._call = words.call

    def create(self, name: str, content: bytes, /) -> None:
        """Insert the document."""
        document = {"_id": name, "size": len(content), "content": content}
        self._call(self._insert, document)

    def stat(self, name: str, /) -> int:
        """Query its size only."""
        found = self._call(self._find, {"_id": name}, {"size": 1})
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such document")
        return int(found["size"])

    def read(self, name: str, _size: int, /) -> bytes:
        """Query its content."""
        found = self._call(self._find, {"_id": name}, {"content": 1})
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such document")
        content: bytes = found["content"]
        return content

    def delete(self, name: str, /) -> None:
        """Delete it; the server reports the number of deleted documents."""
        if self._call(self._delete, {"_id": name}).deleted_count == 0:
            raise FileNotFoundError(errno.ENOENT, "no such document")


def _patience(uri: str, timeout_ms: int) -> dict[str, int]:
    """Timeouts, unless the user's URI has its own."""
    ours = {
        "serverSelectionTimeoutMS": min(timeout_ms, 5000),
        "connectTimeoutMS": min(timeout_ms, 5000),
        "socketTimeoutMS": timeout_ms,
    }
    options = urllib.parse.parse_qsl(uri.partition("?")[2], keep_blank_values=True)
    given = {name.lower() for name, _ in options}
    return {name: value for name, value in ours.items() if name.lower() not in given}


class MongoStore:
    """Connection of one rank. ``uri`` may hold a password; errors show ``shown`` instead.

    Raises MissingPartError without pymongo, MeasureError if the server cannot be reached.
    """

    def __init__(self, uri: str, database: str, shown: str, timeout_s: float = 60.0) -> None:
        pymongo = _pymongo()
        self._words = _Words()
        self._database_name = database
        try:
            self._client = pymongo.MongoClient(
                uri,
                appname="iosonde",
                maxPoolSize=1,
                retryReads=False,
                retryWrites=False,
                **_patience(uri, int(timeout_s * 1000)),
            )
            weakref.finalize(self, self._client.close)
            self._database = self._client[database]
            # Asking for names needs a login, unlike a ping.
            self._database.list_collection_names()
        except (pymongo.errors.PyMongoError, ValueError) as error:
            raise MeasureError(
                f"{shown}: {_one_line(error)}",
                expected="a MongoDB server that answers there and lets us in",
            ) from None

    def capabilities(self) -> Capabilities:
        """Exclusive insertion, reported deletion; durability of writes depends on the server's configuration."""
        return Capabilities()

    def _collections(self) -> list[str]:
        names: list[str] = self._words.call(self._database.list_collection_names)
        return [name for name in names if not name.startswith("system.")]

    def _mark(self) -> str | None:
        found = self._words.call(self._database[_MARKS].find_one, {"_id": "mark"})
        return None if found is None else str(found.get("text"))

    def begin(self) -> None:
        """Create and mark the database, or accept a marked or empty one."""
        mark = self._mark()
        if mark is None:
            strangers = [name for name in self._collections() if name != _MARKS]
            if strangers and (mark := self._mark()) is None:
                raise self._in_the_way(f"it holds `{strangers[0]}` and no mark")
        if mark is None:
            insert = self._database[_MARKS].insert_one
            try:
                self._words.call(insert, {"_id": "mark", "text": MARK})
            except FileExistsError:
                mark = self._mark()
            else:
                mark = MARK
        if mark != MARK:
            raise self._in_the_way(f"its mark says `{mark}`")

    def _in_the_way(self, what: str) -> OSError:
        return FileExistsError(
            errno.EEXIST,
            f"database {self._database_name}: {what}; expected one made by this version of iosonde: "
            "choose another, iosonde changed nothing",
        )

    def lock(self) -> None:
        """Do nothing: MongoDB has no locks that end with their holder."""

    def note(self) -> str | None:
        """Read a document beside the mark."""
        found = self._words.call(self._database[_MARKS].find_one, {"_id": "note"})
        return None if found is None else str(found["text"])

    def set_note(self, text: str, /) -> None:
        """Replace the whole document."""
        replace = self._database[_MARKS].replace_one
        self._words.call(replace, {"_id": "note"}, {"_id": "note", "text": text}, True)

    def sets(self) -> list[tuple[int, int]]:
        """List our collections."""
        return [found for name in self._collections() if (found := parse_set_name(name))]

    def make_set(self, rank: int, number: int, /) -> None:
        """Create the collection."""
        name = set_name(rank, number)
        if name in self._collections():
            return
        try:
            self._words.call(self._database.create_collection, name)
        except OSError:
            # Another was making it at the same moment.
            if name not in self._collections():
                raise

    def _existing(self, rank: int, number: int) -> Any:
        name = set_name(rank, number)
        if name not in self._collections():
            raise FileNotFoundError(errno.ENOENT, f"no collection {name}")
        return self._database[name]

    def open_set(self, rank: int, number: int, _fsync: bool, /) -> MongoSet:
        """The collection's documents."""
        return MongoSet(self, self._existing(rank, number), self._words)

    def list_set(self, rank: int, number: int, /) -> list[int]:
        """All identifiers."""
        collection = self._existing(rank, number)
        found = self._words.call(lambda: [one["_id"] for one in collection.find({}, {"_id": 1})])
        return [int(name, 16) for name in found]

    def remove_set(self, rank: int, number: int, /) -> None:
        """Drop the collection if it is empty."""
        name = set_name(rank, number)
        if name not in self._collections():
            return
        if self._words.call(self._database[name].find_one, {}, {"_id": 1}) is not None:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        self._words.call(self._database.drop_collection, name)

    def end(self) -> None:
        """Drop the mark, and with it the database."""
        names = self._collections()
        if any(name != _MARKS for name in names):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        if names:
            self._words.call(self._database.drop_collection, _MARKS)
