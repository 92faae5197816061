"""The checkpoint of long work: which tasks are done, and their results, in one SQLite file.

A result that was put is there whatever happens next, a kill or a power failure. A file that is
refused keeps all that it holds.
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
        problem: whatever the results depend on, as JSON can hold it: also the versions of
            algorithms and the hashes of inputs.

    Entering it raises:
        OutsideError: at once, when another process holds the folder, or when the file cannot
            be made or written.
        InputError: when the file is no checkpoint, is damaged, or belongs to another problem.
    """

    def __init__(self, folder: Path, problem: Mapping[str, Any]) -> None:
        self._folder = folder
        self._path = folder / CHECKPOINT_NAME
        self._name = printable(str(self._path))
        self._problem = problem

    def __enter__(self) -> Self:
        remove_leftovers(self._folder)
        with contextlib.ExitStack() as held:
            held.enter_context(folder_lock(self._folder, f"wait for it, or {_ANOTHER}"))
            empty = self._path.is_file() and not self._path.stat().st_size
            if empty or not os.path.lexists(self._path):
                self._make()
            self._look_at_header()
            with self._failures(), outside_failures(f"cannot write {self._name}"):
                self._path.open("rb+").close()  # where it may not, SQLite is silent or unclear
                self._connection = held.enter_context(_sqlite(self._path))
                self._compare()
                self._connection.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # can it write?
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
        result: bytes = row[1]
        if row[0] != digest(key, result):  # with the key: results may have changed places
            raise self._refusal(
                f"the result of the task {shown(key)} is damaged; "
                f"restore the file from a copy, or {_ANOTHER} to begin anew"
            )
        return result

    def put(self, key: str, result: bytes) -> None:
        """Writes the result of a task. When this returns, it has reached the disk.

        Raises:
            OutsideError: when it cannot be written. What was put before is still there.
        """
        with self._failures():
            row = (key, digest(key, result), result)
            self._connection.execute("INSERT INTO results VALUES (?, ?, ?)", row)

    def keys(self) -> set[str]:
        """The tasks that are done."""
        with self._failures():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    def _make(self) -> None:
        """Makes an empty checkpoint, whole or not at all."""
        with outside_failures(f"cannot write {self._name}"), Staging(self._folder) as staging:
            path = staging.path(CHECKPOINT_NAME)
            with self._failures(), _sqlite(path) as new:
                new.executescript(_TABLES)
                text = json.dumps(self._problem, ensure_ascii=False)
                new.execute("INSERT INTO problem VALUES (?)", (text,))
            for end in ("wal", "shm"):  # of a file that is gone: not to be taken for this one's
                Path(f"{self._path}-{end}").unlink(missing_ok=True)
            staging.commit()

    def _look_at_header(self) -> None:
        """Refuses what is no checkpoint before SQLite touches it."""
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

    def _compare(self) -> None:
        """Refuses a damaged file, and one of another problem at the first key that differs."""
        whole = self._connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        try:
            query = "SELECT text FROM problem WHERE ?"
            ((text,),) = self._connection.execute(query, (whole,))
            there = json.loads(text)
        except ValueError:
            raise self._refusal(_DAMAGED) from None
        for key in {**self._problem, **there}:
            found, expected = there.get(key, ...), self._problem.get(key, ...)
            if json.dumps(found, default=str) != json.dumps(expected, default=str):
                said = ["nothing" if one is ... else shown(one) for one in (found, expected)]
                raise InputError.of(
                    self._name,
                    f"is the checkpoint of another problem: found {said[0]}, expected {said[1]}; "
                    f"{_ANOTHER}",
                    printable(key),
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


@contextlib.contextmanager
def _sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of its own: in the folder that is locked nobody else needs to look in.

    So SQLite needs no memory that is shared through a file, which would have to be truthful on
    network disks, and to find room on a full one.
    """
    with contextlib.closing(sqlite3.connect(path, _BUSY_S, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")  # each commit waits for the disk
        yield connection
