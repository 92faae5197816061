"""Standing a body upright: which way its flat faces lie, and which of them is the back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from shapely import maximum_inscribed_circle
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Faces, Points
from fabkit.mesh.section import DOWN, UP, Sections, hollows

#: Normals this near (radians) are one direction: corners that are a few micrometres off turn small
#: triangles by as much …
_SAME_DIRECTION = 0.03
#: … and so many of the largest directions are tried as the upright.
_DIRECTIONS_TRIED = 12
#: Sides may lean by this much (radians), as those of moulded pieces do.
_LEANS = math.radians(4)
#: A face is at an end of the body when it lies within this part of its height of it.
_AT_END = 0.02
#: What stands this nearly (radians) upright in its file stands as it was meant to, unless another
#: way is better by this much.
_AS_IT_STANDS, _AS_GOOD = math.radians(3), 0.06
#: A pocket is told from scratches by its room: a disc of this part of the body's height,
#: or of its breadth if that is less.
_POCKET_ROOM = 0.04
#: Just below a face, as a part of the body's height: under the face, above a letter's bottom.
_JUST_BELOW = 0.02
#: In such steps pockets are followed down, as parts of the body's height.
_STEP = 0.05


@dataclass(frozen=True, eq=False)
class Upright:
    """A body, turned so that it lies on its back, the back at height 0.

    Attributes:
        body: as the file has it.
        vertices: its corners, turned; x and y as in the file if it lay flat there, shape (n, 3).
        tilt_degrees: between the file's vertical and the body's; 180 for one that lies on its
            face.
        turned_over: whether it lies on its face in the file.
    """

    body: Body
    vertices: Points
    tilt_degrees: float
    turned_over: bool

    @property
    def faces(self) -> Faces:
        """Its triangles."""
        return self.body.faces

    @cached_property
    def sections(self) -> Sections:
        """To cut it."""
        return Sections(self.vertices, self.body.faces)

    @property
    def thickness(self) -> float:
        """From back to face."""
        return float(self.vertices[:, 2].max())


def stand_up(body: Body, thickness: float | None = None) -> Upright:
    """Turns a body so that it lies on its back.

    A prism's flat faces are found from the directions of its triangles; of several ways to
    stand that are as good (a box has three) the file's own is kept. The back is the side into
    which a magnet goes; without one the side that has no letter; without either the side that
    is down.

    Args:
        body: of at least one triangle.
        thickness: decides between ways that are as good, in place of the file.

    Returns:
        The body on its back. It is only turned and moved, never mirrored.

    Example:
        >>> corners = np.array([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 2)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
        >>> body = Body("box", corners, box)
        >>> stand_up(body).thickness, stand_up(body, thickness=1.1).thickness
        (2.0, 1.0)
    """
    up = _upright_direction(body, thickness)
    turn = _turn_to_vertical(up)
    vertices = _on_the_bed(body.vertices @ turn.T)
    tilt = math.degrees(math.acos(min(1.0, max(-1.0, float(up[2])))))
    over = _lies_on_its_face(Sections(vertices, body.faces))
    if over:
        vertices = _on_the_bed(vertices * np.array([1.0, -1.0, -1.0]))
        tilt = 180.0 - tilt
    return Upright(body, vertices, tilt, over)


def _upright_direction(body: Body, thickness: float | None) -> Points:
    """The unit vector that is up, nearest to the file's of the body's own."""
    corners = body.vertices[body.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    corners, normals, areas = (some[areas > 0] for some in (corners, normals, areas))
    if not len(areas):
        return np.array([0.0, 0.0, 1.0])
    normals = normals / areas[:, None]
    ways = [
        (_how_good(direction, corners.mean(axis=1), normals, areas), direction)
        for direction in _main_directions(normals, areas)
    ]
    best = max(good for good, _ in ways)
    ways = [way for way in ways if way[0] > best - _AS_GOOD]
    if thickness is not None:
        return min(ways, key=lambda way: abs(np.ptp(body.vertices @ way[1]) - thickness))[1]
    for _, direction in ways:
        if direction[2] > math.cos(_AS_IT_STANDS):
            return direction
    return max(ways, key=lambda way: way[0])[1]


def _how_good(direction: Points, middles: Points, normals: Points, areas: Points) -> float:
    """How much a body looks like a prism when a direction is up.

    Args:
        direction: a unit vector, in which faces look.
        middles: of its triangles.
        normals: of its triangles.
        areas: of its triangles.
    """
    along = np.abs(normals @ direction)
    level, upright = along > math.cos(_SAME_DIRECTION), along < math.sin(_LEANS)
    share = areas[level | upright].sum() / areas.sum()
    # A piece of squares is made of level and upright faces whichever of them is below; but only
    # its back and its face lie at its ends and nowhere between.
    heights = middles @ direction
    low, high = heights[level].min(), heights[level].max()
    between = np.minimum(heights - low, high - heights) > _AT_END * (high - low)
    at_ends = 1 - areas[level & between].sum() / areas[level].sum()
    broad = areas[level].sum() / areas.sum()
    return float(share + at_ends / 2 + broad / 20)


def _main_directions(normals: Points, areas: Points) -> list[Points]:
    """The directions in which most of the surface faces, upwards, the most nearly vertical first."""
    left = np.ones(len(normals), dtype=bool)
    found: list[Points] = []
    while left.any() and len(found) < _DIRECTIONS_TRIED:
        first = normals[left][areas[left].argmax()]
        near = left & (np.abs(normals @ first) > math.cos(_SAME_DIRECTION))
        signs = np.sign(normals[near] @ first)
        mean = (normals[near] * (signs * areas[near])[:, None]).sum(axis=0)
        mean /= np.linalg.norm(mean)
        found.append(mean if mean[2] >= 0 else -mean)
        left &= ~near
    return sorted(found, key=lambda direction: -float(direction[2]))


def _turn_to_vertical(up: Points) -> Points:
    """The rotation that carries a direction to the vertical by the shortest way, shape (3, 3)."""
    x, y, z = (float(value) for value in up)
    if z < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    factor = 1 / (1 + z)
    return np.array(
        [
            [1 - factor * x * x, -factor * x * y, -x],
            [-factor * x * y, 1 - factor * y * y, -y],
            [x, y, z],
        ]
    )


def _on_the_bed(vertices: Points) -> Points:
    return np.asarray(vertices - np.array([0.0, 0.0, float(vertices[:, 2].min())]))


def _lies_on_its_face(sections: Sections) -> bool:
    """Whether a magnet's recess is open at the top, or a letter is engraved below only."""
    height = sections.high - sections.low
    below = _deepest_pocket(sections, DOWN, height)
    above = _deepest_pocket(sections, UP, height)
    if max(below, above) > height / 4:  # a recess, which is deeper than any letter
        return above > below
    return below > 0 and above == 0


def _deepest_pocket(sections: Sections, facing: int, height: float) -> float:
    """How deep the pockets go that are open on a side; 0 without any.

    Holes that go all the way through are no pockets.
    """

    def at(part: float) -> list[BaseGeometry]:
        depth = part * height
        return hollows(sections.at(sections.high - depth if facing == UP else sections.low + depth))

    breadth = float(np.ptp(sections.vertices[:, :2], axis=0).max())
    room = _POCKET_ROOM * min(height, breadth)
    holes = [hole for hole in at(_JUST_BELOW) if maximum_inscribed_circle(hole).length > room]
    depth, deepest = _JUST_BELOW, 0.0
    while holes and depth < 1 - _STEP:
        below = at(depth + _STEP)
        going_on = [hole for hole in holes if _goes_on(hole, below)]
        if len(going_on) < len(holes):
            deepest = depth
        holes = going_on
        depth += _STEP
    return deepest * height


def _goes_on(hole: BaseGeometry, below: Sequence[BaseGeometry]) -> bool:
    """Whether a hole is there at another height, too."""
    return any(hole.intersection(other).area > 0.5 * hole.area for other in below)
