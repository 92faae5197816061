"""Rules on recesses: their number, bores, depth, mouths, and the walls and floors around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from shapely.affinity import rotate
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.magnets import bores, magnet_count
from fabkit.mesh.features import Cavity, Circle, Features, circle_of, cylinders_mm
from fabkit.mesh.finding import Finding, at_least, at_most, between, counted
from fabkit.mesh.identity import Identity
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import TOLERANCE_MM, Common
from fabkit.mesh.section import DOWN, hollows, parts
from fabkit.model.lattice import Lattice
from fabkit.model.layers import MAX_AIR_MM, height_as_printed_mm, layer_top_mm
from fabkit.model.profile import Profile

#: A bore that is open wider than its middle by this is in its mouth.
_WIDER_MM = 0.004
#: Cuts this little above a mouth are still of it, in mm.
_MOUTH_END_MM = 0.06
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
    """All findings on a part's recesses.

    Args:
        part: the part.
        found: its recesses and letters.
        identity: which piece it is, and how its letter lies.
        common: whether the number of recesses that is usual in the set is right.
        lattice: the set's.
        profile: what is asked for.
    """
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
    circles = [circle_of(recess.middle) for recess in recesses]
    yield from _bores(
        [
            cylinders_mm(_bore_cuts(recess, circle, profile))
            for recess, circle in zip(recesses, circles, strict=True)
        ],
        recesses,
        profile,
    )
    yield _empty(recesses)
    yield from _heights(part, recesses, profile)
    yield from _floors(part, recesses, found.labels, profile)
    if not profile.embedded:
        yield from _mouths(recesses, circles, profile)
    yield from _walls(part, recesses, circles, profile)


def _bore_cuts(recess: Cavity, circle: Circle, profile: Profile) -> list[BaseGeometry]:
    """A recess's cuts above its mouth and, with ribs, above the cone down to their crests."""
    if profile.embedded:
        return [area for _, area in recess.cuts]
    asked = bores(profile)
    crest_mm = asked.widest_mm if asked.crest_mm is None else asked.crest_mm
    cone_mm = recess.low_mm + profile.mouth_mm + (asked.widest_mm - crest_mm) / 2 + _MOUTH_END_MM
    above = [area for cut, area in recess.cuts if cut.height_mm > cone_mm]
    return above or [recess.middle]


def _empty(recesses: Sequence[Cavity]) -> Finding:
    """Nothing stands in a recess, where the magnet is to go."""
    filled_cuts = [
        area
        for recess in recesses
        for _, area in recess.cuts
        if len(parts(area)) > 1 or any(part.interiors for part in parts(area))
    ]
    where = filled_cuts[0] if filled_cuts else None
    return counted("recess-empty", len(filled_cuts), 0, "cuts with something in a recess", where)


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


def _bores(
    cylinders: Sequence[tuple[float, float]], recesses: Sequence[Cavity], profile: Profile
) -> Iterator[Finding]:
    """Between the largest cylinder that goes in and the smallest around there is the bore: both
    are as wide as asked for, so it is neither narrow nor wide, oval, tapered, bent nor bumpy."""
    asked = bores(profile)
    inside = [inside_mm for inside_mm, _ in cylinders]
    low_mm, high_mm = asked.widest_mm - TOLERANCE_MM, asked.widest_mm + TOLERANCE_MM
    mm, where = _worst([around_mm for _, around_mm in cylinders], asked.widest_mm, recesses)
    what = "the smallest cylinder around the bore"
    if asked.crest_mm is None and max(mm - high_mm, 0.0) <= max(low_mm - min(inside), 0.0):
        mm, where = min(inside), recesses[inside.index(min(inside))].middle
        what = "the largest cylinder that goes into the bore"
    yield between("recess-diameter", mm, (low_mm, high_mm), "mm", what, where)
    if asked.crest_mm is not None:
        crest, where = _worst(inside, asked.crest_mm, recesses)
        limit = (asked.crest_mm - TOLERANCE_MM, asked.crest_mm + TOLERANCE_MM)
        what = "the largest cylinder that goes between the ribs"
        yield between("rib-crest", crest, limit, "mm", what, where)


def _heights(part: Part, recesses: Sequence[Cavity], profile: Profile) -> Iterator[Finding]:
    magnet_mm = profile.magnet_height_mm
    limit = (magnet_mm + profile.air_mm, magnet_mm + MAX_AIR_MM)
    depth, where = _worst([r.depth_mm for r in recesses], sum(limit) / 2, recesses)
    yield between("recess-depth", depth, limit, "mm", "the depth of the recess", where)
    closed = [recess for recess in recesses if not recess.below]
    if profile.embedded:
        yield counted("recess-closed", len(closed), len(recesses), "closed cavities")
        ends = [r.low_mm if profile.facing == "down" else r.high_mm for r in recesses]
        pauses = [height_as_printed_mm(profile.facing, end, part.thickness_mm) for end in ends]
        off = [abs(pause - layer_top_mm(profile, pause - _LAYER_MM)) for pause in pauses]
        worst, where = _worst(off, 0.0, recesses)
        what = "how far the pause is from the end of a layer"
        yield at_most("pause-height", worst, _LAYER_MM, "mm", what, where)
    else:
        open_below = len(recesses) - len(closed)
        yield counted(
            "recess-open", open_below, len(recesses), "recesses that are open at the back"
        )


