"""The odds that a challenge goes together as a printer prints it, over all of its contacts.

A printer makes each side of each piece a little too far out. Pieces that are shifted by t go
together if there is room at every contact (`fabkit.mesh.fitting.contacts`):

    n (t_a - t_b) + g s <= room - errors of its sides        for an s of at least 0

s is the inset to spare: with an inset larger by d each side leaves d more, so that the room grows
by g d, where g is 2 between sides of two pieces and 1 at a wall (more where a corner meets it). The
largest s is a linear programme, solved exactly for each of `DRAWS` sets drawn at random; the share
of those with s >= 0 are the odds, and the inset less the 1 % quantile of s is that which reaches
99 %. The contacts with weight in the dual are a loop of plastic that is too tight. Along this loop
alone stands the usual root sum of squares (K. W. Chase and A. R. Parkinson, A survey of research in
the application of tolerance analysis to the design of mechanical assemblies, Research in Engineering
Design 3, 1991). Limits of the model:

* Pieces are shifted, not turned, and corners that meet corners are no contacts.
* A region without a tray ends exactly where it is drawn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import NormalDist, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.boards.recognise import hole_at, middles_mm, round_holes, slabs
from fabkit.mesh.boards.rules import channel_widths_mm, clearances_mm
from fabkit.mesh.finding import DIGITS, TINY_MM
from fabkit.mesh.fitting.contacts import Contact, Measured, Side, Solution, contacts
from fabkit.mesh.laying import flat_lying
from fabkit.mesh.part import Part
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.profile import Profile
from fabkit.solve.engines.compiled import kernel

_Floats = NDArray[np.float64]

#: How many sets are drawn at random, and their seed.
DRAWS, SEED = 3000, 1
#: A challenge goes together well enough when so many of the sets do.
ENOUGH = 0.99
INSET_STEP_MM = 0.01
#: Sides that scatter are this many standard deviations out at most, for the worst case.
MOST_SD = 3
#: PLA yields when it is stretched by more than this part (printed flat, ASTM D638, Stratasys'
#: data sheet); the rim of a bore is stretched by squeeze over diameter at most.
MAX_STRETCH = 0.015
#: No inset is spared, and no piece is shifted, by more (mm).
_MOST_MM, _FAR_MM = 10.0, 1000.0
#: So little of another aim keeps the linear programme from going in circles; weights below are none.
_NUDGE, _NO_WEIGHT = 1e-6, 1e-4
#: So few of the draws may fail.
_FEW = round((1 - ENOUGH) * DRAWS)


@dataclass(frozen=True)
class PrinterError:
    """How far off a printer is.

    Attributes:
        side_mm: each side lies up to this too far out or in, all alike likely; unless calibrated.
        hole_mm: holes are smaller by this.
        offset_mm: each side of a set lies too far out by this, on average …
        offset_sd_mm: … give or take this, alike for the whole set …
        side_sd_mm: … and this, for each side: a standard deviation; 0 without a calibration.
        hole_sd_mm: the same of holes.
    """

    side_mm: float = 0.0
    hole_mm: float = 0.0
    offset_mm: float = 0.0
    offset_sd_mm: float = 0.0
    side_sd_mm: float = 0.0
    hole_sd_mm: float = 0.0

    @staticmethod
    def calibrated(profile: Profile) -> PrinterError:
        """That of the printer that a profile was calibrated for."""
        mm = profile.offset_mm, profile.offset_sd_mm, profile.side_sd_mm, profile.hole_sd_mm
        return PrinterError(0.0, profile.hole_loss_mm, *mm)

    @property
    def most_mm(self) -> float:
        """How far out a side lies in the worst case."""
        spread_mm = MOST_SD * math.hypot(self.offset_sd_mm, self.side_sd_mm)
        return self.side_mm + self.offset_mm + spread_mm

    @property
    def scatter_mm(self) -> float:
        """The standard deviation of single sides."""
        return self.side_sd_mm or self.side_mm / math.sqrt(3)

    @property
    def words(self) -> str:
        """For people."""
        if not self.side_sd_mm:
            return f"every side may be off by {self.side_mm:g} mm"
        out = f"sides print {abs(self.offset_mm):g} mm too far {'in' if self.offset_mm < 0 else 'out'}"
        return f"{out} and scatter by {self.side_sd_mm:g} mm, as calibrated"

    def drawn(self, name: str, sides: int) -> _Floats:
        """How far out sides of something lie at random, shape (sides, `DRAWS`)."""
        rng, shape = np.random.default_rng([SEED, *name.encode()]), (sides, DRAWS)
        if not self.side_sd_mm:
            return rng.uniform(-self.side_mm, self.side_mm, shape)
        common = np.random.default_rng(SEED).normal(self.offset_mm, self.offset_sd_mm, DRAWS)
        return common + rng.normal(0.0, self.side_sd_mm, shape)


@dataclass(frozen=True)
class Odds:
    """How likely it is that a challenge goes together, or that pieces go into a board.

    Attributes:
        goes: for each of the sets drawn at random whether it goes together.
        spare_mm: by how much the inset could be less without any error.
        worst_mm: the same when all sides lie out as far as they do; below 0 when it does not go
            together.
        likely_mm: the same in 99 % of the sets; likewise.
        weakest: the contact that most often is in a loop too tight where a set does not go together
            (or only just), and has the least room of these, in words; empty when there is none.
        place_mm: where it is, to the right of and above the lower left corner of the region's box.
        loop: the pieces of the tightest loop of contacts.
        rss_mm: the room in that loop, by g: the mean, and the root of the sum of squares.
    """

    challenge: str
    goes: NDArray[np.bool_]
    spare_mm: float
    worst_mm: float
    likely_mm: float
    weakest: str = ""
    place_mm: tuple[float, float] = (0.0, 0.0)
    loop: tuple[str, ...] = ()
    rss_mm: tuple[float, float] = (0.0, 0.0)

    @cached_property
    def odds(self) -> float:
        """The share of the sets drawn at random that go together."""
        return float(self.goes.mean())

    @property
    def rss(self) -> float:
        """The odds of the tightest loop alone, were the sums of its errors normal."""
        mean_mm, sd_mm = self.rss_mm
        return NormalDist().cdf(mean_mm / sd_mm) if sd_mm else float(mean_mm > -TINY_MM)

    @property
    def closes(self) -> bool:
        """Whether it goes together in the worst case."""
        return self.worst_mm > -TINY_MM

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "challenge": self.challenge,
            "odds": round(self.odds, 4),
            "closes": self.closes,
            **_plain({n: getattr(self, n) for n in ("spare_mm", "worst_mm", "likely_mm")}),
            "weakest": self.weakest or None,
            "place_mm": _plain(self.place_mm),
            "loop": list(self.loop),
            "rss_mm": _plain(self.rss_mm),
            "rss_odds": round(self.rss, 4),
        }


def _plain(value: Any) -> Any:
    """A value for JSON, its lengths to as many digits as turned meshes agree on."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return round(value, DIGITS) + 0.0 if isinstance(value, float) else value  # no negative zero


