"""Rules on recesses and on the marks of south poles: their number, sizes, and the plastic around."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import shapely
from shapely import MultiPoint, union_all
from shapely.affinity import rotate

from fabkit.drawing.magnets import bores, left_to_right, magnet_count, poles
from fabkit.mesh.features import Cavity, circle_of, cylinders_mm
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import Letter, turns_alike
from fabkit.mesh.part import inside_mm
from fabkit.mesh.rules.outline import TOLERANCE_MM, Subject, near
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, UP, filled, hollows
from fabkit.model.layers import (
    MARK_DIAMETER_MM,
    MAX_AIR_MM,
    beyond_mark_mm,
    height_as_printed_mm,
    layer_top_mm,
    mark_span,
)
from fabkit.model.piece import Piece, moves_onto

#: Where a closed cavity ends, as it is printed, the print pauses: at the end of a layer, nearly.
_LAYER_MM = 0.02


def recess_findings(one: Subject) -> Iterator[Finding]:
    """All findings on a part's recesses."""
    part, profile, recesses = one.part, one.profile, one.found.recesses
    expected = _expected_counts(one)
    if expected:
        right = min(expected, key=lambda count: (abs(count - len(recesses)), count))
        what = "recesses for magnets"
        yield counted("recess-count", len(recesses), right, what, part.shadow.boundary)
    if not recesses or not profile.has_recesses:
        return
    places = [recess.middle for recess in recesses]
    yield from _bores(one)
    yield from _releases(one)
    cuts = [area for recess in recesses for _, area in recess.cuts]
    filled_cuts = [area for area in cuts if len(shapely.get_rings(area)) > 1]
    where = union_all(filled_cuts)
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
    roofs = [(_plastic_mm(one, x, UP), x.middle) for x in recesses]
    letters = union_all([x.middle for x in one.found.labels if x.above])
    if not letters.is_empty:
        roofs += [(x.middle.distance(letters), x.middle) for x in one.found.releases]
    yield from judged("roof", roofs, profile.roof_mm)
    if profile.embedded:
        floors = [(_plastic_mm(one, x, DOWN), x.middle) for x in recesses]
        yield from judged("floor", floors, min(profile.roof_mm, profile.floor_mm))
    else:
        mouths = [(one.mouth_mm, one.middle) for one in recesses]
        yield from judged("mouth", mouths, *near(profile.mouth_mm))
    yield from _walls(one)


def _expected_counts(one: Subject) -> set[int]:
    """How many magnets a piece of this length gets; none when its outline was not read.

    The length is that along x or y as the piece is drawn, with its letter upright. Without a
    letter it may have been drawn in any of the ways it can be turned.
    """
    outline, letter, usual = one.part.outline, one.identity.letter, one.common.recesses
    moves = len(one.puzzle.lattice.moves(False))
    found = set[int]()
    if not one.profile.has_recesses:
        found = {0}
    elif outline:
        for turn in [letter.turns] if letter else range(moves):
            drawn = rotate(outline.canonical, -360 * turn / moves, origin=(0, 0))
            found.add(magnet_count(drawn, outline.unit_mm))
    return found | {usual} if found and one.common.measured and usual is not None else found


def _plastic_mm(one: Subject, cavity: Cavity, facing: int) -> float:
    """Plastic above or below a cavity, to the letter that lies there, or to the face or back."""
    over = [x for x in one.found.labels if x.middle.intersects(cavity.middle)]
    if facing == UP:
        face_mm = one.part.thickness_mm
        ends = [x.low_mm for x in over if x.above and x is not cavity]
        return max(0.0, min(ends, default=face_mm) - (face_mm if cavity.above else cavity.high_mm))
    return max(0.0, cavity.low_mm - max((x.high_mm for x in over if x.below), default=0.0))


