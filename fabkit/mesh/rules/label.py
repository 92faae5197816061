"""Rules on the letter: its depth, its strokes, the islands in it, and which letter it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from shapely import Polygon, maximum_inscribed_circle, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.draft import draft
from fabkit.drawing.glyphs import lettering, strokes_are_at_least
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.features import Cavity
from fabkit.mesh.finding import Finding, at_least, at_most, between
from fabkit.mesh.identity import Identity
from fabkit.mesh.letters import turns_alike
from fabkit.mesh.part import Part
from fabkit.mesh.rules.outline import TOLERANCE_MM, Common
from fabkit.mesh.rules.polemark import turns_of
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: An island inside a letter, as in an O, is at least one line of a 0.4 mm nozzle wide.
_ISLAND_MM = 0.4
#: A letter is between these parts of its drawn size.
_AS_LARGE = 0.75, 1.25
#: Strokes of a mesh are chords of curves: this part may be missing.
_STROKE_ROUNDING = 0.02
#: Strokes are measured to a part of the asked width in so many halvings.
_HALVINGS = 6


def label_findings(
    part: Part,
    labels: Sequence[Cavity],
    identity: Identity,
    common: Common,
    puzzle: PuzzleSet,
    profile: Profile,
) -> Iterator[Finding]:
    """All findings on the engraving of a part.

    Args:
        part: the part.
        labels: the cavities that are letters, or parts of them.
        identity: which piece it is, and how its letter lies.
        common: whether letters are to be as large and to lie as they are drawn.
        puzzle: the set.
        profile: what is asked for.
    """
    front = [label for label in labels if label.above]
    back = [label for label in labels if label.below and not label.above]
    asked = {"none": (False, False), "front": (True, False), "both": (True, True)}[profile.faces]
    for side, found, wanted in (("face", front, asked[0]), ("back", back, asked[1])):
        if bool(found) != wanted:
            there = "there is a letter" if found else "there is no letter"
            message = f"{there} on the {side}; the profile asks for {'one' if wanted else 'none'}"
            yield Finding(f"label-{side}", False, float(bool(found)), float(wanted), "", message)
        elif wanted:
            yield Finding(f"label-{side}", True, 1.0, 1.0, "", f"there is a letter on the {side}")
    wanted_labels = [*(front if asked[0] else []), *(back if asked[1] else [])]
    if wanted_labels:
        yield from _measures(wanted_labels, profile)
        yield _margin(part, wanted_labels, profile)
    if asked[0] and front and identity.letter and not common.measured:
        yield from _as_drawn(part, front, identity, puzzle, profile)


def _as_drawn(
    part: Part, front: Sequence[Cavity], identity: Identity, puzzle: PuzzleSet, profile: Profile
) -> Iterator[Finding]:
    """Whether the letter that was read is as large as it is drawn, and stands as it does there."""
    letter, area = identity.letter, union_all([label.middle for label in front])
    if letter is None or identity.piece is None:
        return
    piece = puzzle.piece(identity.piece)
    try:
        label = draft(puzzle, piece, replace(profile, fit="none")).label
    except BlueprintError:
        return
    if label is not None:
        drawn_mm2 = lettering(letter.text).polygon().area  # of capitals 1 mm high
        limit = tuple(round(part * label.cap_height_mm, 2) for part in _AS_LARGE)
        height_mm = math.sqrt(area.area / drawn_mm2)
        what = "the height of the letter's capitals"
        yield between("label-size", height_mm, (limit[0], limit[1]), "mm", what, area)
    if part.outline is not None and identity.as_drawn and not letter.mirrored:
        moves = len(puzzle.lattice.moves(False))
        lies = {(letter.turns + turn) % moves for turn in turns_alike(letter.text, moves)}
        asked = turns_of(part.outline, piece, puzzle)
        off = min(min((a - b) % moves, (b - a) % moves) for a in lies for b in asked)
        what = "by how much the letter is turned against its drawing"
        yield at_most("label-turn", 360 * off / moves, 0.0, "deg", what, area)


def _margin(part: Part, labels: Sequence[Cavity], profile: Profile) -> Finding:
    """How far the letter keeps from the edges of the flat face that it is engraved in."""
    margins = []
    for label in labels:
        face = (part.thickness_mm, UP) if label.above else (0.0, DOWN)
        flat = part.filled(part.sections.flat(*face))
        inside = flat.contains(label.middle)
        margins.append((flat.boundary.distance(label.middle) if inside else 0.0, label.middle))
    margin_mm, where = min(margins, key=lambda one: one[0])
    least_mm = max(0.0, round(profile.label_margin_mm - TOLERANCE_MM, 6))
    what = "the room between the letter and the chamfer"
    return at_least("label-margin", margin_mm, least_mm, "mm", what, where)


def _measures(labels: Sequence[Cavity], profile: Profile) -> Iterator[Finding]:
    right_mm = profile.label_depth_mm
    worst = max(labels, key=lambda label: abs(label.depth_mm - right_mm))
    limit = (right_mm - TOLERANCE_MM, right_mm + TOLERANCE_MM)
    yield between(
        "label-depth", worst.depth_mm, limit, "mm", "the depth of the letter", worst.middle
    )
    sides = [[x.middle for x in labels if x.above == above] for above in (True, False)]
    yield from _strokes([union_all(side) for side in sides if side], profile)


def _strokes(areas: Sequence[BaseGeometry], profile: Profile) -> Iterator[Finding]:
    """The thinnest stroke, and the narrowest island, of the letters on all faces."""
    least_mm = round(profile.stroke_mm * (1 - _STROKE_ROUNDING), 3)
    strokes = [(_stroke_mm(area, least_mm), area) for area in areas]
    stroke_mm, where = min(strokes, key=lambda one: one[0])
    yield at_least("label-stroke", stroke_mm, least_mm, "mm", "the thinnest stroke", where)
    islands = [
        (2 * maximum_inscribed_circle(Polygon(ring)).length, area)
        for area in areas
        for part in parts(area)
        for ring in part.interiors
    ]
    if islands:
        width_mm, where = min(islands, key=lambda one: one[0])
        what = "the narrowest island in the letter"
        yield at_least("label-island", width_mm, _ISLAND_MM, "mm", what, where)


def _stroke_mm(area: BaseGeometry, asked_mm: float) -> float:
    """The width of the thinnest stroke, up to twice what is asked for; never less if it is wide."""
    wide = strokes_are_at_least(area, asked_mm)
    low_mm, high_mm = (asked_mm, 2 * asked_mm) if wide else (0.0, asked_mm)
    for _ in range(_HALVINGS):
        middle_mm = (low_mm + high_mm) / 2
        if strokes_are_at_least(area, middle_mm):
            low_mm = middle_mm
        else:
            high_mm = middle_mm
    return low_mm