# --- one challenge --------------------------------------------------------------------------


def odds_of(
    lattice: Lattice,
    solution: Solution,
    pieces: Mapping[str, Measured],
    error: PrinterError,
    drawn: dict[str, _Floats],
) -> Odds:
    """The odds that one solution goes together.

    Args:
        lattice: the set's.
        solution: with at least one piece.
        pieces: as measured, in the solution's cells; see `Solution.halves`.
        error: the printer's.
        drawn: for pieces how far out their sides lie in each set; added to where one is missing.

    Raises:
        InputError: when a piece does not have the shape that the layout asks for.
    """
    found = contacts(lattice, solution, pieces)
    for key in solution.layout.keys() - drawn.keys():
        drawn[key] = error.drawn(key, len(pieces[key].ends))
    if solution.clearance_mm is not None:
        walls = {number for one in found for (key, number), _ in one.sides if not key}
        drawn[""] = error.drawn(f"the tray of {solution.challenge}", max(walls, default=0) + 1)
    count = np.array([sum(lever for _, lever in one.sides) for one in found])
    meant_mm = np.array([one.room_mm for one in found])
    rooms_mm = np.repeat(meant_mm[:, None], DRAWS + 2, axis=1)
    for row, one in enumerate(found):
        for (key, number), lever in one.sides:
            rooms_mm[row, :DRAWS] -= lever * drawn[key][number]
    rooms_mm[:, -1] -= count * error.most_mm
    every_mm, weights = _spare(found, sorted(solution.layout), rooms_mm)
    spare_mm, weights = every_mm[:DRAWS], weights[:DRAWS]
    likely_mm = float(np.partition(spare_mm, _FEW)[_FEW])
    meant, worst = every_mm[DRAWS:].tolist()
    told = Odds(solution.challenge, spare_mm > -TINY_MM, meant, worst, likely_mm)
    weights = weights[spare_mm <= max(likely_mm, -TINY_MM)]
    tight = weights > _NO_WEIGHT
    if not tight.any():  # there is room without end
        return told
    weak = found[np.lexsort([meant_mm / [_give(one) for one in found], -tight.sum(axis=0)])[0]]
    same = np.unique(tight, axis=0, return_index=True, return_counts=True)
    loop = np.where(tight, weights, 0.0)[same[1][same[2].argmax()]]
    levers: dict[Side, float] = defaultdict(float)
    for one, weight in zip(found, loop.tolist(), strict=True):
        for side, lever in one.sides:
            levers[side] += weight * lever
    mean_mm = float(loop @ (meant_mm - count * error.offset_mm))
    common_mm = float(loop @ count) * error.offset_sd_mm
    sd_mm = math.hypot(common_mm, *(lever * error.scatter_mm for lever in levers.values()))
    wall = "the border" if solution.clearance_mm is None else "the tray"
    return replace(
        told,
        weakest=" and ".join(key or wall for key in weak.pieces),
        place_mm=weak.place_mm,
        loop=tuple(sorted({key for (key, _), lever in levers.items() if key and lever})),
        rss_mm=(mean_mm, sd_mm),
    )


