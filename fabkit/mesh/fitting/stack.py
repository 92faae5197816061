"""One row's stack-up: what the printer's errors on its sides make of its slack.

A printer makes each side of each piece a little too far out or in. Along a row
(`fabkit.mesh.fitting.rows`) these errors add up. With the row's slack S as measured on the meshes, n
sides that are met straight across, and errors u between -e and +e, outwards positive:

    slack = S - (u1 + ... + un)
    worst case: S - n e      rattle: S + n e      variance: n e^2 / 3
    an inset that is larger by d leaves n d more

A side that the line meets at a slant counts for 1/sin of the angle between them (1.41 on a
diagonal), in all of these; so n is in truth the sum of these, `Row.give`. In a tray the two walls at
the row's ends are off like sides, but no inset moves them: errors add up over `Row.spread`. The row
closes when the slack is not negative. These are the one-dimensional worst-case and statistical tolerance models
(K. W. Chase and A. R. Parkinson, A survey of research in the application of tolerance analysis to
the design of mechanical assemblies, Research in Engineering Design 3, 1991); the statistical one
is drawn at random, each u uniform and independent (for n straight sides the sum is then an
Irwin-Hall distribution).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.finding import DIGITS, TINY_MM
from fabkit.mesh.fitting.rows import Row

#: How many prints are drawn at random.
DRAWS = 10_000
#: The seed of the draws, unless another one is asked for.
SEED = 1


@dataclass(frozen=True)
class Stack:
    """What errors make of one row.

    Attributes:
        challenge: where the row is.
        row: the row, as its meshes are.
        worst_slack_mm: its slack when all sides lie too far out.
        rattle_mm: its slack when all sides lie too far in.
        share: of the draws, those in which the row closes.
        quantiles_mm: the slack that 5 % and 95 % of the draws stay below.
    """

    challenge: str
    row: Row
    worst_slack_mm: float
    rattle_mm: float
    share: float
    quantiles_mm: tuple[float, float]

    @property
    def closes(self) -> bool:
        """Whether the row closes in the worst case."""
        return self.worst_slack_mm > -TINY_MM

    @property
    def name(self) -> str:
        """The row, for people: ``square_01 R-J-M-I``."""
        return row_name(self.challenge, self.row)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        row = self.row
        return {
            "challenge": self.challenge,
            "row": self.name,
            "closes": self.closes,
            "pieces": list(row.pieces),
            "within": row.within or None,
            "degrees": rounded(row.degrees),
            "start_mm": [rounded(place) for place in row.start_mm],
            "end_mm": [rounded(place) for place in row.end_mm],
            "sides": len(row.sides),
            "give": rounded(row.give),
            "nominal_mm": rounded(row.nominal_mm),
            "plastic_mm": rounded(row.plastic_mm),
            "slack_mm": rounded(row.slack_mm),
            "worst_slack_mm": rounded(self.worst_slack_mm),
            "rattle_mm": rounded(self.rattle_mm),
            "share": round(self.share, 4),
            "slack_quantiles_mm": [rounded(slack) for slack in self.quantiles_mm],
        }


def stack(challenge: str, row: Row, side_mm: float, seed: int = SEED) -> Stack:
    """What errors make of one row.

    Args:
        challenge: where it is.
        row: the row.
        side_mm: how far each side is off at most.
        seed: of the draws.

    Example:
        Four pieces in a row of 80 mm, each inset by 0.1 mm on both sides:

        >>> four = Row(("A", "B", "C", "D"), "", 0, (0, 0), (80, 0), 80, 80, 79.2, (1.0,) * 8)
        >>> found = stack("square", four, 0.15)
        >>> round(found.worst_slack_mm, 3), round(found.rattle_mm, 3), found.closes
        (-0.4, 2.0, False)
        >>> found.share > 0.99
        True
    """
    reach_mm = side_mm * row.spread
    slacks_mm = row.slack_mm + side_mm * noise((*row.sides, *row.walls), seed)
    low_mm, high_mm = np.quantile(slacks_mm, [0.05, 0.95]).tolist()
    return Stack(
        challenge=challenge,
        row=row,
        worst_slack_mm=row.slack_mm - reach_mm,
        rattle_mm=row.slack_mm + reach_mm,
        share=float((slacks_mm > -TINY_MM).mean()),
        quantiles_mm=(low_mm, high_mm),
    )


def noise(sides: Iterable[float], seed: int) -> NDArray[np.float64]:
    """What errors of up to 1 do to a row's slack, drawn at random.

    Args:
        sides: what each side counts; see `Row.sides`.
        seed: the same seed and sides give the same draws, in whatever order the sides are.

    Returns:
        Shape (`DRAWS`,), from the least to the greatest.

    Example:
        >>> one = noise((1.0,), 7)
        >>> len(one), bool(one[0] > -1), bool(abs(one.mean()) < 0.02)
        (10000, True, True)
    """
    return _noise(tuple(sorted(round(side, 9) for side in sides)), seed)


@lru_cache(maxsize=1024)
def _noise(sides: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    draws = np.random.default_rng(seed).uniform(-1, 1, (len(sides), DRAWS))
    drawn = np.sort(np.array(sides) @ draws)
    drawn.flags.writeable = False
    return drawn


def row_name(challenge: str, row: Row) -> str:
    """A row of a challenge, for people."""
    within = f" in {row.within}" if row.within else ""
    return f"{challenge} {'-'.join(row.pieces)}{within}"


def rounded(value: float) -> float:
    """A measured value for JSON, as many digits as turned meshes agree on.

    Example:
        >>> rounded(0.12345), rounded(-0.0001)
        (0.123, 0.0)
    """
    return round(value, DIGITS) + 0.0  # no negative zero
