"""Rules on recesses and on the marks of south poles: their number, sizes, and the plastic around."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import shapely
from shapely import MultiPoint, union_all
from shapely.affinity import rotate

from fabkit.drawing.magnets import left_to_right_order, magnet_count, poles, recess_diameters
from fabkit.mesh.features import Cavity, cylinders_mm, fit_circle
from fabkit.mesh.finding import Finding, check_limits, count_finding
from fabkit.mesh.identity import Letter, symmetry_turns
from fabkit.mesh.part import inside_mm
from fabkit.mesh.rules.outline import TOLERANCE_MM, Subject, near
from fabkit.mesh.section import DOWN, UP, filled, holes_in
from fabkit.model.piece import Piece, moves_onto
from fabkit.profiles.layers import (
    MARK_DIAMETER_MM,
    MAX_AIR_MM,
    beyond_mark_mm,
    height_as_printed_mm,
    layer_top_mm,
    mark_span,
)

#: Tolerance of the height where a closed recess ends: the print pauses there, at a layer boundary.
_LAYER_MM = 0.02


def recess_findings(subject: Subject) -> Iterator[Finding]:
    """All findings on a part's recesses."""
    part, profile, recesses = subject.part, subject.profile, subject.features.recesses
    expected = _expected_counts(subject)
    if expected:
        right = min(expected, key=lambda count: (abs(count - len(recesses)), count))
        what = "recesses for magnets"
        yield count_finding("recess-count", len(recesses), right, what, part.silhouette.boundary)
    if not recesses or not profile.has_recesses:
        return
    places = [recess.middle for recess in recesses]
    yield from _diameters(subject)
    yield from _releases(subject)
    cuts = [area for recess in recesses for _, area in recess.cuts]
    blocked = [area for area in cuts if len(shapely.get_rings(area)) > 1]
    what = "cross-sections of recesses with something inside"
    yield count_finding("recess-empty", len(blocked), 0, what, union_all(blocked))
    magnet_mm = profile.magnet_height_mm
    depths = [(recess.depth_mm, recess.middle) for recess in recesses]
    limit = (magnet_mm + profile.air_mm, magnet_mm + MAX_AIR_MM)
    yield from check_limits("recess-depth", depths, *limit)
    closed = sum(not recess.below for recess in recesses)
    if profile.embedded:
        yield count_finding("recess-closed", closed, len(recesses), "closed recesses")
        ends = [r.low_mm if profile.facing == "down" else r.high_mm for r in recesses]
        pauses = [height_as_printed_mm(profile.facing, end, part.thickness_mm) for end in ends]
        off = [abs(pause - layer_top_mm(profile, pause - _LAYER_MM)) for pause in pauses]
        yield from check_limits("pause-height", zip(off, places, strict=True), maximum=_LAYER_MM)
    else:
        what = "recesses that are open at the back"
        yield count_finding("recess-open", len(recesses) - closed, len(recesses), what)
    roofs = [(_plastic_mm(subject, x, UP), x.middle) for x in recesses]
    letters = union_all([x.middle for x in subject.features.labels if x.above])
    if not letters.is_empty:
        roofs += [(x.middle.distance(letters), x.middle) for x in subject.features.releases]
    yield from check_limits("roof", roofs, profile.roof_mm)
    if profile.embedded:
        floors = [(_plastic_mm(subject, x, DOWN), x.middle) for x in recesses]
        yield from check_limits("floor", floors, min(profile.roof_mm, profile.floor_mm))
    else:
        lead_ins = [(recess.lead_in_mm, recess.middle) for recess in recesses]
        yield from check_limits("lead-in", lead_ins, *near(profile.lead_in_mm))
    yield from _walls(subject)


def _expected_counts(subject: Subject) -> set[int]:
    """The number of magnets for a piece of this length; empty if its outline was not fitted.

    The length is that along x or y as the piece is drawn, with its letter upright. Without a letter
    it may have been drawn in any rotation.
    """
    outline, letter, usual = subject.part.outline, subject.identity.letter, subject.common.recesses
    moves = len(subject.puzzle.lattice.moves(False))
    counts = set[int]()
    if not subject.profile.has_recesses:
        counts = {0}
    elif outline:
        for turn in [letter.turns] if letter else range(moves):
            turned = rotate(outline.canonical, -360 * turn / moves, origin=(0, 0))
            counts.add(magnet_count(turned, outline.unit_mm))
    return counts | {usual} if counts and subject.common.measured and usual is not None else counts


