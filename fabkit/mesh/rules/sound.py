"""Rules on the mesh as such: closed, turned outwards, of one body, cutting nowhere into itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Body, Points
from fabkit.mesh.crossing import TOUCHING_MM, crossings
from fabkit.mesh.features import Features
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.part import Part
from fabkit.mesh.topology import (
    Shell,
    degenerate_faces,
    duplicate_faces,
    encloses,
    open_edges,
    shells,
    turned_faces,
)
from fabkit.model.profile import Profile

#: How far around a faulty face or edge a drawing marks it, in mm.
_MARK_MM = 0.3
#: A drawing marks so many faces or edges at most.
_MOST_MARKS = 500
#: Files rounded to three decimals or fewer are not judged more exactly …
_DECIMALS_MM = 1e-3
#: … this part of a step being what single precision may add.
_ON_STEP = 0.02


def sound_findings(
    part: Part, anatomy: Features, profile: Profile, may_be_hollow: bool = False
) -> Iterator[Finding]:
    """All findings on the mesh as such.

    Args:
        part: the part.
        anatomy: its recesses, of which closed ones are shells of their own.
        profile: whether recesses are to be closed.
        may_be_hollow: whether it may be hollow inside, since nothing says how it is to be made.
    """
    body = part.straight
    edges = open_edges(body)
    where = _edges(body.vertices, edges)
    yield counted("watertight", len(edges), 0, "edges that do not join exactly two faces", where)
    turned = turned_faces(body)
    where = _faces(body, turned)
    yield counted("winding", len(turned), 0, "faces that are turned the wrong way", where)
    rounding_mm = _rounded_mm(part.body)
    flat = degenerate_faces(body)
    # Rounding to so few decimals puts corners onto a line that had been beside it.
    useless = np.union1d(flat[: 0 if rounding_mm else None], duplicate_faces(body)).astype(np.int64)
    where = _faces(body, useless)
    yield counted("degenerate", len(useless), 0, "faces without extent, or there twice", where)
    crossing = crossings(body, max(TOUCHING_MM, part.sections.noise_mm, 2 * rounding_mm))
    where = _faces(body, np.unique(crossing))
    what = "pairs of faces that cut through each other"
    yield counted("self-intersection", len(crossing), 0, what, where)
    closed = (
        *(anatomy.recesses if profile.embedded else ()),
        *(anatomy.hollows if may_be_hollow else ()),
    )
    yield from _shells(body, sum(not one.below and not one.above for one in closed))
    volume = part.volume_mm3
    message = f"the volume is {volume:.1f} mm3"
    if volume <= 0:
        message += "; the mesh is inside out: turn its faces over"
    yield Finding("volume", volume > 0, volume, 0.0, "mm3", message)


def _rounded_mm(body: Body) -> float:
    """The step of the decimals that a file's coordinates are rounded to, 3 at most; else 0."""
    steps = body.vertices / _DECIMALS_MM
    on_grid = len(steps) > 0 and (np.abs(steps - np.round(steps)) < _ON_STEP).all()
    return _DECIMALS_MM if on_grid else 0.0


def _shells(body: Body, closed: int) -> Iterator[Finding]:
    """One shell faces outwards, and one inwards for each magnet, or hollow, that is closed in."""
    found = shells(body)
    outward = [shell for shell in found if shell.volume_mm3 > 0]
    inward = [shell for shell in found if shell.volume_mm3 < 0]
    where = _faces(body, np.concatenate([s.faces for s in outward[1:]])) if outward[1:] else None
    yield counted("shells", len(outward), 1, "bodies in the mesh that face outwards", where)
    inside = [one for one in inward if outward and encloses(body, outward[0], one)]
    what = "shells that face inwards, and lie inside, for closed recesses"
    if len(inside) < len(inward):
        what = "shells that face inwards and do not lie inside"
        yield counted("cavities", len(inward) - len(inside), 0, what, _shells_at(body, inward))
    else:
        yield counted("cavities", len(inward), closed, what, _shells_at(body, inward))


def _shells_at(body: Body, found: list[Shell]) -> BaseGeometry | None:
    return _faces(body, np.concatenate([shell.faces for shell in found])) if found else None


def _faces(body: Body, positions: NDArray[np.int64]) -> BaseGeometry | None:
    """Faces seen from above, with a margin; None without any."""
    if not len(positions):
        return None
    corners = body.vertices[body.faces[positions[:_MOST_MARKS]]][:, :, :2]
    return shapely.union_all(shapely.convex_hull(shapely.multipoints(corners))).buffer(_MARK_MM)


def _edges(vertices: Points, edges: NDArray[np.int64]) -> BaseGeometry | None:
    if not len(edges):
        return None
    # Each on its own: crossing lines, joined first, would be cut at every one of their crossings.
    lines = shapely.linestrings(vertices[edges[:_MOST_MARKS]][:, :, :2])
    return shapely.union_all(shapely.buffer(lines, _MARK_MM))
