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
the application of tolerance analysis to the design of mechanical assemblies, Research in
Engineering Design 3, 1991). Limits of the model:

* Pieces are shifted, not turned, and corners that meet corners are no contacts.
* A region without a tray ends exactly where it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import NormalDist, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.mesh.boards.recognise import hole_at, middles_mm, round_holes, slabs
from fabkit.mesh.boards.rules import channel_widths_mm, clearances_mm
from fabkit.mesh.finding import DIGITS, TINY_MM
from fabkit.mesh.fitting.contacts import Contact, Measured, Solution, contacts
from fabkit.mesh.laying import flat_lying
from fabkit.mesh.part import Part
from fabkit.model.accessory import HOLES, SEATS, TRAY
from fabkit.model.entry import in_halves
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.profile import Profile
from fabkit.solve.engines.compiled import kernel

_Floats = NDArray[np.float64]
_Pair = tuple[float, float]
_Progress = Callable[[int, int, str], None]

#: How many sets are drawn at random, and their seed.
DRAWS, SEED = 3000, 1
#: A challenge goes together well enough when so many of the sets do.
ENOUGH = 0.99
#: In the worst case what scatters is so many standard deviations off.
MOST_SD = 3
#: PLA yields when it is stretched by more than this part (printed flat, ASTM D638, Stratasys'
#: data sheet); the rim of a bore is stretched by squeeze over diameter at most.
MAX_STRETCH = 0.015
_INSET_STEP_MM = 0.01
#: No inset is spared, and no piece is shifted, by more (mm).
_MOST_MM, _FAR_MM = 10.0, 1000.0
#: So little of another aim keeps the linear programme from going in circles; less weighs nothing.
_NUDGE, _NO_WEIGHT = 1e-6, 1e-4


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
    def words(self) -> str:
        """For people."""
        if not self.side_sd_mm:
            return f"every side may be off by {self.side_mm:g} mm"
        way = "in" if self.offset_mm < 0 else "out"
        out = f"sides print {abs(self.offset_mm):g} mm too far {way}"
        return f"{out} and scatter by {self.side_sd_mm:g} mm, as calibrated"

    def drawn(self, name: str, sides: int) -> _Floats:
        """How far out sides of something lie at random, shape (sides, `DRAWS`)."""
        rng, shape = np.random.default_rng([SEED, *name.encode()]), (sides, DRAWS)
        if not self.side_sd_mm:
            return rng.uniform(-self.side_mm, self.side_mm, shape)
        common = np.random.default_rng(SEED).normal(self.offset_mm, self.offset_sd_mm, DRAWS)
        return common + rng.normal(0.0, self.side_sd_mm, shape)

    def rss_mm(self, room_mm: float, levers: _Floats, hole_sd_mm: float = 0.0) -> _Pair:
        """The mean of what room sides leave, each by so much, and its root sum of squares."""
        common_mm = float(levers.sum()) * self.offset_sd_mm
        own_mm = float(np.linalg.norm(levers)) * (self.side_sd_mm or self.side_mm / math.sqrt(3))
        mean_mm = room_mm - float(levers.sum()) * self.offset_mm
        return mean_mm, math.hypot(common_mm, own_mm, hole_sd_mm)


@dataclass(frozen=True)
class Odds:
    """How likely it is that a challenge goes together, or that pieces go into a board.

    Attributes:
        sets_mm: by how much the inset could be less, in each of the sets drawn at random; below 0
            when it does not go together. `spare_mm` is that without any error, `worst_mm` with all
            sides as far out as they get.
        rss_mm: the room in the tightest loop, by g: the mean, and the root sum of squares.
        weakest: the contact that most often is in a loop too tight where a set does not go together
            (or only just), and has the least room of these, in words; empty when there is none.
        place_mm: where it is, to the right of and above the lower left corner of the region's box.
        loop: the pieces of the tightest loop.
    """

    challenge: str
    sets_mm: _Floats
    spare_mm: float
    worst_mm: float
    rss_mm: _Pair = (0.0, 0.0)
    weakest: str = ""
    place_mm: _Pair = (0.0, 0.0)
    loop: tuple[str, ...] = ()

    @cached_property
    def goes(self) -> NDArray[np.bool_]:
        """Which of the sets go together."""
        return self.sets_mm > -TINY_MM

    @cached_property
    def odds(self) -> float:
        """The share of the sets that go together."""
        return float(self.goes.mean())

    @cached_property
    def likely_mm(self) -> float:
        """By how much the inset could be less in 99 % of the sets."""
        few = round((1 - ENOUGH) * DRAWS)
        return float(np.partition(self.sets_mm, few)[few])

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
        told = (
            "closes",
            "spare_mm",
            "worst_mm",
            "likely_mm",
            "weakest",
            "place_mm",
            "loop",
            "rss_mm",
        )
        return {
            "challenge": self.challenge,
            "odds": round(self.odds, 4),
            **{name: _plain(getattr(self, name)) for name in told},
            "rss_odds": round(self.rss, 4),
        }