def _give(contact: Contact) -> float:
    """By how much the room grows with the inset: sides of a tray keep their place."""
    return sum(lever for (key, _), lever in contact.sides if key)


def _spare(
    found: Sequence[Contact], pieces: Sequence[str], rooms_mm: _Floats
) -> tuple[_Floats, _Floats]:
    """The inset to spare for each column of rooms, and what each contact weighs in it.

    Returns:
        Of shape (columns,) and (columns, contacts).
    """
    size = 2 * len(pieces) + 1
    at = {key: 2 * number for number, key in enumerate(pieces)}
    # Each row: the one piece's shift, the other's, and the inset; then that nothing goes far.
    places = np.full((len(found) + size, 5), size - 1)
    factors = np.zeros(places.shape)
    for row, one in enumerate(found):
        factors[row, 4] = _give(one)
        for first, key, sign in zip((0, 2), one.pieces, (1, -1), strict=True):
            if key:
                places[row, first : first + 2] = at[key], at[key] + 1
                factors[row, first : first + 2] = np.multiply(sign, one.normal)
    places[len(found) :, 0], factors[len(found) :, 0] = np.arange(size), 1
    aim = _NUDGE * np.random.default_rng(SEED).uniform(0.5, 1, size)
    aim[-1] += 1
    rooms = np.hstack([rooms_mm.T, np.full((rooms_mm.shape[1], size), _FAR_MM)])
    rooms[:, -1] = _MOST_MM
    basis = np.arange(len(found), len(rooms[0]))
    spare, weights = np.empty(len(rooms)), np.zeros(rooms.shape)
    _solve(places, factors, rooms, np.eye(size), aim, basis, spare, weights)
    return spare, weights[:, : len(found)]


@kernel
def _climb(
    places: Any, factors: Any, room: Any, inverse: Any, weights: Any, basis: Any, x: Any
) -> None:
    """The dual simplex method: brings x, a corner beyond some constraints, to the best one within.

    Args:
        places, factors: of each row of A in A x <= room, the columns that are not 0.
        inverse: of the rows of A that x lies on, transposed; changed, as are those that follow.
        weights: of these rows, which sum up to the aim.
        basis: which rows.
        x: where they meet.
    """
    size, width = len(x), places.shape[1]
    step = np.empty(size)
    for _ in range(100 * len(room)):
        into, least = -1, -1e-9
        for row in range(len(room)):
            rest = room[row]
            for part in range(width):
                rest -= factors[row, part] * x[places[row, part]]
            if rest < least:
                into, least = row, rest
        if into < 0:
            return
        out, ratio = 0, np.inf
        for i in range(size):
            step[i] = 0.0
            for part in range(width):
                step[i] += factors[into, part] * inverse[i, places[into, part]]
            if step[i] > 1e-9 and weights[i] < ratio * step[i]:
                out, ratio = i, weights[i] / step[i]
        inverse[out] /= step[out]
        for i in range(size):
            if i != out and step[i] != 0.0:
                weights[i] -= step[i] * ratio
                for j in range(size):
                    inverse[i, j] -= step[i] * inverse[out, j]
        weights[out], basis[out] = ratio, into
        for j in range(size):
            x[j] += inverse[out, j] * least


