"""Rules on the mesh as such: closed, turned outwards, of one body, cutting nowhere into itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.body import Faces, Points
from fabkit.mesh.crossing import TOUCHING_MM, crossings
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.part import Part
from fabkit.mesh.topology import (
    degenerate_faces,
    duplicate_faces,
    encloses,
    open_edges,
    turned_faces,
)

#: Files rounded to three decimals or fewer are not judged more exactly.
_DECIMALS_MM = 1e-3


def sound_findings(part: Part, closed: int = 0) -> Iterator[Finding]:
    """All findings on the mesh of a part that is to have so many closed cavities."""
    body = part.straight

    def marked(some: Faces) -> BaseGeometry | None:
        return _marked(body.vertices, body.faces[some])

    edges = open_edges(body)
    where = _marked(body.vertices, edges)
    yield counted("watertight", len(edges), 0, "edges that do not join exactly two faces", where)
    turned = turned_faces(body)
    what = "faces that are turned the wrong way"
    yield counted("winding", len(turned), 0, what, marked(turned))
    # Rounding to so few decimals puts corners onto a line that had been beside it. Single
    # precision may add a fiftieth of a step.
    steps = part.body.vertices / _DECIMALS_MM
    is_rounded = len(steps) > 0 and bool((np.abs(steps - np.round(steps)) < 0.02).all())
    useless = duplicate_faces(body)
    if not is_rounded:
        useless = np.union1d(degenerate_faces(body), useless).astype(np.int64)
    what = "faces without extent, or there twice"
    yield counted("degenerate", len(useless), 0, what, marked(useless))
    touching_mm = max(TOUCHING_MM, part.sections.noise_mm, 2 * _DECIMALS_MM * is_rounded)
    crossing = crossings(body, touching_mm)
    what = "pairs of faces that cut through each other"
    yield counted("self-intersection", len(crossing), 0, what, marked(np.unique(crossing)))
    found = part.shells
    outward = [shell for shell in found if shell.volume_mm3 > 0]
    inward = [shell for shell in found if shell.volume_mm3 < 0]
    where = marked(np.concatenate([s.faces for s in outward[1:]])) if outward[1:] else None
    yield counted("shells", len(outward), 1, "bodies in the mesh that face outwards", where)
    astray = [one for one in inward if not outward or not encloses(body, outward[0], one)]
    where = marked(np.concatenate([shell.faces for shell in inward])) if inward else None
    if astray:
        what = "shells that face inwards and do not lie inside"
        yield counted("cavities", len(astray), 0, what, where)
    else:
        what = "shells that face inwards, and lie inside, for closed recesses"
        yield counted("cavities", len(inward), closed, what, where)
    volume = part.volume_mm3
    message = f"the volume is {volume:.1f} mm3"
    if volume <= 0:
        message += "; the mesh is inside out: turn its faces over"
    yield Finding("volume", volume > 0, volume, 0.0, "mm3", message)


def _marked(vertices: Points, some: Faces) -> BaseGeometry | None:
    """Up to 500 edges or faces seen from above, with a margin; None without any."""
    if not len(some):
        return None
    corners = vertices[some[:500]][:, :, :2]
    # Each on its own: crossing lines, joined first, would be cut at every one of their crossings.
    seen = shapely.convex_hull(shapely.multipoints(corners))
    return shapely.union_all(shapely.buffer(seen, 0.3))