def _plain(value: Any) -> Any:
    """For JSON: lengths to as many digits as turned meshes agree on, without negative zeros."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return (
        round(value, DIGITS) + 0.0 if isinstance(value, float) else None if value == "" else value
    )


# --- one challenge --------------------------------------------------------------------------


def _odds_of(
    lattice: Lattice,
    solution: Solution,
    pieces: Mapping[str, Measured],
    error: PrinterError,
    drawn: Mapping[str, _Floats],
) -> Odds:
    """The odds that one solution goes together, with the pieces' sides drawn at random."""
    found = contacts(lattice, solution, pieces)
    sides = sorted({side for one in found for side, _ in one.sides})
    levers = [[by.get(side, 0.0) for side in sides] for by in (dict(one.sides) for one in found)]
    by_side = np.array(levers).reshape(len(found), len(sides))
    walls = max((number + 1 for key, number in sides if not key), default=0)
    drawn = {**drawn, "": error.drawn(f"the tray of {solution.challenge}", walls)}
    meant_mm = np.array([one.room_mm for one in found])
    # The sets, without any error, and in the worst case.
    rooms_mm = np.repeat(meant_mm[:, None], DRAWS + 2, axis=1)
    for row, one in enumerate(found):  # a product of matrices would keep threads busy in vain
        for (key, number), lever in one.sides:
            rooms_mm[row, :DRAWS] -= lever * drawn[key][number]
    rooms_mm[:, -1] -= by_side.sum(axis=1) * error.most_mm
    # By how much the room grows with the inset: sides of a tray keep their place.
    gives = by_side @ np.array([float(bool(key)) for key, _ in sides])
    every_mm, weights = _spare(found, gives, sorted(solution.layout), rooms_mm)
    meant, worst = every_mm[DRAWS:].tolist()
    told = Odds(solution.challenge, every_mm[:DRAWS], meant, worst)
    weights = weights[:DRAWS][told.sets_mm <= max(told.likely_mm, -TINY_MM)]
    tight = weights > _NO_WEIGHT
    if not tight.any():  # there is room without end
        return told
    weak = found[np.lexsort([meant_mm / gives, -tight.sum(axis=0)])[0]]
    _, firsts, counts = np.unique(tight, axis=0, return_index=True, return_counts=True)
    often = firsts[counts.argmax()]
    loop = np.where(tight[often], weights[often], 0.0)
    in_loop = loop @ by_side
    wall = "the border" if solution.clearance_mm is None else "the tray"
    return replace(
        told,
        rss_mm=error.rss_mm(float(loop @ meant_mm), in_loop),
        weakest=" and ".join(key or wall for key in weak.pieces),
        place_mm=weak.place_mm,
        loop=tuple(sorted({sides[at][0] for at in np.flatnonzero(in_loop)} - {""})),
    )


