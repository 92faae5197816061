"""The tolerance stack-up: does a printed set still close, how far does it rattle, which inset?

A printer makes each side of each piece a little too far out or in. Along a row
(`fabkit.mesh.fitting.rows`) these errors add up. With the row's slack S as measured on the meshes, n
sides that are met straight across, and errors u between -e and +e, outwards positive:

    slack = S - (u1 + ... + un)
    worst case: S - n e      rattle: S + n e      variance: n e^2 / 3
    an inset that is larger by d leaves n d more

A side that the line meets at a slant counts for 1/sin of the angle between them (1.41 on a
diagonal), in all of these; so n is in truth the sum of these, `Row.give`. In a tray the two walls at
the row's ends are off like sides, but no inset moves them: errors add up over `Row.spread`. The row
closes when the slack is not negative. These are the one-dimensional worst-case and statistical
tolerance models (K. W. Chase and A. R. Parkinson, A survey of research in the application of
tolerance analysis to the design of mechanical assemblies, Research in Engineering Design 3, 1991);
the statistical one is drawn at random, each u uniform and independent. Limits of the model:

* Errors of a printer are mostly alike on all sides (flow, elephant foot), as in the worst case.
  Independent errors even out, the more so the longer a row is: **of rows with the same inset the
  short ones need most**. So the inset with which nearly all draws close is given twice, for the
  longest rows and for all rows. A share is that of one row.
* Parts only slide along the row, and do not turn; lines see what lies on them, not between them.
* Without a tray the region's ends are exact, with the grid unit that the parts share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median, mode
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.boards.recognise import cells_of, hole_at, middles_mm, round_holes, slabs
from fabkit.mesh.boards.rules import channel_widths_mm, clearances_mm
from fabkit.mesh.finding import DIGITS, TINY_MM
from fabkit.mesh.fitting.rows import Row, Solution, rows
from fabkit.mesh.laying import flat_lying
from fabkit.mesh.part import Part
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.lattice import Cell, Lattice

#: How many prints are drawn at random, and their seed.
DRAWS, SEED = 10_000, 1
#: A set closes well enough when this share of the draws does.
SHARE = 0.995
INSET_STEP_MM = 0.01
#: PLA yields when it is stretched by more than this part (printed flat, ASTM D638, Stratasys'
#: data sheet); the rim of a bore is stretched by squeeze over diameter at most.
MAX_STRETCH = 0.015

_One = TypeVar("_One")


@dataclass(frozen=True)
class PrinterError:
    """How far off a printer is: each side of each piece lies up to `side_mm` too far out or in, and
    holes are smaller by `hole_mm`."""

    side_mm: float
    hole_mm: float = 0.0


def _plain(value: Any) -> Any:
    """A value for JSON, its lengths to as many digits as turned meshes agree on."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, MagnetFit | Advice):
        return {name: _plain(one) for name, one in vars(value).items()}
    return round(value, DIGITS) + 0.0 if isinstance(value, float) else value  # no negative zero


# --- one row ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stack:
    """What errors make of one row.

    Attributes:
        worst_slack_mm: its slack when all sides lie too far out.
        rattle_mm: its slack when all sides lie too far in.
        share: of the draws, those in which the row closes.
        quantiles_mm: the slack that 5 % and 95 % of the draws stay below.
    """

    row: Row
    worst_slack_mm: float
    rattle_mm: float
    share: float
    quantiles_mm: tuple[float, float]

    @property
    def closes(self) -> bool:
        """Whether the row closes in the worst case."""
        return self.worst_slack_mm > -TINY_MM

    def document(self) -> dict[str, Any]:
        """For JSON."""
        row = self.row
        told = {
            "challenge": row.challenge,
            "row": row.name,
            "closes": self.closes,
            "pieces": row.pieces,
            "within": row.within or None,
            "degrees": row.degrees,
            "start_mm": row.start_mm,
            "end_mm": row.end_mm,
            "sides": len(row.sides),
            "give": row.give,
            "nominal_mm": row.nominal_mm,
            "plastic_mm": row.plastic_mm,
            "slack_mm": row.slack_mm,
            "worst_slack_mm": self.worst_slack_mm,
            "rattle_mm": self.rattle_mm,
            "share": self.share,
            "slack_quantiles_mm": self.quantiles_mm,
        }
        plain: dict[str, Any] = {name: _plain(value) for name, value in told.items()}
        return plain | {"share": round(self.share, 4)}


