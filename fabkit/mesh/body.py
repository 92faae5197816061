"""A body: the triangles of one part, as a file gave them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Points of space, one a row.
Points = NDArray[np.float64]
#: Triangles, one a row: the positions of their corners, counter-clockwise seen from outside.
Faces = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Body:
    """One part of a mesh file. Corners at exactly the same place are one corner.

    Attributes:
        name: what messages call it, such as ``A.stl`` or ``plate.3mf: A``.
        vertices: its corners, shape (n, 3); in mm if the file states a unit of length, else in
            whatever length the file is in.
        faces: its triangles, shape (m, 3), positions in `vertices`.
    """

    name: str
    vertices: Points
    faces: Faces
