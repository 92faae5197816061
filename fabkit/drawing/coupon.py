"""The coupon: a small print, or cut, whose numbered places are measured to calibrate a machine.

Its parts and places are in the table beside this module; those that depend on the magnet are computed.
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
from fabkit.drawing.draft import FlatDrawing, draft_flat_piece
from fabkit.drawing.glyphs import (
    Contour,
    Lettering,
    flatten_contour,
    lettering,
    strokes_are_at_least,
)
from fabkit.drawing.label import Label
from fabkit.drawing.laser import CHORD_TOLERANCE_MM, CutPiece
from fabkit.drawing.magnets import Recess, RecessDiameters, recess_diameters
from fabkit.drawing.outline import (
    DrawingError,
    PointMm,
    canonical_outline,
    chamfer_outline,
    mitre_offset,
    rings_mm,
)
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.layers import layer_top_mm
from fabkit.profiles.profile import Profile

#: Description of each kind of place.
PLACE_KINDS = {
    "step": "outside",
    "slot": "inside",
    "hole": "hole",
    "foot": "outside at the bed",
    "height": "thickness",
    "tab": "tab",
    "gap": "slot",
    "magnet": "magnet held (A to E)",
}
#: The recesses to try a magnet in, from the narrowest to the widest.
RUNGS = "ABCDE"
#: How much wider each is than the one before.
RUNG_STEP_MM = 0.05
#: Their depth: less than in a piece, since they should print in ten minutes.
_RUNG_DEPTH_MM = 1.4
#: The plastic above them, which carries their letters, and beside them.
_RUNG_ROOF_MM = 0.8
_RUNG_WALL_MM = 1.6
#: The least distance of two letters, and the width for the number of their strip.
_RUNG_MM = 7.5
#: The minimum width of a number's strokes.
STROKE_MM = 0.8
#: The depth of a number's engraving.
DEPTH_MM = 0.4
#: The walls between holes and around them.
_WALL_MM = 2.0
#: The height of the strip above holes that carries their numbers.
_NUMBERS_MM = 5.2
#: The smallest hole: the jaws of a calliper must enter.
_MIN_MM = 6.0
#: The largest hole: the coupon must not take an hour.
_MAX_MM = 20.0
#: Chords per quarter of a hole: 0.003 mm off at 10 mm.
_CHORDS = 32
#: The distance between the strip of recesses and the other parts.
_APART_MM = 3.0
#: The height of the two test pieces, which are frames.
_FRAME_HEIGHT_MM = 1.0
#: The maximum width of a frame's strips.
_FRAME_MM = 2.7
#: The minimum width of the strips of a long frame: three lines.
_MIN_FRAME_MM = 1.35
#: The area of both frames together, for which long ones are made narrower.
_FRAMES_MM2 = 500.0


@dataclass(frozen=True)
class CouponPlace:
    """One place to measure.

    Attributes:
        kind: ``step``, ``slot``, ``hole``, ``foot`` or ``height``; on what is cut ``tab`` or ``gap``;
            ``magnet`` for the recesses to try a magnet in, where the letter of one is read.
        axis: ``x`` or ``y``; ``z`` for a height or a magnet.
        nominal_mm: the length as drawn; the diameter of the middle recess.
        line_mm: start and end, in the frame of its part; empty for a height or a magnet.
        at_mm: centre of its number.
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
        """The description in lists."""
        return PLACE_KINDS[self.kind] + (f" {self.axis.upper()}" if self.axis != "z" else "")

    def lettering(self) -> Lettering:
        """Return its number, placed, with strokes that are wide enough to engrave."""
        return _engraved(str(self.number), self.at_mm, self.turned)


def _engraved(text: str, at_mm: PointMm, turned: bool = False) -> Lettering:
    letters = lettering(text)
    cap_mm = 3.8
    while not strokes_are_at_least(letters.moved(0, 0, cap_mm).polygon(), STROKE_MM):
        cap_mm = round(cap_mm + 0.1, 6)
    return (letters.turned() if turned else letters).moved(*at_mm, cap_mm)


