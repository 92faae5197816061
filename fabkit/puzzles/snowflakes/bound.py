"""The greatest distance of a rigid snowflake from its centre, so that a search is complete.

Lengths are *Chebyshev*: the distance of two points is the greater of the differences of their
coordinates, the width of a piece is its longer side along the grid, and ``r(x, y)`` is
``max(|x|, |y|)``, the distance from the centre. Let w be the width of the widest piece and W the
sum of all widths. Take a connected part of a rigid snowflake. It is carried to itself by quarter
turns, and r takes every value between its least one, m, and its greatest, H.

- *Levels.* Let ``r(p) = t > w``. The four points to which quarter turns carry p are at least t apart,
  so no two of them lie in one piece: at least four pieces meet the level t. The values of r on a
  piece span no more than its width. So for the levels from max(m, w) to H together

      4 (H - max(m, w)) <= W.

- *Winding.* Let ``m > w``. A path inside the part from a point to its quarter turn makes, with its
  own turns, a closed path around the centre. Clamp all coordinates to the range from -m to m: no
  distance grows, and the path comes to lie on the square r = m, whose sides it covers all, being wound
  around it. They are 8 m long. A piece covers no more of them than its width, but for those
  that reach around a corner: these lie within w of it on both of its sides, which is at most w more
  than one of them is wide. So

      8 m <= W + 4 w.

Both hold for every part, also for the outermost, so no point of a rigid snowflake is farther than

    max(w, (W + 4 w) / 8) + W / 4.

**Which grids there are.** All pieces that lie on one grid of unit squares, at whatever offset (t, u)
modulo 1 from the centre, are a *lot*. A snowflake is one lot that is symmetric, or several of which each
is symmetric itself; so it is defined here, and shapes whose lots are only symmetric together are not
searched for. The corners of pieces are whole numbers on their grid, so a lot's greatest and least x are
t modulo 1. The lot is its own mirror image: t = -t. It is its own quarter turn: t = u. So
t = u = 0 or t = u = 1/2: there are two lots at most, one about a corner of its grid, one about the middle
of a cell. A set with corners elsewhere is refused.
"""

from __future__ import annotations

import sys
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
    """The greatest distance from the centre, in grid units.

    Attributes:
        widest: the width of the widest piece, w.
        widths: the sum of all widths, W.
    """

    widest: int
    widths: int

    @property
    def reach(self) -> Fraction:
        """The greatest possible distance of a point of a rigid snowflake from its centre."""
        inner = Fraction(self.widths + 4 * self.widest, 8)
        return max(Fraction(self.widest), inner) + Fraction(self.widths, 4)

    def half_width(self, parity: str) -> int:
        """Return the half-width of the largest board of a parity, even or odd, that needs searching."""
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
            if any(value % lattice.per_unit for value in corner):
                raise InputError.of(
                    f"piece {piece.id}",
                    f"has a corner at {format_point(lattice, corner)}; snowflakes need "
                    "pieces whose corners are whole numbers",
                )
        widths.append(max(max(values) - min(values) for values in zip(*corners, strict=True)))
    return Bound(max(widths) // lattice.per_unit, sum(widths) // lattice.per_unit)


def half_widths(parity: str, known: Bound | None, most: int | None) -> HalfWidth:
    """Return the half-width of the boards to search for a parity.

    Args:
        parity: one of the three.
        known: the bound; None for shapes that need not be rigid, which need `most`.
        most: the user's limit on the half-width; None for no limit.
    """
    far = sys.maxsize if most is None else most
    even, odd = (min(far, known.half_width(one) if known else far) for one in (EVEN, ODD))
    return (even, odd) if parity == MIXED else {EVEN: even, ODD: odd}[parity]
