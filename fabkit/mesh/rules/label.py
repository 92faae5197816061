"""Rules on the letter: its depth, its strokes, the islands in it, and which letter it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from shapely import Polygon, maximum_inscribed_circle, union_all

from fabkit.drawing.draft import draft
from fabkit.drawing.glyphs import lettering, strokes_are_at_least
from fabkit.drawing.magnets import largest
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.features import Cavity
from fabkit.mesh.finding import Finding
from fabkit.mesh.identity import Identity, turns_alike
from fabkit.mesh.part import Part, inside_mm
from fabkit.mesh.rules.outline import TOLERANCE_MM, Common, near
from fabkit.mesh.rules.polemark import turns_of
from fabkit.mesh.rules.table import judged
from fabkit.mesh.section import DOWN, UP, parts
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


def label_findings(
    part: Part,
    labels: Sequence[Cavity],
    identity: Identity,
    common: Common,
    puzzle: PuzzleSet,
    profile: Profile,
) -> Iterator[Finding]:
    """All findings on the engraving of a part."""
    front = [label for label in labels if label.above]
    back = [label for label in labels if label.below and not label.above]
    asked = {"none": (False, False), "front": (True, False), "both": (True, True)}[profile.faces]
    for side, found, wanted in (("face", front, asked[0]), ("back", back, asked[1])):
        if found or wanted:
            ok = bool(found) == wanted
            message = f"there is {'a' if found else 'no'} letter on the {side}"
            message += "" if ok else f"; the profile asks for {'one' if wanted else 'none'}"
            yield Finding(f"label-{side}", ok, float(bool(found)), float(wanted), "", message)
    wanted_labels = [*(front if asked[0] else []), *(back if asked[1] else [])]
    depths = [(label.depth_mm, label.middle) for label in wanted_labels]
    off_mm = TOLERANCE_MM + 2 * part.sections.noise_mm  # at both ends
    yield from judged("label-depth", depths, *near(profile.label_depth_mm, off_mm))
    sides = [[x.middle for x in wanted_labels if x.above == above] for above in (True, False)]
    areas = [union_all(side) for side in sides if side]
    # Strokes of a mesh are chords of curves: a little may be missing.
    least_mm = round(profile.stroke_mm * 0.98, 3)
    strokes = [
        (largest(partial(strokes_are_at_least, area), 0.0, 2 * least_mm), area) for area in areas
    ]
    yield from judged("label-stroke", strokes, least_mm)
    islands = [
        (2 * maximum_inscribed_circle(Polygon(ring)).length, area)
        for area in areas
        for one in parts(area)
        for ring in one.interiors
    ]
    yield from judged("label-island", islands, 0.4)  # one line of a nozzle
    # How far the letter keeps from the edges of the flat face that it is engraved in.
    margins = []
    for label in wanted_labels:
        flat = part.sections.flat(*((part.thickness_mm, UP) if label.above else (0.0, DOWN)))
        margins.append((max(0.0, inside_mm(label.middle, part.filled(flat))), label.middle))
    yield from judged("label-margin", margins, near(profile.label_margin_mm)[0])
    if asked[0] and front and not common.measured:
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
        limit = [round(share * label.cap_height_mm, 2) for share in (0.75, 1.25)]
        yield from judged("label-size", [(math.sqrt(area.area / drawn_mm2), area)], *limit)
    if part.outline is not None and identity.as_drawn and not letter.mirrored:
        moves = len(puzzle.lattice.moves(False))
        lies = {(letter.turns + turn) % moves for turn in turns_alike(letter.text, moves)}
        asked = turns_of(part.outline, piece, puzzle)
        off = min(min((a - b) % moves, (b - a) % moves) for a in lies for b in asked)
        yield from judged("label-turn", [(360 * off / moves, area)], most=0.0, unit="deg")
