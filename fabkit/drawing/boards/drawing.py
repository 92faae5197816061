"""The drawing of a board or lid: prisms and bores, added to each other and cut, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shapely import Polygon

from fabkit.drawing.label import Label
from fabkit.drawing.printed import PointMm
from fabkit.drawing.recess import Recess


@dataclass(frozen=True)
class Prism:
    """A straight prism.

    Attributes:
        area: its cross-section in mm, with holes: in x and y for axis ``z``; in x and z for axis
            ``y``; in y and z for axis ``x``.
        low_mm: where it begins along the axis.
        high_mm: where it ends.
        axis: along which it runs.
    """

    area: Polygon
    low_mm: float
    high_mm: float
    axis: Literal["x", "y", "z"] = "z"


@dataclass(frozen=True)
class Bore:
    """A round cylinder that stands upright.

    Attributes:
        centre_mm: of its circle.
        diameter_mm: of its circle.
        low_mm: where it begins.
        high_mm: where it ends.
    """

    centre_mm: PointMm
    diameter_mm: float
    low_mm: float
    high_mm: float


@dataclass(frozen=True)
class Step:
    """Some shapes that are added to what is there, or cut out of it.

    Attributes:
        cuts: whether they are cut out.
        shapes: all at once; they may overlap each other.
    """

    cuts: bool
    shapes: tuple[Prism | Bore, ...]


@dataclass(frozen=True)
class BoardBlueprint:
    """One board or lid in mm, as it is printed: its lowest point at height 0, its top up.

    A board's x and y are those of the lattice's frame: its region lies where the set's file draws
    it. A lid lies as it is printed, its middle over the middle of the region.

    Attributes:
        piece: its id.
        kind: ``tray``, ``holes``, ``seats`` or ``lid``.
        colour: ``#rrggbb``.
        outline: all of it seen from above.
        face: its flat top seen from above.
        foot: what of it lies on the bed.
        thickness_mm: its height.
        steps: what it is made of, in order.
        label: the title, in the frame of the outline, as seen from above (so it is mirrored when
            it is cut into the bottom); None for none.
        rest_mm: on what height pieces rest: a tray's floor, the plate around seats, or the
            middles of seated balls; 0 for a lid.
        solid_mm3: its volume, without the title.
        surface_mm2: its surface, about.
        recesses: none.
        facing: ``up``.
        pause_height_mm: None.
        label_low_mm: height of the lower end of the title's engraving.
    """

    piece: str
    kind: str
    colour: str
    outline: Polygon
    face: Polygon
    foot: Polygon
    thickness_mm: float
    steps: tuple[Step, ...]
    label: Label | None
    rest_mm: float
    solid_mm3: float
    surface_mm2: float
    recesses: tuple[Recess, ...] = ()
    facing: str = "up"
    pause_height_mm: float | None = None
    label_low_mm: float = 0.0