@dataclass(frozen=True)
class CouponPart:
    """A part of the coupon.

    Attributes:
        chamfer_mm: around its lower edges.
        origin_mm: place of its origin on the bed and on the drawing.
        recesses: to try a magnet in; each has its letter on the other side.
        facing: whether its numbers face ``up`` or ``down`` on the bed.
    """

    name: str
    outline: Polygon
    thickness_mm: float
    chamfer_mm: float
    origin_mm: PointMm
    places: tuple[CouponPlace, ...]
    recesses: tuple[Recess, ...] = ()
    facing: str = "up"

    @property
    def letterings(self) -> list[Lettering]:
        """The numbers and letters that are engraved."""
        letters = zip(RUNGS, self.recesses, strict=False)
        return [place.lettering() for place in self.places] + [
            _engraved(letter, recess.centre_mm) for letter, recess in letters
        ]

    @property
    def _contours(self) -> tuple[Contour, ...]:
        return tuple(contour for letters in self.letterings for contour in letters.contours)

    def drawing(self) -> FlatDrawing:
        """Return its drawing for printing, with engraved numbers."""
        label = Label(self.name, 0.0, DEPTH_MM, (0.0, 0.0), Lettering(self._contours))
        return FlatDrawing(
            piece=self.name,
            colour="#56b4e9",
            canonical=self.outline,
            outline=self.outline,
            face=self.outline,
            foot=chamfer_outline(self.outline, self.chamfer_mm),
            thickness_mm=self.thickness_mm,
            top_chamfer_mm=0.0,
            foot_chamfer_mm=self.chamfer_mm,
            label=label,
            recesses=self.recesses,
            facing=self.facing,
        )

    def cut(self) -> CutPiece:
        """Return its drawing for cutting, along its outline without kerf compensation."""
        lines = [tuple(flatten_contour(contour, CHORD_TOLERANCE_MM)) for contour in self._contours]
        return CutPiece(self.name, self.outline, self.outline, tuple(lines), ())


def coupon_parts(profile: Profile, laser: bool = False) -> list[CouponPart]:
    """Return the parts with their places; for cutting only the comb, whose teeth are tabs then.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> parts = coupon_parts(load_profile())
        >>> [(part.name, len(part.places)) for part in parts]
        [('comb', 13), ('holes', 6), ('bar', 7), ('magnets', 1)]
        >>> parts[1].places[2].what, parts[1].places[2].nominal_mm
        ('hole X', 10.0)
    """
    parts: dict[str, CouponPart] = {}
    for name, part in _table()["part"].items():
        rows = _table()["place"][name]
        outline = orient(Polygon(part.get("outline")))
        if "times" in part:
            outline, rows = _holes(part["times"], rows, profile.magnet_diameter_mm)
        thickness_mm = part["thickness"]
        places = tuple(_place(name, row, thickness_mm) for row in rows)
        parts[name] = CouponPart(
            name, outline, thickness_mm, part["chamfer"], tuple(part["lies"]), places
        )
    if not laser:
        return [*parts.values(), *_magnet_strip(profile)]
    comb = parts["comb"]
    cut = {"step": "tab", "slot": "gap"}
    tabs = [replace(place, kind=cut[place.kind]) for place in comb.places if place.kind in cut]
    return [replace(comb, places=tuple(tabs))]


def coupon_places(profile: Profile, laser: bool = False) -> dict[int, CouponPlace]:
    """Return all places by number, in order."""
    return {place.number: place for place in places_in_order(coupon_parts(profile, laser))}


def places_in_order(parts: Sequence[CouponPart]) -> list[CouponPlace]:
    """Return the places of all parts, in the order of their numbers."""
    places = [place for part in parts for place in part.places]
    return sorted(places, key=lambda place: place.number)


@cache
def _table() -> Any:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _place(part: str, row: dict[str, Any], thickness_mm: float) -> CouponPlace:
    number, kind, at_mm = row["number"], row["kind"], tuple(row["at"])
    if "line" not in row:
        return CouponPlace(number, kind, "z", part, thickness_mm, (), at_mm)
    ax, ay, bx, by = row["line"]
    nominal_mm = round(math.hypot(bx - ax, by - ay), 3)
    axis = "x" if ay == by else "y"
    line = ((ax, ay), (bx, by))
    return CouponPlace(number, kind, axis, part, nominal_mm, line, at_mm, row.get("turned", False))


def _holes(
    times: Sequence[float], rows: Sequence[dict[str, Any]], magnet_mm: float
) -> tuple[Polygon, list[dict[str, Any]]]:
    """Return a strip with its holes, and the rows of the table with their lines and numbers."""
    magnet_mm = min(max(magnet_mm, _MIN_MM), _MAX_MM)
    columns = list[Polygon]()
    circles = list[Polygon]()
    holes = list[tuple[float, float, float]]()
    left = _WALL_MM
    for factor in times:
        diameter = round(magnet_mm * factor, 1)
        right = left + max(diameter, 2 * _NUMBERS_MM) + _WALL_MM
        x, y = (left + right - _WALL_MM) / 2, _WALL_MM + diameter / 2
        columns.append(box(left - _WALL_MM, 0, right, diameter + _WALL_MM + _NUMBERS_MM))
        circles.append(Point(x, y).buffer(diameter / 2, quad_segs=_CHORDS))
        holes.append((x, y, diameter / 2))
        left = right
    placed = []
    for row in rows:
        x, y, radius = holes[row["hole"]]
        is_x = row["axis"] == "x"
        line = [x - radius, y, x + radius, y] if is_x else [x, y - radius, x, y + radius]
        number_mm = [x + (-2.6 if is_x else 2.6), y + radius + _NUMBERS_MM / 2]
        placed.append(row | {"line": line, "at": number_mm})
    return orient(shapely.simplify(union_all(columns), 0) - union_all(circles)), placed


