"""The checkpoint of a long run: finished tasks and their results in one SQLite file.

A stored result survives a kill and a power failure. A file that is refused is left unchanged.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from fabkit.core.errors import ExternalError, InputError, escape, quote
from fabkit.core.formats import SCHEMA_VERSION, NewerSchemaError
from fabkit.core.hashes import digest
from fabkit.core.parsing import read_bytes
from fabkit.core.staging import Staging, external_errors, folder_lock, remove_leftovers

CHECKPOINT_NAME = "checkpoint.sqlite"
#: Marks SQLite files as checkpoints, in the header beside the schema number.
_APPLICATION = 0x46424B4C
_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_ANOTHER = "choose another folder"
_NOT_OURS = f"is not a fabkit checkpoint; {_ANOTHER}"
_DAMAGED = f"is damaged; restore it from a copy, or {_ANOTHER} to start over"
_BUSY_S = 1.0

_TABLES = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA_VERSION};
PRAGMA journal_mode = WAL;
CREATE TABLE problem (text TEXT NOT NULL);
CREATE TABLE results (key TEXT PRIMARY KEY, digest TEXT NOT NULL, result BLOB NOT NULL);
"""


class Checkpoint:
    """The results of tasks. Use it as a context manager: it locks its folder.

    Args:
        folder: contains ``checkpoint.sqlite``, which is created if needed.
        problem: everything the results depend on, as JSON values, including versions of
            algorithms and hashes of inputs.

    Entering it raises:
        ExternalError: immediately, when another process holds the folder, or when the file cannot
            be created or written.
        InputError: when the file is not a checkpoint, is damaged, or belongs to another problem.
    """

    def __init__(self, folder: Path, problem: Mapping[str, Any]) -> None:
        self._folder = folder
        self._path = folder / CHECKPOINT_NAME
        self._name = escape(str(self._path))
        self._problem = problem

    def __enter__(self) -> Self:
        remove_leftovers(self._folder)
        with contextlib.ExitStack() as stack:
            stack.enter_context(folder_lock(self._folder, f"wait for it, or {_ANOTHER}"))
            empty = self._path.is_file() and not self._path.stat().st_size
            if empty or not os.path.lexists(self._path):
                self._create()
            self._check_header()
            with self._failures(), external_errors(f"cannot write {self._name}"):
                # SQLite reports missing permissions late or unclearly.
                self._path.open("rb+").close()
                self._connection = stack.enter_context(_sqlite(self._path))
                self._check_problem()
                self._connection.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # is it writable?
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def get(self, key: str) -> bytes | None:
        """Return the result of a task; None when it is not done.

        Raises:
            InputError: when the stored result is damaged.
        """
        with self._failures():
            query = "SELECT digest, result FROM results WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        if row is None:
            return None
        result: bytes = row[1]
        if row[0] != digest(key, result):  # includes the key: results may have been swapped
            raise self._refusal(
                f"the result of the task {quote(key)} is damaged; "
                f"restore the file from a copy, or {_ANOTHER} to start over"
            )
        return result

    def put(self, key: str, result: bytes) -> None:
        """Store the result of a task; on return it has reached the disk.

        Raises:
            ExternalError: when it cannot be written. Earlier results are kept.
        """
        with self._failures():
            row = (key, digest(key, result), result)
            self._connection.execute("INSERT INTO results VALUES (?, ?, ?)", row)

    def keys(self) -> set[str]:
        """Return the keys of finished tasks."""
        with self._failures():
            return {key for (key,) in self._connection.execute("SELECT key FROM results")}

    def _create(self) -> None:
        with external_errors(f"cannot write {self._name}"), Staging(self._folder) as staging:
            with self._failures(), _sqlite(staging.path(CHECKPOINT_NAME)) as new:
                new.executescript(_TABLES)
                text = json.dumps(self._problem, ensure_ascii=False)
                new.execute("INSERT INTO problem VALUES (?)", (text,))
            # SQLite would apply what a deleted file has left to the new one.
            for end in ("wal", "shm"):
                Path(f"{self._path}-{end}").unlink(missing_ok=True)
            staging.commit()

    def _check_header(self) -> None:
        """Refuse a file that is not a checkpoint before SQLite opens it."""
        header = read_bytes(self._path, self._name, "a checkpoint of fabkit's", _HEADER_BYTES)
        if not header.startswith(_MAGIC) or int.from_bytes(header[68:72], "big") != _APPLICATION:
            raise self._refusal(_NOT_OURS)
        schema = int.from_bytes(header[60:64], "big")
        if schema > SCHEMA_VERSION:
            raise NewerSchemaError.of(
                self._name,
                f"was written by a newer fabkit (schema {schema}, this version supports "
                f"{SCHEMA_VERSION}); update fabkit or {_ANOTHER}",
            )

    def _check_problem(self) -> None:
        """Refuse a damaged file, and one of another problem, naming the first key that differs."""
        whole = self._connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        try:
            ((text,),) = self._connection.execute("SELECT text FROM problem WHERE ?", (whole,))
            there = json.loads(text)
        except ValueError:
            raise self._refusal(_DAMAGED) from None
        for key in {**self._problem, **there}:
            stored, expected = there.get(key, ...), self._problem.get(key, ...)
            if json.dumps(stored, default=str) != json.dumps(expected, default=str):
                values = stored, expected
                found, asked = ("nothing" if value is ... else quote(value) for value in values)
                message = f"belongs to a different problem: found {found}, expected {asked}"
                raise InputError.of(self._name, f"{message}; {_ANOTHER}", escape(key))

    def _refusal(self, message: str) -> InputError:
        return InputError.of(self._name, message)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Convert SQLite errors to errors with a message for users."""
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
                sqlite3.SQLITE_READONLY: "it is read-only",
                sqlite3.SQLITE_BUSY: "another program has it open",
            }.get(code, escape(str(error)))
            kept = "completed work is saved; fix the problem and run the same command to continue"
            raise ExternalError(f"cannot write {self._name}: {reason}; {kept}") from None


@contextlib.contextmanager
def _sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an exclusive connection: the folder is locked, so no other process needs access.

    SQLite then needs no shared-memory file, which is unreliable on network disks and needs space on
    a full one.
    """
    with contextlib.closing(sqlite3.connect(path, _BUSY_S, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA synchronous = FULL")  # each commit waits for the disk
        yield connection
