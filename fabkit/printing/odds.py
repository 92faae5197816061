"""The odds that a challenge can be assembled from real prints, over all of its contacts.

A printer makes each side of each piece a little too far out. Pieces shifted by t can be assembled
if there is room at every contact (`fabkit.mesh.fitting.contacts`):

    n (t_a - t_b) + g s <= room - errors of its sides        for an s of at least 0

s is the inset to spare: with an inset larger by d each side leaves d more, so that the room grows
by g d, where g is 2 between sides of two pieces and 1 at a wall (more where a corner meets it). The
largest s is a linear programme, solved exactly for each of `DRAWS` random sets; the odds are the
share of sets with s >= 0, and the inset less the 1 % quantile of s is the one that reaches 99 %.
The contacts with weight in the dual form the tightest loop of plastic. For this loop alone, the
usual root sum of squares is given as well (K. W. Chase and A. R. Parkinson, A survey of research in
the application of tolerance analysis to the design of mechanical assemblies, Research in
Engineering Design 3, 1991). Limits of the model:

* Pieces are shifted, not rotated, and corners that meet corners are not contacts.
* A region without a tray ends exactly where it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import NormalDist, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.core.progress import Progress, counted, no_progress
from fabkit.core.units import format_number
from fabkit.drawing.magnets import MAX_PRESS_PLAY_MM
from fabkit.mesh.board_fit import cell_centres_mm, hole_at, round_holes, z_ranges
from fabkit.mesh.finding import DIGITS, TINY_MM
from fabkit.mesh.fitting.contacts import Contact, PieceInsets, Solution, contacts
from fabkit.mesh.part import Part
from fabkit.mesh.placement import flat_piece
from fabkit.mesh.rules.board import channel_widths_mm, clearances_mm
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell, Lattice
from fabkit.printing.dual_simplex import maximize
from fabkit.profiles.accessory import HOLES, SOCKETS, TRAY
from fabkit.profiles.profile import Profile

_Floats = NDArray[np.float64]
_Pair = tuple[float, float]

#: Number of random sets.
DRAWS = 3000
#: Seed of the random sets.
SEED = 1
#: A challenge is good enough if it can be assembled from this share of the sets.
TARGET_ODDS = 0.99
#: Standard deviations in the worst case.
WORST_CASE_SD = 3
#: PLA yields when it is stretched by more than this part (printed flat, ASTM D638, Stratasys'
#: data sheet); the rim of a recess is stretched by interference over diameter at most.
MAX_STRAIN = 0.015
_INSET_STEP_MM = 0.01
#: Maximum inset to spare.
_MAX_INSET_MM = 10.0
#: Maximum shift of a piece.
_FAR_MM = 1000.0
#: Size of the random part of the objective, which keeps the linear programme from cycling.
_NUDGE = 1e-6
#: Weights up to this count as none.
_NO_WEIGHT = 1e-4


@dataclass(frozen=True)
class PrinterError:
    """The errors of a printer.

    Attributes:
        side_mm: without a calibration: each side is off by up to this, uniformly distributed.
        hole_mm: holes are smaller by this.
        offset_mm: calibrated: mean of how far out the sides of a set are …
        offset_sd_mm: … standard deviation of this mean, common to a whole set …
        side_sd_mm: … and standard deviation of each side; 0 without a calibration.
        hole_sd_mm: standard deviation of holes.
    """

    side_mm: float = 0.0
    hole_mm: float = 0.0
    offset_mm: float = 0.0
    offset_sd_mm: float = 0.0
    side_sd_mm: float = 0.0
    hole_sd_mm: float = 0.0

    @staticmethod
    def of_profile(profile: Profile) -> PrinterError:
        """Return the errors of the printer that a profile was calibrated for."""
        mm = profile.offset_mm, profile.offset_sd_mm, profile.side_sd_mm, profile.hole_sd_mm
        return PrinterError(0.0, profile.hole_loss_mm, *mm)

    @property
    def worst_side_mm(self) -> float:
        """How far out a side is in the worst case."""
        spread_mm = WORST_CASE_SD * math.hypot(self.offset_sd_mm, self.side_sd_mm)
        return self.side_mm + self.offset_mm + spread_mm

    @property
    def description(self) -> str:
        """The errors in words."""
        if not self.side_sd_mm:
            return f"every side may be off by {self.side_mm:g} mm"
        direction = "in" if self.offset_mm < 0 else "out"
        out = f"sides print {abs(self.offset_mm):g} mm too far {direction}"
        return f"{out} and scatter by {self.side_sd_mm:g} mm, as calibrated"

    def sample(self, name: str, sides: int) -> _Floats:
        """Sample how far out the sides of something are, shape (sides, `DRAWS`)."""
        rng = np.random.default_rng([SEED, *name.encode()])
        shape = (sides, DRAWS)
        if not self.side_sd_mm:
            return rng.uniform(-self.side_mm, self.side_mm, shape)
        common = np.random.default_rng(SEED).normal(self.offset_mm, self.offset_sd_mm, DRAWS)
        return common + rng.normal(0.0, self.side_sd_mm, shape)

    def rss_mm(self, room_mm: float, levers: _Floats, hole_sd_mm: float = 0.0) -> _Pair:
        """Return the mean room that sides with some levers leave, and its root sum of squares."""
        common_mm = float(levers.sum()) * self.offset_sd_mm
        own_mm = float(np.linalg.norm(levers)) * (self.side_sd_mm or self.side_mm / math.sqrt(3))
        mean_mm = room_mm - float(levers.sum()) * self.offset_mm
        return mean_mm, math.hypot(common_mm, own_mm, hole_sd_mm)


@dataclass(frozen=True)
class Odds:
    """The odds that a challenge can be assembled, or that pieces fit a board.

    Attributes:
        sets_mm: inset to spare in each random set; negative if it cannot be assembled. `spare_mm`
            is the same without any error, `worst_mm` with all sides as far out as possible.
        rss_mm: room in the tightest loop, by g: mean and root sum of squares.
        weakest: the contact that is most often part of a loop that is too tight (or nearly so), and
            has the least room of these, in words; empty if there is none.
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
    def assembles(self) -> NDArray[np.bool_]:
        """Which of the sets can be assembled."""
        return self.sets_mm > -TINY_MM

    @cached_property
    def odds(self) -> float:
        """The share of the sets that can be assembled."""
        return float(self.assembles.mean())

    @cached_property
    def likely_mm(self) -> float:
        """Inset to spare in 99 % of the sets."""
        few = round((1 - TARGET_ODDS) * DRAWS)
        return float(np.partition(self.sets_mm, few)[few])

    @property
    def rss(self) -> float:
        """The odds of the tightest loop alone, assuming that the sum of its errors is normal."""
        mean_mm, sd_mm = self.rss_mm
        return NormalDist().cdf(mean_mm / sd_mm) if sd_mm else float(mean_mm > -TINY_MM)

    @property
    def closes_worst_case(self) -> bool:
        """Whether it can be assembled in the worst case."""
        return self.worst_mm > -TINY_MM

    def document(self) -> dict[str, Any]:
        """For JSON."""
        names = "spare_mm", "worst_mm", "likely_mm", "weakest", "place_mm", "loop", "rss_mm"
        return {
            "challenge": self.challenge,
            "odds": round(self.odds, 4),
            "closes": self.closes_worst_case,
            **{name: _plain(getattr(self, name)) for name in names},
            "rss_odds": round(self.rss, 4),
        }


