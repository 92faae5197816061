"""The ledger of a run: which shards are done, and their results, in one SQLite file.

A result that was put is there whatever happens next, a kill or a power failure. A ledger that is
refused stays as it was, byte for byte: it is looked at through a connection that cannot write.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from fabkit.core.errors import InputError, OutsideError, printable, shown
from fabkit.core.files import (
    SCHEMA,
    NewerSchemaError,
    Staging,
    digest,
    folder_lock,
    outside_failures,
    read_bytes,
)

LEDGER_NAME = "ledger.sqlite"
#: Marks SQLite files as ledgers. It stands in the header, as does the schema number.
_APPLICATION = 0x46424B4C
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_ANOTHER = "choose another folder"
_BUSY_S = 1.0

_TABLES = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
PRAGMA journal_mode = WAL;
CREATE TABLE problem (text TEXT NOT NULL);
CREATE TABLE results (key TEXT PRIMARY KEY, digest TEXT NOT NULL, result BLOB NOT NULL);
"""


class Ledger:
    """The results of a run's shards. Use it as a context manager: it holds its folder meanwhile.

    Args:
        folder: where ``ledger.sqlite`` is, or will be made.
        problem: what is being worked on, as JSON can hold it: with the versions of algorithms
            and the hashes of inputs, whatever the results depend on.

    Entering it raises:
        OutsideError: at once, when another process holds the folder, or when the ledger cannot
            be made or written.
        InputError: when the file is no ledger, is damaged, or belongs to another problem.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with Ledger(Path(folder.name), {"size": 4}) as ledger:
        ...     ledger.put("even", b"2")
        >>> with Ledger(Path(folder.name), {"size": 4}) as ledger:
        ...     print(ledger.get("even"), ledger.get("odd"), ledger.keys())
        b'2' None {'even'}
        >>> folder.cleanup()
    """

    def __init__(self, folder: Path, problem: Mapping[str, Any]) -> None:
        self._folder = folder
        self._path = folder / LEDGER_NAME
        self._name = printable(str(self._path))
        self._problem: dict[str, Any] = json.loads(json.dumps(dict(problem), allow_nan=False))
        self._held = contextlib.ExitStack()
        self._open: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            held.enter_context(folder_lock(self._folder, f"wait for it, or {_ANOTHER}"))
            if not os.path.lexists(self._path):
                self._make()
            self._inspect()
            self._open = held.enter_context(contextlib.closing(self._connect()))
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = None
        self._held.close()

    def get(self, key: str) -> bytes | None:
        """The result of a shard; None when it is not done.

        Raises:
            InputError: when it is not what was put.
        """
        with self._failures():
            query = "SELECT digest, result FROM results WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        if row[0] != _digest(key, row[1]):
            raise self._refusal(
                f"the result of the shard {shown(key)} is damaged; "
                f"restore the file from a copy, or {_ANOTHER} to begin anew"
            )
        result: bytes = row[1]
        return result

    def put(self, key: str, result: bytes) -> None:
        """Writes the result of a shard. When this returns, it has reached the disk.

        Raises:
            OutsideError: when it cannot be written. What was put before is still there.
            ValueError: when another result has been put already; the same one is harmless.
        """
        with self._failures():
            query = "INSERT INTO results VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            row = (key, _digest(key, result), result)
            is_new = self._connection.execute(query, row).rowcount == 1
        if not is_new and self.get(key) != result:
            raise ValueError(f"the shard {shown(key)} has two results")

    def keys(self) -> set[str]:
        """The shards that are done."""
        with self._failures():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise ValueError("the ledger is not open")
        return self._open

    # --- opening --------------------------------------------------------------------------------

    def _make(self) -> None:
        """Makes an empty ledger, whole or not at all."""
        if os.path.lexists(f"{self._path}-wal"):  # with results that are in it alone
            raise self._refusal(
                f"there is no such file, but {LEDGER_NAME}-wal beside it; "
                f"put it back to its place, or {_ANOTHER}"
            )
        with outside_failures(f"cannot write {self._name}"), Staging(self._folder) as staging:
            with self._failures(), contextlib.closing(_sqlite(staging.path(LEDGER_NAME))) as new:
                new.executescript(_TABLES)
                text = json.dumps(self._problem, ensure_ascii=False)
                new.execute("INSERT INTO problem VALUES (?)", (text,))
            staging.commit()
            _flush_names(self._folder)

    def _inspect(self) -> None:
        """Refuses what is not a whole ledger of this problem; changes nothing.

        Raises:
            InputError: see there.
        """
        header = read_bytes(self._path, self._name, "a ledger of fabkit's", _HEADER_BYTES)
        application = int.from_bytes(header[68:72], "big")
        if not header.startswith(_MAGIC) or application != _APPLICATION:
            raise self._refusal(f"is not one of fabkit's ledgers; {_ANOTHER}")
        schema = int.from_bytes(header[60:64], "big")
        if schema > SCHEMA:
            raise NewerSchemaError.of(
                self._name,
                f"was written by a newer fabkit (schema {schema}, this one knows {SCHEMA}); "
                f"update fabkit or {_ANOTHER}",
            )
        with self._failures(), self._reading() as connection:
            faults = [fault for (fault,) in connection.execute("PRAGMA quick_check(1)")]
            if faults != ["ok"]:
                raise self._damaged()
            rows = connection.execute("SELECT text FROM problem").fetchall()
        try:
            ((text,),) = rows
            found = json.loads(text)
        except (TypeError, ValueError):
            raise self._damaged() from None
        self._compare(found, self._problem, "")

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write, and so leaves in its place what a kill left behind."""
        beside = [Path(f"{self._path}-{end}") for end in ("wal", "shm")]
        new = [path for path in beside if not path.exists()]
        address = f"{self._path.absolute().as_uri()}?mode=ro"
        try:
            with contextlib.closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S)) as one:
                yield one
        finally:
            for path in new:  # empty, or an index of the other
                path.unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        with outside_failures(f"cannot write {self._name}"):
            self._path.open("rb+").close()  # where it may not, SQLite is silent or unclear
        with self._failures():
            connection = _sqlite(self._path)
            try:
                connection.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # can it be written?
            except BaseException:
                connection.close()
                raise
            return connection

    def _compare(self, found: Any, expected: Any, place: str) -> None:
        """Refuses the problem in the file when it is another, at the first key that differs."""
        if isinstance(found, dict) and isinstance(expected, dict):
            for key in (*expected, *(key for key in found if key not in expected)):
                inner = f"{place}.{key}" if place else key
                self._compare(found.get(key, _Nothing()), expected.get(key, _Nothing()), inner)
        elif json.dumps(found, default=str) != json.dumps(expected, default=str):
            raise InputError.of(
                self._name,
                f"is the ledger of another problem: found {shown(found)}, "
                f"expected {shown(expected)}; {_ANOTHER}",
                printable(place),
            )

    # --- failures -------------------------------------------------------------------------------

    def _refusal(self, message: str) -> InputError:
        return InputError.of(self._name, message)

    def _damaged(self) -> InputError:
        return self._refusal(
            f"is damaged; restore it from a copy, or {_ANOTHER} to begin anew",
        )

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Says what SQLite's errors mean here."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged() from None
            if code == sqlite3.SQLITE_ERROR:  # a table or a column is missing
                raise self._refusal(f"is not one of fabkit's ledgers; {_ANOTHER}") from None
            reason = {
                sqlite3.SQLITE_FULL: "the disk is full",
                sqlite3.SQLITE_READONLY: "it may not be written to",
                sqlite3.SQLITE_BUSY: "another program has it open",
            }.get(code, printable(str(error)))
            kept = "what was done before is kept; mend that, and run it again to go on"
            raise OutsideError(f"cannot write {self._name}: {reason}; {kept}") from None


class _Nothing:
    """Stands for a key that is missing, in messages."""

    def __str__(self) -> str:
        return "nothing"


def _sqlite(path: Path) -> sqlite3.Connection:
    """A connection of its own: in the folder that is locked nobody else needs to look in.

    So SQLite needs no memory that is shared through a file, which would have to be truthful on
    network disks, and to find room on a full one.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA synchronous = FULL")  # each commit waits for the disk
    return connection


def _digest(key: str, result: bytes) -> str:
    """With the key, so that results in each other's places are noticed."""
    return digest(key, result)


def _flush_names(folder: Path) -> None:
    """Asks the disk to keep the names of new files, where the system can be asked."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
