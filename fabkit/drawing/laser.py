"""What a laser or a cutting plotter follows: a piece cut from a sheet, its letter and its magnets.

A cut takes away a strip as wide as the kerf. So there are two outlines: the *finished* one, which
the piece has in the end, and the *path* of the beam's or knife's middle, half a kerf outside of
it. A round beam cannot cut a sharp inner corner: there a fillet with a radius of half the kerf
stays, as on every machine.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from shapely import Point, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import chords
from fabkit.drawing.label import place_label
from fabkit.drawing.magnets import magnet_count, place_recesses
from fabkit.drawing.outline import (
    BlueprintError,
    PointMm,
    RingMm,
    canonical_outline,
    inset_ring,
    moved_in,
    rings_mm,
)
from fabkit.drawing.part import draft_each
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: How far chords may lie off the curves of a letter.
FLAT_MM = 0.01
#: Between the path of a piece on its own and the edge of its sheet.
EDGE_MM = 1.0
#: So much farther an outline must still be movable: less than that is not left of anything.
_SPARE_MM = 0.005
#: Half a kerf and an inset are sought in these steps for messages.
_STEP_MM = 0.01


@dataclass(frozen=True)
class Circle:
    """A round hole for a magnet, as it is cut.

    Attributes:
        centre_mm: seen from the lettered face, in the frame of the outline.
        diameter_mm: of the path; the hole is a kerf wider.
    """

    centre_mm: PointMm
    diameter_mm: float


@dataclass(frozen=True)
class CutPiece:
    """One piece as it is cut from a sheet, in mm, seen from its lettered face, y up.

    Attributes:
        outline: what the piece is in the end.
        path: where the middle of the beam or knife goes, half a kerf outside of the outline.
        engraving: the closed contours of the letter, curves as chords within `FLAT_MM`; none
            without a letter.
    """

    piece: str
    outline: Polygon
    path: Polygon
    engraving: tuple[RingMm, ...]
    magnets: tuple[Circle, ...]

    def moved(self, degrees: float, x_mm: float, y_mm: float) -> CutPiece:
        """Turned counter-clockwise about the origin of its frame, then moved.

        Example:
            >>> square = Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])
            >>> piece = CutPiece("A", square, square, (), (Circle((1.0, 0.5), 0.5),))
            >>> turned = piece.moved(90, 5, 0)
            >>> turned.outline.bounds, turned.magnets[0].centre_mm
            ((4.0, 0.0, 5.0, 2.0), (4.5, 1.0))
        """

        def carried(shape: BaseGeometry) -> BaseGeometry:
            turned = affinity.rotate(shape, degrees, origin=(0, 0))
            return affinity.translate(turned, x_mm, y_mm)

        centres = [carried(Point(circle.centre_mm)) for circle in self.magnets]
        return CutPiece(
            self.piece,
            carried(self.outline),
            carried(self.path),
            tuple(rings_mm(carried(Polygon(ring)))[0] for ring in self.engraving),
            tuple(
                Circle((centre.x, centre.y), circle.diameter_mm)
                for centre, circle in zip(centres, self.magnets, strict=True)
            ),
        )

    def alone(self) -> tuple[CutPiece, float, float]:
        """The piece on a sheet that is just large enough, and that sheet's width and depth."""
        left, bottom, right, top = self.path.bounds
        moved = self.moved(0.0, EDGE_MM - left, EDGE_MM - bottom)
        return moved, right - left + 2 * EDGE_MM, top - bottom + 2 * EDGE_MM


