"""Meshes read back, for `fabkit check` and `verify`, and the reports on those just made."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fabkit.build.export import PROFILE
from fabkit.build.manifest import made_by
from fabkit.build.reports import check_contents, verify_contents, write_contents
from fabkit.build.targets import Place, Progress, Target, build
from fabkit.core.errors import InputError, printable
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify import taking
from fabkit.verify.catalog import VerifyReport, verify
from fabkit.verify.check import CheckReport, check
from fabkit.verify.recognise import recognise
from fabkit.verify.taken import Taken


def take(
    files: Sequence[Path], puzzle: PuzzleSet, profiles: Sequence[Profile], progress: Progress
) -> Taken:
    """Reads meshes that may have been made with one of several profiles."""
    bodies = []
    for done, path in enumerate(files):
        progress(done, len(files), f"reading {printable(path.name)}")
        bodies += read_bodies(path)
    return taking.take(bodies, puzzle, *(profile.unit_mm for profile in profiles))


def take_unknown(
    files: Sequence[Path],
    puzzle: PuzzleSet,
    usual: Profile,
    folder: Path | None,
    progress: Progress,
) -> tuple[Taken, Profile | None]:
    """Reads meshes that tell themselves with which profile they were made.

    That may be the usual one, the one in their output folder, or a shipped one; None when it is
    none of them.
    """
    candidates = [usual, *(load_profile([name], (), puzzle.unit_mm) for name in preset_names())]
    with suppress(InputError):
        if folder is not None:
            # It has no name of its own: where it is a known one, that goes first.
            beside = load_profile([str(folder / PROFILE)])
            name, title = beside.name, beside.title
            same = [one for one in candidates if replace(one, name=name, title=title) == beside]
            candidates = [*same, beside, *candidates]
    taken = take(files, puzzle, candidates, progress)
    return taken, recognise(taken, candidates)


def check_and_verify(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    files: Sequence[str],
    budget_s: float,
    force: bool,
    progress: Progress,
) -> tuple[CheckReport, VerifyReport] | None:
    """Brings the reports of both up to date; None when nothing has changed since they were made.

    Args:
        files: those of the set as it is now: there may be others, of pieces that it had.
    """
    found: list[tuple[CheckReport, VerifyReport]] = []

    def write(place: Place) -> None:
        stl = [folder / name for name in files if name.startswith("stl/")]
        taken = take(stl, puzzle, [profile], progress)
        verified = verify(taken, profile, budget_s, progress)
        answers = [one.answered for one in verified.challenges]  # solved once, for both
        checked = check(taken, profile, budget_s, progress, answers=answers)
        found.append((checked, verified))
        write_contents(check_contents(checked) | verify_contents(verified), place)

    recipe = made_by(puzzle, profile, f"{budget_s}", but=("price.", "laser.", "filament."))
    target = Target(("check.json", "check.html", "verify.json"), recipe, write, about="stl")
    build(folder, puzzle, profile, [target], force)
    return found[0] if found else None
