"""Drafting: from a piece on its lattice and a profile to all its measures in millimetres; and whatever
else a set prints: ball pieces, boards, trays and lids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shapely import Point, Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.core.units import format_mm
from fabkit.drawing.ball import draft_ball
from fabkit.drawing.boards.draft import draft_board, draft_lid
from fabkit.drawing.cells import Stub, celled_outline, place_stubs
from fabkit.drawing.label import Label, place_label
from fabkit.drawing.magnets import (
    ARC_SEGMENTS,
    Recess,
    magnet_count,
    place_recesses,
    poles,
    with_poles,
)
from fabkit.drawing.outline import (
    BlueprintError,
    canonical_outline,
    chamfered,
    largest_chamfer_mm,
    printed_outline,
)
from fabkit.drawing.part import PartDrawing, draft_each
from fabkit.model.accessory import LID, Thing, as_printed, has_stubs
from fabkit.model.lattice import Lattice
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet, rings_in_units


@dataclass(frozen=True, kw_only=True)
class Blueprint(PartDrawing):
    """One flat piece in mm, seen from its lettered face, y up, its back at height 0.

    That is how it lies in its files, whichever face lies on the bed. Against the elephant foot
    there is the foot chamfer, or the top chamfer if the face is printed downwards. A piece with
    stubs stands on them: then their ends are at height 0, and its back above. `outline` is that
    between both chamfers, `face` is inside the top chamfer, `foot` inside the foot chamfer.

    Attributes:
        canonical: the outline as drawn.
        top_chamfer_mm: around the face.
        foot_chamfer_mm: around the back.
        stubs: below the back, one for each cell; none for a piece that lies on its back.
    """

    canonical: Polygon
    top_chamfer_mm: float
    foot_chamfer_mm: float
    stubs: tuple[Stub, ...] = ()

    @property
    def back_mm(self) -> float:
        """The height of the back: that of the stubs, or 0."""
        return self.stubs[0].height_mm if self.stubs else 0.0


def draft(puzzle: PuzzleSet, piece: Piece, profile: Profile) -> Blueprint:
    """Drafts one piece.

    Raises:
        BlueprintError: when the profile does not suit the piece.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq = load_set("fridgeiq")
        >>> b = draft(fridgeiq, fridgeiq.piece("B"), load_profile())
        >>> b.outline.bounds, b.recesses[0].centre_mm, b.label.cap_height_mm
        ((0.1, 0.1, 39.9, 19.9), (20.0, 10.0), 7.0)
    """
    form, stubbed = piece.forms[0], has_stubs(puzzle, profile)
    profile = as_printed(puzzle, profile)
    canonical = canonical_outline(puzzle.lattice, form.rings, profile.unit_mm)
    if stubbed:
        outline = celled_outline(puzzle.lattice, form, profile)
    else:
        outline = printed_outline(canonical, profile)
    limit_mm, edge_mm = largest_chamfer_mm(outline)
    for key in ("top_chamfer", "foot_chamfer"):
        chamfer_mm = getattr(profile, f"{key}_mm")
        if chamfer_mm > limit_mm:
            raise BlueprintError(
                f"{key} {format_mm(chamfer_mm)} is too large: the shortest edge, {format_mm(edge_mm)} "
                f"long, bears at most {format_mm(int(limit_mm * 1000) / 1000)}; choose a smaller "
                f"{key} or a larger tip_flat"
            )
    face = chamfered(outline, profile.top_chamfer_mm)
    foot = chamfered(outline, profile.foot_chamfer_mm)
    stubs = place_stubs(puzzle.lattice, form, foot, profile) if stubbed else ()
    recesses: tuple[Recess, ...] = ()
    if profile.has_recesses:
        count = magnet_count(canonical, profile.unit_mm)
        recesses = place_recesses(outline, foot, count, profile)
        recesses = with_poles(recesses, poles(puzzle, piece, profile), foot, profile)
    smaller = min(face, foot, key=lambda area: area.area) if profile.faces == "both" else face
    return Blueprint(
        piece=piece.id,
        colour=piece.colour,
        canonical=canonical,
        outline=outline,
        face=face,
        foot=foot,
        thickness_mm=round(profile.thickness_mm + (stubs[0].height_mm if stubs else 0.0), 6),
        top_chamfer_mm=profile.top_chamfer_mm,
        foot_chamfer_mm=profile.foot_chamfer_mm,
        recesses=recesses,
        label=_label(piece, smaller, outline, recesses, profile),
        facing=profile.facing,
        stubs=stubs,
    )


def _label(
    piece: Piece, face: Polygon, outline: Polygon, recesses: Sequence[Recess], profile: Profile
) -> Label | None:
    """The letter, beside the holes by which magnets are pushed out.

    Raises:
        BlueprintError: when there is no room for it, and what to do.
    """
    balance = outline.centroid
    if not any(recess.release for recess in recesses):
        return place_label(piece.label, face, balance, profile)
    # place_label keeps the margin from holes in the face; plastic is to be as thick as a roof.
    more_mm = profile.release_mm / 2 + max(0.0, profile.roof_mm - profile.label_margin_mm)
    holes = [Point(recess.centre_mm).buffer(more_mm * 1.001, ARC_SEGMENTS) for recess in recesses]
    try:
        return place_label(piece.label, face.difference(union_all(holes)), balance, profile)
    except BlueprintError:
        place_label(piece.label, face, balance, profile)  # else it is not for the hole
        release, roof = format_mm(profile.release_mm), format_mm(profile.roof_mm)
        raise BlueprintError(
            f"beside a hole of {release} (recess.release) there is no room for the letter, {roof} "
            "(recess.roof) away from it; choose a smaller recess.release, a smaller label.stroke or "
            "label.margin, a larger unit or label.faces none"
        ) from None


def draft_all(puzzle: PuzzleSet, pieces: Sequence[Piece], profile: Profile) -> list[Blueprint]:
    """Drafts several pieces.

    Raises:
        InputError: with every piece that the profile does not suit. Pieces with the same fault
            share a line.
    """
    return draft_each(puzzle, pieces, profile, draft, "drafted for printing")


def draft_thing(puzzle: PuzzleSet, thing: Thing, profile: Profile) -> PartDrawing:
    """Drafts a piece or an accessory.

    Raises:
        BlueprintError: when the profile does not suit it.
    """
    if isinstance(thing, Piece):
        return draft_ball(puzzle, thing, profile) if thing.body else draft(puzzle, thing, profile)
    return (draft_lid if thing.kind == LID else draft_board)(puzzle, thing, profile)


def draft_things(puzzle: PuzzleSet, things: Sequence[Thing], profile: Profile) -> list[PartDrawing]:
    """Drafts several pieces and accessories.

    Raises:
        InputError: with everything that the profile does not suit. Things with the same fault
            share a line.
    """
    return draft_each(puzzle, things, profile, draft_thing)


@dataclass(frozen=True)
class Tones:
    """Where a piece has its second colour.

    Attributes:
        area: the cells, seen from above, in the frame of the piece's drawing.
        low_mm: from this height …
        high_mm: … to this one, the face.
    """

    area: BaseGeometry
    low_mm: float
    high_mm: float


def tones(lattice: Lattice, piece: Piece, drawing: PartDrawing, profile: Profile) -> Tones:
    """The second colour of a flat piece: as deep as its letter."""
    cells = [
        Polygon([(x * profile.unit_mm, y * profile.unit_mm) for x, y in ring])
        for cell in sorted(piece.tones)
        for ring in rings_in_units(lattice, [lattice.ring(cell)])
    ]
    high_mm = drawing.thickness_mm
    return Tones(union_all(cells), high_mm - profile.label_depth_mm, high_mm)