def _bores(one: Subject) -> Iterator[Finding]:
    """Between the largest cylinder that goes in and the smallest around there is the bore: both
    are as wide as asked for, so it is neither narrow nor wide, oval, tapered, bent nor bumpy."""
    profile, asked, inside, around = one.profile, bores(one.profile), [], []
    crest_mm = asked.widest_mm if asked.crest_mm is None else asked.crest_mm
    for recess in one.found.recesses:
        # A little above its mouth and, with ribs, above the cone down to their crests.
        low_mm = recess.low_mm + profile.mouth_mm + (asked.widest_mm - crest_mm) / 2 + 0.06
        some = [area for cut, area in recess.cuts if profile.embedded or cut.height_mm > low_mm]
        inside_mm, around_mm = cylinders_mm(some or [recess.middle])
        inside.append((inside_mm, recess.middle))
        around.append((around_mm, recess.middle))
    low_mm, high_mm = near(asked.widest_mm)
    narrow_mm = max(0.0, low_mm - min(mm for mm, _ in inside))
    found, what = around, "the smallest cylinder around the bore"
    if asked.crest_mm is None and max(mm for mm, _ in around) - high_mm <= narrow_mm:
        found, what = inside, "the largest cylinder that goes into the bore"
    yield from judged("recess-diameter", found, low_mm, high_mm, what=what)
    if asked.crest_mm is not None:
        yield from judged("rib-crest", inside, *near(asked.crest_mm))


def _releases(one: Subject) -> Iterator[Finding]:
    """There is a hole in the middle of each recess's end to push its magnet out, or none at all."""
    recesses, asked_mm = one.found.recesses, one.profile.release_mm
    ends = [hole.cuts[-1][1] for hole in one.found.releases]  # round, at the face
    right = len(recesses) if asked_mm else 0
    yield counted("release", len(ends), right, "push-out holes", union_all(ends))
    if asked_mm:
        widths = [(circle_of(end).diameter_mm, end) for end in ends]
        yield from judged("release-diameter", widths, *near(asked_mm))
        middles = [recess.middle.centroid for recess in recesses]
        off = [(min(map(end.centroid.distance, middles)), end) for end in ends]
        yield from judged("release-place", off, most=TOLERANCE_MM)


def _walls(one: Subject) -> Iterator[Finding]:
    """Walls to the sides, those of holes too, and to the next recess: beside the bore, at the bed."""
    part, profile, recesses = one.part, one.profile, one.found.recesses
    beside = [
        (x.middle.distance(y.middle), x.middle) for x, y in itertools.combinations(recesses, 2)
    ]
    for recess in recesses:
        bore_mm = shapely.minimum_bounding_radius(recess.middle)
        for cut, area in recess.cuts:
            # Its mouth is wider, and judged at the bed.
            if profile.embedded or shapely.minimum_bounding_radius(area) < bore_mm + 0.002:
                beside.append((max(0.0, inside_mm(area, part.filled(cut.material))), area))
    noise_mm = part.sections.noise_mm  # no wall is known more exactly
    yield from judged("wall", beside, profile.wall_mm - noise_mm)
    if not profile.embedded:
        back = part.sections.flat(0.0, DOWN)
        own = [x.middle for x in recesses if x.below]
        mouths = [hole for hole in hollows(back) if any(map(hole.intersects, own))]
        at_bed = [(part.filled(back).boundary.distance(hole), hole) for hole in mouths]
        yield from judged("bed-wall", at_bed, profile.bed_wall_mm - noise_mm)


# --- marks of south poles ---------------------------------------------------------------------


