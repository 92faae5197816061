"""Rules on a part that is made of balls: which piece it is, its sizes, its flat, its room."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.balls.measure import Lying, from_middles, gap, lay_down, neighbours
from fabkit.mesh.body import Body
from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.identity import Identity, unsure
from fabkit.mesh.part import Balls, Part, inside_mm, shadow
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.balls import BallError, flat_poses
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: A link may be thinner by this much: the tolerance, and what the chords of 24 segments take off
#: a link of 9 mm, once more.
_LINK_TOLERANCE_MM = 2 * TOLERANCE_MM
#: The flat under a ball has at least this part of its radius as drawn: with usual sizes, a flat
#: that lies 0.3 mm too deep has less; the chords of 24 segments take off half of it.
_FLAT_SHARE = 0.9
#: How nearly a part must lie on its flat in its file, as a flat piece on its back.
_TILT_DEGREES = 0.1
_OFF = "how far a ball lies off its place"
#: How large a place is marked, in mm.
_MARK_MM = 1.0


def inspect_balls(
    part: Part, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one part that is made of balls, as it lies on its flat.

    Returns:
        Findings in the order of the rules, those that are kept among them. Their places are seen
        from above, as the part lies when it is printed. Of what is no piece only that is said, and
        what is wrong with the mesh as such.
    """
    # Balls have no recesses or letters, and are printed as they lie, whatever flat pieces do.
    plain = replace(profile, fit="none", facing="up")
    if part.balls is None:
        strange = Finding("ball-shape", False, None, None, "", part.why)
        return [*sound_findings(part), strange]
    lying = lay_down(part)
    as_printed = Part(part.body, lying.vertices)
    return [
        *sound_findings(as_printed),
        at_most("ball-read", part.balls.off_mm, TOLERANCE_MM, "mm", _OFF),
        _shape(part, lying, identity, puzzle),
        *_sizes(part, part.balls, lying, profile),
        *_tilt(lying),
        _room(part, part.balls, profile),
        *printing_findings(as_printed, plain),
    ]


def _shape(part: Part, lying: Lying, identity: Identity, puzzle: PuzzleSet) -> Finding:
    """Whether a part is the piece of the set; if only links are wrong, which ones."""
    assert part.balls is not None
    mirror = "the mirror image of " if identity.mirrored else ""
    if found := unsure("ball-shape", part, f"{mirror}{identity.piece}"):
        return found
    if identity.alike:
        what = "is" if mirror else "has the balls and the links of"
        message = f"it {what} {mirror}{' and '.join(identity.alike)}"
        return Finding("ball-shape", not mirror, None, None, "", message)
    drawn = puzzle.piece(identity.piece or "").body
    asked = {frozenset(bond) for bond in drawn.bonds} if drawn else set()
    wrong = sorted(map(sorted, asked ^ {frozenset(bond) for bond in part.balls.shape.bonds}))
    told = [
        f"the link {low}-{high} is {'missing' if frozenset((low, high)) in asked else 'too many'}"
        for low, high in wrong
    ]
    message = (
        f"it has the balls of {mirror}{identity.piece}, but {' and '.join(told)} "
        "(balls are counted from 0, as in the set's file)"
    )
    where = _mark(lying, [ball for bond in wrong for ball in bond])
    return Finding("ball-shape", False, None, None, "", message, where)


