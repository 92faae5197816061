"""The zip archive that a 3MF file is: looked through before anything is inflated."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from fabkit.core.errors import InputError, cut, printable, shown

MAX_ENTRIES = 2000
#: What all entries together may inflate to. Two million triangles take 150 MB as 3MF writes them.
MAX_INFLATED = 512 * 1024 * 1024
#: What is inflated may be so many times as large as it was; meshes reach ten or twenty.
MAX_RATIO = 200
#: Below this size no ratio is asked for.
_SMALL = 1024 * 1024
#: So much is inflated at a time.
CHUNK = 1024 * 1024
_LOCAL_HEADER = 30
_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1 | 0x40 | 0x2000


class Package:
    """An archive whose directory is sound.

    Args:
        content: the file's bytes.
        source: its name in messages.

    Raises:
        InputError: when it is no zip archive, or its directory holds what no 3MF file needs: too
            many or too large entries, names that lead elsewhere, links, encryption.
    """

    def __init__(self, content: bytes, source: str) -> None:
        self._source = source
        # Each entry of the directory begins with this mark; the reader below makes an object for
        # each, however many the file says there are.
        if content.count(_ENTRY) > MAX_ENTRIES:
            raise InputError.of(source, f"is an archive of more than {MAX_ENTRIES} entries")
        with self._complaints():
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        entries = self._zip.infolist()
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = self._checked_name(entry)
            if name in self._entries:
                self._refuse(entry, "is there twice")
            self._entries[name] = entry
            self._check(entry)
        if sum(entry.file_size for entry in entries) > MAX_INFLATED:
            raise InputError.of(source, f"inflates to more than {MAX_INFLATED // 1024**2} MiB")
        self._check_overlaps(entries)

    def __contains__(self, name: str) -> bool:
        return _folded(name) in self._entries

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of an entry, piece by piece.

        Args:
            name: of an entry that the package has.

        Raises:
            InputError: when it is not what the directory says: its size, its checksum.
        """
        entry = self._entries[_folded(name)]
        size = 0
        with self._complaints(entry), self._zip.open(entry) as stream:
            while True:
                chunk = stream.read(CHUNK)
                if not chunk:
                    break
                size += len(chunk)
                yield chunk
        if size != entry.file_size:
            self._refuse(entry, f"inflates to {size} bytes; announced are {entry.file_size}")

    def _checked_name(self, entry: zipfile.ZipInfo) -> str:
        """The name by which an entry is found. The archive's own, not what Python makes of it."""
        name = entry.orig_filename
        parts = name.removesuffix("/").split("/")
        if not all(parts) or {".", ".."} & set(parts) or set(name) & set('\\:\0*?"<>|'):
            self._refuse(entry, "has a name that leads out of the archive; expected a plain path")
        if not name.isprintable():
            self._refuse(entry, "has a name with characters that cannot be printed")
        return _folded(name)

    def _check(self, entry: zipfile.ZipInfo) -> None:
        if entry.flag_bits & _ENCRYPTED:
            self._refuse(entry, "is encrypted; expected a 3MF file without a password")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self._refuse(entry, f"is compressed by method {entry.compress_type}; expected deflate")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            self._refuse(entry, "is a link or a device; expected a file")
        if entry.file_size > max(_SMALL, MAX_RATIO * entry.compress_size):
            self._refuse(
                entry,
                f"inflates from {entry.compress_size} to {entry.file_size} bytes; "
                f"expected at most {MAX_RATIO} times as much",
            )

    def _check_overlaps(self, entries: list[zipfile.ZipInfo]) -> None:
        """A few bytes may stand for many files, when their places overlap."""
        end = 0
        for entry in sorted(entries, key=lambda one: one.header_offset):
            if entry.header_offset < end:
                self._refuse(entry, "overlaps another entry")
            end = entry.header_offset + _LOCAL_HEADER + entry.compress_size
            end += len(entry.orig_filename)
        if end > self._zip.start_dir:
            raise InputError.of(
                self._source, "is an incomplete or damaged archive: an entry runs out of it"
            )

    def _refuse(self, entry: zipfile.ZipInfo, message: str) -> None:
        raise InputError.of(self._source, message, f"entry {shown(entry.orig_filename[:200])}")

    @contextmanager
    def _complaints(self, entry: zipfile.ZipInfo | None = None) -> Iterator[None]:
        """Turns what zipfile and zlib may raise on a damaged archive into one message."""
        try:
            yield
        except (
            EOFError,
            LookupError,
            NotImplementedError,
            OSError,
            OverflowError,
            RuntimeError,
            ValueError,
            struct.error,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            place = f"entry {shown(entry.orig_filename[:200])}" if entry else ""
            reason = cut(printable(str(error)[:200]))
            raise InputError.of(
                self._source, f"is an incomplete or damaged archive: {reason}", place
            ) from None


def _folded(name: str) -> str:
    """Names of parts are compared without case, and with or without a slash at the start."""
    return name.strip("/").casefold()
