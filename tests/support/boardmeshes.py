"""Boards and lids of boxes and cylinders, as the README describes them, with nothing of fabkit's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from shapely import Polygon, affinity

if TYPE_CHECKING:
    from manifold3d import Manifold

#: How fine circles are: chords lie less than 0.005 mm inside.
SEGMENTS = 96
THICKNESS_MM, LAYER_MM, BALL_MM, LINK_MM = 7.0, 0.2, 12.0, 9.0
SQUARE = shapely.box(0, -160, 160, 0)


def socket_places(*rows: int) -> list[tuple[float, float]]:
    """The middles of cells in rows of so many, odd ones half a unit to the right."""
    return [
        (20.0 * (column + row % 2 / 2), -20.0 * row * 3**0.5 / 2)
        for row, count in enumerate(rows)
        for column in range(count)
    ]


def hexagons(sockets: Sequence[tuple[float, float]]) -> Polygon:
    """The region around the sockets of hexagonal cells."""
    corners = [(0, 2), (1, 1), (1, -1), (0, -2), (-1, -1), (-1, 1)]
    step_x, step_y = 10.0, 20 / 12**0.5
    cells = [
        Polygon([(x + dx * step_x, y + dy * step_y) for dx, dy in corners]) for x, y in sockets
    ]
    return shapely.union_all(cells, grid_size=1e-9)


def extruded(area: Any, low_mm: float, high_mm: float) -> Manifold:
    from manifold3d import CrossSection, FillRule

    rings = [
        np.asarray(ring.coords)[:-1, :2]
        for part in getattr(area, "geoms", [area])
        for ring in (part.exterior, *part.interiors)
    ]
    return CrossSection(rings, FillRule.EvenOdd).extrude(high_mm - low_mm).translate((0, 0, low_mm))


def cylinder(
    x: float, y: float, diameter_mm: float, low_mm: float, high_mm: float, sides: int = SEGMENTS
) -> Manifold:
    from manifold3d import Manifold

    round_ = Manifold.cylinder(high_mm - low_mm, diameter_mm / 2, circular_segments=sides)
    return round_.translate((x, y, low_mm))


def united(some: Sequence[Manifold]) -> Manifold:
    import manifold3d
    from manifold3d import Manifold

    return Manifold.batch_boolean(list(some), manifold3d.OpType.Add)


def layers_up(height_mm: float) -> float:
    return round(math.ceil(height_mm / LAYER_MM - 1e-6) * LAYER_MM, 6)


@dataclass
class Frame:
    """A frame around a region with the way of a sliding lid, and that lid."""

    region: Polygon
    rest_mm: float  # on what pieces rest
    top_mm: float  # how high they reach
    clearance_mm: float = 0.25
    wall_mm: float = 4.0
    relief_mm: float = 1.0
    notch_mm: float = 18.0
    air_mm: float = 0.4
    lid_mm: float = 2.0
    lid_clearance_mm: float = 0.2
    ledge_mm: float = 5.0
    catch_mm: float = 0.15  # of the lid's bumps
    recess_mm: float = 0.45  # of the walls, for the bumps

    @property
    def lid_low_mm(self) -> float:
        return layers_up(self.top_mm + self.air_mm)

    @property
    def opening(self) -> Any:
        return self.region.buffer(self.clearance_mm, join_style="mitre", mitre_limit=20)

    @property
    def relieved(self) -> Any:
        """The opening, round reliefs in its corners; a tray's are square."""
        corners = shapely.get_coordinates(self.opening)[:-1]
        discs = [shapely.Point(one).buffer(self.relief_mm, quad_segs=24) for one in corners]
        return shapely.union_all([self.opening, *discs])

    @property
    def _slot(self) -> tuple[float, float, float, float]:
        """The lid's way at its floor: left, right, front (beyond the frame), back."""
        x0, y0, x1, y1 = self.opening.bounds
        aside = self.ledge_mm
        return x0 - aside, x1 + aside, y0 - 100, y1 + aside

    @property
    def outer(self) -> Polygon:
        left, right, _, back = self._slot
        front = self.opening.bounds[1] - self.ledge_mm
        beside = self.wall_mm + self.recess_mm
        return shapely.box(left - beside, front, right + beside, back + self.wall_mm)

    def frame(self) -> Manifold:
        """The block, its opening cut from where pieces rest."""
        high = self.lid_low_mm + self.lid_mm
        block = extruded(self.outer, 0, high) - extruded(self.relieved, self.rest_mm, high + 1)
        left, right, front, back = self._slot
        block -= frustum((left, front, right, back), self.lid_low_mm, self.lid_mm + 0.01)
        block -= self._bumps(self.recess_mm, 0.5).translate((0, 0, self.lid_low_mm))
        if self.notch_mm:
            x, y = self.region.centroid.x, self.outer.bounds[1]
            half = self.notch_mm / 2
            cut = shapely.box(x - half, y - 1, x + half, y + self.wall_mm + 2)
            block -= extruded(cut, (self.rest_mm + self.top_mm) / 2, high + 1)
        return block

    def _bumps(self, out_mm: float, longer_mm: float) -> Manifold:
        """A plate as wide as the lid's way and so much more on either side, near the front."""
        left, right, _, _ = self._slot
        front = self.outer.bounds[1]
        plate = frustum((left - out_mm, front, right + out_mm, front + 30), 0.0, self.lid_mm + 0.01)
        ends = shapely.box(left - 9, front + 6 - longer_mm, right + 9, front + 10 + longer_mm)
        return plate ^ extruded(ends, -1, 9)

    def lid(self, wider_mm: float = 0.0, thickness_mm: float | None = None) -> Manifold:
        """The lid as it is printed: its larger face down, its middle over that of the region."""
        left, right, _, back = self._slot
        less = self.lid_clearance_mm * math.sqrt(2) - wider_mm / 2
        base = (left + less, self.outer.bounds[1] + less, right - less, back - less)
        lid = frustum(base, 0.0, thickness_mm or self.lid_mm)
        if self.catch_mm:
            lid += self._bumps(self.catch_mm, 0.0).trim_by_plane((0, 0, -1), -self.lid_mm)
        box = lid.bounding_box()
        middle = self.region.envelope.centroid
        return lid.translate(
            (middle.x - (box[0] + box[3]) / 2, middle.y - (box[1] + box[4]) / 2, 0)
        )