def stack(row: Row, side_mm: float, seed: int = SEED) -> Stack:
    """What errors make of one row, when each side is off by `side_mm` at most.

    Example:
        Four pieces in a row of 80 mm, each inset by 0.1 mm on both sides:

        >>> four = Row("a", tuple("ABCD"), "", 0, (0, 0), (80, 0), 80, 79.2, 0.8, (1.0,) * 8)
        >>> found = stack(four, 0.15)
        >>> round(found.worst_slack_mm, 3), round(found.rattle_mm, 3), found.closes
        (-0.4, 2.0, False)
    """
    reach_mm = side_mm * row.spread
    slacks_mm = row.slack_mm + side_mm * noise((*row.sides, *row.walls), seed)
    low_mm, high_mm = np.quantile(slacks_mm, [0.05, 0.95]).tolist()
    return Stack(
        row=row,
        worst_slack_mm=row.slack_mm - reach_mm,
        rattle_mm=row.slack_mm + reach_mm,
        share=float((slacks_mm > -TINY_MM).mean()),
        quantiles_mm=(low_mm, high_mm),
    )


def noise(sides: Iterable[float], seed: int = SEED) -> NDArray[np.float64]:
    """What errors of up to 1 do to a row's slack, drawn at random, rising, shape (`DRAWS`,).

    The same seed and sides (see `Row.sides`), in whatever order, give the same draws.
    """
    return _noise(tuple(sorted(round(side, 9) for side in sides)), seed)


