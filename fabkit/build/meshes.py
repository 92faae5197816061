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
from fabkit.verify.check import CheckReport, VerifyReport, check, verify
from fabkit.verify.taking import Taken, recognise
from fabkit.verify.taking import take as take_bodies


def take(
    files: Sequence[Path],
    puzzle: PuzzleSet,
    asked: Profile,
    progress: Progress,
    known: bool = False,
) -> tuple[Taken, Profile]:
    """Reads meshes, and finds out with which profile they were made.

    That may be the one beside them, the one that is asked for, or a shipped one. `make`, `check`
    and `verify` all read meshes with the unit of that profile alone, so that they agree.

    Args:
        files: the mesh files.
        puzzle: the set.
        asked: the profile that was asked for, or the usual one.
        progress: told before each file.
        known: whether it is known to be the right one.

    Returns:
        The parts; and the profile. When it is none of them that is the one that the pieces show
        themselves, called `MEASURED`; or what was asked for, when they do not show any.
    """
    bodies = []
    for done, path in enumerate(files):
        progress(done, len(files), f"reading {printable(path.name)}")
        bodies += read_bodies(path)
    if known:
        return take_bodies(bodies, puzzle, asked.unit_mm), asked
    candidates = [asked, *(load_profile([name], (), puzzle.unit_mm) for name in preset_names())]
    candidates = [*_beside(files, candidates), *candidates]
    likely_mm = candidates[0].unit_mm
    taken = take_bodies(bodies, puzzle, likely_mm)
    found = recognise(taken, candidates)
    if (found is None and not taken.agrees_with(likely_mm)) or (
        found or candidates[0]
    ).unit_mm != likely_mm:
        taken = take_bodies(bodies, puzzle, *dict.fromkeys(one.unit_mm for one in candidates))
        found = recognise(taken, candidates)
        if found is not None and puzzle.boards:
            taken = take_bodies(bodies, puzzle, found.unit_mm)
    return taken, found or taken.shown(asked)


def _beside(files: Sequence[Path], known: Sequence[Profile]) -> list[Profile]:
    """The profile in the output folder that files are in; where it is a known one, that first.

    It has no name of its own.
    """
    folders = dict.fromkeys(up for path in files for up in path.absolute().parents[:2])
    for folder in folders:
        with suppress(InputError):
            beside = load_profile([str(folder / PROFILE)])
            name, title = beside.name, beside.title
            same = [one for one in known if replace(one, name=name, title=title) == beside]
            return [*same, beside]
    return []


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
        taken, _ = take(stl, puzzle, profile, progress, known=True)
        verified = verify(taken, profile, budget_s, progress)
        # Solved and put together once, for both.
        checked = check(taken, profile, budget_s, progress, answers=verified.challenges)
        found.append((checked, verified))
        write_contents(check_contents(checked) | verify_contents(verified), place)

    recipe = made_by(puzzle, profile, f"{budget_s}", but=("price.", "laser.", "filament."))
    target = Target(("check.json", "check.html", "verify.json"), recipe, write, about="stl")
    build(folder, puzzle, profile, [target], force)
    return found[0] if found else None
