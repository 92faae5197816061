"""Pieces as the booklet shows them: at their size, with their names below in short lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fabkit.drawing.draft import Blueprint
from fabkit.model.piece import Form, Piece
from fabkit.output.booklet.leaf import TEXT_MM, Edition
from fabkit.output.booklet.paper import Size
from fabkit.output.canvas import Canvas
from fabkit.output.pieces import PieceView, ball_views, draw_view, flat_view
from fabkit.output.typeset import few_lines, text_width_mm

#: Names have at least so much room, and so many lines at most, so far from each other.
_LEAST_MM, _MOST_LINES, _LINE_MM = 34.0, 3, 4.6
#: From the bottom of a view's room to the base line of its name.
_BASE_MM = 0.8


@dataclass(frozen=True)
class NamedPiece:
    """A piece, or a flat form of one, with its name in the booklet.

    Attributes:
        view: the piece; its caption is what commands call it.
        name: what it is called in the booklet, in lines; one at least.
    """

    view: PieceView
    name: tuple[str, ...]

    @property
    def room_mm(self) -> Size:
        """Width and height with the dimensions and the name."""
        wide, high = _unnamed(self.view).room_mm
        name_mm = max(text_width_mm(line, TEXT_MM) for line in self.name)
        return max(wide, name_mm), high + self._more_mm

    def draw(self, canvas: Canvas, at_mm: tuple[float, float], decimal: str) -> None:
        """Draws it.

        Args:
            canvas: where to draw.
            at_mm: where the lower left corner of its room comes to lie.
            decimal: what stands before the decimals of its sizes.
        """
        x, y = at_mm[0], at_mm[1] + self._more_mm
        draw_view(canvas, _unnamed(self.view), (x, y), decimal=decimal)
        for row, line in enumerate(self.name):
            canvas.text(x, y + _BASE_MM - row * _LINE_MM, line, TEXT_MM)

    @property
    def _more_mm(self) -> float:
        """How much all lines of the name but the first take."""
        return _LINE_MM * (len(self.name) - 1)


def named_pieces(edition: Edition, drafts: Sequence[Blueprint]) -> list[NamedPiece]:
    """The pieces of a booklet, flat ones before those of balls.

    Args:
        edition: the booklet.
        drafts: its flat pieces, in order.
    """
    puzzle, profile = edition.puzzle, edition.profile
    flat = [piece for piece in puzzle.pieces if not piece.body]
    views = [flat_view(puzzle, *pair, profile) for pair in zip(flat, drafts, strict=True)]
    named = [_named(view, view.caption) for view in views]
    for piece in puzzle.pieces:
        if piece.body:
            forms = zip(ball_views(puzzle, piece, profile), piece.forms, strict=True)
            named += [_named(view, _form(edition.words, piece, form)) for view, form in forms]
    return named


def _named(view: PieceView, name: str) -> NamedPiece:
    """A piece with its name, which is about as wide as the piece at most."""
    room = max(_unnamed(view).room_mm[0], _LEAST_MM)
    return NamedPiece(view, tuple(few_lines(name, TEXT_MM, room, _MOST_LINES)))


def _unnamed(view: PieceView) -> PieceView:
    """The view without a name below."""
    return replace(view, caption="")


def _form(words: Mapping[str, str], piece: Piece, form: Form) -> str:
    """What a piece of balls is called, with its letter and, if there are several, which form it is."""
    name = f"{piece.id} ({piece.label})"
    return f"{name} · {form_said(words, form.name)}" if len(piece.forms) > 1 else name


def form_said(words: Mapping[str, str], name: str) -> str:
    """The name of a flat form in the booklet's language.

    Args:
        words: the booklet's texts.
        name: see `fabkit.model.piece.Form`.

    Raises:
        ValueError: when there is no such form.

    Example:
        >>> words = {"form_double": "doppelt", "form_prong": "{count} Zacken"}
        >>> [form_said(words, name) for name in ("double", "double-2", "4-prong", "4-prong-3")]
        ['doppelt', 'doppelt 2', '4 Zacken', '4 Zacken 3']
    """
    parts = re.fullmatch(r"(?:([0-9]+)-)?([a-z]+)(?:-([0-9]+))?", name)
    if not parts:
        raise ValueError(f"there is no form {name!r}")
    count, kind, among = parts.groups()
    said = words[f"form_{kind}"].format(count=count)
    return f"{said} {among}" if among else said