def _plain(value: Any) -> Any:
    """Convert for JSON: lengths to as many digits as rotated meshes agree on, no negative zeros."""
    if isinstance(value, tuple):
        return [_plain(member) for member in value]
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0
    return None if value == "" else value


# --- one challenge --------------------------------------------------------------------------


def _challenge_odds(
    lattice: Lattice,
    solution: Solution,
    pieces: Mapping[str, PieceInsets],
    error: PrinterError,
    samples: Mapping[str, _Floats],
) -> Odds:
    """Return the odds that one solution can be assembled, with randomly drawn sides."""
    touching = contacts(lattice, solution, pieces)
    sides = sorted({side for contact in touching for side, _ in contact.sides})
    columns = {side: column for column, side in enumerate(sides)}
    by_side = np.zeros((len(touching), len(sides)))
    for row, contact in enumerate(touching):
        for side, lever in contact.sides:
            by_side[row, columns[side]] = lever
    walls = max((number + 1 for key, number in sides if not key), default=0)
    samples = {**samples, "": error.sample(f"the tray of {solution.challenge}", walls)}
    meant_mm = np.array([contact.room_mm for contact in touching])
    # The sets, without any error, and in the worst case.
    rooms_mm = np.repeat(meant_mm[:, None], DRAWS + 2, axis=1)
    # A product of matrices would keep threads busy in vain.
    for row, contact in enumerate(touching):
        for (key, number), lever in contact.sides:
            rooms_mm[row, :DRAWS] -= lever * samples[key][number]
    rooms_mm[:, -1] -= by_side.sum(axis=1) * error.worst_side_mm
    # The growth of the room with the inset: sides of a tray do not move.
    gives = by_side @ np.array([float(bool(key)) for key, _ in sides])
    every_mm, weights = _spare_insets(touching, gives, sorted(solution.layout), rooms_mm)
    meant, worst = every_mm[DRAWS:].tolist()
    odds = Odds(solution.challenge, every_mm[:DRAWS], meant, worst)
    weights = weights[:DRAWS][odds.sets_mm <= max(odds.likely_mm, -TINY_MM)]
    tight = weights > _NO_WEIGHT
    if not tight.any():  # there is unlimited room
        return odds
    weak = touching[np.lexsort([meant_mm / gives, -tight.sum(axis=0)])[0]]
    _, firsts, counts = np.unique(tight, axis=0, return_index=True, return_counts=True)
    often = firsts[counts.argmax()]
    loop = np.where(tight[often], weights[often], 0.0)
    in_loop = loop @ by_side
    wall = "the border" if solution.clearance_mm is None else "the tray"
    return replace(
        odds,
        rss_mm=error.rss_mm(float(loop @ meant_mm), in_loop),
        weakest=" and ".join(key or wall for key in weak.pieces),
        place_mm=weak.place_mm,
        loop=tuple(sorted({sides[column][0] for column in np.flatnonzero(in_loop)} - {""})),
    )