def mark_findings(one: Subject) -> Iterator[Finding]:
    """All findings on a part's marks of poles."""
    marks, recesses, profile = one.found.marks, one.found.recesses, one.profile
    places = [mark.middle for mark in marks]
    if profile.has_recesses and profile.polarity != "alternating":
        yield counted("pole-mark", len(marks), 0, "marks of south poles", union_all(places))
    elif profile.has_recesses and recesses:
        yield from _right_ones(one)
        widths = [(circle_of(place).diameter_mm, place) for place in places]
        yield from judged("mark-diameter", widths, *near(MARK_DIAMETER_MM))
        depths = [(mark.depth_mm, mark.middle) for mark in marks]
        yield from judged("mark-depth", depths, *near(mark_span(profile).depth_mm))
        # To the letter or face behind its bottom, from where the magnet lies.
        lowest_mm = min(recess.low_mm for recess in recesses)
        facing = [UP if x.below or x.low_mm > lowest_mm else DOWN for x in marks]
        beyond = [_plastic_mm(one, *mark) for mark in zip(marks, facing, strict=True)]
        yield from judged("mark-floor", zip(beyond, places, strict=True), beyond_mark_mm(profile))
        if not profile.embedded:
            back = one.part.sections.flat(0.0, DOWN)
            rims = [filled(back).boundary, *hollows(back)]  # one of these is the mark itself
            walls = [(min(rim.distance(x) or math.inf for rim in rims), x) for x in places]
            yield from judged("mark-wall", walls, profile.bed_wall_mm)


def _right_ones(one: Subject) -> Iterator[Finding]:
    """Whether the magnets that show their south poles are marked, once, and no others.

    Nothing is said of parts that are not their piece, or have another number of recesses.
    """
    which = [(_marked_by(mark, one), mark.middle) for mark in one.found.marks]
    astray, marked = [place for of, place in which if of is None], [of for of, _ in which]
    wrong = [
        [x.middle for i, x in enumerate(one.found.recesses) if marked.count(i) != (i in south)]
        for south in _souths(one)
    ]
    if wrong:
        places = [*min(wrong, key=len), *astray]
        what = "magnets marked wrongly: those that show their south pole have one mark each"
        yield counted("pole-mark", len(places), 0, what, union_all(places))


def _marked_by(mark: Cavity, one: Subject) -> int | None:
    """The position of the recess that a mark belongs to; None where no mark should be."""
    distances = [mark.middle.distance(recess.middle) for recess in one.found.recesses]
    which = distances.index(min(distances))
    recess, ok = one.found.recesses[which], mark.below
    if one.profile.embedded:  # in the end that is printed first
        down = one.profile.facing == "down"
        apart_mm = mark.low_mm - recess.high_mm if down else recess.low_mm - mark.high_mm
        ok = abs(apart_mm) < TOLERANCE_MM and distances[which] == 0
    return which if ok else None


def _souths(one: Subject) -> Iterator[set[int]]:
    """The positions of the recesses whose magnets show their south poles; several where it cannot
    be told how the part lies, or which of two pieces that are alike it is."""
    outline, identity, puzzle = one.part.outline, one.identity, one.puzzle
    if outline is None or not identity.as_drawn:
        return
    circles = [circle_of(recess.middle) for recess in one.found.recesses]
    centres = MultiPoint([(circle.x_mm, circle.y_mm) for circle in circles])
    moves = len(puzzle.lattice.moves(False))
    for piece in puzzle.select(identity.alike):
        in_turn, turns = poles(puzzle, piece, one.profile), turns_of(one, piece)
        if identity.letter:  # as far as that looks different when it is turned
            read = letter_turns(identity.letter, moves)
            turns = [turn for turn in turns if turn in read] or [identity.letter.turns]
        if len(in_turn) == len(circles) and (not identity.letter or piece.id == identity.piece):
            for turn in turns:
                drawn = rotate(centres, -360 * turn / moves, origin=(0, 0))
                order = left_to_right([(p.x, p.y) for p in drawn.geoms], outline.unit_mm)
                yield {i for i, pole in zip(order, in_turn, strict=True) if pole == "S"}


def turns_of(one: Subject, piece: Piece) -> list[int]:
    """The turns of the lattice that carry a piece as it is drawn to the outline of a part."""
    outline, drawn = one.part.outline, piece.forms[0].cells
    moves = moves_onto(one.puzzle.lattice, drawn, outline.cells) if outline else ()
    return [move.turns for move, _ in moves if not move.flipped]


def letter_turns(letter: Letter, moves: int) -> set[int]:
    """The turns, of so many, after which the letter as it is drawn lies as one that was read."""
    return {(letter.turns + turn) % moves for turn in turns_alike(letter.text, moves)}