def _spare(
    found: Sequence[Contact], gives: _Floats, pieces: Sequence[str], rooms_mm: _Floats
) -> tuple[_Floats, _Floats]:
    """The inset to spare for each of the columns of rooms, and what each contact weighs in it, shapes
    (columns,) and (columns, contacts)."""
    size = 2 * len(pieces) + 1
    # Each row: the one piece's shift, the other's, and the inset; then that nothing goes far.
    at = {"": 0} | {key: 2 * number for number, key in enumerate(pieces)}
    places, factors = np.zeros((len(found) + size, 5), int), np.zeros((len(found) + size, 5))
    for row, (one, give) in enumerate(zip(found, gives, strict=True)):
        (a, b), (x, y), other = (at[key] for key in one.pieces), one.normal, bool(one.pieces[1])
        places[row] = a, a + 1, b, b + 1, size - 1
        factors[row] = x, y, -x * other, -y * other, give
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
    """The odds of the tightest hole and channel of a board with holes, or of its tightest seat.

    A piece is rigid, and its balls (or stubs) are as far apart as the holes. A printer that makes
    every ball too thick and every hole too narrow leaves all of them in the middle of theirs; so
    however long a row of seats is, the tightest one of it decides.

    The greatest diameters of the pieces' balls, links and stubs are those measured.
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
    holes_mm = [hole.inner_mm for hole in holes if hole is not None]
    # Two sides are of what goes in, two of where it goes; a hole is as off as holes are, if known.
    sides = 2 if error.side_sd_mm else 4
    kinds = [("stub", holes_mm, stub_mm, sides, error.hole_mm, error.hole_sd_mm)]
    if part.kind == HOLES:
        kinds = [("ball", holes_mm, ball_mm, *kinds[0][3:])]
        kinds += [("link", channel_widths_mm(part, lattice), link_mm, 4, 0.0, 0.0)]
    found = []
    for what, rooms_mm, thick_mm, sides, hole_mm, hole_sd_mm in kinds:
        if rooms_mm:
            name, spare_mm = f"{part.board.id} {what}", min(rooms_mm) - thick_mm - hole_mm
            sets_mm = spare_mm - error.drawn(name, sides).sum(axis=0)
            sets_mm -= np.random.default_rng(SEED).normal(0, hole_sd_mm, DRAWS)
            worst_mm = spare_mm - sides * error.most_mm - MOST_SD * hole_sd_mm
            rss_mm = error.rss_mm(spare_mm, np.ones(sides), hole_sd_mm)
            found.append(Odds(name, sets_mm, spare_mm, worst_mm, rss_mm))
    return found


# --- magnets ------------------------------------------------------------------------------


@dataclass(frozen=True)
class MagnetFit:
    """How magnets go into bores: whether into the narrowest; the least and the greatest diameter, once
    printed; by how much magnets are wider, below 0 where they are loose; in words."""

    goes_in: bool
    bore_mm: _Pair
    squeeze_mm: _Pair
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
    least_mm, most_mm = magnet_mm - bore_mm[1], magnet_mm - bore_mm[0]
    limit_mm = MAX_STRETCH * magnet_mm
    goes_in = most_mm < limit_mm + TINY_MM
    told = {
        f"the magnets, squeezed by up to {most_mm:.2g} mm, do not go in without splitting the "
        f"plastic, which gives {limit_mm:.2g} mm": not goes_in,
        f"the magnets are squeezed by up to {most_mm:.2g} mm and go in": most_mm > TINY_MM,
        f"the magnets go in, loose by up to {-least_mm:.2g} mm": -least_mm > TINY_MM,
        "the magnets just go in": True,
    }
    widths = dict.fromkeys(f"{mm:.2f}".rstrip("0").rstrip(".") for mm in bore_mm)
    message = next(words for words, holds in told.items() if holds)
    message = f"bores come out {' to '.join(widths)} mm wide: {message}"
    return MagnetFit(goes_in, bore_mm, (least_mm, most_mm), message)


# --- a whole set --------------------------------------------------------------------------


@dataclass(frozen=True)
class Tolerance:
    """What a printer's errors make of a set.

    `inset_mm` is the middle one of the parts' insets, as measured; `seats` are of boards with holes
    or seats; `magnets` is None without bores. The catalog's `snowflakes` are told but not judged:
    nothing is around them.
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
        steps = math.ceil((self.inset_mm - min(spare_mm) - TINY_MM) / _INSET_STEP_MM)
        return round(max(0, steps) * _INSET_STEP_MM, 2)

    def document(self) -> dict[str, Any]:
        """For JSON; the same for the same meshes, however they are named, ordered or turned, but
        for the draws of pieces with symmetry, and the last digit of a length."""
        names = {"side_mm": "side_error_mm", "hole_mm": "hole_error_mm"}
        told = "challenges", "seats", "snowflakes"
        every = {name: [one.document() for one in getattr(self, name)] for name in told}
        magnets = self.magnets and {name: _plain(one) for name, one in vars(self.magnets).items()}
        return {
            "ok": self.ok,
            **{names.get(name, name): mm for name, mm in vars(self.error).items()},
            "seed": SEED,
            "draws": DRAWS,
            "inset_mm": _plain(self.inset_mm),
            "closes": self.closes,
            "together": round(self.together, 4),
            "worst_inset_mm": self.inset_for(likely=False),
            "likely_inset_mm": self.inset_for(likely=True),
            **every,
            "magnets": magnets,
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
    progress: _Progress = lambda done, total, name: None,
) -> Tolerance:
    """What a printer's errors make of a set.

    Args:
        parts: by the pieces' ids, each with its outline read; every piece of the solutions.
        solutions: of its challenges and boards; those without pieces are left out.
        magnet_mm: the magnets' diameter.
        bores_mm: of all bores, as measured.

    Raises:
        InputError: when a part does not have the shape that a solution asks for.
    """

    @cache
    def measured(key: str, halves: int) -> Measured:
        lying = flat_lying(key, parts[key], lattice)
        if halves == 2:
            cells, unit_mm = in_halves(lattice, lying.cells), lying.unit_mm / 2
            lying = replace(lying, cells=cells, unit_mm=unit_mm)
        return Measured(lying)

    challenges, flakes = ([one for one in some if one.layout] for some in (solutions, snowflakes))
    # The same printed pieces are in all of them.
    pieces = {key for one in (*challenges, *flakes) for key in one.layout}
    drawn = {key: error.drawn(key, len(measured(key, 1).ends)) for key in pieces}
    found: list[Odds] = []
    for one in (*challenges, *flakes):
        progress(len(found), len(challenges) + len(flakes), f"simulating {one.challenge}")
        laid = {key: measured(key, one.halves) for key in one.layout}
        found.append(_odds_of(lattice, one, laid, error, drawn))
    inset_mm = median([part.outline.inset_mm for part in parts.values() if part.outline] or [0.0])
    # A bore takes the magnet in nearly all cases when it does at its narrowest.
    hole_mm = error.hole_mm + MOST_SD * error.hole_sd_mm
    magnets = magnet_fit(bores_mm, magnet_mm, hole_mm) if bores_mm else None
    judged, told = found[: len(challenges)], found[len(challenges) :]
    return Tolerance(error, inset_mm, tuple(judged), tuple(seats), magnets, tuple(told))
