"""Drafting: from a piece on its lattice and a profile to its drawing in mm; and the same for everything
else that a set prints: ball pieces, boards, trays and lids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from shapely import Point, Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import ErrorDetail, InputError, pluralize
from fabkit.core.units import format_mm
from fabkit.drawing.ball import draft_ball_piece
from fabkit.drawing.boards.draft import draft_board, draft_lid
from fabkit.drawing.boards.parts import draft_part
from fabkit.drawing.cells import Peg, cell_shape_outline, place_pegs
from fabkit.drawing.label import Label, place_label
from fabkit.drawing.magnets import (
    ARC_SEGMENTS,
    Recess,
    assign_poles,
    magnet_count,
    place_recesses,
    poles,
)
from fabkit.drawing.marks import CellMark, cells_area, marked_area, place_marks
from fabkit.drawing.outline import (
    DrawingError,
    canonical_outline,
    chamfer_outline,
    largest_chamfer_mm,
    offset_outline,
)
from fabkit.drawing.part import PartDrawing
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import LID, Printable, has_pegs, profile_as_made
from fabkit.profiles.filaments import filaments_for
from fabkit.profiles.profile import Profile

_Drawing = TypeVar("_Drawing")
_Printable = TypeVar("_Printable", bound=Printable)


@dataclass(frozen=True, kw_only=True)
class FlatDrawing(PartDrawing):
    """One flat piece in mm, seen from its lettered face, y up, its back at height 0.

    This is the frame of its files, whichever face is on the bed. The foot chamfer (or the top chamfer
    if the face is printed downwards) compensates for the elephant foot. The ends of pegs are at height
    0, with the back above them. `outline` is the one between both chamfers, `face` is inside the top
    chamfer, `foot` inside the foot chamfer.

    Attributes:
        canonical: the outline as drawn.
        top_chamfer_mm: around the face.
        foot_chamfer_mm: around the back.
        pegs: below the back, one for each cell; none without pegs.
        marks: on cells, cut out of face or back or both.
    """

    canonical: Polygon
    top_chamfer_mm: float
    foot_chamfer_mm: float
    pegs: tuple[Peg, ...] = ()
    marks: tuple[CellMark, ...] = ()

    @property
    def back_mm(self) -> float:
        """The height of the back: that of the pegs, or 0."""
        return self.pegs[0].height_mm if self.pegs else 0.0


def draft_flat_piece(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> FlatDrawing:
    """Draft one flat piece.

    Raises:
        DrawingError: when the piece is impossible with the profile.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> b = draft_flat_piece(fridgeiq, fridgeiq.piece("B"), load_profile())
        >>> b.outline.bounds, b.recesses[0].centre_mm, b.label.cap_height_mm
        ((0.1, 0.1, 39.9, 19.9), (20.0, 10.0), 7.0)
    """
    form = piece.forms[0]
    pegged = has_pegs(puzzle, profile)
    profile = profile_as_made(puzzle, profile)
    canonical = canonical_outline(puzzle.lattice, form.rings, profile.unit_mm)
    if pegged:
        outline = cell_shape_outline(puzzle.lattice, form, profile)
    else:
        outline = offset_outline(canonical, profile)
    limit_mm, edge_mm = largest_chamfer_mm(outline)
    for key in ("top_chamfer", "foot_chamfer"):
        chamfer_mm = getattr(profile, f"{key}_mm")
        if chamfer_mm > limit_mm:
            raise DrawingError(
                f"{key} {format_mm(chamfer_mm)} is too large: the shortest edge, {format_mm(edge_mm)} "
                f"long, allows at most {format_mm(int(limit_mm * 1000) / 1000)}; choose a smaller "
                f"{key} or a larger tip_flat"
            )
    face = chamfer_outline(outline, profile.top_chamfer_mm)
    foot = chamfer_outline(outline, profile.foot_chamfer_mm)
    pegs = place_pegs(puzzle.lattice, form, foot, profile) if pegged else ()
    marks = place_marks(puzzle, piece, (face, foot), profile)
    if marks and pegs:
        raise DrawingError(
            "holes, crosses and dots cannot be made in pieces on pegs, which are below the middles of "
            "cells; choose peg.height 0 mm"
        )
    recesses = place_magnets(
        outline, foot, magnet_count(canonical, profile.unit_mm), marks, profile
    )
    if recesses:
        unmarked = foot.difference(marked_area(marks))
        recesses = assign_poles(recesses, poles(puzzle, piece, profile), unmarked, profile)
    smaller = min(face, foot, key=lambda area: area.area) if profile.faces == "both" else face
    return FlatDrawing(
        piece=piece.id,
        colour=piece.colour,
        canonical=canonical,
        outline=outline,
        face=face,
        foot=foot,
        thickness_mm=round(profile.thickness_mm + (pegs[0].height_mm if pegs else 0.0), 6),
        top_chamfer_mm=profile.top_chamfer_mm,
        foot_chamfer_mm=profile.foot_chamfer_mm,
        recesses=recesses,
        label=_label(piece, smaller, outline, recesses, marks, profile),
        facing=profile.facing,
        copies=piece.copies,
        pegs=pegs,
        marks=marks,
    )


def place_magnets(
    outline: Polygon, foot: Polygon, count: int, marks: Sequence[CellMark], profile: Profile
) -> tuple[Recess, ...]:
    """Place the recesses of a piece beside its marks, as `place_recesses` does; none if there are no magnets.

    Raises:
        DrawingError: when there is no room for them.
    """
    if not profile.has_recesses:
        return ()
    try:
        return place_recesses(outline, foot, count, profile, marked_area(marks))
    except DrawingError:
        if marks:
            place_recesses(outline, foot, count, profile)  # raises if the marks are not the reason
            raise DrawingError(
                f"beside its marks there is no room for {pluralize(count, 'magnet')} of "
                f"{format_mm(profile.magnet_diameter_mm)}; choose a smaller magnet, mark.hole or "
                "mark.width, a larger unit or recess.fit none"
            ) from None
        raise


def place_letter(
    piece: Piece, face: Polygon, centroid: Point, marks: Sequence[CellMark], profile: Profile
) -> Label | None:
    """Place the letter of a piece beside its marks, as `place_label` does.

    Raises:
        DrawingError: when there is no room for it.
    """
    try:
        return place_label(piece.label, face.difference(marked_area(marks)), centroid, profile)
    except DrawingError:
        if marks:
            place_label(
                piece.label, face, centroid, profile
            )  # raises if the marks are not the reason
            raise DrawingError(
                "beside its marks there is no room for the letter; choose a smaller mark.hole, "
                "mark.width, label.cap_height or label.margin, a larger unit or label.faces none"
            ) from None
        raise


def _label(
    piece: Piece,
    face: Polygon,
    outline: Polygon,
    recesses: Sequence[Recess],
    marks: Sequence[CellMark],
    profile: Profile,
) -> Label | None:
    """Place the letter beside marks and push-out holes.

    Raises:
        DrawingError: when there is no room for it.
    """
    centroid = outline.centroid
    if not any(recess.release for recess in recesses):
        return place_letter(piece, face, centroid, marks, profile)
    # place_label keeps its margin from holes in the face; the plastic must be as thick as a roof.
    radius_mm = profile.release_mm / 2 + max(0.0, profile.roof_mm - profile.label_margin_mm)
    holes = [Point(recess.centre_mm).buffer(radius_mm * 1.001, ARC_SEGMENTS) for recess in recesses]
    try:
        beside_holes = face.difference(union_all(holes))
        return place_letter(piece, beside_holes, centroid, marks, profile)
    except DrawingError:
        # Raises if the hole is not the reason.
        place_letter(piece, face, centroid, marks, profile)
        release, roof = format_mm(profile.release_mm), format_mm(profile.roof_mm)
        raise DrawingError(
            f"beside a hole of {release} (recess.release) there is no room for the letter, {roof} "
            "(recess.roof) away from it; choose a smaller recess.release, a smaller label.stroke or "
            "label.margin, a larger unit or label.faces none"
        ) from None


def draft_printable(puzzle: PuzzleSet, printable: Printable, profile: Profile) -> PartDrawing:
    """Draft a piece or an accessory.

    Raises:
        DrawingError: when it is impossible with the profile.
    """
    drawing: PartDrawing
    if isinstance(printable, Piece):
        draft_piece = draft_ball_piece if printable.body else draft_flat_piece
        drawing = draft_piece(puzzle, printable, profile)
    else:
        whole = (draft_lid if printable.kind == LID else draft_board)(puzzle, printable, profile)
        drawing = draft_part(puzzle, whole, printable, profile) if printable.part else whole
    if drawing.label is None or not drawing.label.inlaid:
        return drawing
    return replace(drawing, letter_colour=filaments_for(puzzle, profile).letter_on(drawing.colour))


def draft_all(
    puzzle: PuzzleSet,
    printables: Sequence[_Printable],
    profile: Profile,
    draft: Callable[[PuzzleSet, _Printable, Profile], _Drawing],
) -> list[_Drawing]:
    """Draft several pieces, boards or lids of a set.

    Raises:
        InputError: with everything that is impossible with the profile; equal errors share a line.
    """
    drawings, faults = draft_possible(puzzle, printables, profile, draft)
    if faults:
        where = []
        for failed in faults.values():
            kind = "piece" if all(isinstance(printable, Piece) for printable in failed) else "board"
            ids = ", ".join(printable.id for printable in failed)
            where.append(f"{kind}s {ids}" if len(failed) > 1 else f"{kind} {ids}")
        source = f"{puzzle.name} with profile {profile.name}"
        raise InputError(source, list(map(ErrorDetail, where, faults)))
    return drawings


def draft_possible(
    puzzle: PuzzleSet,
    printables: Sequence[_Printable],
    profile: Profile,
    draft: Callable[[PuzzleSet, _Printable, Profile], _Drawing],
) -> tuple[list[_Drawing], dict[str, list[_Printable]]]:
    """Draft those of several pieces, boards or lids that are possible with the profile.

    Returns:
        The drawings, and for each error the printables that cannot be drafted.
    """
    drawings = []
    faults: dict[str, list[_Printable]] = defaultdict(list)
    for printable in printables:
        try:
            drawings.append(draft(puzzle, printable, profile))
        except DrawingError as fault:
            faults[str(fault)].append(printable)
    return drawings, faults


#: What a picture leaves out of a piece, and the profile's values without it, in the order of trial.
_LEFT_OUT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("its letter, which cannot be printed", {"faces": "none"}),
    ("magnets, which do not fit", {"fit": "none"}),
    ("letter and magnets, which cannot be made", {"faces": "none", "fit": "none"}),
)


def draft_for_pictures(
    puzzle: PuzzleSet,
    printables: Sequence[Printable],
    profile: Profile,
    warn: Callable[[str], None],
) -> list[PartDrawing]:
    """Draft pieces and boards for pictures, which show no letter and no magnet that cannot be made.

    `warn` receives a message on the pieces that are drawn without.

    Raises:
        InputError: with everything else that is impossible with the profile.
    """
    left_out: dict[str, str] = {}

    def draft(puzzle: PuzzleSet, printable: Printable, profile: Profile) -> PartDrawing:
        try:
            return draft_printable(puzzle, printable, profile)
        except DrawingError as fault:
            for feature, changes in _LEFT_OUT:
                with suppress(DrawingError):
                    drawing = draft_printable(puzzle, printable, replace(profile, **changes))
                    left_out[str(fault)] = feature
                    return drawing
            raise

    try:
        return draft_all(puzzle, printables, profile, draft_printable)
    except InputError as error:
        drawings = draft_all(puzzle, printables, profile, draft)
        for fault in error.errors:
            warn(f"{fault.key}: drawn without {left_out[fault.message]}: {fault.message}")
        return drawings


def tone_areas(
    puzzle: PuzzleSet, piece: Piece, unit_mm: float
) -> tuple[BaseGeometry, BaseGeometry]:
    """Return the cells of a flat piece in its second colour on face and back, in mm, in the frame of its
    face; they are as deep as its letter. On the back only marks have it."""
    behind = [cell for cell, mark in piece.back if puzzle.marks[mark].startswith("#")]
    return (
        cells_area(puzzle.lattice, piece.tones, unit_mm),
        cells_area(puzzle.lattice, behind, unit_mm),
    )