def _magnet_strip(profile: Profile) -> list[CouponPart]:
    """Return a strip of recesses to try a magnet in: one as wide as a piece's in the middle, the others
    narrower and wider in steps. None where magnets are not pressed in, or are too large."""
    if profile.fit != "press" or profile.magnet_diameter_mm > _MAX_MM:
        return []
    nominal_mm = recess_diameters(profile).widest_mm
    place = CouponPlace(80, "magnet", "z", "magnets", nominal_mm, (), (0.0, 0.0))
    widest_mm = rung_mm(place, RUNGS[-1])
    pitch_mm = max(_RUNG_MM, widest_mm + _RUNG_WALL_MM)
    deep_mm = max(_RUNG_MM, widest_mm + 2 * _RUNG_WALL_MM)
    place = replace(place, at_mm=(_RUNG_MM / 2 + 0.5, deep_mm / 2))
    depth_mm = layer_top_mm(profile, min(_RUNG_DEPTH_MM, profile.magnet_height_mm))
    recesses = tuple(
        Recess(
            centre_mm=(round(_RUNG_MM + (index + 0.5) * pitch_mm, 3), round(deep_mm / 2, 3)),
            low_mm=0.0,
            high_mm=depth_mm,
            diameters=RecessDiameters(rung_mm(place, letter), None),
            lead_in_mm=profile.lead_in_mm,
            rib_width_mm=profile.rib_width_mm,
        )
        for index, letter in enumerate(RUNGS)
    )
    wide_mm = _RUNG_MM + len(RUNGS) * pitch_mm + _RUNG_WALL_MM / 2
    outline = orient(box(0, 0, wide_mm, deep_mm))
    thickness_mm = layer_top_mm(profile, depth_mm + _RUNG_ROOF_MM)
    below_mm = (0.0, -deep_mm - _APART_MM)
    strip = CouponPart("magnets", outline, thickness_mm, 0.4, below_mm, (place,), recesses)
    return [replace(strip, facing=profile.facing)]  # open at the bed where pieces are


def rung_mm(place: CouponPlace, letter: str) -> float:
    """Return the diameter, as drawn, of one of the recesses to try a magnet in.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> place = coupon_places(load_profile())[80]
        >>> rung_mm(place, "A"), rung_mm(place, "C"), rung_mm(place, "E")
        (10.0, 10.1, 10.2)
    """
    steps = RUNGS.index(letter) - len(RUNGS) // 2
    return round(place.nominal_mm + steps * RUNG_STEP_MM, 3)


def fit_test_pieces(puzzle: PuzzleSet, profile: Profile) -> list[FlatDrawing]:
    """Return two pieces to test a calibration: those with the shortest outlines that have a side of the
    same length, as low frames.

    Their sides are those of the real pieces with this profile. None for a set of ball pieces, which
    touch only their board.

    Raises:
        InputError: when they are impossible with the profile.
    """
    flat = [piece for piece in puzzle.pieces if piece.body is None]
    unit_mm = profile.unit_mm
    outlines = [canonical_outline(puzzle.lattice, piece.forms[0].rings, unit_mm) for piece in flat]
    pairs = [
        (outlines[i].length + outlines[j].length, i, j)
        for i, j in itertools.combinations(range(len(flat)), 2)
        if _side_lengths_mm(outlines[i]) & _side_lengths_mm(outlines[j])
    ]
    thin = replace(
        profile,
        thickness_mm=_FRAME_HEIGHT_MM,
        fit="none",
        faces="none",
        facing="up",
        top_chamfer_mm=0.0,
        foot_chamfer_mm=min(profile.foot_chamfer_mm, 0.4),
        peg_height_mm=0.0,
    )
    try:
        drawings = (
            [draft_flat_piece(puzzle, flat[i], thin) for i in min(pairs)[1:]] if pairs else []
        )
    except DrawingError as error:
        raise InputError.of(f"{puzzle.name} with profile {profile.name}", str(error)) from None
    around_mm = sum(drawing.outline.length for drawing in drawings)
    wide_mm = min(_FRAME_MM, max(_MIN_FRAME_MM, _FRAMES_MM2 / max(around_mm, 1.0)))
    return [_frame(drawing, wide_mm) for drawing in drawings]


def _side_lengths_mm(outline: Polygon) -> set[float]:
    lengths = set[float]()
    for ring in rings_mm(outline):
        for start, end in itertools.pairwise((*ring, ring[0])):
            lengths.add(round(math.dist(start, end), 3))
    return lengths


def _frame(piece: FlatDrawing, wide_mm: float) -> FlatDrawing:
    """Return a piece without its inside."""
    inside = mitre_offset(piece.outline, -wide_mm)
    if inside.geom_type != "Polygon" or inside.is_empty:
        return piece
    outline = orient(piece.outline - inside)
    foot = chamfer_outline(outline, piece.foot_chamfer_mm)
    return replace(piece, outline=outline, face=outline, foot=foot)
