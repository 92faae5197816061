"""Meshes read back, for `fabkit check` and `verify`, and reports on the set's own meshes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import PROFILE
from fabkit.build.manifest import report_recipe
from fabkit.build.reports import check_contents, verify_contents, write_contents
from fabkit.build.targets import OutputPath, Target, build
from fabkit.core.errors import InputError, escape
from fabkit.core.progress import Progress, counted
from fabkit.mesh.files.readers import read_meshes
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile, preset_names
from fabkit.verify.reports import CheckReport, VerifyReport, check, verify
from fabkit.verify.scan import ScannedSet, Scanner, match_profile


def load_scan(
    files: Sequence[Path],
    puzzle: PuzzleSet,
    requested: Profile,
    progress: Progress,
    is_chosen: bool = False,
) -> tuple[ScannedSet, Profile]:
    """Read meshes, and identify the profile they were made with.

    This may be the profile beside them, the requested one, or a shipped one. `make`, `check` and
    `verify` all read meshes with the unit of this profile only, so that they agree.

    Args:
        requested: the profile of the command.
        progress: called before each file.
        is_chosen: whether `requested` is the right profile.

    Returns:
        The parts, and the profile. If none of these matches, it is measured on the pieces and
        called `MEASURED`; or the requested one, if nothing can be measured.
    """
    meshes = []
    for done, path in enumerate(files):
        counted(progress, done, len(files), f"reading {escape(path.name)}")
        meshes += read_meshes(path)
    if is_chosen:
        scanner = Scanner(meshes, puzzle, progress, [requested])
        return scanner.scan(requested.unit_mm), requested
    values = puzzle.profile_values
    candidates = [requested, *(load_profile([name], (), values) for name in preset_names())]
    nearby = _nearby_profiles(files, candidates)
    candidates = [*nearby, *candidates]
    scanner = Scanner(meshes, puzzle, progress, candidates[: len(nearby) + 1])
    likely_mm = candidates[0].unit_mm
    scan = scanner.scan(likely_mm)
    matched = match_profile(scan, candidates)
    is_sure = matched.unit_mm == likely_mm if matched else scan.agrees_with(likely_mm)
    if not is_sure:
        scan = scanner.scan(*dict.fromkeys(candidate.unit_mm for candidate in candidates))
        matched = match_profile(scan, candidates)
        if matched is not None and puzzle.boards:
            scan = scanner.scan(matched.unit_mm)
    return scan, matched or scan.measured_profile(requested)


def _nearby_profiles(files: Sequence[Path], candidates: Sequence[Profile]) -> list[Profile]:
    """The profile in the output folder of the files, preceded by a known one if they are equal.

    It has no name.
    """
    for folder in dict.fromkeys(up for path in files for up in path.absolute().parents[:2]):
        with suppress(InputError):
            beside = load_profile([str(folder / PROFILE)])
            name, title = beside.name, beside.title
            same = [
                candidate
                for candidate in candidates
                if replace(candidate, name=name, title=title) == beside
            ]
            return [*same, beside]
    return []


def check_and_verify(
    folder: Path,
    artifacts: Artifacts,
    files: Sequence[str],
    budget_s: float,
    force: bool,
    progress: Progress,
) -> tuple[CheckReport, VerifyReport] | None:
    """Bring the reports of check and verify up to date; None if they are already.

    Args:
        files: those of the current set; the folder may have others, of former pieces.
    """
    puzzle, profile = artifacts.puzzle, artifacts.profile
    reports: list[tuple[CheckReport, VerifyReport]] = []

    def write(output_path: OutputPath) -> None:
        stl = [folder / name for name in files if name.startswith("stl/")]
        scan, _ = load_scan(stl, puzzle, profile, progress, is_chosen=True)
        verified = verify(scan, profile, budget_s, progress)
        # Solved and assembled once for both.
        checked = check(
            scan, profile, budget_s, progress, None, verified.challenges, artifacts.drawings
        )
        reports.append((checked, verified))
        write_contents(check_contents(checked) | verify_contents(verified), output_path)

    unrelated_keys = "price.", "laser.", "filament.", "magnet.pack"
    recipe = report_recipe(puzzle, profile, f"{budget_s}", exclude_keys=unrelated_keys)
    target = Target(("check.json", "check.html", "verify.json"), recipe, write, about="stl")
    build(folder, puzzle.name, [target], force)
    return reports[0] if reports else None
