"""The cells of a chequered piece that have its second colour, in millimetres."""

from __future__ import annotations

from dataclasses import dataclass

from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.drawn import Drawn
from fabkit.model.lattice import Lattice
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import rings_in_units


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


def tones(lattice: Lattice, piece: Piece, drawing: Drawn, profile: Profile) -> Tones:
    """The second colour of a flat piece: as deep as its letter.

    Args:
        lattice: the set's.
        piece: with `Piece.tones`.
        drawing: of it.
        profile: gives the unit and the depth.

    Example:
        >>> from fabkit.drawing.draft import draft
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> cubi, profile = load_set("cubimagici"), load_profile()
        >>> piece = cubi.piece("p9")
        >>> found = tones(cubi.lattice, piece, draft(cubi, piece, profile), profile)
        >>> found.area.area == 400 * len(piece.tones), found.high_mm
        (True, 7.0)
    """
    cells = [
        Polygon([(x * profile.unit_mm, y * profile.unit_mm) for x, y in ring])
        for cell in sorted(piece.tones)
        for ring in rings_in_units(lattice, [lattice.ring(cell)])
    ]
    high_mm = drawing.thickness_mm
    return Tones(union_all(cells), high_mm - profile.label_depth_mm, high_mm)
