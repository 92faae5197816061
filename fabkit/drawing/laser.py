"""Drawings for a laser or a cutting plotter: a piece cut from a sheet, its letter and its magnets.

A cut removes a strip as wide as the kerf, so there are two outlines: the *finished* one of the piece,
and the *path* of the middle of the beam or knife, half a kerf outside of it. A round beam cannot cut a
sharp inner corner: it leaves a fillet with a radius of half the kerf, as on every machine.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from shapely import Point, Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.core.units import format_mm
from fabkit.drawing.draft import draft_all, place_letter, place_magnets
from fabkit.drawing.glyphs import flatten_contour
from fabkit.drawing.magnets import magnet_count
from fabkit.drawing.marks import CellMark, place_marks
from fabkit.drawing.outline import (
    DrawingError,
    PointMm,
    RingMm,
    canonical_outline,
    inset_outline,
    inset_ring,
    rings_mm,
)
from fabkit.model.piece import HOLE, Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile

#: Maximum distance of chords from the curves of a letter.
CHORD_TOLERANCE_MM = 0.01
#: Margin around the path of a piece on its own sheet.
SHEET_MARGIN_MM = 1.0
#: An outline must bear this much more offset, so that nothing is left thinner.
_SPARE_MM = 0.005
#: Step of the limits in messages.
_STEP_MM = 0.01


@dataclass(frozen=True)
class Circle:
    """A round hole for a magnet or a peg, as it is cut.

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
        outline: the finished outline.
        path: of the middle of the beam or knife, half a kerf outside the outline.
        engraving: the closed contours of letter, crosses and dots, curves as chords within
            `CHORD_TOLERANCE_MM`.
        holes: marks of cells that take a peg.
        copies: how many of it are cut.
    """

    piece: str
    outline: Polygon
    path: Polygon
    engraving: tuple[RingMm, ...]
    magnets: tuple[Circle, ...]
    holes: tuple[Circle, ...] = ()
    copies: int = 1

    def moved(self, degrees: float, x_mm: float, y_mm: float) -> CutPiece:
        """Return the piece rotated counter-clockwise about the origin, then moved.

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

        def carried_circles(circles: Sequence[Circle]) -> tuple[Circle, ...]:
            centres = [carried(Point(circle.centre_mm)) for circle in circles]
            return tuple(
                Circle((centre.x, centre.y), circle.diameter_mm)
                for circle, centre in zip(circles, centres, strict=True)
            )

        return CutPiece(
            self.piece,
            carried(self.outline),
            carried(self.path),
            tuple(rings_mm(carried(Polygon(ring)))[0] for ring in self.engraving),
            carried_circles(self.magnets),
            carried_circles(self.holes),
        )

    def on_own_sheet(self) -> tuple[list[CutPiece], float, float]:
        """Return the piece, alone on a sheet that is just large enough, and the sheet's width and depth."""
        left, bottom, right, top = self.path.bounds
        moved = self.moved(0.0, SHEET_MARGIN_MM - left, SHEET_MARGIN_MM - bottom)
        return [moved], right - left + 2 * SHEET_MARGIN_MM, top - bottom + 2 * SHEET_MARGIN_MM


