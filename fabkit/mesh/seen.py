"""A body as it is seen from above, and how large it is."""

from __future__ import annotations

import itertools

import numpy as np
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry
from shapely.geometry.polygon import orient

from fabkit.mesh.body import Body
from fabkit.mesh.manifold import is_solid, shadow_of
from fabkit.mesh.section import Sections, parts

#: Open bodies are cut this near to heights with corners, as a part of their own, at so many of them.
_NEAR_LEVEL, _MOST_LEVELS = 0.0015, 30

#: A gap this wide (mm) between two areas seen from above is none.
_HAIR_MM = 2e-4


def shadow(body: Body) -> Polygon:
    """Its outline seen from above; holes that go through it are interiors.

    Args:
        body: in mm, as it is to be seen.

    Example:
        >>> corners = np.array([[x, y, z] for x in (0, 3) for y in (0, 1) for z in (0, 2)], float)
        >>> quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        >>> box = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
        >>> round(shadow(Body("box", corners, box)).area, 4)
        3.0
    """
    if is_solid(body.manifold):
        seen = shadow_of(body.manifold)
        if seen.geom_type != "Polygon":  # hairs of single precision part what stands out of a side
            seen = seen.buffer(_HAIR_MM, join_style="mitre").buffer(-_HAIR_MM, join_style="mitre")
        return largest(seen)
    # An open body is cut just above and below the heights at which it has corners.
    sections = Sections(body.vertices, body.faces)
    levels = sections.levels()
    levels = levels[:: 1 + len(levels) // _MOST_LEVELS]
    cuts = []
    for low, high in itertools.pairwise([*levels, sections.high]):
        near = min(_NEAR_LEVEL * (sections.high - sections.low), (high - low) / 4)
        cuts += [sections.at(low + near), sections.at(high - near)]
    return largest(shapely.union_all(cuts))


def largest(area: BaseGeometry) -> Polygon:
    """The largest part of an area; an empty polygon of none."""
    found = parts(area)
    return orient(found[0]) if found else Polygon()


def size_mm(body: Body) -> tuple[float, float, float]:
    """Width, depth and height of the box around it."""
    width, depth, height = np.ptp(body.vertices, axis=0).tolist()
    return width, depth, height


def inside_mm(shadow: BaseGeometry, area: BaseGeometry) -> float:
    """How far something, seen from above, keeps inside an area; negative when it reaches out of it.

    Args:
        shadow: what is seen.
        area: in mm, too.

    Example:
        >>> area = shapely.box(0, 0, 9, 9)
        >>> inside_mm(shapely.box(2, 3, 4, 5), area), inside_mm(shapely.box(2, 3, 4, 10), area)
        (2.0, -1.0)
    """
    out_mm = reach_out_mm(shadow, area)
    return -out_mm if out_mm else float(shadow.boundary.distance(area.boundary))


def reach_out_mm(shadow: BaseGeometry, area: BaseGeometry) -> float:
    """How far something, seen from above, reaches out of an area; 0 when it does not.

    Args:
        shadow: what is seen.
        area: in mm, too.
    """
    rest = shadow.difference(area)
    if rest.is_empty:
        return 0.0
    return float(shapely.distance(shapely.points(shapely.get_coordinates(rest)), area).max())
