"""Rules on recesses: their number, bores, depth, mouths, and the walls and floors around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import shapely
from shapely.affinity import rotate
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.magnets import bores, magnet_count
from fabkit.mesh.features import Cavity, Features, cylinders_mm
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import Identity
from fabkit.mesh.part import Part, inside_mm
from fabkit.mesh.rules.outline import Common, near
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, UP, hollows, parts
from fabkit.model.lattice import Lattice
from fabkit.model.layers import MAX_AIR_MM, height_as_printed_mm, layer_top_mm
from fabkit.model.profile import Profile

#: Where a closed cavity ends, as it is printed, the print pauses: at the end of a layer, nearly.
_LAYER_MM = 0.02


def recess_findings(
    part: Part,
    found: Features,
    identity: Identity,
    common: Common,
    lattice: Lattice,
    profile: Profile,
) -> Iterator[Finding]:
    """All findings on a part's recesses."""
    recesses = found.recesses
    expected = _expected_counts(part, identity, lattice, profile)
    if expected:
        if common.measured and common.recesses is not None:
            expected.add(common.recesses)
        right = min(expected, key=lambda count: (abs(count - len(recesses)), count))
        what = "recesses for magnets"
        yield counted("recess-count", len(recesses), right, what, part.shadow.boundary)
    if not recesses or not profile.has_recesses:
        return
    places = [recess.middle for recess in recesses]
    yield from _bores(recesses, profile)
    filled_cuts = [
        area
        for recess in recesses
        for _, area in recess.cuts
        if len(parts(area)) > 1 or any(one.interiors for one in parts(area))
    ]
    where = filled_cuts[0] if filled_cuts else None
    yield counted("recess-empty", len(filled_cuts), 0, "cuts with something in a recess", where)
    magnet_mm = profile.magnet_height_mm
    limit = (magnet_mm + profile.air_mm, magnet_mm + MAX_AIR_MM)
    yield from judged("recess-depth", [(one.depth_mm, one.middle) for one in recesses], *limit)
    closed = sum(not recess.below for recess in recesses)
    if profile.embedded:
        yield counted("recess-closed", closed, len(recesses), "closed cavities")
        ends = [r.low_mm if profile.facing == "down" else r.high_mm for r in recesses]
        pauses = [height_as_printed_mm(profile.facing, end, part.thickness_mm) for end in ends]
        off = [abs(pause - layer_top_mm(profile, pause - _LAYER_MM)) for pause in pauses]
        yield from judged("pause-height", zip(off, places, strict=True), most=_LAYER_MM)
    else:
        what = "recesses that are open at the back"
        yield counted("recess-open", len(recesses) - closed, len(recesses), what)
    roofs = [(plastic_mm(part, one, found.labels, UP), one.middle) for one in recesses]
    yield from judged("roof", roofs, profile.roof_mm)
    if profile.embedded:
        floors = [(plastic_mm(part, one, found.labels, DOWN), one.middle) for one in recesses]
        yield from judged("floor", floors, min(profile.roof_mm, profile.floor_mm))
    else:
        mouths = [(one.mouth_mm, one.middle) for one in recesses]
        yield from judged("mouth", mouths, *near(profile.mouth_mm))
    yield from _walls(part, recesses, profile)


def plastic_mm(part: Part, cavity: Cavity, labels: Sequence[Cavity], facing: int) -> float:
    """Plastic above or below a cavity, to the letter that lies there, or to the face or back."""
    over = [one for one in labels if one.middle.intersects(cavity.middle)]
    if facing == UP:
        ends = [one.low_mm for one in over if one.above and one is not cavity]
        end = part.thickness_mm if cavity.above else cavity.high_mm
        return max(0.0, min(ends, default=part.thickness_mm) - end)
    return max(0.0, cavity.low_mm - max((one.high_mm for one in over if one.below), default=0.0))


def _bores(recesses: Sequence[Cavity], profile: Profile) -> Iterator[Finding]:
    """Between the largest cylinder that goes in and the smallest around there is the bore: both
    are as wide as asked for, so it is neither narrow nor wide, oval, tapered, bent nor bumpy."""
    asked, inside, around = bores(profile), [], []
    crest_mm = asked.widest_mm if asked.crest_mm is None else asked.crest_mm
    for recess in recesses:
        # A little above its mouth and, with ribs, above the cone down to their crests.
        low_mm = recess.low_mm + profile.mouth_mm + (asked.widest_mm - crest_mm) / 2 + 0.06
        some = [area for cut, area in recess.cuts if profile.embedded or cut.height_mm > low_mm]
        inside_mm, around_mm = cylinders_mm(some or [recess.middle])
        inside.append((inside_mm, recess.middle))
        around.append((around_mm, recess.middle))
    low_mm, high_mm = near(asked.widest_mm)
    too_narrow = low_mm - min(mm for mm, _ in inside)
    too_wide = max(mm for mm, _ in around) - high_mm
    found, what = around, "the smallest cylinder around the bore"
    if asked.crest_mm is None and max(too_wide, 0.0) <= max(too_narrow, 0.0):
        found, what = inside, "the largest cylinder that goes into the bore"
    yield from judged("recess-diameter", found, low_mm, high_mm, what=what)
    if asked.crest_mm is not None:
        yield from judged("rib-crest", inside, *near(asked.crest_mm))


def _expected_counts(
    part: Part, identity: Identity, lattice: Lattice, profile: Profile
) -> set[int]:
    """How many magnets a piece of this length gets; none when its outline was not read.

    The length is that along x or y as the piece is drawn, with its letter upright. Without a
    letter it may have been drawn in any of the ways it can be turned.
    """
    if not profile.has_recesses:
        return {0}
    if part.outline is None:
        return set()
    moves = lattice.moves(False)
    turns = [identity.letter.turns] if identity.letter else range(len(moves))
    counts = set()
    for turn in turns:
        drawn = rotate(part.outline.canonical, -360 * turn / len(moves), origin=(0, 0))
        counts.add(magnet_count(drawn, part.outline.unit_mm))
    return counts


def _walls(part: Part, recesses: Sequence[Cavity], profile: Profile) -> Iterator[Finding]:
    """Walls to the sides, those of holes too, and to the next recess: beside the bore, at the bed."""
    beside: list[tuple[float, BaseGeometry]] = []
    at_bed: list[tuple[float, BaseGeometry]] = []
    for recess in recesses:
        bore_mm = shapely.minimum_bounding_radius(recess.middle)
        for cut, area in recess.cuts:
            is_wider = shapely.minimum_bounding_radius(area) > bore_mm + 0.002  # in its mouth
            wall_mm = max(0.0, inside_mm(area, part.filled(cut.material)))
            (at_bed if is_wider and not profile.embedded else beside).append((wall_mm, area))
    for one, other in itertools.combinations(recesses, 2):
        beside.append((one.middle.distance(other.middle), one.middle))
    noise_mm = part.sections.noise_mm  # no wall is known more exactly
    yield from judged("wall", beside, profile.wall_mm - noise_mm)
    if not profile.embedded:
        back = part.sections.flat(0.0, DOWN)
        own = [one.middle for one in recesses if one.below]
        mouths = [hole for hole in hollows(back) if any(map(hole.intersects, own))]
        at_bed += [(part.filled(back).boundary.distance(hole), hole) for hole in mouths]
        yield from judged("bed-wall", at_bed, profile.bed_wall_mm - noise_mm)
