"""Forces between axially magnetised discs: how steel pulls a piece, and how magnets of neighbouring
pieces push it sideways.

A uniformly magnetised disc acts as two charged circles. The energy of two such circles, and so
the force, is an integral of Bessel functions (Vokoun et al., "Magnetostatic interactions and
forces between cylindrical permanent magnets", J. Magn. Magn. Mater. 321, 2009, for any
sideways distance). Thick steel acts as a mirror: each magnet has an image behind the surface,
with the same orientation.

Not modelled: the sheet of a fridge door, thinner than the field reaches, pulls less; magnets lose a
few percent of their strength in their own field; and pieces may turn as well as slide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabkit.core.errors import quote
from fabkit.core.units import format_mm
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.drawing.part import PartDrawing
from fabkit.drawing.placement import place_flat_piece
from fabkit.model.entry import subdivide
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import profile_as_made
from fabkit.profiles.layers import recess_span
from fabkit.profiles.profile import Profile
from fabkit.sets.catalog import shipped_entries

#: Permeability of free space, in T m/A.
_MU0 = 4e-7 * math.pi
#: A megagauss-oersted, the unit of a grade, in J/m3.
_MGOE = 1e5 / (4 * math.pi)
#: The grade that is assumed where magnet.grade is not one of neodymium magnets.
_USUAL_GRADE = 35
#: Coating and roughness between a magnet and steel that touch: with this gap the pull of thirteen
#: discs of a maker's catalog comes out within 9 %; without it, a quarter to two fifths too high.
_CONTACT_MM = 0.11
#: A magnet slides along steel at this fraction of its pull, as makers state (supermagnete: 3.55 of
#: 17.7 N for a disc of 10 x 3 mm); printed plastic grips better.
FRICTION = 0.2
#: Density of sintered neodymium magnets, in g/cm3.
_MAGNET_DENSITY = 7.5
#: Density of a piece's plastic, as if it were solid, in g/cm3: PETG, the heaviest common filament.
_PLASTIC_DENSITY = 1.27
#: Acceleration of gravity, in m/s2.
_GRAVITY = 9.81
#: Magnets farther apart than this many diameters push each other with less than a hundredth of the
#: force of neighbours.
_REACH = 8.0
#: Distances for which pushes are computed; others are interpolated.
_TABLE = 30
#: Step of the integral over wave numbers, which are multiplied by the radius.
_STEP = 0.02
#: Its end: fields fade with the wave number, in contact by exp(-0.04 x) or so.
_END = 400.0
#: Directions in which magnets of unknown poles are tried, over half a circle.
_DIRECTIONS = 90

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Disc:
    """A magnet: a disc, magnetised along its axis.

    Example:
        >>> disc = Disc.of_grade(10.0, 3.0, "N35")
        >>> round(disc.remanence_t, 2), round(disc.pull_n(0.0), 1), round(disc.push_n(20.0), 2)
        (1.18, 15.8, 0.12)
    """

    diameter_mm: float
    height_mm: float
    remanence_t: float

    @classmethod
    def of_grade(cls, diameter_mm: float, height_mm: float, grade: str) -> Disc:
        """Return a disc of a neodymium grade, such as ``N42`` or ``N35SH``: the number is the
        energy product in MGOe, which determines the remanence."""
        product = _MGOE * (_energy_product(grade) or _USUAL_GRADE)
        return cls(diameter_mm, height_mm, 2 * math.sqrt(_MU0 * product))

    @classmethod
    def of_profile(cls, profile: Profile) -> Disc:
        """Return the magnet of a profile."""
        return cls.of_grade(
            profile.magnet_diameter_mm, profile.magnet_height_mm, profile.magnet_grade
        )

    def forces_n(self, aside_mm: float, up_mm: float) -> tuple[float, float]:
        """Return the forces on an equal magnet with the same orientation, in N: away from this one,
        and upwards. Its axis is `aside_mm` away, and its centre `up_mm` higher."""
        from scipy.special import j0, j1

        radius_mm = self.diameter_mm / 2
        wave = np.arange(_STEP, _END, _STEP)
        circle = j1(wave) ** 2 / wave
        aside = wave * aside_mm / radius_mm
        # Two pairs of like charges at this height, two of unlike charges a magnet's height off.
        heights = ((2, up_mm), (-1, up_mm - self.height_mm), (-1, up_mm + self.height_mm))
        fading = [
            (sign, np.sign(height_mm), np.exp(-wave * abs(height_mm) / radius_mm))
            for sign, height_mm in heights
        ]
        away = sum(sign * decay for sign, _, decay in fading)
        upwards = sum(sign * side * decay for sign, side, decay in fading)
        scale_n = math.pi * (self.remanence_t * radius_mm * 1e-3) ** 2 / _MU0 * _STEP
        return (
            scale_n * float(np.sum(circle * j1(aside) * away)),
            scale_n * float(np.sum(circle * j0(aside) * upwards)),
        )

    def pull_n(self, gap_mm: float) -> float:
        """Return the pull of thick steel beyond a gap, in N."""
        return -self.forces_n(0.0, self._image_mm(gap_mm))[1]

    def push_n(self, aside_mm: float, gap_mm: float | None = None) -> float:
        """Return how hard an equal magnet beside it, with the same pole up, pushes it away, in N;
        with a gap to steel under both, images push as well."""
        push_n = self.forces_n(aside_mm, 0.0)[0]
        if gap_mm is not None:
            push_n += self.forces_n(aside_mm, self._image_mm(gap_mm))[0]
        return push_n

    def _image_mm(self, gap_mm: float) -> float:
        """Return the distance from a magnet's centre to that of its image in steel."""
        return self.height_mm + 2 * (gap_mm + _CONTACT_MM)

    @property
    def weight_n(self) -> float:
        """Its weight."""
        volume_mm3 = math.pi / 4 * self.diameter_mm**2 * self.height_mm
        return _weight_n(volume_mm3, _MAGNET_DENSITY)


