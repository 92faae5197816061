"""Files appear whole or not at all, and only one process at a time writes in a folder."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock, Timeout

from fabkit.core.errors import InputError, OutsideError, cut, printable
from fabkit.core.signals import at_stop, held

#: The version of every JSON file that fabkit writes. A newer one is refused.
SCHEMA = 1
LOCK_NAME = ".fabkit.lock"
_STAGING_PREFIX = ".fabkit-"


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(*parts: str | bytes) -> str:
    """One SHA-256 over several parts, in order, so that moved borders change it."""
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()


def json_sha256(value: Any) -> str:
    """The SHA-256 of a value as the shortest JSON, with sorted keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def json_text(document: dict[str, Any], indent: int | None = 2) -> str:
    """A JSON file's text: the schema first, stable, one trailing line break."""
    return json.dumps({"schema": SCHEMA, **document}, indent=indent, ensure_ascii=False) + "\n"


def read_bytes(path: Path, source: str, expected: str, most: int) -> bytes:
    """Reads a file that anybody may have made; ``source`` and ``expected`` are for messages.

    Of a file of more than so many bytes one more is read, and the caller refuses it.

    Raises:
        InputError: when there is no such file, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size or most  # memory is taken for all asked for
            return file.read(min(size, most) + 1)
    except FileNotFoundError:
        raise InputError.of(source, "there is no such file") from None
    except IsADirectoryError:
        raise InputError.of(source, f"is a folder; expected {expected}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError.of(source, f"cannot be read: {reason}") from None


def read_json(path: Path) -> dict[str, Any]:
    """Reads a JSON file that fabkit wrote.

    Raises:
        InputError: when it is not JSON, not an object, or of a newer schema.
        FileNotFoundError: when there is none.
    """
    name = printable(str(path))
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError.of(name, f"is not JSON: {printable(str(error))}") from None
    if not isinstance(document, dict):
        raise InputError.of(name, "expected a JSON object")
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError.of(name, "has no schema number; it is not one of fabkit's files")
    if schema > SCHEMA:
        raise NewerSchemaError.of(
            name,
            f"was written by a newer fabkit (schema {printable(str(schema))}, this one knows "
            f"{SCHEMA}); update fabkit or choose another folder with -o",
        )
    return document


class NewerSchemaError(InputError):
    """A file that a newer fabkit wrote. It is never overwritten."""


@contextlib.contextmanager
def outside_failures(doing: str) -> Iterator[None]:
    """Turns the operating system's refusals of ``"cannot write …"`` into an `OutsideError`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno == errno.ENAMETOOLONG:
            reason = "the name is too long; choose a shorter one"
            raise InputError.of("", f"{cut(doing)}: {reason}") from None
        if error.errno == errno.ENOSPC:
            reason = "the disk is full; nothing was changed"
        raise OutsideError(f"{doing}: {reason}") from None


@contextlib.contextmanager
def folder_lock(
    folder: Path, advice: str = "wait for it, or choose another folder with -o"
) -> Iterator[None]:
    """Holds a folder, which is made when needed, until this process ends, however that is.

    Raises:
        OutsideError: at once, when another process holds it or it cannot be made.
    """
    with outside_failures(f"cannot use the folder {printable(str(folder))}"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_NAME, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise OutsideError(
                f"another fabkit is at work in {printable(str(folder))}; {advice}"
            ) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def temporary_folder(inside: Path | None = None) -> Iterator[Path]:
    """A folder, hidden if it lies inside another, that is gone at the end, also after a signal."""
    with contextlib.ExitStack() as stack:
        with held():  # what has been made is known
            prefix, suffix = _STAGING_PREFIX, ".part" if inside else ""
            folder = Path(tempfile.mkdtemp(suffix, prefix if inside else prefix[1:], inside))
            remove = functools.partial(shutil.rmtree, folder, ignore_errors=True)
            stack.enter_context(at_stop(remove))
            stack.callback(remove)
        yield folder


def remove_leftovers(folder: Path) -> None:
    """Removes what processes that were killed had staged; not while one is at work there."""
    if any(folder.glob(f"{_STAGING_PREFIX}*.part")):
        with contextlib.suppress(OutsideError), folder_lock(folder):
            for leftover in folder.glob(f"{_STAGING_PREFIX}*.part"):
                shutil.rmtree(leftover, ignore_errors=True)


class Staging:
    """A hidden folder beside the final files: all are written there first, then moved.

    Use it as a context manager inside a `folder_lock`. Leaving it without `commit`, by an
    error or Ctrl-C, removes everything that was staged.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self._names: list[str] = []

    def __enter__(self) -> Staging:
        self._held = contextlib.ExitStack()
        self._folder = self._held.enter_context(temporary_folder(self.target))
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def path(self, name: str) -> Path:
        """Where to write the file that will be ``target/name`` (a relative POSIX path)."""
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts:
            raise ValueError(f"{name} leads out of the folder")
        path = self._folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        self._names.append(name)
        return path

    def discard(self, name: str) -> None:
        """Leaves the file out that was staged by this name."""
        (self._folder / name).unlink()
        self._names.remove(name)

    def commit(self) -> None:
        """Moves every staged file to its place, in the order in which they were asked for.

        What would stop it half-way is looked for first, and Ctrl-C waits until it is done.
        """
        for name in self._names:
            final = self.target / name
            with (self._folder / name).open("rb+") as file:
                os.fsync(file.fileno())  # before its name changes: a crash leaves no empty file
            if final.parent.exists() and not final.parent.is_dir():
                raise OSError(errno.ENOTDIR, f"{final.parent.name} is a file, not a folder")
            final.parent.mkdir(parents=True, exist_ok=True)
            if final.is_dir():
                raise OSError(errno.EISDIR, f"{name} is a folder, where a file should be")
            if final.parent.stat().st_dev != self._folder.stat().st_dev:
                raise OSError(errno.EXDEV, f"{final.parent.name} lies on another disk")
        with held():
            for name in self._names:
                (self._folder / name).replace(self.target / name)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[Staging]:
    """A folder to oneself, and where to stage what is written into it.

    Raises:
        OutsideError: when the folder is in use or cannot be written.
    """
    remove_leftovers(folder)
    doing = f"cannot write in {printable(str(folder))}"
    with folder_lock(folder), outside_failures(doing), Staging(folder) as staging:
        yield staging


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes one file, whole or not at all; its folder is made when needed.

    Raises:
        OutsideError: when the folder cannot be written to.
    """
    with outside_failures(f"cannot write {printable(str(path))}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with Staging(path.parent) as staging:
            text = content if isinstance(content, bytes) else content.encode()
            staging.path(path.name).write_bytes(text)
            staging.commit()
