"""Files that appear whole or not at all, and locks so that only one process writes to a folder."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fabkit.core.errors import ExternalError, InputError, escape, truncate
from fabkit.core.signals import cleanup_on_signal, defer_signals

LOCK_NAME = ".fabkit.lock"
_STAGING_PREFIX = ".fabkit-"


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
        ExternalError: immediately, when another process holds the lock or the folder cannot be
            created.
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
    """Create a folder that is removed at the end, even after a signal; hidden if ``inside``
    another.
    """
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
