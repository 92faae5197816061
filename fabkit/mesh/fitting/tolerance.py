"""The tolerance stack-up: does a printed set still close, how far does it rattle, which inset?

Errors add up along rows (`fabkit.mesh.fitting.rows`); what they do to one row is told in
`fabkit.mesh.fitting.stack`, which also names the sources. Here are the rows of a whole set, and the
insets with which they close: an inset that is larger by d leaves ``give * d`` more in a row.

Limits of the model:

* Errors of a printer are mostly alike on all sides: flow, elephant foot. That is what the worst
  case covers. Independent errors even out, and the more so the longer a row is: **of rows with
  the same inset the short ones need most**. So the inset with which nearly all draws close is
  told twice, for the longest rows and for all rows.
* A share is that of one row; a set has many, which hang together by their pieces.
* Parts only slide along the row, and do not turn; lines see what lies on them, not between them.
* Without a tray the region's ends are exact, with the grid unit that the parts share. A set printed larger as a
  whole fits its region that is larger, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fabkit.mesh.finding import TINY_MM
from fabkit.mesh.fitting.laying import Laid
from fabkit.mesh.fitting.magnetfit import MagnetFit, magnet_fit
from fabkit.mesh.fitting.rows import Row, rows
from fabkit.mesh.fitting.stack import DRAWS, SEED, Stack, noise, rounded, row_name, stack
from fabkit.mesh.inspect import in_common
from fabkit.mesh.part import Part
from fabkit.model.lattice import Cell, Lattice

#: A set closes well enough when this share of the draws does.
SHARE = 0.995
#: Recommended insets are whole multiples of this.
INSET_STEP_MM = 0.01


@dataclass(frozen=True)
class PrinterError:
    """How far off a printer is.

    Attributes:
        side_mm: each side of each piece lies up to this too far out or in; not negative.
        hole_mm: by how much the diameter of a hole is smaller.
    """

    side_mm: float
    hole_mm: float = 0.0


@dataclass(frozen=True)
class Solution:
    """One solution of a challenge, or of a board.

    Attributes:
        challenge: its name.
        region: the cells to cover.
        layout: for each piece the cells that it covers.
        clearance_mm: how far the walls of the tray that it lies in are from the region, as
            measured; None without a tray.
    """

    challenge: str
    region: frozenset[Cell]
    layout: Mapping[str, frozenset[Cell]]
    clearance_mm: float | None = None


@dataclass(frozen=True)
class Advice:
    """An inset to choose.

    Attributes:
        inset_mm: the least with which the rows close, to `INSET_STEP_MM`.
        row: the row that decides.
        message: a sentence.
    """

    inset_mm: float
    row: str
    message: str

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "inset_mm": rounded(self.inset_mm),
            "row": self.row,
            "message": self.message,
        }


@dataclass(frozen=True)
class Tolerance:
    """What the stack-up of a set found.

    Attributes:
        error: the printer's.
        seed: of the draws.
        inset_mm: as measured: the middle one of the parts' insets.
        closes: whether every row closes in the worst case, not only the longest ones.
        stacks: the longest row of each solution, in their order; then those of boards with holes
            or seats.
        worst: the inset with which every row closes in the worst case; None without rows.
        likely_longest: that with which each of the longest rows closes in `SHARE` of the draws.
        likely: the same for every row.
        magnets: how they fit; None without bores.
    """

    error: PrinterError
    seed: int
    inset_mm: float
    closes: bool
    stacks: tuple[Stack, ...]
    worst: Advice | None
    likely_longest: Advice | None
    likely: Advice | None
    magnets: MagnetFit | None

    @property
    def ok(self) -> bool:
        """Whether every row closes in the worst case, and the magnets go in."""
        return self.closes and (self.magnets is None or self.magnets.goes_in)

    def document(self) -> dict[str, Any]:
        """For JSON.

        It is the same for the same meshes, however they are named, ordered or turned; only the
        last digit of a length may be rounded the other way.
        """
        return {
            "ok": self.ok,
            "side_error_mm": self.error.side_mm,
            "hole_error_mm": self.error.hole_mm,
            "seed": self.seed,
            "draws": DRAWS,
            "inset_mm": rounded(self.inset_mm),
            "closes": self.closes,
            "rows": [stack.document() for stack in self.stacks],
            "worst": self.worst.document() if self.worst else None,
            "likely_longest": self.likely_longest.document() if self.likely_longest else None,
            "likely": self.likely.document() if self.likely else None,
            "magnets": self.magnets.document() if self.magnets else None,
        }


def tolerance(
    parts: Mapping[str, Part],
    lattice: Lattice,
    solutions: Sequence[Solution],
    error: PrinterError,
    magnet_mm: float = 0.0,
    bores_mm: Sequence[float] = (),
    seed: int = SEED,
    boards: Sequence[Stack] = (),
) -> Tolerance:
    """The stack-up of a set.

    Args:
        parts: by the pieces' ids, each with its outline read; every piece of the solutions.
        lattice: the set's.
        solutions: of its challenges and boards.
        error: the printer's.
        magnet_mm: the magnets' diameter.
        bores_mm: the diameters of all bores as measured.
        seed: of the draws.
        boards: what errors make of the room in holes and seats; they have to close, too.

    Returns:
        What was found.

    Raises:
        InputError: when a part does not have the shape that a solution asks for.
    """
    laid = {key: Laid(key, part, lattice) for key, part in parts.items()}
    common = in_common([parts[key] for key in sorted(parts)])
    inset_mm = common.inset_mm if common else 0.0
    found = [
        (one.challenge, rows(lattice, one.region, one.layout, laid, one.clearance_mm))
        for one in solutions
    ]
    everywhere = [(name, row) for name, some in found for row in some]
    chosen = [(name, longest(some)) for name, some in found if some]

    def worst_mm(row: Row) -> float:
        return inset_mm + error.side_mm * (row.spread / row.give) - row.slack_mm / row.give

    def likely_mm(row: Row) -> float:
        # So many of the draws may fail, those with the least slack.
        failing = round((1 - SHARE) * DRAWS)
        drawn_mm = row.slack_mm + error.side_mm * float(
            noise((*row.sides, *row.walls), seed)[failing]
        )
        return inset_mm - drawn_mm / row.give

    far = f"all sides lie {error.side_mm:g} mm too far out"
    share = f"in {SHARE:.1%} of the prints when each side lies anywhere up to {error.side_mm:g} mm"
    return Tolerance(
        error=error,
        seed=seed,
        inset_mm=inset_mm,
        closes=all(row.slack_mm - error.side_mm * row.spread > -TINY_MM for _, row in everywhere)
        and all(one.closes for one in boards),
        stacks=(*(stack(name, row, error.side_mm, seed) for name, row in chosen), *boards),
        worst=_advice(everywhere, worst_mm, f"every row closes even when {far}"),
        likely_longest=_advice(
            chosen, likely_mm, f"each longest row closes {share} too far out or in"
        ),
        likely=_advice(everywhere, likely_mm, f"each row closes {share} too far out or in"),
        magnets=magnet_fit(bores_mm, magnet_mm, error.hole_mm) if bores_mm else None,
    )


def longest(some: Sequence[Row]) -> Row:
    """The row with most pieces; of these the longest, then the tightest, then the first.

    Lengths that differ by rounding only are the same, so that turned meshes choose alike.

    Args:
        some: rows in the order of `fabkit.mesh.fitting.rows.rows`; at least one.
    """
    most = max(len(row.pieces) for row in some)
    left = [row for row in some if len(row.pieces) == most]
    left = _greatest(left, lambda row: row.nominal_mm)
    return _greatest(left, lambda row: -row.slack_mm)[0]


def _advice(
    some: Sequence[tuple[str, Row]], need_mm: Callable[[Row], float], what: str
) -> Advice | None:
    """The least inset that all rows are content with; the decisive row is a longest one."""
    needs = [(need_mm(row), name, row) for name, row in some]
    if not needs:
        return None
    decisive = _greatest(needs, lambda one: one[0])
    need, name, row = max(decisive, key=lambda one: len(one[2].pieces))
    steps = max(0, math.ceil((need - TINY_MM) / INSET_STEP_MM))
    inset_mm = round(steps * INSET_STEP_MM, 2)
    decides = row_name(name, row)
    message = f"with an inset of {inset_mm:.2f} mm on each side {what}; {decides} decides"
    return Advice(inset_mm, decides, message)


_One = TypeVar("_One")


def _greatest(some: Sequence[_One], value: Callable[[_One], float]) -> list[_One]:
    """Those with the greatest value, but for rounding, in their order."""
    limit = max(map(value, some)) - TINY_MM
    return [one for one in some if value(one) > limit]
