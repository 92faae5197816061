"""Rules on the marks of south poles: which magnets have one, and that it can be seen and printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from shapely import union_all
from shapely.affinity import rotate, translate
from shapely.geometry import MultiPoint
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.magnets import left_to_right, poles
from fabkit.drawing.outline import canonical_outline
from fabkit.mesh.features import Cavity, Features, circle_of
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import Identity, turns_alike
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.rules.outline import TOLERANCE_MM, near
from fabkit.mesh.rules.recess import plastic_mm
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, UP, filled, hollows
from fabkit.model.layers import MARK_DIAMETER_MM, beyond_mark_mm, mark_span
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


def mark_findings(
    part: Part, found: Features, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """All findings on a part's marks of poles."""
    marks = found.marks
    if profile.has_recesses and profile.polarity != "alternating":
        where = union_all([mark.middle for mark in marks]) if marks else None
        yield counted("pole-mark", len(marks), 0, "marks of south poles", where)
    elif profile.has_recesses and found.recesses:
        yield from _right_ones(part, found, identity, puzzle, profile)
        places = [mark.middle for mark in marks]
        widths = [circle_of(middle).diameter_mm for middle in places]
        sizes = zip(widths, places, strict=True)
        yield from judged("mark-diameter", sizes, *near(MARK_DIAMETER_MM))
        depths = [(mark.depth_mm, mark.middle) for mark in marks]
        yield from judged("mark-depth", depths, *near(mark_span(profile).depth_mm))
        beyond = [_beyond_mm(part, mark, found) for mark in marks]
        yield from judged("mark-floor", zip(beyond, places, strict=True), beyond_mark_mm(profile))
        if not profile.embedded:
            back = part.sections.flat(0.0, DOWN)
            rim, mouths = filled(back).boundary, hollows(back)  # one of these is the mark itself
            walls = [
                (
                    min([rim.distance(one), *(hole.distance(one) or math.inf for hole in mouths)]),
                    one,
                )
                for one in places
            ]
            yield from judged("mark-wall", walls, profile.bed_wall_mm)


def _right_ones(
    part: Part, found: Features, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """Whether the magnets that show their south poles are marked, once, and no others.

    Nothing is said of parts that are not their piece, or have another number of recesses.
    """
    recesses = found.recesses
    expected = list(_expected(part, recesses, identity, puzzle, profile))
    if not expected:
        return
    which = [_marked_by(mark, recesses, profile) for mark in found.marks]
    astray = [mark.middle for mark, of in zip(found.marks, which, strict=True) if of is None]
    wrong = [
        [one.middle for i, one in enumerate(recesses) if which.count(i) != asked[i]]
        for asked in expected
    ]
    places = [*min(wrong, key=len), *astray]
    what = "magnets that are marked wrongly: those that show their south pole have one mark each"
    yield counted("pole-mark", len(places), 0, what, union_all(places) if places else None)


def _marked_by(mark: Cavity, recesses: Sequence[Cavity], profile: Profile) -> int | None:
    """The position of the recess that a mark belongs to; None where no mark should be."""
    distances = [mark.middle.distance(recess.middle) for recess in recesses]
    which = distances.index(min(distances))
    if not profile.embedded:
        return which if mark.below else None
    first_mm, mark_mm = recesses[which].low_mm, mark.high_mm
    if profile.facing == "down":  # the end that is printed first is the upper one
        first_mm, mark_mm = recesses[which].high_mm, mark.low_mm
    return which if abs(first_mm - mark_mm) < TOLERANCE_MM and distances[which] == 0 else None


def _expected(
    part: Part,
    recesses: Sequence[Cavity],
    identity: Identity,
    puzzle: PuzzleSet,
    profile: Profile,
) -> Iterator[list[int]]:
    """The numbers of marks that the recesses may have, one for each; several where it cannot be
    told how the part lies, or which of two pieces that are alike it is."""
    if part.outline is None or not identity.as_drawn:
        return
    circles = [circle_of(recess.middle) for recess in recesses]
    centres = MultiPoint([(circle.x_mm, circle.y_mm) for circle in circles])
    for name in [identity.piece] if identity.letter else identity.alike:
        piece = next(piece for piece in puzzle.pieces if piece.id == name)
        in_turn = poles(puzzle, piece, profile)
        if len(in_turn) != len(recesses):
            continue
        for degrees in _turned_by(part.outline, piece, identity, puzzle):
            as_drawn = rotate(centres, -degrees, origin=(0, 0))
            order = left_to_right([(p.x, p.y) for p in as_drawn.geoms], part.outline.unit_mm)
            in_order = dict(zip(order, in_turn, strict=True))
            yield [int(in_order[which] == "S") for which in range(len(recesses))]


def _turned_by(
    outline: Outline, piece: Piece, identity: Identity, puzzle: PuzzleSet
) -> list[float]:
    """By how many degrees a part may be turned from how its piece is drawn: by its outline, and
    by its letter as far as that looks different when it is turned."""
    moves = len(puzzle.lattice.moves(False))
    turns = turns_of(outline, piece, puzzle)
    if identity.letter:
        alike = turns_alike(identity.letter.text, moves)
        read = [(identity.letter.turns + turn) % moves for turn in alike]
        turns = [turn for turn in turns if turn in read] or [identity.letter.turns]
    return [360 * turn / moves for turn in turns]


def turns_of(outline: Outline, piece: Piece, puzzle: PuzzleSet) -> list[int]:
    """The turns of the lattice that carry a piece as it is drawn to an outline as it was read."""
    moves = len(puzzle.lattice.moves(False))
    drawn = _cornered(canonical_outline(puzzle.lattice, piece.forms[0].rings, outline.unit_mm))
    turned = [
        _cornered(rotate(outline.canonical, -360 * turn / moves, origin=(0, 0)))
        for turn in range(moves)
    ]
    # Of the same outline hardly any area is in one only.
    most_mm2 = 0.01 * drawn.area
    return [i for i, one in enumerate(turned) if one.symmetric_difference(drawn).area < most_mm2]


def _cornered(area: BaseGeometry) -> BaseGeometry:
    """An area moved so that the lower left corner of the box around it is the origin."""
    left, bottom, _, _ = area.bounds
    return translate(area, -left, -bottom)


def _beyond_mm(part: Part, mark: Cavity, found: Features) -> float:
    """Plastic from a mark's bottom to the letter or face that lies behind it."""
    upwards = mark.below or any(abs(r.high_mm - mark.low_mm) < 1e-6 for r in found.recesses)
    return plastic_mm(part, mark, found.labels, UP if upwards else DOWN)
