"""The files of the jigs that press magnets in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.build.export import write_print
from fabkit.build.targets import Place, Progress, Target, build, silent, with_report
from fabkit.core.errors import InputError
from fabkit.drawing.draft import draft_things
from fabkit.drawing.jig import JIG, Jig, draft_jigs
from fabkit.drawing.outline import BlueprintError
from fabkit.model.accessory import as_printed, things
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.jig import jig_sheet

#: What says how to use them.
REPORT = "jig.json"
_JIGS = PuzzleSet(JIG, "Magnet jig", LATTICES["square"], False, (), (), (), "", "")
_PRESS = "Press it into a recess until the collar lies on the back"
#: How a magnet goes in, by fit.
_HOW = {
    "press": f"{_PRESS}, and pull the jig off straight.",
    "ribs": f"{_PRESS}, and pull the jig off straight.",
    "glue": f"Put a drop of glue into a recess first. {_PRESS}, and tip the jig off.",
    "embedded": "At the pause, let it down into a cavity with glue in it until the jig lies on the "
    "print, and push the jig aside: the cavity keeps the magnet.",
}


@dataclass(frozen=True)
class MadeJigs:
    """Jigs that were written.

    Attributes:
        files: what was written, in the folder.
        document: as ``jig.json`` has it.
    """

    files: tuple[str, ...]
    document: dict[str, Any]


def write_jigs(
    profile: Profile,
    folder: Path,
    puzzle: PuzzleSet | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> MadeJigs:
    """Writes a jig for each pole that shows outwards: an STL file of each, a plate, and a drawing of their use.

    Args:
        puzzle: the set whose magnets they press in; None for any with this profile.

    Raises:
        InputError: when there is no magnet to press in, or no jig for it.
        OutsideError: when the folder is in use or cannot be written; nothing has changed then.
    """
    whose = puzzle or _JIGS
    jigs = _drafted(profile, puzzle)
    single = replace(profile, inlay="none")  # a name needs no second colour
    drawings = {one.drawing.piece: one.drawing for one in jigs}
    pieces = tuple(Piece(name, one.colour, one.colour, ()) for name, one in drawings.items())
    document = jig_document(jigs, profile, puzzle)

    def write(place: Place) -> None:
        made_of = Artifacts(replace(_JIGS, pieces=pieces), pieces, single, drawings=drawings)
        with library_failures("the jigs"):
            write_print(made_of, JIG, f"{JIG}/plate", place, progress)
        place(f"{JIG}/{JIG}.svg").write_bytes(jig_sheet(jigs, profile).encode())

    make = with_report(REPORT, document, write)
    built = build(folder, whose, profile, [Target((REPORT, f"{JIG}/"), "", make)], force)
    return MadeJigs(tuple(built.files), document)


def _drafted(profile: Profile, puzzle: PuzzleSet | None) -> list[Jig]:
    """The jigs that it takes for a set, or for any."""
    source = f"jig with profile {profile.name}"
    in_turn = ["N", "S"] if profile.polarity == "alternating" else ["N"]
    poles = [""] if profile.polarity == "free" else in_turn
    if puzzle is not None:
        source = f"jig for {puzzle.name} with profile {profile.name}"
        made = as_printed(puzzle, profile)
        if puzzle.made_of_balls or (profile.has_recesses and not made.has_recesses):
            what = "are made of balls" if puzzle.made_of_balls else "stand on stubs"
            raise InputError.of(source, f"its pieces {what} and hold no magnets")
        drawings = draft_things(puzzle, things(puzzle, made, [p.id for p in puzzle.pieces]), made)
        recesses = [recess for one in drawings for recess in one.recesses]
        poles = sorted({recess.pole for recess in recesses}) or poles
    try:
        return draft_jigs(poles, profile)
    except BlueprintError as error:
        raise InputError.of(source, str(error)) from None


def jig_document(
    jigs: Sequence[Jig], profile: Profile, puzzle: PuzzleSet | None = None
) -> dict[str, Any]:
    """What jigs measure and how to use them, for JSON.

    Returns:
        ``profile``, ``set`` (its name or None), ``fit``, ``magnet_mm`` (diameter and height),
        ``how`` (sentences) and ``jigs``, each with ``name``, ``pole`` (that shows outwards when it
        is used), ``tip`` (the counter-magnet's pole towards the tip), ``post_mm``, ``seat_mm`` (how
        far it stands out of the collar), ``collar_mm``, ``shaft_mm`` (diameters), ``shaft_depth_mm``
        and ``size_mm`` (width, depth, height).
    """
    told = []
    for one in jigs:
        left, bottom, right, top = one.drawing.outline.bounds
        size = [round(right - left, 3), round(top - bottom, 3), one.drawing.thickness_mm]
        keys = ("pole", "tip", "post_mm", "seat_mm", "collar_mm", "shaft_mm", "shaft_depth_mm")
        told.append(
            {"name": one.drawing.piece}
            | {key: getattr(one, key) for key in keys}
            | {"size_mm": size}
        )
    glue = "Glue a magnet of the set into the shaft of each jig, against its end"
    tips = [f"{one.tip} towards the tip of {one.drawing.piece}" for one in jigs if one.tip]
    snap = "Let a magnet snap to the tip"
    if tips:
        snap += ": it sticks to it only the right way round"
    return {
        "profile": profile.name,
        "set": puzzle and puzzle.name,
        "fit": profile.fit,
        "magnet_mm": [profile.magnet_diameter_mm, profile.magnet_height_mm],
        "jigs": told,
        "how": [f"{', '.join([glue, *tips])}.", f"{snap}. {_HOW[profile.fit]}"],
    }
