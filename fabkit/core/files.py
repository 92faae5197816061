"""Atomic file output, and locks so that only one process writes to a folder."""

from __future__ import annotations

import contextlib
import csv
import errno
import functools
import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from fabkit.core.errors import ExternalError, InputError, escape, truncate
from fabkit.core.signals import cleanup_on_signal, defer_signals

#: The version of every JSON file that fabkit writes. Newer versions are refused.
SCHEMA_VERSION = 1
_NO_SCHEMA = "has no schema number; it is not a fabkit file"
LOCK_NAME = ".fabkit.lock"
_STAGING_PREFIX = ".fabkit-"


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(*parts: str | bytes) -> str:
    """Return one SHA-256 over several parts; lengths are hashed, so that boundaries matter."""
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()


def json_sha256(value: Any) -> str:
    """Return the SHA-256 of a value as compact JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def json_text(document: dict[str, Any], indent: int | None = 2) -> str:
    """Return a JSON file's text: the schema first, one trailing line break."""
    return (
        json.dumps({"schema": SCHEMA_VERSION, **document}, indent=indent, ensure_ascii=False) + "\n"
    )


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return a CSV file's text, the same on every system.

    Example:
        >>> print(csv_text([["A", "B, C"], [1, None]]), end="")
        A,"B, C"
        1,
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def shipped_file(path: Path) -> Path:
    """Return the path of a file that comes with fabkit.

    Raises:
        ExternalError: if it is missing.
    """
    if path.is_file():
        return path
    raise ExternalError(f"there is no {escape(str(path))}, which comes with fabkit; reinstall it")


def read_bytes(path: Path, source: str, expected: str, max_bytes: int) -> bytes:
    """Read an untrusted file; ``source`` and ``expected`` are for messages.

    At most ``max_bytes`` + 1 bytes are read, so that the caller can refuse a larger file.

    Raises:
        InputError: when the file does not exist or cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size or max_bytes
            return file.read(min(size, max_bytes) + 1)  # which allocates the size requested
    except FileNotFoundError:
        raise InputError.of(source, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.of(source, f"is a folder; expected {expected}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError.of(source, f"cannot be read: {reason}") from None


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that fabkit wrote.

    Raises:
        InputError: when it is not JSON, not an object, or of a newer schema.
        FileNotFoundError: when there is none.
    """
    name = escape(str(path))
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError.of(name, f"is not JSON: {escape(str(error))}") from None
    if not isinstance(document, dict):
        raise InputError.of(name, "expected a JSON object")
    if "schema" not in document:
        raise InputError.of(name, _NO_SCHEMA)
    check_schema(document, name)
    return document


def check_schema(document: Mapping[str, Any], source: str) -> None:
    """Refuse a document of a newer schema; one without a number may be written by hand.

    Raises:
        InputError: when the number is invalid; NewerSchemaError when it is too large.
    """
    schema = document.get("schema", SCHEMA_VERSION)
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError.of(source, _NO_SCHEMA)
    if schema > SCHEMA_VERSION:
        raise NewerSchemaError.of(
            source,
            f"was written by a newer fabkit (schema {escape(str(schema))}, this version supports "
            f"{SCHEMA_VERSION}); update fabkit or choose another folder with -o",
        )


class NewerSchemaError(InputError):
    """A file written by a newer fabkit. It is never overwritten."""


