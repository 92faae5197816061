"""The greatest distance of a rigid snowflake from its centre, so that a search is complete.

Lengths are *Chebyshev*: the distance of two points is the greater of the differences of their
coordinates, the width of a piece is its longer side along the grid, and ``r(x, y)`` is
``max(|x|, |y|)``, the distance from the centre. Let w be the width of the widest piece and W the
sum of all widths. Take a connected part of a rigid snowflake. It is mapped to itself by quarter
turns, and r takes every value between its minimum m and its maximum H.

- *Levels.* Let ``r(p) = t > w``. The four images of p under quarter turns are at least t apart, so
no two of them are in one piece: at least four pieces meet the level t. The values of r on a
  piece span no more than its width. So for the levels from max(m, w) to H together

      4 (H - max(m, w)) <= W.

- *Winding.* Let ``m > w``. A path inside the part from a point to its quarter turn makes, with its
  own turns, a closed path around the centre. Clamp all coordinates to the range from -m to m: no
  distance grows, and the path is now on the square r = m and winds around it, so it covers all its
  sides, which are 8 m long. A piece covers at most its width of them, unless it reaches around a
  corner: then it is within w of the corner on both sides, which adds at most w. So

      8 m <= W + 4 w.

Both hold for every part, also for the outermost, so no point of a rigid snowflake is farther than

    max(w, (W + 4 w) / 8) + W / 4.

**Which grids there are.** All pieces on one grid of unit squares, at some offset (t, u) modulo 1
from the centre, are a *group*. By definition, a snowflake is one symmetric group, or several
groups, each of which is symmetric itself; shapes whose groups are symmetric only together are
excluded. The corners of pieces are whole numbers on their grid, so the maximum and minimum x of a
group are t modulo 1. The group equals its mirror image: t = -t. It equals its quarter turn: t = u.
So t = u = 0 or t = u = 1/2: there are at most two groups, one about a corner of its grid, one about
the middle of a cell. A set with corners elsewhere is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fabkit.core.errors import InputError
from fabkit.model.lattice import Lattice
from fabkit.model.piece import Piece
from fabkit.model.polygon import format_point
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, HalfWidth


@dataclass(frozen=True)
class Bound:
    """The greatest distance from the centre, in grid units, by the width of the widest piece, w,
    and the sum of all widths, W."""

    widest: int
    widths: int

    @property
    def reach(self) -> Fraction:
        """The greatest possible distance of a point of a rigid snowflake from its centre."""
        inner = Fraction(self.widths + 4 * self.widest, 8)
        return max(Fraction(self.widest), inner) + Fraction(self.widths, 4)

    def half_width(self, parity: str) -> int:
        """Return the half-width of the largest board of a parity, even or odd, to search."""
        return int(self.reach if parity == EVEN else self.reach - Fraction(1, 2))

    @property
    def argument(self) -> str:
        """The bound in one sentence."""
        return (
            f"no point of a rigid shape is farther than {float(self.reach):g} units from its "
            f"centre: max(w, (W + 4 w) / 8) + W / 4 for pieces of widths up to w = {self.widest}, "
            f"together W = {self.widths}"
        )


def bound(lattice: Lattice, pieces: Sequence[Piece]) -> Bound:
    """Compute the bound for some flat pieces from their outlines.

    Raises:
        InputError: if a corner is not a whole number of units.
    """
    widths = []
    for piece in pieces:
        corners = [corner for ring in piece.forms[0].rings for corner in ring]
        for corner in corners:
            if any(coordinate % lattice.per_unit for coordinate in corner):
                raise InputError.of(
                    f"piece {piece.id}",
                    f"has a corner at {format_point(lattice, corner)}; snowflakes need "
                    "pieces whose corners are whole numbers",
                )
        widths.append(max(max(values) - min(values) for values in zip(*corners, strict=True)))
    return Bound(max(widths) // lattice.per_unit, sum(widths) // lattice.per_unit)


def half_widths(parity: str, limit: Bound | None, maximum: int | None) -> HalfWidth:
    """Return the half-width of the boards to search for a parity: that of the bound, or at most the
    user's `maximum`. Shapes that need not be rigid have no bound, and need a maximum."""

    def half_width(parity: str) -> int:
        widths = (limit.half_width(parity) if limit else None, maximum)
        return min(width for width in widths if width is not None)

    return (half_width(EVEN), half_width(ODD)) if parity == MIXED else half_width(parity)
