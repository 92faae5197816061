"""``manifest.json``: what lies in an output folder, and what it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabkit import __version__
from fabkit.build.targets import PROFILE, Target, kinds_for, plan_targets, profile_digest
from fabkit.core.errors import InputError, many, printable, shown
from fabkit.core.files import NewerSchemaError, digest, outside_failures, read_json, sha256
from fabkit.model.accessory import things
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

MANIFEST = "manifest.json"
#: Reports, and the folder whose files they speak of; bill and booklet speak of none.
REPORTS = {
    "check.json": "stl",
    "check.html": "stl",
    "verify.json": "stl",
    "bom.csv": "",
    "bom.json": "",
    "slice.json": "plates",
    "booklet.pdf": "",
}
#: What a slicer makes of plates lies here.
GCODE = "gcode"
_SAFE_NAME = re.compile(r"([a-z0-9-]+/)?[A-Za-z0-9][A-Za-z0-9_-]{0,39}\.[a-z0-9]+")
_TEXTS = ("sha256", "recipe", "profile")

#: What the manifest keeps of one file.
Entry = dict[str, Any]


def read_manifest(folder: Path, puzzle: PuzzleSet, force: bool) -> dict[str, Any]:
    """The folder's manifest; an empty one when there is none.

    Args:
        folder: the output folder; need not exist.
        puzzle: the set that is to be written there.
        force: starts afresh when the manifest is broken.

    Returns:
        ``set``, ``fabkit`` (the version), ``inputs`` (hashes) and ``files`` (entries by name).

    Raises:
        InputError: when the manifest is broken or newer, or the folder holds another set.
        OutsideError: when it cannot be read.
    """
    empty: dict[str, Any] = {"set": puzzle.name, "files": {}}
    path = folder / MANIFEST
    name = printable(str(path))
    try:
        with outside_failures(f"cannot read {name}"):
            if not path.exists():
                return empty
            manifest = read_json(path)
        if not _is_manifest(manifest):
            raise InputError.of(name, "is not a manifest that fabkit wrote")
    except NewerSchemaError:
        raise
    except InputError as error:
        if force:
            return empty
        raise InputError.of("", f"{error}; --force builds everything again") from None
    if manifest["set"] != puzzle.name:
        found = f"holds the set {shown(manifest['set'])}, not {shown(puzzle.name)}"
        raise InputError.of(printable(str(folder)), f"{found}; choose another folder with -o")
    manifest.pop("schema")
    return manifest


def _is_manifest(manifest: Mapping[str, Any]) -> bool:
    files = manifest.get("files")
    return (
        isinstance(manifest.get("set"), str)
        and isinstance(files, dict)
        and all(_SAFE_NAME.fullmatch(name) and _is_entry(entry) for name, entry in files.items())
    )


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) for key in _TEXTS)
        and isinstance(entry.get("pieces"), dict)
        and isinstance(entry.get("files", 1), int)
        and all(
            isinstance(piece, dict)
            and isinstance(piece.get("magnets_mm"), list)
            and isinstance(piece.get("pause_height_mm"), int | float | None)
            for piece in entry["pieces"].values()
        )
    )


def new_entry(
    path: Path, recipe: str, profile: Profile, pieces: Mapping[str, Any], files: int = 1
) -> Entry:
    """What the manifest keeps of a file that was just built.

    Args:
        path: where it lies now.
        recipe: the hash of all that went into it.
        profile: how its pieces are printed.
        pieces: what people and scripts want to know of each piece in it.
        files: how many files have that recipe: those of a group.
    """
    return {
        "sha256": sha256(path),
        "recipe": recipe,
        "profile": profile_digest(profile),
        "pieces": dict(pieces),
        "files": files,
    }


def inputs(puzzle: PuzzleSet, profile: Profile) -> dict[str, Any]:
    """The manifest's account of what was read: of fabkit, the set file and the profile."""
    return {
        "fabkit": __version__,
        "inputs": {"set": puzzle.digest, "profile": profile_digest(profile)},
    }


def find_stale(
    targets: Sequence[Target], manifest: dict[str, Any], folder: Path, force: bool
) -> list[Target]:
    """The targets to build: recipe changed, file missing, or not the bytes that were written.

    Raises:
        OutsideError: when a file cannot be read.
    """

    def is_fresh(target: Target) -> bool:
        made = files_of(target, manifest["files"])
        return bool(made) and all(
            len(made) == entry.get("files", 1) and is_as_written(folder / name, entry)
            for name, entry in made.items()
        )

    return [target for target in targets if force or not is_fresh(target)]


def files_of(target: Target, files: Mapping[str, Entry]) -> dict[str, Entry]:
    """The files of a manifest that are of a target, made by its recipe."""
    return {
        name: entry
        for name, entry in files.items()
        if target.owns(name) and entry["recipe"] == target.recipe
    }


def is_as_written(path: Path, entry: Entry) -> bool:
    """Whether a file is there, and just as fabkit wrote it.

    Raises:
        OutsideError: when it cannot be read.
    """
    with outside_failures(f"cannot read {printable(str(path))}"):
        return path.is_file() and bool(sha256(path) == entry["sha256"])


def left_behind(
    puzzle: PuzzleSet, profile: Profile, manifest: dict[str, Any], folder: Path
) -> Iterable[str]:
    """What in the folder does not belong to the set as it is now, in sentences."""
    targets = plan_targets(puzzle, things(puzzle, profile), profile, kinds_for(puzzle))
    here = {name: entry for name, entry in manifest["files"].items() if (folder / name).is_file()}
    owners = {name: next((t for t in targets if t.owns(name)), None) for name in here}
    strangers = sorted(
        n for n in here if owners[n] is None and not (n == PROFILE or n in REPORTS or _about(n))
    )
    if strangers:
        yield f"no longer part of the set: {', '.join(strangers)}"
    others = sorted(n for n, t in owners.items() if t and here[n]["recipe"] != t.recipe)
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made from another drawing or profile: {many(len(others), 'file')} ({kinds}); export "
            "again, or keep profiles apart with -o"
        )
    old = sorted(
        name
        for name, entry in here.items()
        if _about(name) and entry["recipe"] not in ("", files_digest(manifest["files"], name))
    )
    if old:
        yield f"of other files than are here now: {', '.join(old)}; make them again"


def remove_unchanged(folder: Path, names: Iterable[str], files: Mapping[str, Entry]) -> None:
    """Removes files that are no longer of any use, unless somebody has changed them.

    Args:
        folder: the output folder.
        names: of the files.
        files: what the manifest knew of them.
    """
    for name in sorted(names):
        if is_as_written(folder / name, files[name]):
            (folder / name).unlink()


def _about(name: str) -> str:
    """The folder whose files a report speaks of; empty for what is no report."""
    return "plates" if name.startswith(f"{GCODE}/") else REPORTS.get(name, "")


def files_digest(files: Mapping[str, Entry], report: str) -> str:
    """A hash of the files that a report speaks of.

    Args:
        files: of the manifest.
        report: its name.
    """
    folder = _about(report) or "nothing"
    known = sorted((name, files[name]["sha256"]) for name in files if name.startswith(f"{folder}/"))
    return digest(*(text for entry in known for text in entry))