def _sizes(part: Part, balls: Balls, lying: Lying, profile: Profile) -> Iterator[Finding]:
    """Findings on pitch, balls, links, gaps, what is neither ball nor link, and the flat."""
    ball_mm, unit_mm, off_mm, shape = profile.ball_mm, profile.unit_mm, TOLERANCE_MM, balls.shape
    mesh, places = part.straight.as_trimesh, np.array(shape.balls, float) * balls.pitch_mm
    largest = max(range(len(places)), key=lambda i: abs(balls.diameters_mm[i] - ball_mm))
    on_bed, on_bed_mm = set(lying.lowest), height_on_bed_mm(profile)
    # By how much links are too narrow; the flat cuts those that lie on the bed.
    links = [
        (width - (on_bed_mm if on_bed.issuperset(bond) else profile.link_mm), width, bond)
        for bond, width in zip(shape.bonds, balls.links_mm, strict=True)
    ]
    gaps = [
        (gap(mesh, *places[[*pair]]), pair) for pair in neighbours(shape) if pair not in shape.bonds
    ]
    flats = [
        (float(lying.flat.boundary.distance(at)) if lying.flat.contains(at) else 0.0, i)
        for i, at in zip(lying.lowest, _points(lying, lying.lowest), strict=True)
    ]
    flat_mm = math.sqrt(max(0.0, ball_mm**2 / 4 - profile.ball_flat_mm**2))

    def told(
        check: Callable[..., Finding], rule: str, value: float, limit: Any, what: str, *where: int
    ) -> Finding:
        return check(rule, value, limit, "mm", what, _mark(lying, where) if where else None)

    asked = (unit_mm * (1 - UNIT_TOLERANCE), unit_mm * (1 + UNIT_TOLERANCE))
    yield told(between, "ball-pitch", balls.pitch_mm, asked, "the distance of neighbouring balls")
    asked, what = (ball_mm - off_mm, ball_mm + off_mm), "the diameter of a ball"
    yield told(between, "ball-diameter", balls.diameters_mm[largest], asked, what, largest)
    for less_mm, width_mm, bond in sorted(links)[:1]:
        least_mm = round(width_mm - less_mm - _LINK_TOLERANCE_MM, 6)
        yield told(at_least, "ball-link", width_mm, least_mm, "the width of a link", *bond)
    for gap_mm, pair in sorted(gaps)[:1]:
        what = "the gap between neighbouring balls without a link"
        least_mm = max(0.0, round(unit_mm - ball_mm - off_mm, 6))
        yield told(at_least, "ball-gap", gap_mm, least_mm, what, *pair)
    stray_mm = float(from_middles(part.vertices, places, shape.bonds).max())
    what = "how far anything is from the middles of balls and links"
    yield told(at_most, "ball-stray", stray_mm, round(ball_mm / 2 + 2 * off_mm, 6), what)
    radius_mm, ball = min(flats)
    least_mm, what = round(_FLAT_SHARE * flat_mm, 3), "the radius of the flat under a ball"
    yield told(at_least, "ball-flat", radius_mm, least_mm, what, ball)


def height_on_bed_mm(profile: Profile) -> float:
    """How high a link is that lies on the bed, cut by the flat: the least of its widths.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> height_on_bed_mm(load_profile())
        8.7
    """
    return profile.link_mm / 2 + min(profile.link_mm / 2, profile.ball_flat_mm)


def _tilt(lying: Lying) -> Iterator[Finding]:
    """How a part with a flat lies in its file."""
    if not lying.flat.is_empty:
        ok, message = lying.tilt_degrees <= _TILT_DEGREES, "it lies on its flat"
        if not ok:
            message = "it does not lie on its flat in its file; turn it in the slicer"
        yield Finding("ball-lies", ok, lying.tilt_degrees, _TILT_DEGREES, "deg", message)


def _room(part: Part, balls: Balls, profile: Profile) -> Finding:
    """Whether a part keeps inside its own cells, however it lies on a board.

    Then two pieces on cells of their own never touch.
    """
    try:
        poses = flat_poses(balls.shape)
    except BallError as error:
        return Finding("ball-cells", False, None, profile.gap_min_mm / 2, "mm", f"it {error}")
    # What is seen from above is the same however it is then turned on the board, or seen from
    # below; but which balls lie in the board's plane may differ.
    places = np.array(balls.shape.balls, float)
    rooms = []
    for axis in sorted({[abs(x) for x in pose.rotation[2]].index(1) for pose in poses}):
        plane = np.roll(
            places[places[:, axis] == places[balls.shape.spine()[0], axis]], 2 - axis, 1
        )
        low, high = (balls.pitch_mm * (plane + end) for end in (-0.5, 0.5))
        # Squares that touch are joined, whatever rounding says.
        squares = shapely.box(*low.T[:2], *high.T[:2])
        seen = shadow(Body("", np.roll(part.vertices, 2 - axis, 1), part.body.faces))
        rooms.append(inside_mm(seen, shapely.union_all(squares, grid_size=1e-6)))
    what = "the room between the piece and the edge of its own cells"
    return at_least("ball-cells", min(rooms), profile.gap_min_mm / 2, "mm", what)


def _points(lying: Lying, balls: Sequence[int]) -> NDArray[Any]:
    """The places of some balls, seen from above."""
    return np.asarray(shapely.points(lying.middles[[*balls], :2]))


def _mark(lying: Lying, balls: Sequence[int]) -> BaseGeometry:
    return shapely.multipoints(_points(lying, balls)).convex_hull.buffer(_MARK_MM)