@kernel
def _solve(
    places: Any,
    factors: Any,
    rooms: Any,
    inverse: Any,
    weights: Any,
    basis: Any,
    spare: Any,
    weigh: Any,
) -> None:
    """Solves for each row of rooms, from where the first one is solved; see `_climb`."""
    x = rooms[0, len(places) - len(basis) :].copy()
    _climb(places, factors, rooms[0], inverse, weights, basis, x)
    for k in range(len(rooms)):
        now, scale, rows = inverse.copy(), weights.copy(), basis.copy()
        x[:] = 0.0
        for i in range(len(rows)):
            for j in range(len(rows)):
                x[j] += now[i, j] * rooms[k, rows[i]]
        _climb(places, factors, rooms[k], now, scale, rows, x)
        spare[k] = x[-1]
        for i in range(len(rows)):
            weigh[k, rows[i]] = scale[i]


# --- boards -----------------------------------------------------------------------------------


def clearance_of(region: frozenset[Cell], boards: Sequence[Part], lattice: Lattice) -> float | None:
    """How far the walls of the tray for just this region are from it, where they are nearest."""
    for part in boards:
        if part.kind == TRAY and part.board is not None and part.board.cells == region:
            return min(clearances_mm(part, lattice)[0].tolist(), default=None)
    return None