@lru_cache(maxsize=1024)
def _noise(sides: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    draws = np.random.default_rng(seed).uniform(-1, 1, (len(sides), DRAWS))
    return np.sort(np.array(sides) @ draws)


def clearance_of(region: frozenset[Cell], boards: Sequence[Part], lattice: Lattice) -> float | None:
    """How far the walls of the tray for just this region are from it, where they are nearest."""
    for part in boards:
        if part.kind == TRAY and part.board is not None and part.board.cells == region:
            return (clearances_mm(part, lattice) or (None,))[0]
    return None


def board_stacks(
    part: Part,
    lattice: Lattice,
    error: PrinterError,
    ball_mm: float = 0.0,
    link_mm: float = 0.0,
    stub_mm: float = 0.0,
) -> list[Stack]:
    """What errors make of the tightest hole and channel of a board, or of its tightest seat.

    A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes
    every ball too thick and every hole too narrow leaves all of them in the middle of theirs; so
    however long a row of seats is, the tightest one of it decides.

    Args:
        part: a board; of other kinds than ``holes`` and ``seats`` there is nothing to tell.
        lattice: the set's.
        error: the printer's; round holes lose its ``hole_mm``, besides.
        ball_mm: the greatest diameter of the pieces' balls, as measured; likewise of links, stubs.

    Returns:
        Each row is one seat, with the ends of the longest row of cells that it stands for.
    """
    if part.board is None or part.kind not in (HOLES, SEATS):
        return []
    middles = middles_mm(lattice, part.board, part.unit_mm)
    cuts = [
        round_holes(part.sections.at(slab.middle_mm))
        for slab in slabs(part.sections)
        if slab.high_mm < part.rest_mm + 1e-3
    ]
    holes = [hole_at(cut, middle, part.unit_mm) for cut in cuts for middle in middles]
    rooms = [hole.inner_mm - error.hole_mm for hole in holes if hole is not None]
    widths = channel_widths_mm(part, lattice) if part.kind == HOLES else []
    what, thick_mm = ("ball", ball_mm) if part.kind == HOLES else ("stub", stub_mm)
    lines = [height for _, height in cells_of(part.board)]
    longest = middles[np.array(lines) == mode(lines)]
    (x0, y0), (x1, y1) = longest[0].tolist(), longest[-1].tolist()
    found = []
    for name, several_mm, plastic_mm in ((what, rooms, thick_mm), ("link", widths, link_mm)):
        if several_mm:
            room_mm = min(several_mm)
            row = Row(
                challenge=part.board.id,
                pieces=(name,),
                within="",
                degrees=math.degrees(math.atan2(y1 - y0, x1 - x0)),
                start_mm=(x0, y0),
                end_mm=(x1, y1),
                nominal_mm=room_mm,
                plastic_mm=plastic_mm,
                slack_mm=room_mm - plastic_mm,
                sides=(1.0, 1.0, 1.0, 1.0),  # two of the ball or link, two of its hole or channel
            )
            found.append(stack(row, error.side_mm))
    return found


# --- magnets ------------------------------------------------------------------------------


@dataclass(frozen=True)
class MagnetFit:
    """How magnets go into the bores.

    Attributes:
        goes_in: whether a magnet goes into the narrowest one.
        bore_mm: the least and the greatest diameter, once printed.
        squeeze_mm: by how much the magnet is wider, least and greatest; below 0 where it is loose.
    """

    goes_in: bool
    bore_mm: tuple[float, float]
    squeeze_mm: tuple[float, float]
    message: str


def magnet_fit(bores_mm: Sequence[float], magnet_mm: float, hole_mm: float) -> MagnetFit:
    """How magnets go into bores that come out smaller than their meshes by `hole_mm`.

    Example:
        >>> magnet_fit([10.1, 10.1], 10.0, 0.2).message
        'bores come out 9.9 mm wide: the magnets are squeezed by up to 0.1 mm and go in'
        >>> magnet_fit([10.1], 10.0, 0.3).goes_in
        False
    """
    bore_mm = min(bores_mm) - hole_mm, max(bores_mm) - hole_mm
    squeeze_mm = magnet_mm - bore_mm[1], magnet_mm - bore_mm[0]
    limit_mm = MAX_STRETCH * magnet_mm
    goes_in = squeeze_mm[1] < limit_mm + TINY_MM
    low, high = (f"{width_mm:.2f}".rstrip("0").rstrip(".") for width_mm in bore_mm)
    message = f"bores come out {low if low == high else f'{low} to {high}'} mm wide: "
    if not goes_in:
        message += (
            f"the magnets, squeezed by up to {squeeze_mm[1]:.2g} mm, do not go in without "
            f"splitting the plastic, which gives {limit_mm:.2g} mm"
        )
    elif squeeze_mm[1] > TINY_MM:
        message += f"the magnets are squeezed by up to {squeeze_mm[1]:.2g} mm and go in"
    elif -squeeze_mm[0] > TINY_MM:
        message += f"the magnets go in, loose by up to {-squeeze_mm[0]:.2g} mm"
    else:
        message += "the magnets just go in"
    return MagnetFit(goes_in, bore_mm, squeeze_mm, message)


# --- a whole set --------------------------------------------------------------------------


@dataclass(frozen=True)
class Advice:
    """The least inset with which rows close, to `INSET_STEP_MM`, and the row that decides."""

    inset_mm: float
    row: str
    message: str


@dataclass(frozen=True)
class Tolerance:
    """What the stack-up of a set found.

    Attributes:
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
        """For JSON; the same for the same meshes, however they are named, ordered or turned, but
        that the last digit of a length may be rounded the other way."""
        return {
            "ok": self.ok,
            "side_error_mm": self.error.side_mm,
            "hole_error_mm": self.error.hole_mm,
            "seed": SEED,
            "draws": DRAWS,
            "inset_mm": _plain(self.inset_mm),
            "closes": self.closes,
            "rows": [stack.document() for stack in self.stacks],
            "worst": _plain(self.worst),
            "likely_longest": _plain(self.likely_longest),
            "likely": _plain(self.likely),
            "magnets": _plain(self.magnets),
        }


def tolerance(
    parts: Mapping[str, Part],
    lattice: Lattice,
    solutions: Sequence[Solution],
    error: PrinterError,
    magnet_mm: float = 0.0,
    bores_mm: Sequence[float] = (),
    boards: Sequence[Stack] = (),
) -> Tolerance:
    """The stack-up of a set.

    Args:
        parts: by the pieces' ids, each with its outline read; every piece of the solutions.
        lattice: the set's.
        solutions: of its challenges and boards.
        error: the printer's.
        magnet_mm: the magnets' diameter.
        bores_mm: of all bores, as measured.
        boards: what errors make of the room in holes and seats; they have to close, too.

    Raises:
        InputError: when a part does not have the shape that a solution asks for.
    """
    laid = {key: flat_lying(key, part, lattice) for key, part in parts.items()}
    inset_mm = median([part.outline.inset_mm for part in parts.values() if part.outline] or [0.0])
    found = [rows(lattice, one, laid) for one in solutions]
    every = [row for some in found for row in some]
    longest = [_longest(some) for some in found if some]

    def advice(some: Sequence[Row], off: Callable[[Row], float], what: str) -> Advice | None:
        """The least inset for all rows, when errors of 1 leave a row so much more slack."""
        needs = [
            (inset_mm - (row.slack_mm + error.side_mm * off(row)) / row.give, row) for row in some
        ]
        if not needs:
            return None
        decisive = _greatest(needs, lambda one: one[0])
        need_mm, row = max(decisive, key=lambda one: len(one[1].pieces))
        least_mm = max(0, math.ceil((need_mm - TINY_MM) / INSET_STEP_MM)) * INSET_STEP_MM
        message = f"with an inset of {least_mm:.2f} mm on each side {what}; {row.name} decides"
        return Advice(round(least_mm, 2), row.name, message)

    def mostly(row: Row) -> float:
        # So many of the draws may fail, those with the least slack.
        return float(noise((*row.sides, *row.walls))[round((1 - SHARE) * DRAWS)])

    far = f"{error.side_mm:g} mm too far out"
    share = f"{SHARE:.1%} of the prints when each side lies anywhere up to {far} or in"
    return Tolerance(
        error=error,
        inset_mm=inset_mm,
        closes=all(row.slack_mm - error.side_mm * row.spread > -TINY_MM for row in every)
        and all(one.closes for one in boards),
        stacks=(*(stack(row, error.side_mm) for row in longest), *boards),
        worst=advice(
            every, lambda row: -row.spread, f"every row closes even when all sides lie {far}"
        ),
        likely_longest=advice(longest, mostly, f"each longest row closes in {share}"),
        likely=advice(every, mostly, f"each row closes in {share}"),
        magnets=magnet_fit(bores_mm, magnet_mm, error.hole_mm) if bores_mm else None,
    )


def _longest(some: Sequence[Row]) -> Row:
    """The row with most pieces; of these the longest, then the tightest, then the first.

    Lengths that differ by rounding only are the same, so that turned meshes choose alike.
    """
    most = max(len(row.pieces) for row in some)
    left = [row for row in some if len(row.pieces) == most]
    left = _greatest(left, lambda row: row.nominal_mm)
    return _greatest(left, lambda row: -row.slack_mm)[0]


def _greatest(some: Sequence[_One], value: Callable[[_One], float]) -> list[_One]:
    """Those with the greatest value, but for rounding, in their order."""
    limit = max(map(value, some)) - TINY_MM
    return [one for one in some if value(one) > limit]