def draft_cut_piece(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> CutPiece:
    """Draft one piece for cutting.

    The finished outline is the canonical one, inset by ``laser.inset``; its tips stay sharp and
    nothing is chamfered. Letter, marks and magnets have the places of a printed piece with that
    outline; letter, crosses and dots are only on the front.

    Raises:
        DrawingError: when the inset removes an edge or a neck, when the kerf removes a hole or a
            notch, or when letter or magnets do not fit.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> piece = draft_cut_piece(fridgeiq, fridgeiq.piece("B"), load_profile((), ["laser.kerf=0.2 mm"]))
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
    marks = place_marks(puzzle, replace(piece, back=()), (outline,), profile)
    lettered = replace(profile, faces=one_face)
    label = place_letter(piece, outline, outline.centroid, marks, lettered)
    contours = label.front.contours if label else ()
    letters = [tuple(flatten_contour(contour, CHORD_TOLERANCE_MM)) for contour in contours]
    engraved = [rings_mm(mark.area)[0] for mark in marks if mark.look != HOLE]
    return CutPiece(
        piece.id,
        outline,
        path,
        (*letters, *engraved),
        _magnets(canonical, outline, marks, profile),
        _holes(marks, profile),
        piece.copies,
    )


def draft_cut_pieces(
    puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile
) -> list[CutPiece]:
    """Draft several pieces for cutting.

    Raises:
        InputError: when a piece is made of balls; or as in `draft_all`.
    """
    if any(piece.body for piece in pieces):
        message = "its pieces are made of balls; only flat pieces can be cut from a sheet"
        raise InputError.of(puzzle.name, message)
    return draft_all(puzzle, pieces, profile, draft_cut_piece)


def _offset(
    outline: Polygon, distance_mm: float, key: str, setting_mm: float, removed: str
) -> Polygon:
    """Offset an outline inwards (outwards if negative) by an inset, or by half a kerf."""
    if not _bears(outline, distance_mm):
        share = distance_mm / setting_mm
        steps = range(1, math.ceil(setting_mm / _STEP_MM))

        def is_too_large(step: int) -> bool:
            return not _bears(outline, share * (step * _STEP_MM))

        # The greatest possible hundredth of a millimetre.
        max_mm = _STEP_MM * bisect_left(steps, True, key=is_too_large)
        raise DrawingError(
            f"{key} {format_mm(setting_mm)} removes {removed} of the piece; the limit is "
            f"{format_mm(max_mm)}; choose a smaller {key} or a larger unit"
        )
    return inset_outline(outline, distance_mm)


def _holes(marks: Sequence[CellMark], profile: Profile) -> tuple[Circle, ...]:
    """Return the paths of the holes for pegs."""
    path_mm = round(profile.mark_hole_mm - profile.kerf_mm, 6)
    return tuple(Circle(mark.centre_mm, path_mm) for mark in marks if mark.look == HOLE)


def _magnets(
    canonical: Polygon, outline: Polygon, marks: Sequence[CellMark], profile: Profile
) -> tuple[Circle, ...]:
    """Place the magnets as in a printed piece without chamfers."""
    upright = replace(profile, top_chamfer_mm=0.0, foot_chamfer_mm=0.0, lead_in_mm=0.0)
    count = magnet_count(canonical, profile.unit_mm)
    recesses = place_magnets(outline, outline, count, marks, upright)
    if not recesses:
        return ()
    recess_mm = recesses[0].diameters.widest_mm
    if recess_mm < profile.kerf_mm + _SPARE_MM:
        raise DrawingError(
            f"laser.kerf {format_mm(profile.kerf_mm)} removes the hole for a magnet, which is "
            f"{format_mm(recess_mm)} across; choose a smaller laser.kerf, a larger magnet or "
            "recess.fit none"
        )
    path_mm = round(recess_mm - profile.kerf_mm, 6)
    return tuple(Circle(recess.centre_mm, path_mm) for recess in recesses)


def _bears(outline: Polygon, distance_mm: float) -> bool:
    """Return whether an outline keeps all its edges and necks at an offset and a little beyond."""
    further_mm = distance_mm + math.copysign(_SPARE_MM, distance_mm)
    rings = rings_mm(outline)
    moved = [inset_ring(ring, further_mm) for ring in rings]
    for ring, moved_ring in zip(rings, moved, strict=True):
        edges = np.diff([*ring, ring[0]], axis=0)
        moved_edges = np.diff([*moved_ring, moved_ring[0]], axis=0)
        if (edges * moved_edges).sum(axis=1).min() <= 0:
            return False  # an edge has vanished and is now reversed
    # A vanished neck or notch makes a crossing.
    return bool(Polygon(moved[0], moved[1:]).is_valid)
