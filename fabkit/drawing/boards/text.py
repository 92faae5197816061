"""The texts on a tray's cells, in its floor: of one size, as large as the cells allow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from shapely import Polygon
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.errors import quote
from fabkit.core.units import format_mm
from fabkit.drawing.glyphs import Contour, Lettering, strokes_are_at_least
from fabkit.drawing.label import Label, largest_place, min_height_mm, on_baseline
from fabkit.drawing.outline import DrawingError, polygons, region_mm
from fabkit.model.lattice import Lattice
from fabkit.model.puzzle import Board
from fabkit.profiles.profile import Profile

#: Margin inside a cell's edges, in grid units, if the texts are readable with it.
_MARGIN = 0.1


@dataclass(frozen=True)
class _Text:
    """One text of a board.

    Attributes:
        text: as it is engraved.
        room: where its letters may be.
        max_mm: largest cap height for its room; 0 if there is none.
    """

    text: str
    room: BaseGeometry
    max_mm: float

    def is_readable(self, height_mm: float, stroke_mm: float) -> bool:
        """Whether its strokes have a width, with capitals of a height."""
        _, area = _written(self.text)
        return height_mm > 0 and strokes_are_at_least(area, stroke_mm / height_mm)


def place_texts(lattice: Lattice, board: Board, profile: Profile) -> Label:
    """Place the labels of a board on its cells, as one text.

    They are written as in the set's file; or else, since capitals have wider strokes, all in capitals.

    Raises:
        DrawingError: when the strokes of one would be thinner than the profile's.
    """
    stroke_mm = profile.stroke_mm
    margins_mm = (_MARGIN * profile.unit_mm, profile.label_margin_mm)
    texts: list[_Text] = []
    for capitals, margin_mm in itertools.product((False, True), margins_mm):
        texts = []
        for text in _fitted(lattice, board, profile.unit_mm, capitals, margin_mm):
            texts.append(text)
            if not text.is_readable(text.max_mm, stroke_mm):
                break
        else:
            break
    else:
        raise DrawingError(_too_thin(texts[-1], profile))
    heights_mm = _common_heights(texts, stroke_mm)
    contours = list[Contour]()
    for text, height_mm in zip(texts, heights_mm, strict=True):
        letters, area = _written(text.text)
        _, places = largest_place(area.convex_hull, text.room, height_mm, 0.0)
        middle, _ = nearest_points(places, text.room.centroid)
        contours += letters.moved(round(middle.x, 3), round(middle.y, 3), height_mm).contours
    centre = region_mm(lattice, board.cells, profile.unit_mm).centroid
    return Label(
        " ".join(text.text for text in texts),
        max(heights_mm),
        profile.text_depth_mm,
        (centre.x, centre.y),
        Lettering(tuple(contours)),
        inlaid=profile.board_text == "inlay",
    )


@lru_cache(maxsize=512)
def _written(text: str) -> tuple[Lettering, BaseGeometry]:
    """Return a text 1 mm high, the middle of a capital at the origin; and its area."""
    letters, width = on_baseline(text)
    written = letters.moved(-width / 2, -0.5)
    return written, written.polygon()


def _fitted(
    lattice: Lattice, board: Board, unit_mm: float, capitals: bool, margin_mm: float
) -> Iterator[_Text]:
    """Yield the texts of a board with the heights that fit, a margin away from the cells' edges."""
    for label in board.labels:
        text = label.text.upper() if capitals else label.text
        cells = region_mm(lattice, label.cells, unit_mm)
        inside = polygons(cells.buffer(-margin_mm, join_style="mitre"))
        room = max(inside, key=lambda area: area.area, default=Polygon())
        _, area = _written(text)
        max_mm = 0.0
        if not room.is_empty:
            max_mm, _ = largest_place(area.convex_hull, room, unit_mm, 0.0)
        yield _Text(text, room, max_mm)


def _common_heights(texts: list[_Text], stroke_mm: float) -> list[float]:
    """Return the cap height of each text: the largest that all can have.

    If that is too small for some, the longest texts have their own, and the others one for themselves.
    """
    heights_mm = dict[str, float]()
    waiting = texts
    while waiting:
        common_mm = min(text.max_mm for text in waiting)
        group = waiting
        if not all(text.is_readable(common_mm, stroke_mm) for text in group):
            longest = max(len(text.text) for text in waiting)
            group = [text for text in waiting if len(text.text) == longest]
            common_mm = min(text.max_mm for text in group)
        is_common = all(text.is_readable(common_mm, stroke_mm) for text in group)
        heights_mm |= {text.text: common_mm if is_common else text.max_mm for text in group}
        waiting = [text for text in waiting if text.text not in heights_mm]
    return [heights_mm[text.text] for text in texts]


def _too_thin(text: _Text, profile: Profile) -> str:
    """Return why a text of a board cannot be engraved, and what to do."""
    stroke = f"strokes of label.stroke {format_mm(profile.stroke_mm)}"
    min_mm = min_height_mm((text.text,), profile.stroke_mm)
    needed = f"{format_mm(min_mm)} high" if math.isfinite(min_mm) else "more than 60 mm high"
    larger = ""
    if text.max_mm and math.isfinite(min_mm):
        larger = f" of about {format_mm(math.ceil(profile.unit_mm * min_mm / text.max_mm))}"
    return (
        f"the text {quote(text.text)} must be {needed} to have {stroke}, and the largest that fits its "
        f"cell is {format_mm(text.max_mm)} high; choose a shorter text, a larger unit{larger}, a smaller "
        "label.stroke or board.text none"
    )
