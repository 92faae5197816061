"""The base class of all drawings in mm: of flat pieces, ball pieces, boards and lids."""

from __future__ import annotations

from dataclasses import dataclass

from shapely import Polygon

from fabkit.drawing.label import Label
from fabkit.drawing.magnets import Recess
from fabkit.profiles.layers import height_as_printed_mm


@dataclass(frozen=True, kw_only=True)
class PartDrawing:
    """One part to print, in mm, in the frame of its files: the lowest point at height 0.

    Attributes:
        colour: ``#rrggbb``.
        outline: the silhouette from above.
        foot: the flat bottom.
        face: the flat top.
        label: the letter or title, if any.
        letter_colour: ``#rrggbb`` of what fills the label; empty if it is open.
        facing: whether its top faces ``up`` or ``down`` on the bed.
        copies: how many of it are printed.
    """

    piece: str
    colour: str
    outline: Polygon
    foot: Polygon
    thickness_mm: float
    face: Polygon = Polygon()  # noqa: RUF009 (it does not change)
    recesses: tuple[Recess, ...] = ()
    label: Label | None = None
    letter_colour: str = ""
    facing: str = "up"
    copies: int = 1

    @property
    def label_low_mm(self) -> float:
        """Height of the lower end of the letter in the face; of the face without a letter."""
        return self.thickness_mm - (self.label.depth_mm if self.label else 0.0)

    @property
    def pause_height_mm(self) -> float | None:
        """Height of the print above the bed when it pauses for the magnet.

        All layers below are printed, the magnet is inserted, and the next layer closes the cavity.
        None if the recess is open or absent.
        """
        closed = next((recess for recess in self.recesses if not recess.is_open), None)
        if closed is None:
            return None
        end_mm = closed.low_mm if self.facing == "down" else closed.high_mm
        return height_as_printed_mm(self.facing, end_mm, self.thickness_mm)