def _plastic_mm(subject: Subject, cavity: Cavity, facing: int) -> float:
    """The thickness of plastic above or below a cavity, up to the letter there, or the face or back."""
    over = [x for x in subject.features.labels if x.middle.intersects(cavity.middle)]
    if facing == UP:
        face_mm = subject.part.thickness_mm
        ends = [x.low_mm for x in over if x.above and x is not cavity]
        return max(0.0, min(ends, default=face_mm) - (face_mm if cavity.above else cavity.high_mm))
    return max(0.0, cavity.low_mm - max((x.high_mm for x in over if x.below), default=0.0))


def _diameters(subject: Subject) -> Iterator[Finding]:
    """Findings on diameters: the largest cylinder that fits in and the smallest around it both have
    the right diameter, so that a recess is neither narrow nor wide, oval, tapered, bent nor
    bumpy."""
    profile = subject.profile
    nominal = recess_diameters(profile)
    inside, around = [], []
    for recess in subject.features.recesses:
        # Slightly above its lead-in and, with ribs, above the cone down to their crests.
        cone_mm = profile.lead_in_mm + (nominal.widest_mm - nominal.narrowest_mm) / 2
        low_mm = recess.low_mm + cone_mm + 0.06
        areas = [area for cut, area in recess.cuts if profile.embedded or cut.height_mm > low_mm]
        inside_mm, around_mm = cylinders_mm(areas or [recess.middle])
        inside.append((inside_mm, recess.middle))
        around.append((around_mm, recess.middle))
    low_mm, high_mm = near(nominal.widest_mm)
    narrow_mm = max(0.0, low_mm - min(mm for mm, _ in inside))
    measured = around
    what = "the smallest cylinder around the recess"
    if nominal.crest_mm is None and max(mm for mm, _ in around) - high_mm <= narrow_mm:
        measured = inside
        what = "the largest cylinder that fits into the recess"
    yield from check_limits("recess-diameter", measured, low_mm, high_mm, what=what)
    if nominal.crest_mm is not None:
        yield from check_limits("rib-crest", inside, *near(nominal.crest_mm))


def _releases(subject: Subject) -> Iterator[Finding]:
    """Findings on push-out holes: one in the middle of each recess's end, or none at all."""
    recesses, asked_mm = subject.features.recesses, subject.profile.release_mm
    ends = [hole.cuts[-1][1] for hole in subject.features.releases]  # round, at the face
    right = len(recesses) if asked_mm else 0
    yield count_finding("release", len(ends), right, "push-out holes", union_all(ends))
    if asked_mm:
        widths = [(fit_circle(end).diameter_mm, end) for end in ends]
        yield from check_limits("release-diameter", widths, *near(asked_mm))
        middles = [recess.middle.centroid for recess in recesses]
        off = [(min(map(end.centroid.distance, middles)), end) for end in ends]
        yield from check_limits("release-place", off, maximum=TOLERANCE_MM)


def _walls(subject: Subject) -> Iterator[Finding]:
    """Findings on the walls to the sides, to holes, and to the next recess; and on those at the bed."""
    part, profile, recesses = subject.part, subject.profile, subject.features.recesses
    beside = [
        (x.middle.distance(y.middle), x.middle) for x, y in itertools.combinations(recesses, 2)
    ]
    for recess in recesses:
        recess_mm = shapely.minimum_bounding_radius(recess.middle)
        for cut, area in recess.cuts:
            # Its open end is wider, and checked at the bed.
            if profile.embedded or shapely.minimum_bounding_radius(area) < recess_mm + 0.002:
                beside.append((max(0.0, inside_mm(area, part.filled(cut.material))), area))
    noise_mm = part.sections.noise_mm  # the precision of any wall
    yield from check_limits("wall", beside, profile.wall_mm - noise_mm)
    if not profile.embedded:
        back = part.sections.flat(0.0, DOWN)
        own = [x.middle for x in recesses if x.below]
        openings = [hole for hole in holes_in(back) if any(map(hole.intersects, own))]
        at_bed = [(part.filled(back).boundary.distance(hole), hole) for hole in openings]
        yield from check_limits("bed-wall", at_bed, profile.bed_wall_mm - noise_mm)


# --- marks of south poles ---------------------------------------------------------------------