def frustum(base: tuple[float, float, float, float], low_mm: float, height_mm: float) -> Manifold:
    """A plate whose sides and back lean inwards by 45 degrees; its front stands upright."""
    from manifold3d import Manifold

    left, front, right, back = base
    corners = [(x, y, low_mm) for x in (left, right) for y in (front, back)]
    h = height_mm
    corners += [(x, y, low_mm + h) for x in (left + h, right - h) for y in (front, back - h)]
    return Manifold.hull_points(np.array(corners))


def holes_board(
    cells: Sequence[tuple[int, int]],
    pitch_mm: float = 15.0,
    hole_mm: float = 12.5,
    channel_mm: float = 0.2,  # beside a link
    floor_off_mm: float = 0.0,  # by which all floors of channels are too high
    missing: Sequence[int] = (),  # numbers of the holes that are left out
    moved: dict[int, tuple[float, float, float]] | None = None,  # along x and y, in diameter
    blind: Sequence[int] = (),  # numbers of the holes that end 3 mm above the bottom
    polygonal: Sequence[int] = (),  # numbers of the holes that have 16 sides
    narrow: float | None = None,  # the width of the first channel, if it has its own
    **frame: Any,
) -> tuple[Manifold, Frame]:
    """A board for balls; cells are (column, row), x to the right and y up."""
    squares = [shapely.box(x, y, x + 1, y + 1) for x, y in cells]
    region = affinity.scale(shapely.union_all(squares), pitch_mm, pitch_mm, origin=(0, 0))
    rest = layers_up(pitch_mm + BALL_MM / 2 + 1)
    around = Frame(region, rest, rest + BALL_MM / 2, relief_mm=0.0, notch_mm=0.0, **frame)
    cuts, middles = [], [((x + 0.5) * pitch_mm, (y + 0.5) * pitch_mm) for x, y in cells]
    for number, (x, y) in enumerate(middles):
        dx, dy, wider = (moved or {}).get(number, (0.0, 0.0, 0.0))
        if number not in missing:
            low = 3.0 if number in blind else -1.0
            sides = 16 if number in polygonal else SEGMENTS
            cuts.append(cylinder(x + dx, y + dy, hole_mm + wider, low, rest + 20, sides))
    width, floor = narrow or LINK_MM + 2 * channel_mm, rest - LINK_MM / 2 + floor_off_mm
    for (x, y), middle in zip(cells, middles, strict=True):
        for beside in ((x + 1, y), (x, y + 1)):
            if beside in cells:
                line = shapely.LineString([middle, middles[cells.index(beside)]])
                cuts.append(extruded(line.buffer(width / 2, cap_style="flat"), floor, rest + 20))
                width = LINK_MM + 2 * channel_mm
    return around.frame() - united(cuts), around