def _spare_insets(
    touching: Sequence[Contact], gives: _Floats, pieces: Sequence[str], rooms_mm: _Floats
) -> tuple[_Floats, _Floats]:
    """Return the inset to spare for each column of rooms, and the weight of each contact in it,
    shapes (columns,) and (columns, contacts)."""
    size = 2 * len(pieces) + 1
    # Each row: the shifts of both pieces, and the inset; then the bounds.
    columns = {"": 0} | {key: 2 * number for number, key in enumerate(pieces)}
    places = np.zeros((len(touching) + size, 5), int)
    factors = np.zeros((len(touching) + size, 5))
    for row, (contact, give) in enumerate(zip(touching, gives, strict=True)):
        a, b = (columns[key] for key in contact.pieces)
        x, y = contact.normal
        other = bool(contact.pieces[1])
        places[row] = a, a + 1, b, b + 1, size - 1
        factors[row] = x, y, -x * other, -y * other, give
    places[len(touching) :, 0], factors[len(touching) :, 0] = np.arange(size), 1
    aim = _NUDGE * np.random.default_rng(SEED).uniform(0.5, 1, size)
    aim[-1] += 1
    rooms = np.hstack([rooms_mm.T, np.full((rooms_mm.shape[1], size), _FAR_MM)])
    rooms[:, -1] = _MAX_INSET_MM
    vertices, weights = maximize(aim, places, factors, rooms)
    return vertices[:, -1], weights[:, : len(touching)]


# --- boards -----------------------------------------------------------------------------------


def tray_clearance_mm(
    region: frozenset[Cell], boards: Sequence[Part], lattice: Lattice
) -> float | None:
    """Return the least distance of the tray's walls from its region; None without such a tray."""
    for part in boards:
        if part.kind == TRAY and part.board is not None and part.board.cells == region:
            return min(clearances_mm(part, lattice)[0].tolist(), default=None)
    return None


def socket_odds(
    part: Part,
    lattice: Lattice,
    error: PrinterError,
    ball_mm: float = 0.0,
    link_mm: float = 0.0,
    peg_mm: float = 0.0,
) -> list[Odds]:
    """Return the odds of the tightest hole and channel of a board with holes, or of its tightest
    socket.

    A piece is rigid, and its balls (or pegs) have the same spacing as the holes. A printer that
    makes every ball too thick and every hole too narrow keeps them concentric, so however long a
    row of sockets is, its tightest one decides.

    The diameters are the greatest measured ones of the pieces' balls, links and pegs.
    """
    if part.board is None or part.kind not in (HOLES, SOCKETS):
        return []
    board_id = part.board.id
    middles = cell_centres_mm(lattice, part.board, part.unit_mm)
    cuts = [
        round_holes(part.sections.at(slab.middle_mm))
        for slab in z_ranges(part.sections)
        if slab.high_mm < part.rest_mm + 1e-3
    ]
    holes = [hole_at(cut, middle, part.unit_mm) for cut in cuts for middle in middles]
    holes_mm = [hole.inner_mm for hole in holes if hole is not None]
    # Two sides of the peg or ball and two of the hole, unless the error of holes is calibrated.
    sides = 2 if error.side_sd_mm else 4

    def fit_odds(
        what: str, rooms_mm: Sequence[float], thick_mm: float, sides: int, of_hole: PrinterError
    ) -> list[Odds]:
        if not rooms_mm:
            return []
        name = f"{board_id} {what}"
        spare_mm = min(rooms_mm) - thick_mm - of_hole.hole_mm
        sets_mm = spare_mm - error.sample(name, sides).sum(axis=0)
        sets_mm -= np.random.default_rng(SEED).normal(0, of_hole.hole_sd_mm, DRAWS)
        worst_mm = spare_mm - sides * error.worst_side_mm - WORST_CASE_SD * of_hole.hole_sd_mm
        rss_mm = error.rss_mm(spare_mm, np.ones(sides), of_hole.hole_sd_mm)
        return [Odds(name, sets_mm, spare_mm, worst_mm, rss_mm)]

    if part.kind == SOCKETS:
        return fit_odds("peg", holes_mm, peg_mm, sides, error)
    # A channel's two sides are no hole.
    of_channel = replace(error, hole_mm=0.0, hole_sd_mm=0.0)
    return [
        *fit_odds("ball", holes_mm, ball_mm, sides, error),
        *fit_odds("link", channel_widths_mm(part, lattice), link_mm, 4, of_channel),
    ]