def _weight_n(volume_mm3: float, density: float) -> float:
    return volume_mm3 * density * 1e-6 * _GRAVITY


def _energy_product(grade: str) -> int:
    """Return the energy product that a neodymium grade names, in MGOe; 0 for any other grade."""
    match = re.match(r"\s*N\s*(\d\d)", grade, re.IGNORECASE)
    return int(match[1]) if match else 0


@dataclass(frozen=True)
class Push:
    """How hard a piece is pushed sideways in a solution, and what friction holds, in N."""

    challenge: str
    piece: str
    push_n: float
    hold_n: float

    @property
    def is_held(self) -> bool:
        """Whether friction keeps the piece in its place."""
        return self.push_n <= self.hold_n


@dataclass(frozen=True)
class MagnetForces:
    """The magnetic forces in a set.

    Attributes:
        polarity, grade: as in the profile; with ``free``, neighbours are as bad as they can be.
        gap_mm: plastic or air between a magnet and the steel.
        pull_n: of thick steel on a magnet.
        solutions: how many were looked at.
        on_steel: the piece that friction on an upright steel plate holds least, weight included;
            None without solutions.
        in_tray: the piece that its weight holds least, without steel.
    """

    polarity: str
    grade: str
    gap_mm: float
    pull_n: float
    solutions: int
    on_steel: Push | None
    in_tray: Push | None

    def document(self) -> dict[str, Any]:
        """Return the forces for JSON."""
        document = asdict(self)
        for key, push in (("on_steel", self.on_steel), ("in_tray", self.in_tray)):
            if push:
                numbers = {name: round(getattr(push, name), 3) for name in ("push_n", "hold_n")}
                document[key] |= numbers | {"is_held": push.is_held}
        return document | {"pull_n": round(self.pull_n, 2), "friction": FRICTION}

    @property
    def sentences(self) -> list[str]:
        """The forces in sentences."""
        sentences = [
            f"Steel pulls each magnet with {self.pull_n:.1f} N through {format_mm(self.gap_mm)} "
            "(thick steel; the door of a fridge pulls less)."
        ]
        if not _energy_product(self.grade):
            sentences.append(
                f"The forces are those of N{_USUAL_GRADE}: magnet.grade {quote(self.grade)} is not "
                "a grade of neodymium magnets."
            )
        if self.on_steel and self.in_tray:
            steel, tray = self.on_steel, self.in_tray
            held = "holds it" if steel.is_held else "does NOT hold it"
            sentences.append(
                f"Magnets of neighbours push {steel.piece} in {steel.challenge} hardest: on steel "
                f"with {steel.push_n:.2f} N, its weight included, and friction, "
                f"{steel.hold_n:.2f} N, {held}."
            )
            slides = "it slides on a table, and only a full tray holds it"
            sentences.append(
                f"Without steel, {tray.piece} in {tray.challenge} is pushed with {tray.push_n:.2f} "
                f"N, and its weight gives {tray.hold_n:.2f} N of friction: "
                f"{'it lies still' if tray.is_held else slides}."
            )
        return sentences


#: The pieces' cells in a solution, with its name and `Entry.halves`.
Solved = tuple[str, Mapping[str, frozenset[Cell]], int]


def magnet_gap_mm(profile: Profile) -> float:
    """Return the plastic or air between a magnet and what the piece's back lies on: an
    open recess is deeper than the magnet, and a closed one printed with its back up has
    the air below the magnet.

    Example:
        >>> from fabkit.profiles.profile_file import load_profile
        >>> magnet_gap_mm(load_profile()), magnet_gap_mm(load_profile(["flippable"]))
        (0.2, 1.0)
    """
    span = recess_span(profile)
    if profile.embedded and profile.facing == "up":
        return span.low_mm
    return round(span.high_mm - profile.magnet_height_mm, 6)


