"""Brings the files of a set up to date."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabkit.build.builders import build, prepare
from fabkit.build.manifest import (
    MANIFEST,
    Entry,
    files_of,
    find_stale,
    inputs,
    left_behind,
    new_entry,
    read_manifest,
    remove_unchanged,
)
from fabkit.build.targets import PROFILE, Target, plan_targets
from fabkit.build.workbench import Workbench
from fabkit.core.errors import InputError, printable
from fabkit.core.files import Staging, digest, folder_lock, json_text, outside_failures, sha256
from fabkit.model.accessory import Thing, things
from fabkit.model.profile import Profile
from fabkit.model.profilefile import dump_profile
from fabkit.model.puzzle import PuzzleSet

#: Where a profile goes that was changed by hand.
EDITED_PROFILE = "profile.edited.toml"
_EDITED = "profile.toml had been changed by hand; it is kept, and used when passed with -p {}"

#: Called with the number of files done, of files in all, and what comes next.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Export:
    """What an export did.

    Attributes:
        folder: the output folder.
        files: every file asked for, with its ``sha256`` and whether it was ``written`` now.
        pieces: for each piece what the manifest says of it: ``magnets_mm`` (places), ``poles``,
            ``pause_height_mm`` and ``cap_height_mm``.
        edited: what is told of a profile that had been changed by hand.
        left: what is told of files from before; see `left_behind`.
    """

    folder: Path
    files: dict[str, dict[str, Any]]
    pieces: dict[str, dict[str, Any]]
    edited: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What else in the folder deserves a look."""
        return (*self.edited, *self.left)

    @property
    def written(self) -> int:
        """How many files were written now; the others were up to date."""
        return sum(file["written"] for file in self.files.values())

    @property
    def magnets(self) -> int:
        """How many magnets the pieces hold."""
        return sum(len(piece["magnets_mm"]) for piece in self.pieces.values())

    @property
    def pause_heights_mm(self) -> list[float]:
        """The heights at which the printer pauses for magnets, each once."""
        heights = {piece["pause_height_mm"] for piece in self.pieces.values()}
        return sorted(height for height in heights if height is not None)


