"""``manifest.json``: what lies in an output folder, and what it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabkit import __version__
from fabkit.base.errors import InputError, many, printable, shown
from fabkit.base.files import NewerSchemaError, digest, outside_failures, read_json, sha256
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.plan.targets import KINDS, PROFILE, Target, plan_targets, profile_digest

MANIFEST = "manifest.json"
#: What `check` and `verify` write.
REPORTS = ("check.json", "check.html", "verify.json")
_SAFE_NAME = re.compile(r"([a-z]+/)?[A-Za-z0-9][A-Za-z0-9_-]{0,39}\.[a-z0-9]+")
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
        and all(
            isinstance(piece, dict)
            and isinstance(piece.get("magnets_mm"), list)
            and isinstance(piece.get("pause_height_mm"), int | float | None)
            for piece in entry["pieces"].values()
        )
    )


def new_entry(path: Path, recipe: str, profile: Profile, pieces: Mapping[str, Any]) -> Entry:
    """What the manifest keeps of a file that was just built.

    Args:
        path: where it lies now.
        recipe: the hash of all that went into it.
        profile: how its pieces are printed.
        pieces: what people and scripts want to know of each piece in it.
    """
    return {
        "sha256": sha256(path),
        "recipe": recipe,
        "profile": profile_digest(profile),
        "pieces": dict(pieces),
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
        entry = manifest["files"].get(target.name)
        path = folder / target.name
        if entry is None or entry["recipe"] != target.recipe or not path.is_file():
            return False
        with outside_failures(f"cannot read {printable(str(path))}"):
            return bool(sha256(path) == entry["sha256"])

    return [target for target in targets if force or not is_fresh(target)]


def left_behind(
    puzzle: PuzzleSet, profile: Profile, manifest: dict[str, Any], folder: Path
) -> Iterable[str]:
    """What in the folder does not belong to the set as it is now, in sentences."""
    recipes = {t.name: t.recipe for t in plan_targets(puzzle, puzzle.pieces, profile, KINDS)}
    here = {name: entry for name, entry in manifest["files"].items() if (folder / name).is_file()}
    strangers = sorted(here.keys() - recipes.keys() - {PROFILE} - set(REPORTS))
    if strangers:
        yield f"no longer part of the set: {', '.join(strangers)}"
    others = sorted(n for n in here.keys() & recipes.keys() if here[n]["recipe"] != recipes[n])
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made from another drawing or profile: {many(len(others), 'file')} ({kinds}); export "
            "again, or keep profiles apart with -o"
        )
    meshes = meshes_digest(manifest["files"])
    old = [name for name in REPORTS if name in here and here[name]["recipe"] not in ("", meshes)]
    if old:
        yield f"of other meshes than are here now: {', '.join(old)}; check and verify again"


def meshes_digest(files: Mapping[str, Entry]) -> str:
    """A hash of the meshes in a folder, as its manifest knows them."""
    meshes = sorted((name, files[name]["sha256"]) for name in files if name.startswith("stl/"))
    return digest(*(text for entry in meshes for text in entry))
