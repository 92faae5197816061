"""What every drawing in millimetres tells, be it of a flat piece, a ball piece or a board."""

from __future__ import annotations

from typing import Protocol

from shapely import Polygon

from fabkit.drawing.label import Label
from fabkit.drawing.recess import Recess


class Drawn(Protocol):
    """One thing to print, in mm, as it lies in its files: the lowest point at height 0.

    Attributes:
        piece: its id.
        colour: ``#rrggbb``.
        outline: all of it seen from above.
        face: its flat top seen from above.
        foot: its flat bottom seen from above.
        thickness_mm: its height.
        recesses: pockets for magnets.
        label: the letter or title, if any.
        label_low_mm: height of the lower end of its engraving (that of the face, with two of them).
        facing: which way its top looks on the bed, ``up`` or ``down``.
        pause_height_mm: where the print pauses for magnets; None for no pause.
    """

    @property
    def piece(self) -> str: ...  # noqa: D102
    @property
    def colour(self) -> str: ...  # noqa: D102
    @property
    def outline(self) -> Polygon: ...  # noqa: D102
    @property
    def face(self) -> Polygon: ...  # noqa: D102
    @property
    def foot(self) -> Polygon: ...  # noqa: D102
    @property
    def thickness_mm(self) -> float: ...  # noqa: D102
    @property
    def recesses(self) -> tuple[Recess, ...]: ...  # noqa: D102
    @property
    def label(self) -> Label | None: ...  # noqa: D102
    @property
    def label_low_mm(self) -> float: ...  # noqa: D102
    @property
    def facing(self) -> str: ...  # noqa: D102
    @property
    def pause_height_mm(self) -> float | None: ...  # noqa: D102
