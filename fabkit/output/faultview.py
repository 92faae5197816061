"""The drawing of an inspected piece: a red mark and a number at the place of each fault."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import shapely
from shapely import affinity, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

from fabkit.core.units import format_mm
from fabkit.drawing.outline import PointMm, rings_mm
from fabkit.output.inspected import PieceSheet
from fabkit.output.svg import Drawing

#: On paper and screen: the longer side of a piece with faults, and of the largest one without …
FAULTY_MM, SOUND_MM = 74.0, 30.0
#: … the room around a piece with and without numbers, and the height of a line at its foot …
_NUMBERED_MM, _BARE_MM, _LINE_MM = 9.0, 0.5, 6.0
#: … a number's circle, how far apart two of them are, and how far outside the piece …
_RADIUS_MM, _APART_MM, _OUTSIDE_MM = 2.5, 5.6, 6.0
#: … the dot at its place, the height of letters, and the room for words before a row of numbers.
_DOT_MM, _TEXT_MM, _WORDS_MM = 0.6, 3.0, 23.0
#: Numbers beside these words.
_IN_ROW = 12
#: Lengths that a ruler may have.
_RULERS_MM = (1, 2, 5, 10, 20, 50)


def _shapes(piece: PieceSheet) -> list[BaseGeometry]:
    """All that decides how large a drawing is; something when there is nothing."""
    found = [piece.seen, piece.canonical, *(row.where for row in piece.faults)]
    return [one for one in found if one is not None and not one.is_empty] or [box(0, 0, 1, 1)]


def extent_mm(piece: PieceSheet) -> float:
    """The longer side of the box around a piece."""
    left, bottom, right, top = shapely.total_bounds(_shapes(piece))
    return float(max(right - left, top - bottom, 1.0))


class Picture:
    """A drawing of a piece, with a number at each of its faults.

    Args:
        piece: the piece.
        scale: how many mm of it are one mm on paper.
    """

    def __init__(self, piece: PieceSheet, scale: float) -> None:
        self._piece, self._scale = piece, scale
        faults = list(enumerate(piece.faults, start=1))
        self._nowhere = [n for n, row in faults if row.where is None or row.where.is_empty]
        left, bottom, right, top = shapely.total_bounds(_shapes(piece)).tolist()
        margin = scale * (_NUMBERED_MM if faults else _BARE_MM)
        self._wide = scale * FAULTY_MM if faults else right - left
        self._wide += 2 * margin
        lines = math.ceil(len(self._nowhere) / _IN_ROW) + 1 if faults else 0
        self._foot = scale * _LINE_MM * lines
        self._by = (self._wide - right - left) / 2, self._foot + margin - bottom
        self._places = {n: self._moved(row.where) for n, row in faults if n not in self._nowhere}
        self._box = self._moved(box(left, bottom, right, top))
        self._drawing = Drawing(
            self._wide,
            self._foot + top - bottom + 2 * margin,
            f"Piece {piece.key}, seen from its lettered face",
            "; ".join(f"{n}: {row.sentence}" for n, row in faults) or "It has no faults.",
            theme=None,
            scale=1 / scale,
        )

    def drawn(self) -> Element:
        """Draws everything."""
        piece = self._piece
        canonical = [] if piece.canonical is None else [piece.canonical]
        for class_, shapes in (
            ("seen", [piece.seen]),
            ("recess", piece.recesses),
            ("letter", piece.letters),
            ("canonical", canonical),
        ):
            for shape in shapes:
                self._trace(self._moved(shape), class_)
        for number, place in self._places.items():
            self._trace(place, "place", data_fault=str(number))
        if piece.faults:
            self._callouts()
            self._whole_piece()
            self._ruler()
        return self._drawing.element

    def _moved(self, shape: BaseGeometry) -> BaseGeometry:
        return affinity.translate(shape, *self._by)

    def _trace(self, shape: BaseGeometry, class_: str, **data: str) -> None:
        """Draws areas as areas, lines as lines and points as dots."""
        for part in shapely.get_parts(shapely.get_parts(shape)):
            if part.geom_type == "Polygon" and not part.is_empty:
                self._drawing.polygon(rings_mm(part), class_=class_, **data)
            elif part.geom_type == "Point":
                self._drawing.circle(part.x, part.y, self._scale * _DOT_MM, class_=class_, **data)
            elif not part.is_empty:
                self._drawing.line(part.coords, class_=f"{class_}-line", **data)

    def _callouts(self) -> None:
        """Numbers outside the piece, each with a line to its place, as near to it as is free."""
        ring = self._box.buffer(self._scale * _OUTSIDE_MM).exterior
        count = max(int(ring.length / (self._scale * _APART_MM)), len(self._places))
        free = [ring.interpolate(i / count, normalized=True) for i in range(count)]
        spots = {}
        for number, place in self._places.items():
            # Rounded, so that of two spots as near the choice is the same on every machine.
            spots[number] = min(free, key=lambda spot: round(float(spot.distance(place)), 3))
            free.remove(spots[number])
            end, spot = nearest_points(place, spots[number])
            self._drawing.line([(spot.x, spot.y), (end.x, end.y)], class_="leader")
            dot_mm = self._scale * _DOT_MM
            self._drawing.circle(end.x, end.y, dot_mm, class_="dot", data_fault=str(number))
        for number, spot in spots.items():
            self._number((spot.x, spot.y), number)

    def _whole_piece(self) -> None:
        """Below the piece the numbers of what has no one place."""
        if self._nowhere:
            y = self._foot - self._scale * _LINE_MM / 2
            self._words((self._scale, y), "whole piece", text_anchor="start")
        for i, number in enumerate(self._nowhere):
            line, column = divmod(i, _IN_ROW)
            x = self._scale * (_WORDS_MM + (column + 0.5) * _APART_MM)
            self._number((x, self._foot - self._scale * _LINE_MM * (line + 0.5)), number)

    def _number(self, at: PointMm, number: int) -> None:
        radius = self._scale * _RADIUS_MM
        self._drawing.circle(*at, radius, class_="balloon", data_fault=str(number))
        self._words(at, str(number), text_anchor="middle", class_="digits")

    def _words(self, at: PointMm, text: str, **style: str) -> None:
        """Text whose capitals have their middle at a height."""
        size = self._scale * _TEXT_MM
        self._drawing.text(at[0], at[1] - 0.36 * size, text, size, **style)

    def _ruler(self) -> None:
        """A length to compare with, at the lower right."""
        length = max(mm for mm in _RULERS_MM if mm in (_RULERS_MM[0], min(mm, self._wide / 3.5)))
        right, y = self._wide - self._scale, 1.5 * self._scale
        up = y + 0.8 * self._scale
        ends = [(right - length, up), (right - length, y), (right, y), (right, up)]
        self._drawing.line(ends, class_="ruler")
        middle = (right - length / 2, y + 2.2 * self._scale)
        self._words(middle, format_mm(length), text_anchor="middle")