# --- magnets ------------------------------------------------------------------------------


@dataclass(frozen=True)
class MagnetFit:
    """How magnets fit their recesses: whether they fit the narrowest, and if pressed are held by a
    typical one, least and greatest printed diameter, interference (negative is play), and a
    message."""

    goes_in: bool
    recess_mm: _Pair
    interference_mm: _Pair
    message: str


def magnet_fit(
    recesses_mm: Sequence[float], magnet_mm: float, hole_mm: float, typical_mm: float | None = None
) -> MagnetFit:
    """Judge how magnets fit recesses that print narrower than their meshes by up to `hole_mm`.

    Args:
        typical_mm: by how much they do typically; for magnets that are only pressed in, if known.

    Example:
        >>> magnet_fit([10.1, 10.1], 10.0, 0.2).message
        'recesses print 9.9 mm wide: the magnets fit with up to 0.1 mm of interference'
        >>> magnet_fit([10.1], 10.0, 0.3).goes_in
        False
    """
    recess_mm = min(recesses_mm) - hole_mm, max(recesses_mm) - hole_mm
    least_mm, most_mm = magnet_mm - recess_mm[1], magnet_mm - recess_mm[0]
    limit_mm = MAX_STRAIN * magnet_mm
    splits = most_mm >= limit_mm + TINY_MM
    play_mm = 0.0 if typical_mm is None else max(recesses_mm) - typical_mm - magnet_mm
    is_lost = play_mm > MAX_PRESS_PLAY_MM + TINY_MM
    cases = {
        f"up to {most_mm:.2g} mm of interference would split the plastic, which gives "
        f"{limit_mm:.2g} mm": splits,
        f"with {play_mm:.2g} mm of play in a typical one, pressed magnets fall out; calibrate "
        "again, or "
        "glue them": is_lost,
        f"the magnets fit with up to {most_mm:.2g} mm of interference": most_mm > TINY_MM,
        f"the magnets fit with up to {-least_mm:.2g} mm of play": -least_mm > TINY_MM,
        "the magnets just fit": True,
    }
    widths = dict.fromkeys(format_number(mm, 2) for mm in recess_mm)
    message = next(text for text, holds in cases.items() if holds)
    message = f"recesses print {' to '.join(widths)} mm wide: {message}"
    return MagnetFit(not splits and not is_lost, recess_mm, (least_mm, most_mm), message)


# --- a whole set --------------------------------------------------------------------------


