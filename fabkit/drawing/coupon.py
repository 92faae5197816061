"""The coupon: a small print, or cut, whose numbered places are measured to calibrate a machine.

The table beside this module has its parts and places; what depends on the magnet is worked out here.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import shapely
from shapely import Point, Polygon, box, union_all
from shapely.geometry.polygon import orient

from fabkit.core.errors import InputError
from fabkit.drawing.cut import FLAT_MM, CutPiece
from fabkit.drawing.draft import Blueprint, draft
from fabkit.drawing.glyphs import Lettering, chords, lettering, strokes_are_at_least
from fabkit.drawing.label import Label
from fabkit.drawing.outline import (
    BlueprintError,
    PointMm,
    canonical_outline,
    chamfered,
    mitred,
    rings_mm,
)
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What is measured at a place of each kind, in words.
KINDS = {
    "step": "outside",
    "slot": "inside",
    "hole": "hole",
    "foot": "outside at the bed",
    "height": "thickness",
    "tab": "tab",
    "gap": "slot",
}
#: The least width of a number's strokes, and the depth of its engraving.
STROKE_MM, DEPTH_MM = 0.8, 0.4
#: Between holes and around them, and the strip above them that carries their numbers.
_WALL_MM, _NUMBERS_MM = 2.0, 5.2
#: A hole for a magnet smaller or larger than this is not drawn: jaws would not enter, or the coupon
#: would take an hour.
_LEAST_MM, _MOST_MM = 6.0, 20.0
_CHORDS = 32  # in a quarter of a hole: its flats are 0.003 mm nearer at 10 mm
#: Two pieces of the set are printed as frames so high and at most so wide: their sides are what is
#: tried. Long ones get narrower ones, of three lines at the least, and so many mm² for both.
_FRAME_HEIGHT_MM, _FRAME_MM, _LEAST_FRAME_MM, _FRAMES_MM2 = 1.0, 2.7, 1.35, 500.0


@dataclass(frozen=True)
class Place:
    """One place to measure.

    Attributes:
        kind: ``step``, ``slot``, ``hole``, ``foot`` or ``height``; on what is cut ``tab`` or ``gap``.
        axis: ``x`` or ``y``; ``z`` for a height.
        line_mm: from where to where, in the frame of its part; empty for a height.
        at_mm: the middle of its number.
    """

    number: int
    kind: str
    axis: str
    part: str
    nominal_mm: float
    line_mm: tuple[PointMm, ...]
    at_mm: PointMm
    turned: bool = False

    @property
    def what(self) -> str:
        """In words, as lists have it."""
        return KINDS[self.kind] + (f" {self.axis.upper()}" if self.axis != "z" else "")

    def lettering(self) -> Lettering:
        """Its number where it is engraved, with strokes that are wide enough."""
        letters, cap_mm = lettering(str(self.number)), 3.8
        while not strokes_are_at_least(letters.moved(0, 0, cap_mm).polygon(), STROKE_MM):
            cap_mm = round(cap_mm + 0.1, 6)
        if self.turned:
            letters = Lettering(
                tuple(tuple(tuple((-y, x) for x, y in s) for s in c) for c in letters.contours)
            )
        return letters.moved(*self.at_mm, cap_mm)


@dataclass(frozen=True)
class CouponPart:
    """A part of the coupon.

    Attributes:
        chamfer_mm: around its lower edges.
        lies_mm: where its origin lies, on the bed as on the drawing.
    """

    name: str
    outline: Polygon
    thickness_mm: float
    chamfer_mm: float
    lies_mm: PointMm
    places: tuple[Place, ...]

    def blueprint(self) -> Blueprint:
        """As it is printed, its numbers engraved."""
        contours = [c for one in self.places for c in one.lettering().contours]
        label = Label(self.name, 0.0, DEPTH_MM, "front", (0.0, 0.0), Lettering((*contours,)), None)
        return Blueprint(
            piece=self.name,
            colour="#56b4e9",
            canonical=self.outline,
            outline=self.outline,
            face=self.outline,
            foot=chamfered(self.outline, self.chamfer_mm) if self.chamfer_mm else self.outline,
            thickness_mm=self.thickness_mm,
            top_chamfer_mm=0.0,
            foot_chamfer_mm=self.chamfer_mm,
            label=label,
        )

    def cut(self) -> CutPiece:
        """As it is cut, along its very outline: nothing makes up for the kerf."""
        contours = [c for one in self.places for c in one.lettering().contours]
        engraving = tuple(tuple(chords(contour, FLAT_MM)) for contour in contours)
        return CutPiece(self.name, self.outline, self.outline, engraving, ())


def coupon_parts(profile: Profile, laser: bool = False) -> list[CouponPart]:
    """The parts, with their places; of what is cut only the comb, whose teeth then are tabs.

    Example:
        >>> from fabkit.model.profilefile import load_profile
        >>> parts = coupon_parts(load_profile())
        >>> [(one.name, len(one.places)) for one in parts]
        [('comb', 13), ('holes', 6), ('bar', 7)]
        >>> parts[1].places[2].what, parts[1].places[2].nominal_mm
        ('hole X', 10.0)
    """
    made = []
    for name, part in _table()["part"].items():
        rows = _table()["place"][name]
        outline = orient(Polygon(part.get("outline")))
        if "times" in part:
            outline, rows = _holes(part["times"], rows, profile.magnet_diameter_mm)
        places = [_place(name, row, part["thickness"]) for row in rows]
        made.append(
            CouponPart(
                name, outline, part["thickness"], part["chamfer"], (*part["lies"],), (*places,)
            )
        )
    if not laser:
        return made
    (comb,) = (one for one in made if one.name == "comb")
    cut = {"step": "tab", "slot": "gap"}
    tabs = [replace(one, kind=cut[one.kind]) for one in comb.places if one.kind in cut]
    return [replace(comb, places=tuple(tabs))]


def coupon_places(profile: Profile, laser: bool = False) -> dict[int, Place]:
    """All places by number, in order."""
    return {one.number: one for one in in_order(coupon_parts(profile, laser))}


def in_order(parts: Sequence[CouponPart]) -> list[Place]:
    """The places of all parts, by their numbers."""
    return sorted((one for part in parts for one in part.places), key=lambda one: one.number)


@cache
def _table() -> Any:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _place(part: str, row: dict[str, Any], thickness_mm: float) -> Place:
    number, kind, at = row["number"], row["kind"], (*row["at"],)
    if "line" not in row:
        return Place(number, kind, "z", part, thickness_mm, (), at)
    ax, ay, bx, by = row["line"]
    nominal_mm = round(math.hypot(bx - ax, by - ay), 3)
    axis = "x" if ay == by else "y"
    line = ((ax, ay), (bx, by))
    return Place(number, kind, axis, part, nominal_mm, line, at, row.get("turned", False))


def _holes(
    times: Sequence[float], rows: Sequence[dict[str, Any]], magnet_mm: float
) -> tuple[Polygon, list[dict[str, Any]]]:
    """A strip with its holes, and the rows of the table with their lines and numbers."""
    magnet_mm = min(max(magnet_mm, _LEAST_MM), _MOST_MM)
    across = [round(magnet_mm * one, 1) for one in times]
    rights = list(
        itertools.accumulate((max(d, 2 * _NUMBERS_MM) + _WALL_MM for d in across), initial=_WALL_MM)
    )
    columns, circles, middles = [], [], []
    for diameter, left, right in zip(across, rights, rights[1:], strict=False):
        x, y = (left + right - _WALL_MM) / 2, _WALL_MM + diameter / 2
        columns.append(box(left - _WALL_MM, 0, right, diameter + _WALL_MM + _NUMBERS_MM))
        circles.append(Point(x, y).buffer(diameter / 2, quad_segs=_CHORDS))
        middles.append((x, y))
    drawn = []
    for row in rows:
        (x, y), radius, is_x = middles[row["hole"]], across[row["hole"]] / 2, row["axis"] == "x"
        line = [x - radius, y, x + radius, y] if is_x else [x, y - radius, x, y + radius]
        at = [x + (-2.6 if is_x else 2.6), y + radius + _NUMBERS_MM / 2]
        drawn.append(row | {"line": line, "at": at})
    return orient(shapely.simplify(union_all(columns), 0) - union_all(circles)), drawn


def paired_pieces(puzzle: PuzzleSet, profile: Profile) -> list[Blueprint]:
    """The two pieces with the shortest outlines that have a side of the same length, as low frames.

    Their sides are those of real pieces of the profile: they try a calibration. None of a set whose
    pieces are made of balls, which touch nothing but their board.

    Raises:
        InputError: when the profile does not suit them.
    """
    flat = [one for one in puzzle.pieces if one.body is None]
    unit_mm = profile.unit_mm
    drawn = [canonical_outline(puzzle.lattice, one.forms[0].rings, unit_mm) for one in flat]
    sides = [
        {
            round(math.dist(a, b), 3)
            for ring in rings_mm(one)
            for a, b in itertools.pairwise((*ring, ring[0]))
        }
        for one in drawn
    ]
    pairs = [
        (drawn[i].length + drawn[j].length, i, j)
        for i, j in itertools.combinations(range(len(flat)), 2)
        if sides[i] & sides[j]
    ]
    thin = replace(
        profile,
        thickness_mm=_FRAME_HEIGHT_MM,
        fit="none",
        faces="none",
        facing="up",
        top_chamfer_mm=0.0,
        foot_chamfer_mm=min(profile.foot_chamfer_mm, 0.4),
        stub_height_mm=0.0,
    )
    try:
        both = [draft(puzzle, flat[i], thin) for i in min(pairs)[1:]] if pairs else []
    except BlueprintError as error:
        raise InputError.of(f"{puzzle.name} with profile {profile.name}", str(error)) from None
    around_mm = sum(one.outline.length for one in both)
    wide_mm = min(_FRAME_MM, max(_LEAST_FRAME_MM, _FRAMES_MM2 / max(around_mm, 1.0)))
    return [_frame(one, wide_mm) for one in both]


def _frame(piece: Blueprint, wide_mm: float) -> Blueprint:
    """A piece without its inside."""
    inside = mitred(piece.outline, -wide_mm)
    if inside.geom_type != "Polygon" or inside.is_empty:
        return piece
    outline = orient(piece.outline - inside)
    foot = chamfered(outline, piece.foot_chamfer_mm) if piece.foot_chamfer_mm else outline
    return replace(piece, outline=outline, face=outline, foot=foot)
