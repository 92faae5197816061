"""The files of magnet jigs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.artifacts import Artifacts
from fabkit.build.export import write_print
from fabkit.build.manifest import report_recipe
from fabkit.build.reports import read_report
from fabkit.build.targets import OutputPath, Target, build, with_json_report
from fabkit.core.errors import InputError
from fabkit.core.progress import Progress, no_progress
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.bom import FIND_POLE
from fabkit.profiles.accessory import profile_as_made
from fabkit.profiles.profile import Profile

if TYPE_CHECKING:
    from fabkit.drawing.jig import Jig

#: The folder of the files, and the owner of those for any set.
JIG = "jig"
#: The report with instructions.
REPORT = "jig.json"
_PRESS = "Press it into a recess until the collar rests on the back"
#: How to insert a magnet, by fit.
_HOW = {
    "press": f"{_PRESS}, and pull the jig off straight.",
    "ribs": f"{_PRESS}, and pull the jig off straight.",
    "glue": f"Put a drop of glue into a recess first. {_PRESS}, and tip the jig off.",
    "embedded": "At the pause, lower it into a cavity with a drop of glue until the jig rests on "
    "the print, and push the jig aside: the cavity holds the magnet.",
}
#: On the pole of a single jig.
_ANY_POLE = (
    "The poles may be the other way round: what matters is that one jig presses all magnets in, so "
    "that all show the same pole."
)


def write_jigs(
    profile: Profile,
    folder: Path,
    puzzle: PuzzleSet | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> tuple[dict[str, Any], bool]:
    """Bring a jig for each outward pole up to date: STL files, a plate, a drawing of their use.

    Args:
        puzzle: the set whose magnets they press in; None for any with this profile.

    Returns:
        ``jig.json``, see `jig_document`, with the files; and whether they were made now.

    Raises:
        InputError: when there is no magnet to press in, or no jig for it.
        ExternalError: when the folder is in use or cannot be written; nothing has changed then.
    """

    def write(output_path: OutputPath) -> dict[str, Any]:
        from fabkit.output.jig import jig_sheet
        from fabkit.printing.package3mf import PrintInfo

        jigs = _draft_for(profile, puzzle)
        # The name is not printed in a second colour.
        single = replace(profile, inlay="none", board_text="none", tones="plain", filaments="1")
        drawings = [jig.drawing for jig in jigs]
        info = PrintInfo(JIG, "Magnet jig", len(jigs))
        write_print(info, drawings, single, JIG, f"{JIG}/plate", output_path, progress)
        output_path(f"{JIG}/{JIG}.svg").write_bytes(jig_sheet(jigs, profile).encode())
        return jig_document(jigs, profile, puzzle)

    recipe = report_recipe(puzzle, profile, JIG)
    target = Target((REPORT, f"{JIG}/"), recipe, with_json_report(REPORT, write))
    built = build(folder, puzzle.name if puzzle else JIG, [target], force)
    return read_report(folder, REPORT), bool(built.made)


def _draft_for(profile: Profile, puzzle: PuzzleSet | None) -> list[Jig]:
    """Draft the jigs for a set, or for any."""
    from fabkit.drawing.jig import draft_jigs
    from fabkit.drawing.outline import DrawingError

    source = f"jig with profile {profile.name}"
    in_turn = ["N", "S"] if profile.polarity == "alternating" else ["N"]
    poles = [""] if profile.polarity == "free" else in_turn
    if puzzle is not None:
        source = f"jig for {puzzle.name} with profile {profile.name}"
        as_made = profile_as_made(puzzle, profile)
        if puzzle.made_of_balls or (profile.has_recesses and not as_made.has_recesses):
            what = "are made of balls" if puzzle.made_of_balls else "stand on pegs"
            raise InputError.of(source, f"its pieces {what} and hold no magnets")
        drawings = Artifacts(puzzle, puzzle.pieces, as_made).drawings.values()
        recesses = [recess for drawing in drawings for recess in drawing.recesses]
        poles = sorted({recess.pole for recess in recesses}) or poles
    try:
        return draft_jigs(poles, profile)
    except DrawingError as error:
        raise InputError.of(source, str(error)) from None


def jig_document(
    jigs: Sequence[Jig], profile: Profile, puzzle: PuzzleSet | None = None
) -> dict[str, Any]:
    """The dimensions of jigs and their instructions, for JSON.

    Returns:
        ``profile``, ``set`` (its name or None), ``fit``, ``magnet_mm`` (diameter and height),
        ``how`` (sentences) and ``jigs``, each with ``name``, ``pole`` (that faces outwards in use),
        ``tip`` (the counter-magnet's pole towards the tip), ``post_mm``, ``post_height_mm`` (above
        the collar), ``collar_mm``, ``shaft_mm`` (diameters), ``shaft_depth_mm`` and ``size_mm``
        (width, depth, height).
    """
    keys = ("pole", "tip", "post_mm", "post_height_mm", "collar_mm", "shaft_mm", "shaft_depth_mm")
    documents = []
    for jig in jigs:
        left, bottom, right, top = jig.drawing.outline.bounds
        size = [round(right - left, 3), round(top - bottom, 3), jig.drawing.thickness_mm]
        values = {key: getattr(jig, key) for key in keys}
        documents.append({"name": jig.drawing.piece, **values, "size_mm": size})
    glue = "Glue a magnet of the set into the shaft of each jig, against its end"
    tips = [f"{jig.tip} towards the tip of {jig.drawing.piece}" for jig in jigs if jig.tip]
    snap = "Let a magnet snap to the tip"
    if tips:
        snap += ": it sticks only the right way round"
    how = [f"{', '.join([glue, *tips])}.", f"{snap}. {_HOW[profile.fit]}"]
    if tips:
        how.append(_ANY_POLE if len(tips) == 1 else FIND_POLE)
    return {
        "profile": profile.name,
        "set": puzzle and puzzle.name,
        "fit": profile.fit,
        "magnet_mm": [profile.magnet_diameter_mm, profile.magnet_height_mm],
        "jigs": documents,
        "how": how,
    }