def cut_piece(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> CutPiece:
    """Works out what is cut for one piece.

    The finished outline is the canonical one, inset by ``laser.inset``; its tips stay sharp and
    nothing is chamfered. Letter and magnets go where they would go on a printed piece of that
    outline; a letter is only on the front.

    Raises:
        BlueprintError: when the inset swallows an edge or a neck, when the kerf swallows a hole
            or a notch, or when letter or magnets do not fit.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> piece = cut_piece(fridgeiq, fridgeiq.piece("B"), load_profile((), ["laser.kerf=0.2 mm"]))
        >>> piece.outline.bounds, piece.path.bounds
        ((0.0, 0.0, 40.0, 20.0), (-0.1, -0.1, 40.1, 20.1))
        >>> piece.magnets
        (Circle(centre_mm=(20.0, 10.0), diameter_mm=9.9),)
    """
    canonical = canonical_outline(puzzle.lattice, piece.forms[0].rings, profile.unit_mm)
    inset_mm, kerf_mm = profile.laser_inset_mm, profile.kerf_mm
    outline = _offset(canonical, inset_mm, "laser.inset", inset_mm, "an edge or a neck")
    path = _offset(outline, -kerf_mm / 2, "laser.kerf", kerf_mm, "a hole or a notch")
    one_face = "none" if profile.faces == "none" else "front"
    label = place_label(piece.label, outline, outline.centroid, replace(profile, faces=one_face))
    contours = label.front.contours if label else ()
    return CutPiece(
        piece.id,
        outline,
        path,
        tuple(tuple(chords(contour, FLAT_MM)) for contour in contours),
        _magnets(canonical, outline, profile),
    )


def cut_all(puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile) -> list[CutPiece]:
    """Works out what is cut for several pieces.

    Raises:
        InputError: with every piece that the profile does not suit. Pieces with the same fault
            share a line.
    """
    return draft_each(puzzle, pieces, profile, cut_piece, "cut from a sheet")


def _offset(
    outline: Polygon, distance_mm: float, key: str, asked_mm: float, swallows: str
) -> Polygon:
    """An outline moved inwards (outwards if negative) by an inset, or by half of a kerf."""
    if not _bears(outline, distance_mm):
        share, steps = distance_mm / asked_mm, range(1, math.ceil(asked_mm / _STEP_MM))
        # The greatest hundredth of a millimetre that is borne.
        most_mm = _STEP_MM * bisect_left(
            steps, True, key=lambda step: not _bears(outline, share * (step * _STEP_MM))
        )
        raise BlueprintError(
            f"{key} {format_mm(asked_mm)} swallows {swallows} of the piece, which bears "
            f"{format_mm(most_mm)} at most; choose a smaller {key} or a larger unit"
        )
    return moved_in(outline, distance_mm)


def _magnets(canonical: Polygon, outline: Polygon, profile: Profile) -> tuple[Circle, ...]:
    """Where the magnets go: as in a printed piece, but one without chamfers."""
    if not profile.has_recesses:
        return ()
    upright = replace(profile, top_chamfer_mm=0.0, foot_chamfer_mm=0.0, mouth_mm=0.0)
    count = magnet_count(canonical, profile.unit_mm)
    recesses = place_recesses(outline, outline, count, upright)
    bore_mm = recesses[0].bores.widest_mm
    if bore_mm < profile.kerf_mm + _SPARE_MM:
        raise BlueprintError(
            f"laser.kerf {format_mm(profile.kerf_mm)} swallows the hole for a magnet, which is "
            f"{format_mm(bore_mm)} across; choose a smaller laser.kerf, a larger magnet or "
            "recess.fit none"
        )
    path_mm = round(bore_mm - profile.kerf_mm, 6)
    return tuple(Circle(recess.centre_mm, path_mm) for recess in recesses)


def _bears(outline: Polygon, distance_mm: float) -> bool:
    """Whether an outline can be moved so far, and a little farther, and keeps all that it has."""
    further_mm = distance_mm + math.copysign(_SPARE_MM, distance_mm)
    rings = rings_mm(outline)
    moved = [inset_ring(ring, further_mm) for ring in rings]
    # An edge that has vanished goes the other way; a neck or notch that has makes a crossing.
    onwards = all(
        (np.diff([*was, was[0]], axis=0) * np.diff([*now, now[0]], axis=0)).sum(axis=1).min() > 0
        for was, now in zip(rings, moved, strict=True)
    )
    return onwards and bool(Polygon(moved[0], moved[1:]).is_valid)