def magnet_forces(
    puzzle: PuzzleSet,
    pieces: Sequence[Piece],
    profile: Profile,
    solutions: Iterable[Solved] = (),
    drawings: Mapping[str, PartDrawing] = MappingProxyType({}),
) -> MagnetForces | None:
    """Return the magnetic forces in a set; None if its pieces have no magnets.

    Args:
        pieces: those that are as drawn.
        solutions: besides those of the set file and its shipped catalog. Those with other pieces do
            not matter.
        drawings: those of pieces that are drafted already, by id.

    Raises:
        InputError: when a piece cannot be drawn with the profile.
    """
    made = profile_as_made(puzzle, profile)
    if puzzle.made_of_balls or not made.has_recesses:
        return None
    missing = [piece for piece in pieces if piece.id not in drawings]
    drafted = draft_all(puzzle, missing, replace(made, faces="none"), draft_flat_piece)
    all_drawings = {**drawings, **{drawing.piece: drawing for drawing in drafted}}
    magnetic = {
        piece.id: all_drawings[piece.id] for piece in pieces if all_drawings[piece.id].recesses
    }
    entries = [*puzzle.entries, *shipped_entries(puzzle)]
    shipped = [(entry.challenge.id, entry.solution, entry.halves) for entry in entries]
    disc = Disc.of_profile(profile)
    gap_mm = magnet_gap_mm(profile)
    pull_n = disc.pull_n(gap_mm)
    apart_mm = np.geomspace(disc.diameter_mm, _REACH * disc.diameter_mm, _TABLE)
    tables = [
        np.array([disc.push_n(float(mm), steel_mm) for mm in apart_mm])
        for steel_mm in (gap_mm, None)
    ]
    on_steel: list[Push] = []
    in_tray: list[Push] = []
    count = 0
    for name, layout, halves in [*solutions, *shipped]:
        if not layout or not layout.keys() <= magnetic.keys():
            continue
        count += 1
        magnet_owners, points_mm, signs = _magnets(puzzle, magnetic, layout, halves, profile)
        for piece_id in layout:
            drawing = magnetic[piece_id]
            magnets = len(drawing.recesses)
            plastic_mm3 = drawing.outline.area * drawing.thickness_mm
            weight_n = magnets * disc.weight_n + _weight_n(plastic_mm3, _PLASTIC_DENSITY)
            steel_n, tray_n = _net_pushes_n(
                magnet_owners == piece_id, points_mm, signs, apart_mm, tables, profile.polarity
            )
            held_n = FRICTION * magnets * pull_n
            on_steel.append(Push(name, piece_id, steel_n + weight_n, held_n))
            in_tray.append(Push(name, piece_id, tray_n, FRICTION * weight_n))
    return MagnetForces(
        profile.polarity,
        profile.magnet_grade,
        gap_mm,
        pull_n,
        count,
        max(on_steel, key=_strain, default=None),
        max(in_tray, key=_strain, default=None),
    )


def _strain(push: Push) -> float:
    return push.push_n / push.hold_n


def _magnets(
    puzzle: PuzzleSet,
    drawings: Mapping[str, PartDrawing],
    layout: Mapping[str, frozenset[Cell]],
    halves: int,
    profile: Profile,
) -> tuple[NDArray[np.str_], Vector, Vector]:
    """Return the magnets of a solution: their pieces, their positions in mm, and 1 where north
    faces down, else -1."""
    rows = []
    for piece_id, cells in layout.items():
        drawing, shape = drawings[piece_id], puzzle.piece(piece_id).forms[0].cells
        shape = shape if halves == 1 else subdivide(puzzle.lattice, shape)
        unit_mm = profile.unit_mm / halves
        matrix = place_flat_piece(puzzle.lattice, shape, cells, unit_mm, drawing.thickness_mm)
        for recess in drawing.recesses:
            x, y = matrix[:2, :2] @ recess.centre_mm + matrix[:2, 3]
            rows.append((piece_id, x, y, matrix[2, 2] * (-1 if recess.pole == "S" else 1)))
    owners, xs, ys, signs = zip(*rows, strict=True)
    return np.array(owners), np.array([xs, ys]).T, np.array(signs)


def _net_pushes_n(
    is_own: NDArray[np.bool_],
    points_mm: Vector,
    signs: Vector,
    apart_mm: Vector,
    tables: Sequence[Vector],
    polarity: str,
) -> list[float]:
    """Return the size of the net push on a piece, for each table of pushes by distance."""
    steps = points_mm[is_own, None] - points_mm[None, ~is_own]
    steps_mm = np.hypot(steps[..., 0], steps[..., 1])
    signs = signs[is_own, None] * signs[None, ~is_own]
    pushes = []
    for table_n in tables:
        # Nearly a power of the distance: interpolated between logarithms.
        sizes_n = np.exp(np.interp(np.log(steps_mm), np.log(apart_mm), np.log(table_n)))
        sizes_n *= steps_mm <= apart_mm[-1]
        vectors_n = ((sizes_n / steps_mm)[..., None] * steps).reshape(-1, 2)
        if polarity == "free":
            angles = np.linspace(0, math.pi, _DIRECTIONS, endpoint=False)
            along_n = np.abs(vectors_n @ np.array([np.cos(angles), np.sin(angles)]))
            pushes.append(float(along_n.sum(axis=0).max(initial=0.0)))
        else:
            net_n = (signs.reshape(-1, 1) * vectors_n).sum(axis=0)
            pushes.append(float(np.hypot(*net_n)))
    return pushes
