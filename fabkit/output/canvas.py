"""What can be drawn on: the one set of strokes that SVG drawings and PDF pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

Points = Iterable[tuple[float, float]]


class Canvas(Protocol):
    """A page in mm, x to the right and y up from its lower left.

    Styles are named as in SVG, with ``_`` for ``-``: ``fill``, ``fill_opacity``, ``stroke``,
    ``stroke_opacity``, ``stroke_width`` (mm), ``stroke_linejoin``, ``stroke_linecap``,
    ``stroke_dasharray``, ``text_anchor``, ``class_``. Of the classes, several of which are divided by
    spaces, ``title`` (bold) and ``quiet`` (grey) have a meaning for texts everywhere; others may be
    ignored. A text without ``fill`` is dark, an area without it is black, and there is no line
    without ``stroke``. All colours are those of a `fabkit.output.look.Theme`, or of pieces.
    """

    def polygon(self, rings: Sequence[Points], **style: str) -> None:
        """A filled area; every ring after the first is a hole or a part of its own."""

    def line(self, points: Points, **style: str) -> None:
        """A line from point to point, which is not closed."""

    def circle(self, x: float, y: float, radius: float, **style: str) -> None:
        """A circle around a point."""

    def text(self, x: float, y: float, text: str, size_mm: float, **style: str) -> None:
        """A line of text, beginning at a point on its base line."""