@contextlib.contextmanager
def external_errors(doing: str) -> Iterator[None]:
    """Convert an OSError to an `ExternalError` that begins with ``doing``, as "cannot write …"."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.ENAMETOOLONG:
            reason = "the name is too long; choose a shorter one"
            raise InputError.of("", f"{truncate(doing)}: {reason}") from None
        if error.errno == errno.ENOSPC:
            reason = "the disk is full; nothing was changed"
        raise ExternalError(f"{doing}: {reason}") from None


@contextlib.contextmanager
def folder_lock(
    folder: Path,
    advice: str = "wait for it, or choose another folder with -o",
    holder: str = "another fabkit process is using",
    named_folder: Path | None = None,
) -> Iterator[None]:
    """Create a folder if needed and lock it; the lock ends with this process, even if killed.

    Args:
        advice: what the message that it is in use says to do.
        holder: what holds the lock then.
        named_folder: the folder that the message names, if another.

    Raises:
        ExternalError: immediately, when another process holds the lock or the folder cannot be created.
    """
    from filelock import FileLock, Timeout

    with external_errors(f"cannot use the folder {escape(str(folder))}"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_NAME, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise ExternalError(
                f"{holder} {escape(str(named_folder or folder))}; {advice}"
            ) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def temporary_folder(inside: Path | None = None) -> Iterator[Path]:
    """Create a folder that is removed at the end, even after a signal; hidden if ``inside`` another."""
    with contextlib.ExitStack() as stack:
        with defer_signals():  # no signal between creation and registration
            prefix = _STAGING_PREFIX if inside else _STAGING_PREFIX.removeprefix(".")
            folder = Path(tempfile.mkdtemp(".part" if inside else "", prefix, inside))
            remove = functools.partial(shutil.rmtree, folder, ignore_errors=True)
            stack.enter_context(cleanup_on_signal(remove))
            stack.callback(remove)
        yield folder


def remove_leftovers(folder: Path) -> None:
    """Remove staged files of killed processes, unless another process is using the folder."""
    if any(folder.glob(f"{_STAGING_PREFIX}*.part")):
        with contextlib.suppress(ExternalError), folder_lock(folder):
            remove_staged(folder)


def remove_staged(folder: Path) -> None:
    """Remove the temporary folders inside of another, which no process may be using."""
    for leftover in folder.glob(f"{_STAGING_PREFIX}*.part"):
        shutil.rmtree(leftover, ignore_errors=True)


class Staging:
    """A hidden folder beside the final files: files are written there first, then moved.

    Use it as a context manager inside a `folder_lock`. Leaving it without `commit`, by an
    error or Ctrl-C, removes all staged files.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self._names: list[str] = []

    def __enter__(self) -> Staging:
        self._stack = contextlib.ExitStack()
        self._folder = self._stack.enter_context(temporary_folder(self.target))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def path(self, name: str) -> Path:
        """Return where to write the file that becomes ``target/name`` (a relative POSIX path)."""
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts:
            raise ValueError(f"{name} is outside the folder")
        path = self._folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        self._names.append(name)
        return path

    def discard(self, name: str) -> None:
        """Discard a staged file."""
        (self._folder / name).unlink()
        self._names.remove(name)

    def commit(self) -> None:
        """Move every staged file into place, in the order staged.

        Conflicts are checked first, and Ctrl-C is deferred to the end.
        """
        for name in self._names:
            final = self.target / name
            with (self._folder / name).open("rb+") as file:
                os.fsync(file.fileno())  # before renaming: a crash must not leave an empty file
            if final.parent.exists() and not final.parent.is_dir():
                raise OSError(errno.ENOTDIR, f"{final.parent.name} is a file, not a folder")
            final.parent.mkdir(parents=True, exist_ok=True)
            if final.is_dir():
                raise OSError(errno.EISDIR, f"{name} is a folder, where a file should be")
            if final.parent.stat().st_dev != self._folder.stat().st_dev:
                raise OSError(errno.EXDEV, f"{final.parent.name} is on another disk")
        with defer_signals():
            for name in self._names:
                (self._folder / name).replace(self.target / name)


@contextlib.contextmanager
def staged_writes(folder: Path) -> Iterator[Staging]:
    """Lock a folder and stage the files written to it.

    Raises:
        ExternalError: when the folder is in use or cannot be written.
    """
    remove_leftovers(folder)
    doing = f"cannot write in {escape(str(folder))}"
    with folder_lock(folder), external_errors(doing), Staging(folder) as staging:
        yield staging


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip archive, compressed at the highest level. Equal contents give equal bytes.

    Example:
        >>> zip_bytes({"a.txt": b"text"})[:2]
        b'PK'
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in contents.items():
            info = zipfile.ZipInfo(name)
            info.create_system = 3  # Unix
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write one file atomically; its folder is created if needed.

    Raises:
        ExternalError: when the folder cannot be written to.
    """
    with external_errors(f"cannot write {escape(str(path))}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with Staging(path.parent) as staging:
            text = content if isinstance(content, bytes) else content.encode()
            staging.path(path.name).write_bytes(text)
            staging.commit()
