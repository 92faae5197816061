"""Inspecting a part that is made of balls: what each rule finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.balls.identify import shape_findings
from fabkit.mesh.balls.lying import Lying, lay_down
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.balls.rules import fitting_findings, lying_findings, size_findings
from fabkit.mesh.finding import Finding, at_most
from fabkit.mesh.identity import Identity
from fabkit.mesh.part import Part
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: How far a ball may lie off its place: the tolerance of every measure of a piece.
_OFF_MM = 0.05


def inspect_balls(
    part: BallPart, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one part that is made of balls, as it lies on its flat.

    Args:
        part: the part.
        identity: which piece it is.
        puzzle: the set.
        profile: what is asked for.

    Returns:
        Findings in the order of the rules, those that are kept among them. Their places are seen
        from above, as the part lies when it is printed.
    """
    lying = lay_down(part)
    # Balls have no recesses or letters, and are printed as they lie, whatever flat pieces do.
    as_printed = Part(part.body, lying.vertices, lying.tilt_degrees, False, None)
    upwards = replace(profile, facing="up")
    return [
        *sound_findings(as_printed, Anatomy((), (), (), (), ()), replace(profile, fit="none")),
        *_read_findings(part, lying, identity, puzzle),
        *size_findings(part, lying, profile),
        *lying_findings(part, lying, profile),
        *fitting_findings(part, profile),
        *printing_findings(as_printed, upwards),
    ]


def _read_findings(
    part: BallPart, lying: Lying, identity: Identity, puzzle: PuzzleSet
) -> Iterator[Finding]:
    """Whether balls were read, where they should be, and as those of a piece."""
    if part.shape is None:
        yield Finding("ball-read", False, None, _OFF_MM, "mm", f"no balls can be read: {part.why}")
    else:
        what = "how far a ball lies off its place"
        yield at_most("ball-read", part.off_mm, _OFF_MM, "mm", what)
    yield from shape_findings(part, lying, identity, puzzle)