def sockets_board(
    middles: Sequence[tuple[float, float]],
    region: Polygon,
    socket_mm: float = 10.4,
    depth_mm: float = 2.2,
    floor_mm: float = 2.0,
    shallow: dict[int, float] | None = None,
    missing: Sequence[int] = (),
    **frame: Any,
) -> tuple[Manifold, Frame]:
    """A board of blind sockets below the middles of cells."""
    rest = floor_mm + depth_mm
    around = Frame(region, rest, rest + THICKNESS_MM, relief_mm=0.0, notch_mm=0.0, **frame)
    cuts = [
        cylinder(x, y, socket_mm, floor_mm + (shallow or {}).get(number, 0.0), rest + 5)
        for number, (x, y) in enumerate(middles)
        if number not in missing
    ]
    return around.frame() - united(cuts), around


def tray_board(region: Polygon, floor_mm: float = 2.0, **frame: Any) -> tuple[Manifold, Frame]:
    """A tray."""
    around = Frame(region, floor_mm, floor_mm + THICKNESS_MM, **frame)
    return around.frame(), around


# --- a lid that snaps on ------------------------------------------------------------------

#: A frame's pockets: how deep, and where below its top.
POCKET_MM = 0.7


def snapping_board(region: Polygon) -> tuple[Manifold, Frame]:
    """A tray whose long sides have pockets for hooks, its top the lid's socket."""
    frame = Frame(region, 3.6, 3.6 + THICKNESS_MM, lid_mm=0.0, notch_mm=0.0, recess_mm=0.0)
    board = frame.frame()
    x0, _, x1, _ = frame.outer.bounds
    middle, top = region.envelope.centroid.y, frame.lid_low_mm
    for side, sign in ((x0, 1), (x1, -1)):
        out, deep = side - sign, side + sign * POCKET_MM
        corners = [(out, top - 6.0), (out, top - 11.0), (deep, top - 11.0), (deep, top - 7.7)]
        board -= along_y(Polygon(corners), middle - 6.2, middle + 6.2)
    return board, frame


def snapping_lid(
    frame: Frame, tongue_mm: float = 9.0, tongue_thick_mm: float = 1.6, catch_mm: float = 0.5
) -> Manifold:
    """The lid of such a board, plate down, a tongue on each of two sides."""
    clearance_mm, plate_mm = 0.2, 2.0
    x0, y0, x1, _ = frame.outer.bounds
    middle, face = frame.region.envelope.centroid.y, x1 + clearance_mm
    outer = face + tongue_thick_mm
    hook = clearance_mm + catch_mm
    tip, low = face - hook, plate_mm + tongue_mm
    end, root = low + 0.2 + max(hook, 0.01) * 1.7, plate_mm / 2
    hooked = [(face, root), (face, low - hook), (tip, low), (tip, low + 0.2), (face, end)]
    tongue = Polygon([*hooked, (outer, end), (outer, root)])
    other = affinity.scale(tongue, xfact=-1, origin=((x0 + x1) / 2, 0))
    plate = extruded(shapely.box(x0 + x1 - outer, y0, outer, 2 * middle - y0), 0, plate_mm)
    return united([plate, *(along_y(one, middle - 6, middle + 6) for one in (tongue, other))])


def along_y(area: Polygon, low_mm: float, high_mm: float) -> Manifold:
    """A prism along y whose cross-section is drawn in x and z."""
    return extruded(area, -high_mm, -low_mm).rotate((90.0, 0.0, 0.0))