def export(
    puzzle: PuzzleSet,
    profile: Profile,
    kinds: Sequence[str],
    folder: Path,
    piece_ids: Sequence[str] = (),
    force: bool = False,
    progress: Progress = lambda done, total, name: None,
) -> Export:
    """Brings the files of some kinds up to date.

    Args:
        puzzle: the set.
        profile: how to print it.
        kinds: of `fabkit.build.KINDS`.
        folder: the output folder; made when needed.
        piece_ids: only these pieces and accessories; all when empty.
        force: builds every file again.
        progress: told before each file.

    Returns:
        What was done.

    Raises:
        InputError: before anything is touched, when the profile does not suit the pieces, the
            folder belongs to another set, or there are no such files of what is asked for.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of(printable(str(folder)), "is a file; expected a folder")
    wanted = things(puzzle, profile, piece_ids)
    targets = plan_targets(puzzle, wanted, profile, kinds)
    if not targets:
        ids = ", ".join(one.id for one in wanted)
        raise InputError.of(puzzle.name, f"{ids}: only flat pieces can be cut from a sheet")
    manifest = read_manifest(folder, puzzle, force)
    stale = find_stale(targets, manifest, folder, force)
    warnings: list[str] = []
    if stale or not _is_accounted(puzzle, profile, manifest, folder):
        ready = ready_meshes(puzzle, profile, manifest, folder, force)
        bench = Workbench(puzzle, wanted, profile, ready)
        # What cannot be built is refused here, before the folder is touched.
        _prepare(stale, bench, progress)
        with folder_lock(folder):
            manifest = read_manifest(folder, puzzle, force)
            stale = find_stale(targets, manifest, folder, force)
            _prepare(stale, bench, progress)  # a file may have gone while the lock was being had
            with outside_failures(f"cannot write in {printable(str(folder))}"):
                edited = _edited_profile(profile, manifest, folder)
                _write(puzzle, profile, stale, bench, folder, manifest, edited, progress)
            if edited is not None:
                warnings.append(_EDITED.format(printable(str(folder / EDITED_PROFILE))))
    entries: dict[str, Entry] = {}
    written: set[str] = set()
    for target in targets:
        made = files_of(target, manifest["files"])
        entries |= made
        written |= made.keys() if target in stale else set()
    return Export(
        folder=folder,
        files={
            name: {"sha256": entry["sha256"], "written": name in written}
            for name, entry in entries.items()
        },
        pieces={
            piece: found for entry in entries.values() for piece, found in entry["pieces"].items()
        },
        edited=tuple(warnings),
        left=tuple(left_behind(puzzle, profile, manifest, folder)),
    )


def _prepare(targets: Sequence[Target], bench: Workbench, progress: Progress) -> None:
    """Works out what may be refused. What was worked out is kept."""
    for target in targets:
        progress(0, len(targets), f"laying out {target.name}" if target.is_group else target.name)
        prepare(target, bench)


def ready_meshes(
    puzzle: PuzzleSet, profile: Profile, manifest: dict[str, Any], folder: Path, force: bool
) -> Callable[[Thing], Path | None]:
    """Tells which STL files in an output folder are what would be built now.

    Args:
        puzzle: the set.
        profile: how it is printed.
        manifest: the folder's.
        folder: the output folder.
        force: takes none of them.

    Returns:
        What gives the path of a thing's file; None when there is none that is up to date.
    """

    def ready(thing: Thing) -> Path | None:
        target = plan_targets(puzzle, [thing], profile, ["stl"])[0]
        if find_stale([target], manifest, folder, force):
            return None
        return folder / target.name

    return ready


def _is_accounted(
    puzzle: PuzzleSet, profile: Profile, manifest: dict[str, Any], folder: Path
) -> bool:
    """Whether profile and manifest in the folder say what is being asked for now."""
    path = folder / PROFILE
    with outside_failures(f"cannot read {printable(str(path))}"):
        same_profile = path.is_file() and path.read_bytes() == dump_profile(profile).encode()
        all_there = all((folder / name).is_file() for name in manifest["files"])
    return same_profile and all_there and inputs(puzzle, profile).items() <= manifest.items()


def _edited_profile(profile: Profile, manifest: dict[str, Any], folder: Path) -> bytes | None:
    """The folder's profile, if somebody changed it by hand and it would be written over."""
    path, entry = folder / PROFILE, manifest["files"].get(PROFILE)
    content = path.read_bytes() if path.is_file() else None
    if content is None or content == dump_profile(profile).encode():
        return None
    return None if entry and sha256(path) == entry["sha256"] else content


def _write(
    puzzle: PuzzleSet,
    profile: Profile,
    targets: Sequence[Target],
    bench: Workbench,
    folder: Path,
    manifest: dict[str, Any],
    edited_profile: bytes | None,
    progress: Progress,
) -> None:
    """Builds into a staging folder, then moves everything into place, the manifest last."""
    files = {n: entry for n, entry in manifest["files"].items() if (folder / n).is_file()}
    outdated: set[str] = set()
    with Staging(folder) as staging:
        for done, target in enumerate(targets):
            progress(done, len(targets), target.name)
            entries = _build(target, bench, profile, staging)
            if target.is_group:
                outdated |= {name for name in files if target.owns(name)} - entries.keys()
            files |= entries
        progress(len(targets), len(targets), "")
        if edited_profile is not None:
            staging.path(EDITED_PROFILE).write_bytes(edited_profile)
        path = staging.path(PROFILE)
        text = dump_profile(profile)
        path.write_text(text, encoding="utf-8", newline="\n")
        files[PROFILE] = new_entry(path, digest(text), profile, {})
        kept = {name: entry for name, entry in files.items() if name not in outdated}
        before = manifest["files"]
        manifest |= inputs(puzzle, profile)
        manifest["files"] = dict(sorted(kept.items()))
        path = staging.path(MANIFEST)
        path.write_text(json_text(manifest), encoding="utf-8", newline="\n")
        staging.commit()
    remove_unchanged(folder, outdated, before)  # a plate that is not needed must not be printed


def _build(
    target: Target, bench: Workbench, profile: Profile, staging: Staging
) -> dict[str, Entry]:
    """Builds the files of a target."""
    paths: dict[str, Path] = {}

    def place(name: str) -> Path:
        paths[name] = staging.path(name)
        return paths[name]

    pieces = build(target, bench, place)
    return {
        name: new_entry(path, target.recipe, profile, pieces, len(paths))
        for name, path in paths.items()
    }