def _floors(
    part: Part, recesses: Sequence[Cavity], others: Sequence[Cavity], profile: Profile
) -> Iterator[Finding]:
    """Plastic above and below a recess, up to the letter where that lies over it."""
    roofs, floors = [], []
    for recess in recesses:
        over = [o for o in others if o.middle.intersects(recess.middle)]
        above = [o.low_mm for o in over if o.above and not o.below]
        below = [o.high_mm for o in over if o.below and not o.above]
        high_mm = part.thickness_mm if recess.above else recess.high_mm
        roofs.append(max(0.0, min(above, default=part.thickness_mm) - high_mm))
        floors.append(max(0.0, recess.low_mm - max(below, default=0.0)))
    roof, where = min(zip(roofs, (r.middle for r in recesses), strict=True), key=lambda one: one[0])
    what = "the plastic between the recess and the letter or face"
    yield at_least("roof", roof, profile.roof_mm, "mm", what, where)
    if profile.embedded:
        floor, where = min(
            zip(floors, (r.middle for r in recesses), strict=True), key=lambda one: one[0]
        )
        what = "the plastic between the recess and the back"
        least_mm = min(profile.roof_mm, profile.floor_mm)
        yield at_least("floor", floor, least_mm, "mm", what, where)


def _mouths(
    recesses: Sequence[Cavity], circles: Sequence[Circle], profile: Profile
) -> Iterator[Finding]:
    """The 45-degree lead-in: how much wider the rim is, on each side."""
    widths = []
    for recess, circle in zip(recesses, circles, strict=True):
        cut, area = recess.cuts[0]
        rim = circle_of(area)
        widths.append((rim.diameter_mm - circle.diameter_mm) / 2 + cut.height_mm)
    mouth, where = _worst(widths, profile.mouth_mm, recesses)
    low = max(0.0, profile.mouth_mm - TOLERANCE_MM)
    yield between(
        "mouth",
        mouth,
        (low, profile.mouth_mm + TOLERANCE_MM),
        "mm",
        "the lead-in of the recess",
        where,
    )


def _walls(
    part: Part, recesses: Sequence[Cavity], circles: Sequence[Circle], profile: Profile
) -> Iterator[Finding]:
    """Walls to the sides, those of holes too, and to the next recess: beside the bore, at the bed."""
    beside: list[tuple[float, BaseGeometry]] = []
    at_bed: list[tuple[float, BaseGeometry]] = []
    for recess, circle in zip(recesses, circles, strict=True):
        for cut, area in recess.cuts:
            in_mouth = not profile.embedded and _widest(area) > circle.outer_mm + _WIDER_MM
            solid = part.filled(cut.material)
            inside = solid.buffer(1e-6).contains(area)
            wall_mm = solid.boundary.distance(area) if inside else 0.0
            (at_bed if in_mouth else beside).append((wall_mm, area))
    for one, other in itertools.combinations(recesses, 2):
        beside.append((one.middle.distance(other.middle), one.middle))
    back = part.sections.flat(0.0, DOWN)
    rim = part.filled(back).boundary
    at_bed += [(rim.distance(hole), hole) for hole in hollows(back) if _is_of(hole, recesses)]
    wall_mm, where = min(beside, key=lambda one: one[0])
    yield at_least("wall", wall_mm, profile.wall_mm, "mm", "the wall beside the recess", where)
    if at_bed and not profile.embedded:
        wall_mm, where = min(at_bed, key=lambda one: one[0])
        what = "the wall at the recess's mouth"
        yield at_least("bed-wall", wall_mm, profile.bed_wall_mm, "mm", what, where)


def _is_of(hole: BaseGeometry, recesses: Sequence[Cavity]) -> bool:
    return any(recess.below and recess.middle.intersects(hole) for recess in recesses)


def _widest(area: BaseGeometry) -> float:
    return circle_of(area).outer_mm


def _worst(
    values: Sequence[float], right: float, recesses: Sequence[Cavity]
) -> tuple[float, BaseGeometry]:
    """The value that is farthest from what is right, and where."""
    worst = max(range(len(values)), key=lambda i: abs(values[i] - right))
    return values[worst], recesses[worst].middle
