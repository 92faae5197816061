"""Reports in a set's output folder: written whole, and entered in its manifest."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.manifest import (
    MANIFEST,
    files_digest,
    is_as_written,
    new_entry,
    read_manifest,
    remove_unchanged,
)
from fabkit.build.targets import generator_digest
from fabkit.core.errors import InputError, OutsideError, printable
from fabkit.core.files import (
    Staging,
    digest,
    folder_lock,
    json_text,
    outside_failures,
    read_json,
)
from fabkit.model.profile import SETTINGS, Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.verify.catalog import VerifyReport
    from fabkit.verify.check import CheckReport

_ROOMS = ("model", "drawing", "mesh", "solve", "verify", "printing", "output")
_LIBRARIES = ("numpy", "shapely", "manifold3d", "numba", "python-sat")


def made_by(puzzle: PuzzleSet, profile: Profile, *more: str, but: tuple[str, ...] = ()) -> str:
    """A hash of what goes into a report besides the files that it speaks of.

    Args:
        puzzle: the set.
        profile: the effective one, of which a report may use any number.
        more: what else counts, such as a budget.
        but: beginnings of the profile's keys that do not count.
    """
    counted = [s for s in SETTINGS if not s.key.startswith(but)]
    numbers = [f"{s.key}={getattr(profile, s.attribute)}" for s in counted]
    code = generator_digest(_ROOMS, _LIBRARIES)
    return digest(puzzle.digest, code, profile.name, *numbers, *more)


def write_reports(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    contents: Mapping[str, str | bytes | Path],
    on_own: bool = True,
    made_by: str = "",
    about: str | None = None,
    instead_of: str = "",
) -> list[str]:
    """Writes reports into an output folder. A manifest that cannot be read is left alone, and told.

    Args:
        folder: the output folder; made when needed.
        puzzle: the set.
        profile: what the files are held against.
        contents: by name, a text, bytes, or a file to be copied there.
        on_own: whether they speak of the folder's own files.
        made_by: see `made_by`; by that `stored_reports` knows them again.
        about: `files_now` of when the files were read that the reports speak of.
        instead_of: the folder whose files they replace: those of before go, unless somebody has
            changed them.

    Returns:
        What deserves a look, in sentences.

    Raises:
        OutsideError: when the folder is in use or cannot be written, or its files changed meanwhile.
    """
    warnings = []
    with folder_lock(folder), outside_failures(f"cannot write in {printable(str(folder))}"):
        try:
            manifest = read_manifest(folder, puzzle, force=False)
        except InputError as error:
            manifest = None
            warnings.append(f"{MANIFEST} was left as it is: {error}")
        before = dict(manifest["files"]) if manifest else {}
        digests = {name: files_digest(before, name) if on_own else "" for name in contents}
        if about is not None and manifest and {about} != set(digests.values()):
            raise OutsideError(
                f"the files in {printable(str(folder))} changed meanwhile; nothing was written. "
                "Give the command again"
            )
        outdated = [name for name in before if instead_of and name.startswith(f"{instead_of}/")]
        outdated = [name for name in outdated if name not in contents]
        with Staging(folder) as staging:
            entries = {}
            for name, content in contents.items():
                path = staging.path(name)
                if isinstance(content, Path):
                    shutil.copyfile(content, path)
                else:
                    path.write_bytes(content if isinstance(content, bytes) else content.encode())
                entries[name] = new_entry(path, digests[name], profile, {}) | {"made_by": made_by}
            files = {
                name: entry for name, entry in before.items() if name not in outdated
            } | entries
            if manifest is not None:
                if files == before and all(is_as_written(folder / n, files[n]) for n in contents):
                    return warnings  # all of it is there, as it would be written
                manifest["files"] = dict(sorted(files.items()))
                path = staging.path(MANIFEST)
                path.write_text(json_text(manifest), encoding="utf-8", newline="\n")
            staging.commit()
        remove_unchanged(folder, outdated, before)
    return warnings


def files_now(folder: Path, puzzle: PuzzleSet, report: str) -> str:
    """A hash of the files in a folder that a report will speak of.

    Args:
        folder: the output folder.
        puzzle: the set.
        report: its name.
    """
    return files_digest(read_manifest(folder, puzzle, force=True)["files"], report)


def are_as_written(folder: Path, puzzle: PuzzleSet, names: Iterable[str]) -> bool:
    """Whether files of a folder are there, and just as fabkit wrote them."""
    files = read_manifest(folder, puzzle, force=True)["files"]
    return all(name in files and is_as_written(folder / name, files[name]) for name in names)


def is_current(folder: Path, puzzle: PuzzleSet, name: str, made_by: str) -> bool:
    """Whether a report would come out just so again.

    Args:
        folder: the output folder.
        puzzle: the set.
        name: the report.
        made_by: what it would be made by now.
    """
    files = read_manifest(folder, puzzle, force=True)["files"]
    entry = files.get(name)
    if entry is None or entry.get("made_by") != made_by:
        return False
    return entry["recipe"] == files_digest(files, name) and is_as_written(folder / name, entry)


def stored_reports(
    folder: Path, puzzle: PuzzleSet, names: Sequence[str], made_by: str
) -> dict[str, dict[str, Any]] | None:
    """Reports that would come out just so again.

    Args:
        folder: the output folder.
        puzzle: the set.
        names: JSON reports.
        made_by: what they would be made by now.

    Returns:
        The documents by name; None when one is missing, or anything has changed since.
    """
    documents = {}
    for name in names:
        if not is_current(folder, puzzle, name, made_by):
            return None
        path = folder / name
        with outside_failures(f"cannot read {printable(str(path))}"):
            documents[name] = read_json(path)
        documents[name].pop("schema")
    return documents


def write_check(
    folder: Path,
    report: CheckReport,
    on_own: bool = True,
    made_by: str = "",
    about: str | None = None,
) -> list[str]:
    """Writes ``check.json`` and ``check.html``; see `write_reports`."""
    from fabkit.output.checkpage import check_page
    from fabkit.verify.page import check_sheet

    texts: dict[str, str | Path] = {
        "check.json": json_text(report.document()),
        "check.html": check_page(check_sheet(report)),
    }
    return write_reports(folder, report.taken.puzzle, report.profile, texts, on_own, made_by, about)


def write_verify(
    folder: Path,
    report: VerifyReport,
    profile: Profile,
    on_own: bool = True,
    made_by: str = "",
    about: str | None = None,
) -> list[str]:
    """Writes ``verify.json``; see `write_reports`."""
    texts: dict[str, str | Path] = {"verify.json": json_text(report.document())}
    return write_reports(folder, report.taken.puzzle, profile, texts, on_own, made_by, about)