@dataclass(frozen=True)
class ToleranceReport:
    """The effect of a printer's errors on a set.

    `inset_mm` is the median of the parts' measured insets; `sockets` belong to boards with holes or
    sockets; `magnets` is None without recesses. The catalog's `snowflakes` are reported but not
    judged, since nothing surrounds them.
    """

    error: PrinterError
    inset_mm: float
    challenges: tuple[Odds, ...]
    sockets: tuple[Odds, ...]
    magnets: MagnetFit | None
    snowflakes: tuple[Odds, ...] = ()

    @property
    def judged(self) -> tuple[Odds, ...]:
        """The odds that are judged."""
        return (*self.challenges, *self.sockets)

    @property
    def closes_worst_case(self) -> bool:
        """Whether everything can be assembled in the worst case."""
        return all(odds.closes_worst_case for odds in self.judged)

    @property
    def set_odds(self) -> float:
        """The share of the random sets from which every challenge can be assembled."""
        goes = np.ones(DRAWS, bool)
        for odds in self.judged:
            goes &= odds.assembles
        return float(goes.mean())

    @property
    def ok(self) -> bool:
        """Whether magnets fit and everything can be assembled: with a calibrated printer in 99 % of
        the sets, otherwise in the worst case."""
        enough = all(self.is_enough(odds) for odds in self.judged)
        return enough and (self.magnets is None or self.magnets.goes_in)

    def is_enough(self, odds: Odds) -> bool:
        """Whether one of the odds is good enough."""
        return odds.odds >= TARGET_ODDS if self.error.side_sd_mm else odds.closes_worst_case

    def inset_for(self, likely: bool) -> float | None:
        """Return the inset at which every challenge can be assembled: each in 99 % of the sets, or
        in the worst case. None without challenges."""
        spare_mm = [odds.likely_mm if likely else odds.worst_mm for odds in self.challenges]
        if not spare_mm:
            return None
        steps = math.ceil((self.inset_mm - min(spare_mm) - TINY_MM) / _INSET_STEP_MM)
        return round(max(0, steps) * _INSET_STEP_MM, 2)

    def document(self) -> dict[str, Any]:
        """Return the report for JSON. It does not depend on the names, order or rotation of the
        meshes, apart from the random sides of pieces with symmetry and the last digit of a
        length."""
        names = {"side_mm": "side_error_mm", "hole_mm": "hole_error_mm"}
        fields = "challenges", "sockets", "snowflakes"
        lists = {name: [odds.document() for odds in getattr(self, name)] for name in fields}
        magnets = self.magnets and {name: _plain(size) for name, size in vars(self.magnets).items()}
        return {
            "ok": self.ok,
            **{names.get(name, name): mm for name, mm in vars(self.error).items()},
            "seed": SEED,
            "draws": DRAWS,
            "inset_mm": _plain(self.inset_mm),
            "closes": self.closes_worst_case,
            "together": round(self.set_odds, 4),
            "worst_inset_mm": self.inset_for(likely=False),
            "likely_inset_mm": self.inset_for(likely=True),
            **lists,
            "magnets": magnets,
        }


def simulate_tolerances(
    parts: Mapping[str, Part],
    lattice: Lattice,
    solutions: Sequence[Solution],
    error: PrinterError,
    magnet_mm: float = 0.0,
    recesses_mm: Sequence[float] = (),
    pressed: bool = False,
    sockets: Sequence[Odds] = (),
    snowflakes: Sequence[Solution] = (),
    progress: Progress = no_progress,
) -> ToleranceReport:
    """Simulate the effect of a printer's errors on a set.

    The `parts`, by piece id, were fitted and include every piece of the solutions, which are those
    of challenges and boards; solutions without pieces are skipped. Magnets are `pressed` if only
    the width of their recesses holds them.

    Raises:
        InputError: when a part does not have the shape required by a solution.
    """

    @cache
    def measured(key: str, halves: int) -> PieceInsets:
        piece = flat_piece(key, parts[key], lattice)
        if halves == 2:
            cells, unit_mm = subdivide(lattice, piece.cells), piece.unit_mm / 2
            piece = replace(piece, cells=cells, unit_mm=unit_mm)
        return PieceInsets(piece)

    challenges = [solution for solution in solutions if solution.layout]
    flakes = [solution for solution in snowflakes if solution.layout]
    # The same printed pieces are in all of them.
    pieces = {key for solution in (*challenges, *flakes) for key in solution.layout}
    samples = {key: error.sample(key, len(measured(key, 1).ends)) for key in pieces}
    odds: list[Odds] = []
    for solution in (*challenges, *flakes):
        counted(
            progress, len(odds), len(challenges) + len(flakes), f"simulating {solution.challenge}"
        )
        insets = {key: measured(key, solution.halves) for key in solution.layout}
        odds.append(_challenge_odds(lattice, solution, insets, error, samples))
    inset_mm = median([part.outline.inset_mm for part in parts.values() if part.outline] or [0.0])
    # A recess takes the magnet in nearly all cases when it does at its narrowest.
    hole_mm = error.hole_mm + WORST_CASE_SD * error.hole_sd_mm
    typical_mm = error.hole_mm if pressed and error.hole_sd_mm else None
    magnets = magnet_fit(recesses_mm, magnet_mm, hole_mm, typical_mm) if recesses_mm else None
    judged, others = odds[: len(challenges)], odds[len(challenges) :]
    return ToleranceReport(error, inset_mm, tuple(judged), tuple(sockets), magnets, tuple(others))
