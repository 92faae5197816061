"""Rules on the marks of south poles: which magnets have one, and that it can be seen and printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapely import union_all
from shapely.affinity import rotate, translate
from shapely.geometry import MultiPoint
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.magnets import left_to_right, poles
from fabkit.drawing.outline import canonical_outline
from fabkit.mesh.features import Cavity, Features, circle_of
from fabkit.mesh.finding import Finding, at_least, between, counted
from fabkit.mesh.identity import Identity
from fabkit.mesh.letters import turns_alike
from fabkit.mesh.part import Outline, Part
from fabkit.mesh.rules.outline import TOLERANCE_MM
from fabkit.mesh.section import DOWN, filled, hollows
from fabkit.model.layers import MARK_DIAMETER_MM, beyond_mark_mm, mark_span
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: Two outlines are the same when no more than this part of their area is in one only.
_SAME = 0.01


def mark_findings(
    part: Part, found: Features, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """All findings on a part's marks of poles.

    Args:
        part: the part.
        found: its recesses and marks.
        identity: which piece it is, and how its letter lies.
        puzzle: the set, in whose order poles alternate.
        profile: what is asked for.
    """
    marks, recesses = found.marks, found.recesses
    if profile.polarity != "alternating":
        if profile.has_recesses:
            where = union_all([mark.middle for mark in marks]) if marks else None
            yield counted("pole-mark", len(marks), 0, "marks of south poles", where)
        return
    if not profile.has_recesses or not recesses:
        return
    yield from _right_ones(part, found, identity, puzzle, profile)
    if marks:
        yield from _measures(part, found, profile)


def _right_ones(
    part: Part, found: Features, identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """Whether the magnets that show their south poles are marked, once, and no others.

    Nothing is said of parts that are not their piece, or have another number of recesses.
    """
    recesses = found.recesses
    expected = [
        one
        for one in _expected(part, recesses, identity, puzzle, profile)
        if len(one) == len(recesses)
    ]
    if not expected:
        return
    counts = [0] * len(recesses)
    astray = []
    for mark in found.marks:
        which = _marked_by(mark, recesses, profile)
        if which is None:
            astray.append(mark.middle)
        else:
            counts[which] += 1

    def wrong(asked: Sequence[int]) -> list[BaseGeometry]:
        return [
            recess.middle
            for recess, count, right in zip(recesses, counts, asked, strict=True)
            if count != right
        ]

    places = min((wrong(asked) for asked in expected), key=len) + astray
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
            asked = [0] * len(recesses)
            for which, pole in zip(order, in_turn, strict=True):
                asked[which] = int(pole == "S")
            yield asked


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
    return [
        turn
        for turn in range(moves)
        if _are_same(
            _cornered(rotate(outline.canonical, -360 * turn / moves, origin=(0, 0))), drawn
        )
    ]


def _cornered(area: BaseGeometry) -> BaseGeometry:
    """An area moved so that the lower left corner of the box around it is the origin."""
    left, bottom, _, _ = area.bounds
    return translate(area, -left, -bottom)


def _are_same(one: BaseGeometry, other: BaseGeometry) -> bool:
    return bool(one.symmetric_difference(other).area < _SAME * other.area)


def _measures(part: Part, found: Features, profile: Profile) -> Iterator[Finding]:
    """How wide and deep marks are, and how much plastic is around and beyond them."""
    marks = found.marks
    asked = (
        ("mark-diameter", MARK_DIAMETER_MM, [circle_of(m.middle).diameter_mm for m in marks]),
        ("mark-depth", mark_span(profile).depth_mm, [mark.depth_mm for mark in marks]),
    )
    for rule, right_mm, values in asked:
        which = max(range(len(marks)), key=lambda i: abs(values[i] - right_mm))
        limit = (right_mm - TOLERANCE_MM, right_mm + TOLERANCE_MM)
        what = "the width of a pole's mark" if rule == "mark-diameter" else "its depth"
        yield between(rule, values[which], limit, "mm", what, marks[which].middle)
    beyond = [_beyond_mm(part, mark, found) for mark in marks]
    which = beyond.index(min(beyond))
    what = "the plastic beyond a pole's mark"
    least_mm, where = beyond_mark_mm(profile), marks[which].middle
    yield at_least("mark-floor", beyond[which], least_mm, "mm", what, where)
    if not profile.embedded:
        walls = [_wall_mm(part, mark) for mark in marks]
        which = walls.index(min(walls))
        what, where = "the wall beside a pole's mark", marks[which].middle
        yield at_least("mark-wall", walls[which], profile.bed_wall_mm, "mm", what, where)


def _beyond_mm(part: Part, mark: Cavity, found: Features) -> float:
    """Plastic from a mark's bottom to the letter or face that lies behind it."""
    over = [one for one in found.labels if one.middle.intersects(mark.middle)]
    upwards = mark.below or any(abs(r.high_mm - mark.low_mm) < 1e-6 for r in found.recesses)
    if upwards:
        return min([one.low_mm for one in over if one.above] + [part.thickness_mm]) - mark.high_mm
    return mark.low_mm - max([one.high_mm for one in over if one.below] + [0.0])


def _wall_mm(part: Part, mark: Cavity) -> float:
    """The least wall at the back between a mark, the piece's side and the mouths."""
    back = part.sections.flat(0.0, DOWN)
    holes = [hole for hole in hollows(back) if not hole.intersects(mark.middle)]
    return float(min(area.distance(mark.middle) for area in (filled(back).boundary, *holes)))
