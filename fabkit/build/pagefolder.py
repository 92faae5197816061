"""The folder of a page: what may be written over in it, and how the page gets there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabkit.build.manifest import (
    MANIFEST,
    inputs,
    is_as_written,
    new_entry,
    read_manifest,
    remove_unchanged,
)
from fabkit.core.errors import InputError, printable
from fabkit.core.files import Staging, folder_lock, json_text, outside_failures
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What it is called in an output folder, and the file that a browser opens.
PAGE, INDEX = "page", "index.html"


def ours(files: Mapping[str, Any]) -> dict[str, Any]:
    """The page's own entries of a manifest.

    Example:
        >>> ours({"index.html": {"made_by": "page"}, "check.json": {}})
        {'index.html': {'made_by': 'page'}}
    """
    return {name: entry for name, entry in files.items() if entry.get("made_by") == PAGE}


def refuse_changed(
    folder: Path, manifest: Mapping[str, Any], contents: Mapping[str, bytes], force: bool
) -> None:
    """Refuses a folder in which somebody else's work would be written over.

    Args:
        folder: of the page.
        manifest: what fabkit has written there.
        contents: what is to be written; empty while that is not known.
        force: refuses nothing.

    Raises:
        InputError: naming the files.
        OutsideError: when one cannot be read.

    Example:
        >>> here, nothing = Path(__file__).parent, {"files": {}}
        >>> refuse_changed(here, nothing, {"none.js": b""}, force=False)
        >>> try:
        ...     refuse_changed(here, nothing, {Path(__file__).name: b""}, force=False)
        ... except InputError as error:
        ...     print(str(error)[-26:])
        write over it with --force
    """
    if force:
        return
    files = manifest["files"]
    changed = [
        name
        for name in sorted({INDEX, *ours(files), *contents})
        if (folder / name).is_file()
        and not (name in files and is_as_written(folder / name, files[name]))
        and not _holds(folder / name, contents.get(name))
    ]
    if changed:
        message = (
            f"was not written by fabkit, or has been changed since: {', '.join(changed)}; choose "
            "another folder with -o, or write over it with --force"
        )
        raise InputError.of(printable(str(folder)), message)


def write_page(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    contents: Mapping[str, bytes],
    key: str,
    told: Mapping[str, Any],
    force: bool,
) -> set[str]:
    """Writes all files of a page, whole or not at all, and removes what it no longer needs.

    Args:
        folder: of the page; made when needed.
        puzzle: the set.
        profile: how everything is printed.
        contents: the files by name.
        key: by what they are known to be up to date.
        told: what the manifest keeps of the page.
        force: writes every file, and over those of others.

    Returns:
        The names of those that were written; the others are there already.

    Raises:
        InputError: before anything is touched, when the folder holds another set, or other files
            by those names that fabkit has not written.
        OutsideError: when the folder is in use or cannot be written.
    """
    where = f"cannot write in {printable(str(folder))}"
    written = set[str]()
    with folder_lock(folder), outside_failures(where):
        manifest = read_manifest(folder, puzzle, force)
        refuse_changed(folder, manifest, contents, force)
        before = dict(manifest["files"])
        outdated = ours(before).keys() - contents.keys()
        with Staging(folder) as staging:
            entries = {}
            for name, content in contents.items():
                path = folder / name
                if force or not _holds(path, content):
                    path = staging.path(name)
                    path.write_bytes(content)
                    written.add(name)
                made = new_entry(path, key, profile, {}, len(contents))
                entries[name] = made | {"made_by": PAGE}
            kept = {name: entry for name, entry in before.items() if name not in outdated}
            manifest |= inputs(puzzle, profile) | {PAGE: dict(told)}
            manifest["files"] = dict(sorted({**kept, **entries}.items()))
            path = staging.path(MANIFEST)
            path.write_text(json_text(manifest), encoding="utf-8", newline="\n")
            staging.commit()
        remove_unchanged(folder, outdated, before)
    return written


def _holds(path: Path, content: bytes | None) -> bool:
    """Whether a file is there with just this content."""
    return path.is_file() and path.read_bytes() == content
