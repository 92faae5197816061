"""The checkpoint of long work: which tasks are done, and their results, in one SQLite file.

A result that was put is there whatever happens next, a kill or a power failure. A file that is
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
    remove_leftovers,
)

CHECKPOINT_NAME = "ledger.sqlite"
#: Marks SQLite files as checkpoints. It stands in the header, as does the schema number.
_APPLICATION = 0x46424B4C
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_ANOTHER = "choose another folder"
_NOT_OURS = f"is not one of fabkit's checkpoints; {_ANOTHER}"
_DAMAGED = f"is damaged; restore it from a copy, or {_ANOTHER} to begin anew"
_BUSY_S = 1.0

_TABLES = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
PRAGMA journal_mode = WAL;
CREATE TABLE problem (text TEXT NOT NULL);
CREATE TABLE results (key TEXT PRIMARY KEY, digest TEXT NOT NULL, result BLOB NOT NULL);
"""


class Checkpoint:
    """The results of tasks. Use it as a context manager: it holds its folder meanwhile.

    Args:
        folder: where ``ledger.sqlite`` is, or will be made.
        problem: what is being worked on, as JSON can hold it: with the versions of algorithms
            and the hashes of inputs, whatever the results depend on.

    Entering it raises:
        OutsideError: at once, when another process holds the folder, or when the file cannot
            be made or written.
        InputError: when the file is no checkpoint, is damaged, or belongs to another problem.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> with Checkpoint(Path(folder.name), {"size": 4}) as checkpoint:
        ...     checkpoint.put("even", b"2")
        >>> with Checkpoint(Path(folder.name), {"size": 4}) as checkpoint:
        ...     print(checkpoint.get("even"), checkpoint.get("odd"), checkpoint.keys())
        b'2' None {'even'}
        >>> folder.cleanup()
    """

    def __init__(self, folder: Path, problem: Mapping[str, Any]) -> None:
        self._folder = folder
        self._path = folder / CHECKPOINT_NAME
        self._name = printable(str(self._path))
        self._problem: dict[str, Any] = json.loads(json.dumps(dict(problem), allow_nan=False))
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        remove_leftovers(self._folder)
        with contextlib.ExitStack() as held:
            held.enter_context(folder_lock(self._folder, f"wait for it, or {_ANOTHER}"))
            empty = self._path.is_file() and not self._path.stat().st_size
            if empty or not os.path.lexists(self._path):
                self._make()
            self._inspect()
            self._connection = held.enter_context(contextlib.closing(self._connect()))
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def get(self, key: str) -> bytes | None:
        """The result of a task; None when it is not done.

        Raises:
            InputError: when it is not what was put.
        """
        with self._failures():
            query = "SELECT digest, result FROM results WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        if row[0] != digest(key, row[1]):  # with the key: results may have changed places
            raise self._refusal(
                f"the result of the task {shown(key)} is damaged; "
                f"restore the file from a copy, or {_ANOTHER} to begin anew"
            )
        result: bytes = row[1]
        return result

    def put(self, key: str, result: bytes) -> None:
        """Writes the result of a task. When this returns, it has reached the disk.

        Raises:
            OutsideError: when it cannot be written. What was put before is still there.
            ValueError: when another result has been put already; the same one is harmless.
        """
        with self._failures():
            query = "INSERT INTO results VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
            row = (key, digest(key, result), result)
            is_new = self._connection.execute(query, row).rowcount == 1
        if not is_new and self.get(key) != result:
            raise ValueError(f"the task {shown(key)} has two results")

    def keys(self) -> set[str]:
        """The tasks that are done."""
        with self._failures():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    def _make(self) -> None:
        """Makes an empty checkpoint, whole or not at all."""
        if os.path.lexists(f"{self._path}-wal"):  # with results that are in it alone
            raise self._refusal(
                f"there is no such file, but {CHECKPOINT_NAME}-wal beside it; "
                f"put it back to its place, or {_ANOTHER}"
            )
        with outside_failures(f"cannot write {self._name}"), Staging(self._folder) as staging:
            path = staging.path(CHECKPOINT_NAME)
            with self._failures(), contextlib.closing(_sqlite(path)) as new:
                new.executescript(_TABLES)
                text = json.dumps(self._problem, ensure_ascii=False)
                new.execute("INSERT INTO problem VALUES (?)", (text,))
            staging.commit()
            if os.name == "posix":  # the system can be asked to keep the new name, too
                handle = os.open(self._folder, os.O_RDONLY)
                os.fsync(handle)
                os.close(handle)

    def _inspect(self) -> None:
        """Refuses what is not a whole checkpoint of this problem; changes nothing."""
        header = read_bytes(self._path, self._name, "a checkpoint of fabkit's", _HEADER_BYTES)
        application = int.from_bytes(header[68:72], "big")
        if not header.startswith(_MAGIC) or application != _APPLICATION:
            raise self._refusal(_NOT_OURS)
        schema = int.from_bytes(header[60:64], "big")
        if schema > SCHEMA:
            raise NewerSchemaError.of(
                self._name,
                f"was written by a newer fabkit (schema {schema}, this one knows {SCHEMA}); "
                f"update fabkit or {_ANOTHER}",
            )
        with self._failures(), self._reading() as connection:
            whole = connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
            rows = connection.execute("SELECT text FROM problem").fetchall() if whole else []
        try:
            ((text,),) = rows
            found = json.loads(text)
        except (TypeError, ValueError):
            raise self._refusal(_DAMAGED) from None
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
        with self._failures(), contextlib.ExitStack() as stack:
            connection = stack.enter_context(contextlib.closing(_sqlite(self._path)))
            connection.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # can it be written?
            stack.pop_all()
        return connection

    def _compare(self, found: Any, expected: Any, place: str) -> None:
        """Refuses the problem in the file when it is another, at the first key that differs."""
        if isinstance(found, dict) and isinstance(expected, dict):
            for key in (*expected, *(key for key in found if key not in expected)):
                inner = f"{place}.{key}" if place else key
                self._compare(found.get(key, ...), expected.get(key, ...), inner)
        elif json.dumps(found, default=str) != json.dumps(expected, default=str):
            said = ["nothing" if one is ... else shown(one) for one in (found, expected)]
            raise InputError.of(
                self._name,
                f"is the checkpoint of another problem: found {said[0]}, expected {said[1]}; "
                f"{_ANOTHER}",
                printable(place),
            )

    def _refusal(self, message: str) -> InputError:
        return InputError.of(self._name, message)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Says what SQLite's errors mean here."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._refusal(_DAMAGED) from None
            if code == sqlite3.SQLITE_ERROR:  # a table or a column is missing
                raise self._refusal(_NOT_OURS) from None
            reason = {
                sqlite3.SQLITE_FULL: "the disk is full",
                sqlite3.SQLITE_READONLY: "it may not be written to",
                sqlite3.SQLITE_BUSY: "another program has it open",
            }.get(code, printable(str(error)))
            kept = "what was done before is kept; mend that, and run it again to go on"
            raise OutsideError(f"cannot write {self._name}: {reason}; {kept}") from None


def _sqlite(path: Path) -> sqlite3.Connection:
    """A connection of its own: in the folder that is locked nobody else needs to look in.

    So SQLite needs no memory that is shared through a file, which would have to be truthful on
    network disks, and to find room on a full one.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA synchronous = FULL")  # each commit waits for the disk
    return connection
