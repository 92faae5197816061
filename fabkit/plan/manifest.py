"""``manifest.json``: what lies in an output folder, and what it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fabkit.base.errors import InputError, printable, shown
from fabkit.base.files import outside_failures, read_json, sha256
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.plan.targets import KINDS, Target, plan_targets, profile_digest

MANIFEST = "manifest.json"
_ENTRY_KEYS = ("sha256", "recipe", "profile")


def read_manifest(folder: Path, puzzle: PuzzleSet, force: bool) -> dict[str, Any]:
    """The folder's manifest; an empty one when there is none.

    Args:
        folder: the output folder; need not exist.
        puzzle: the set that is to be written there.
        force: starts afresh when the manifest is broken.

    Returns:
        ``files`` and ``pieces`` by name, beside what else was written.

    Raises:
        InputError: when the manifest is broken, or the folder holds another set.
        OutsideError: when it cannot be read.
    """
    empty: dict[str, Any] = {"set": puzzle.name, "files": {}, "pieces": {}}
    path = folder / MANIFEST
    try:
        with outside_failures(f"cannot read {printable(str(path))}"):
            if not path.exists():
                return empty
            manifest = read_json(path)
        _check(manifest, path)
    except InputError as error:
        if force:
            return empty
        raise InputError.of("", f"{error}; --force builds everything again") from None
    if manifest.get("set") != puzzle.name:
        found = f"holds the set {shown(manifest.get('set'))}, not {shown(puzzle.name)}"
        raise InputError.of(printable(str(folder)), f"{found}; choose another folder with -o")
    manifest.pop("schema")
    return manifest


def _check(manifest: dict[str, Any], path: Path) -> None:
    files, pieces = manifest.get("files"), manifest.get("pieces")
    if (
        not isinstance(files, dict)
        or not isinstance(pieces, dict)
        or not all(isinstance(piece, dict) and "magnets_mm" in piece for piece in pieces.values())
        or not all(
            isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in _ENTRY_KEYS)
            for entry in files.values()
        )
    ):
        raise InputError.of(printable(str(path)), "is not a manifest that fabkit wrote")


def new_entry(target: Target, path: Path, profile: Profile) -> dict[str, str]:
    """What the manifest keeps of a file that was just built at ``path``."""
    return {
        "sha256": sha256(path),
        "recipe": target.recipe,
        "profile": profile_digest(profile),
    }


def find_stale(
    targets: Sequence[Target], manifest: dict[str, Any], folder: Path, force: bool
) -> list[Target]:
    """The targets to build: recipe changed, file missing, or not the bytes that were written."""

    def is_fresh(target: Target) -> bool:
        entry = manifest["files"].get(target.name)
        path = folder / target.name
        return (
            entry is not None
            and entry["recipe"] == target.recipe
            and all(piece.id in manifest["pieces"] for piece in target.pieces)
            and path.is_file()
            and sha256(path) == entry["sha256"]
        )

    return [target for target in targets if force or not is_fresh(target)]


def left_behind(
    puzzle: PuzzleSet, profile: Profile, manifest: dict[str, Any], folder: Path
) -> Iterable[str]:
    """What in the folder does not belong to the set as it is now, in sentences."""
    possible = {target.name for target in plan_targets(puzzle, puzzle.pieces, profile, KINDS)}
    here = {name for name in manifest["files"] if (folder / name).is_file()}
    strangers = sorted(here - possible)
    if strangers:
        yield f"no longer part of the set: {', '.join(strangers)}"
    now = profile_digest(profile)
    others = sorted(n for n in here & possible if manifest["files"][n]["profile"] != now)
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made with another profile: {len(others)} files ({kinds}); export them again, "
            "or keep profiles apart with -o"
        )