def mark_findings(subject: Subject) -> Iterator[Finding]:
    """All findings on a part's marks of poles."""
    marks, recesses, profile = subject.features.marks, subject.features.recesses, subject.profile
    places = [mark.middle for mark in marks]
    if profile.has_recesses and profile.polarity != "alternating":
        yield count_finding("pole-mark", len(marks), 0, "marks of south poles", union_all(places))
    elif profile.has_recesses and recesses:
        yield from _right_ones(subject)
        widths = [(fit_circle(place).diameter_mm, place) for place in places]
        yield from check_limits("mark-diameter", widths, *near(MARK_DIAMETER_MM))
        depths = [(mark.depth_mm, mark.middle) for mark in marks]
        yield from check_limits("mark-depth", depths, *near(mark_span(profile).depth_mm))
        # To the letter or face behind its bottom, from where the magnet lies.
        lowest_mm = min(recess.low_mm for recess in recesses)
        facing = [UP if x.below or x.low_mm > lowest_mm else DOWN for x in marks]
        beyond = [_plastic_mm(subject, *mark) for mark in zip(marks, facing, strict=True)]
        yield from check_limits(
            "mark-floor", zip(beyond, places, strict=True), beyond_mark_mm(profile)
        )
        if not profile.embedded:
            back = subject.part.sections.flat(0.0, DOWN)
            rims = [filled(back).boundary, *holes_in(back)]  # one of these is the mark itself
            walls = [(min(rim.distance(x) or math.inf for rim in rims), x) for x in places]
            yield from check_limits("mark-wall", walls, profile.bed_wall_mm)


def _right_ones(subject: Subject) -> Iterator[Finding]:
    """The finding on which magnets are marked: each visible south pole once, and no others.

    There is none for parts that are not as drawn or have another number of recesses.
    """
    recesses, marks = subject.features.recesses, subject.features.marks
    marked = [_marked_by(mark, subject) for mark in marks]
    astray = [mark.middle for mark, index in zip(marks, marked, strict=True) if index is None]
    wrong = [
        [x.middle for i, x in enumerate(recesses) if marked.count(i) != (i in south)]
        for south in _souths(subject)
    ]
    if wrong:
        places = [*min(wrong, key=len), *astray]
        what = "magnets with a wrong mark (each visible south pole has one mark)"
        yield count_finding("pole-mark", len(places), 0, what, union_all(places))


def _marked_by(mark: Cavity, subject: Subject) -> int | None:
    """The index of the recess that a mark belongs to; None for a stray mark."""
    distances = [mark.middle.distance(recess.middle) for recess in subject.features.recesses]
    which = distances.index(min(distances))
    recess = subject.features.recesses[which]
    ok = mark.below
    if subject.profile.embedded:  # in the end printed first
        down = subject.profile.facing == "down"
        apart_mm = mark.low_mm - recess.high_mm if down else recess.low_mm - mark.high_mm
        ok = abs(apart_mm) < TOLERANCE_MM and distances[which] == 0
    return which if ok else None


def _souths(subject: Subject) -> Iterator[set[int]]:
    """The indices of the recesses with a visible south pole; several sets if the rotation of the part,
    or which of two equal pieces it is, is ambiguous."""
    outline, identity, puzzle = subject.part.outline, subject.identity, subject.puzzle
    if outline is None or not identity.as_drawn:
        return
    circles = [fit_circle(recess.middle) for recess in subject.features.recesses]
    centres = MultiPoint([(circle.x_mm, circle.y_mm) for circle in circles])
    moves = len(puzzle.lattice.moves(False))
    for piece in puzzle.select(identity.alike):
        pole_sequence = poles(puzzle, piece, subject.profile)
        allowed_turns = turns_of(subject, piece)
        if identity.letter:  # unless it looks the same when rotated
            read = letter_turns(identity.letter, moves)
            allowed_turns = [x for x in allowed_turns if x in read] or [identity.letter.turns]
        is_read = not identity.letter or piece.id == identity.piece
        if is_read and len(pole_sequence) == len(circles):
            for turn in allowed_turns:
                turned = rotate(centres, -360 * turn / moves, origin=(0, 0))
                order = left_to_right_order([(p.x, p.y) for p in turned.geoms], outline.unit_mm)
                yield {i for i, pole in zip(order, pole_sequence, strict=True) if pole == "S"}


def turns_of(subject: Subject, piece: Piece) -> list[int]:
    """The rotations of the lattice that map a piece as drawn to the outline of a part."""
    outline, cells = subject.part.outline, piece.forms[0].cells
    moves = moves_onto(subject.puzzle.lattice, cells, outline.cells) if outline else ()
    return [move.turns for move, _ in moves if not move.flipped]


def letter_turns(letter: Letter, moves: int) -> set[int]:
    """The rotations, of `moves`, that map the letter as drawn to a recognised one."""
    return {(letter.turns + turn) % moves for turn in symmetry_turns(letter.text, moves)}