def odds_of_seats(
    part: Part,
    lattice: Lattice,
    error: PrinterError,
    ball_mm: float = 0.0,
    link_mm: float = 0.0,
    stub_mm: float = 0.0,
) -> list[Odds]:
    """The odds of the tightest hole and channel of a board, or of its tightest seat.

    A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes
    every ball too thick and every hole too narrow leaves all of them in the middle of theirs; so
    however long a row of seats is, the tightest one of it decides.

    Args:
        part: a board; of other kinds than ``holes`` and ``seats`` there is nothing to tell.
        lattice: the set's.
        error: the printer's; round holes lose its `hole_mm`.
        ball_mm: the greatest diameter of the pieces' balls, as measured; likewise of links, stubs.
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
    rooms = [hole.inner_mm for hole in holes if hole is not None]
    widths = channel_widths_mm(part, lattice) if part.kind == HOLES else []
    what, thick_mm = ("ball", ball_mm) if part.kind == HOLES else ("stub", stub_mm)
    return [
        _odds_of_seat(f"{part.board.id} {name}", min(some) - plastic_mm, error, some is rooms)
        for name, some, plastic_mm in ((what, rooms, thick_mm), ("link", widths, link_mm))
        if some
    ]


def _odds_of_seat(name: str, room_mm: float, error: PrinterError, is_round: bool) -> Odds:
    """Two sides of what goes in, and two of where it goes: as holes are off, when calibrated."""
    hole_mm, hole_sd_mm = (error.hole_mm, error.hole_sd_mm) if is_round else (0.0, 0.0)
    sides, spare_mm = 2 if is_round and error.side_sd_mm else 4, room_mm - hole_mm
    drawn_mm = spare_mm - error.drawn(name, sides).sum(axis=0)
    drawn_mm -= np.random.default_rng(SEED).normal(0, hole_sd_mm, DRAWS)
    worst_mm = spare_mm - sides * error.most_mm - MOST_SD * hole_sd_mm
    common_mm, scatter_mm = sides * error.offset_sd_mm, math.sqrt(sides) * error.scatter_mm
    rss_mm = spare_mm - sides * error.offset_mm, math.hypot(common_mm, scatter_mm, hole_sd_mm)
    likely_mm = float(np.partition(drawn_mm, _FEW)[_FEW])
    return Odds(name, drawn_mm > -TINY_MM, spare_mm, worst_mm, likely_mm, rss_mm=rss_mm)


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
class Tolerance:
    """What a printer's errors make of a set.

    Attributes:
        inset_mm: as measured: the middle one of the parts' insets.
        challenges: the odds of each solution, in their order.
        seats: those of boards with holes or seats.
        magnets: how they fit; None without bores.
        snowflakes: the odds of those of the catalog, which are told but not judged: nothing is
            around them.
    """

    error: PrinterError
    inset_mm: float
    challenges: tuple[Odds, ...]
    seats: tuple[Odds, ...]
    magnets: MagnetFit | None
    snowflakes: tuple[Odds, ...] = ()

    @property
    def every(self) -> tuple[Odds, ...]:
        """The odds that are judged."""
        return (*self.challenges, *self.seats)

    @property
    def closes(self) -> bool:
        """Whether all goes together in the worst case."""
        return all(one.closes for one in self.every)

    @property
    def together(self) -> float:
        """The share of the sets drawn with which every challenge goes together."""
        goes = np.ones(DRAWS, bool)
        for one in self.every:
            goes &= one.goes
        return float(goes.mean())

    @property
    def ok(self) -> bool:
        """Whether magnets go in, and all goes together: with a calibrated printer in 99 % of the
        sets, otherwise in the worst case."""
        enough = all(self.is_enough(one) for one in self.every)
        return enough and (self.magnets is None or self.magnets.goes_in)

    def is_enough(self, one: Odds) -> bool:
        """Whether one of the odds is good enough."""
        return one.odds >= ENOUGH if self.error.side_sd_mm else one.closes

    def inset_for(self, likely: bool) -> float | None:
        """The inset with which every challenge goes together: each in 99 % of the sets, or in the
        worst case. None without challenges."""
        spare_mm = [one.likely_mm if likely else one.worst_mm for one in self.challenges]
        if not spare_mm:
            return None
        steps = math.ceil((self.inset_mm - min(spare_mm) - TINY_MM) / INSET_STEP_MM)
        return round(max(0, steps) * INSET_STEP_MM, 2)

    def document(self) -> dict[str, Any]:
        """For JSON; the same for the same meshes, however they are named, ordered or turned, but
        for the draws of pieces with symmetry, and the last digit of a length."""
        return {
            "ok": self.ok,
            "side_error_mm": self.error.side_mm,
            "hole_error_mm": self.error.hole_mm,
            "offset_mm": self.error.offset_mm,
            "offset_sd_mm": self.error.offset_sd_mm,
            "side_sd_mm": self.error.side_sd_mm,
            "hole_sd_mm": self.error.hole_sd_mm,
            "seed": SEED,
            "draws": DRAWS,
            "inset_mm": _plain(self.inset_mm),
            "closes": self.closes,
            "together": round(self.together, 4),
            "worst_inset_mm": self.inset_for(likely=False),
            "likely_inset_mm": self.inset_for(likely=True),
            "challenges": [one.document() for one in self.challenges],
            "seats": [one.document() for one in self.seats],
            "snowflakes": [one.document() for one in self.snowflakes],
            "magnets": self.magnets and _plain(vars(self.magnets)),
        }


def tolerance(
    parts: Mapping[str, Part],
    lattice: Lattice,
    solutions: Sequence[Solution],
    error: PrinterError,
    magnet_mm: float = 0.0,
    bores_mm: Sequence[float] = (),
    seats: Sequence[Odds] = (),
    snowflakes: Sequence[Solution] = (),
) -> Tolerance:
    """What a printer's errors make of a set.

    Args:
        parts: by the pieces' ids, each with its outline read; every piece of the solutions.
        lattice: the set's.
        solutions: of its challenges and boards; those without pieces are left out.
        error: the printer's.
        magnet_mm: the magnets' diameter.
        bores_mm: of all bores, as measured.
        seats: the odds of the seats in boards; they are to be good enough, too.
        snowflakes: of the catalog.

    Raises:
        InputError: when a part does not have the shape that a solution asks for.
    """
    drawn = dict[str, _Floats]()

    @cache
    def measured(key: str, halves: int) -> Measured:
        lying = flat_lying(key, parts[key], lattice)
        if halves == 2:
            cells, unit_mm = in_halves(lattice, lying.cells), lying.unit_mm / 2
            lying = replace(lying, cells=cells, unit_mm=unit_mm)
        return Measured(lying)

    found, flakes = (
        tuple(
            odds_of(lattice, one, {k: measured(k, one.halves) for k in one.layout}, error, drawn)
            for one in some
            if one.layout
        )
        for some in (solutions, snowflakes)
    )
    inset_mm = median([part.outline.inset_mm for part in parts.values() if part.outline] or [0.0])
    # A bore takes the magnet in nearly all cases when it does at its narrowest.
    hole_mm = error.hole_mm + MOST_SD * error.hole_sd_mm
    magnets = magnet_fit(bores_mm, magnet_mm, hole_mm) if bores_mm else None
    return Tolerance(error, inset_mm, found, tuple(seats), magnets, flakes)
