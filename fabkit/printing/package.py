"""What goes into the 3MF file of a plate, a piece or a set: meshes at their places, names, colours,
where it comes from, a picture, and the pause for the magnets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from shapely import Point, Polygon, affinity

from fabkit import __version__
from fabkit.core.errors import many
from fabkit.core.units import format_mm
from fabkit.drawing.drawn import Drawn
from fabkit.mesh.body import Body
from fabkit.mesh.files.writing3mf import Object3mf, Package3mf, Solid3mf
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.thumbnail import Patch, thumbnail
from fabkit.printing.nesting.room import Spot
from fabkit.printing.pauses import pause_parts
from fabkit.printing.plate import Plate, mesh_rows

#: Between two beds in a file of several plates, as a part of the bed's width; as OrcaSlicer does.
_BETWEEN_BEDS = 0.2
#: That of the first inlay; the piece itself is printed with the first one.
_INLAY_EXTRUDER = 2

#: Where a mesh's axes and its origin go: four rows of three.
Rows = NDArray[np.float64]


@dataclass(frozen=True)
class Inlay:
    """A part of a second colour that lies in a piece.

    Attributes:
        name: ``letter`` or ``tones``.
        colour: ``#rrggbb``.
        body: its mesh, where it lies in the piece.
    """

    name: str
    colour: str
    body: Body


@dataclass(frozen=True)
class PiecePrint:
    """A piece's meshes as its drawing lies: back at height 0.

    Attributes:
        name: the piece's id.
        colour: ``#rrggbb``.
        body: the piece.
        inlays: what fills its engraving, or is a part of its face; none with one colour.
    """

    name: str
    colour: str
    body: Body
    inlays: tuple[Inlay, ...] = ()


def plates_package(
    puzzle: PuzzleSet,
    plates: Sequence[Plate],
    prints: Mapping[str, PiecePrint],
    blueprints: Mapping[str, Drawn],
    profile: Profile,
) -> Package3mf:
    """A file of one plate, or of several beside each other.

    Args:
        puzzle: the set.
        plates: whose pieces are in the file, at their places.
        prints: the meshes, by piece.
        blueprints: the drawings, by piece.
        profile: how they are printed.
    """
    stride_mm = profile.bed_width_mm * (1 + _BETWEEN_BEDS)
    placed = [
        (spot.name, _rows(spot, blueprints[spot.name], index * stride_mm))
        for index, plate in enumerate(plates)
        for spot in plate.spots
    ]
    lying = [(prints[name], blueprints[name], rows) for name, rows in placed]
    heights = [plate.pause_height_mm for plate in plates if plate.pause_height_mm is not None]
    return _package(puzzle, lying, heights[0] if heights else None, profile)


def extruders(puzzle: PuzzleSet, drawings: Sequence[Drawn], profile: Profile) -> int:
    """How many filaments it takes to print some pieces and boards on one plate.

    Args:
        puzzle: the set.
        drawings: of what lies on the plate.
        profile: says which colours are parts of their own.
    """
    toned = {piece.id for piece in puzzle.pieces if piece.tones}
    letters = profile.inlay != "none" and any(one.label is not None for one in drawings)
    tones = profile.tones != "plain" and any(one.piece in toned for one in drawings)
    return 1 + letters + tones


def piece_package(
    puzzle: PuzzleSet, one: PiecePrint, blueprint: Drawn, profile: Profile
) -> Package3mf:
    """A file of one piece, which lies in the middle of the bed.

    Args:
        puzzle: the set.
        one: the piece's meshes.
        blueprint: its drawing.
        profile: how it is printed.
    """
    rows = _rows(Spot(one.name, 0.0, 0.0, 0.0), blueprint, 0.0)
    left, bottom, right, top = _patch(blueprint, rows).area.bounds
    rows[3, 0] += (profile.bed_width_mm - left - right) / 2
    rows[3, 1] += (profile.bed_depth_mm - bottom - top) / 2
    return _package(puzzle, [(one, blueprint, rows)], blueprint.pause_height_mm, profile)


def _package(
    puzzle: PuzzleSet,
    lying: Sequence[tuple[PiecePrint, Drawn, Rows]],
    pause_mm: float | None,
    profile: Profile,
) -> Package3mf:
    """A file of some pieces, each at its place."""
    return Package3mf(
        tuple(_object(one, rows) for one, _, rows in lying),
        _metadata(puzzle, profile),
        thumbnail([_patch(blueprint, rows) for _, blueprint, rows in lying]),
        {} if pause_mm is None else pause_parts(pause_mm, profile),
    )


def _object(one: PiecePrint, rows: Rows) -> Object3mf:
    solids = [Solid3mf(one.name, one.colour, _placed(one.body, rows))]
    for extruder, inlay in enumerate(one.inlays, _INLAY_EXTRUDER):
        name, body = f"{one.name} {inlay.name}", _placed(inlay.body, rows)
        solids.append(Solid3mf(name, inlay.colour, body, extruder))
    return Object3mf(one.name, tuple(solids))


def _rows(spot: Spot, blueprint: Drawn, shift_mm: float) -> Rows:
    """Where a mesh's axes and its origin go, shape (4, 3)."""
    rows = np.array(mesh_rows(spot, blueprint), dtype=np.float64)
    rows[3, 0] += shift_mm
    return rows


def _placed(body: Body, rows: Rows) -> Body:
    return replace(body, vertices=body.vertices @ rows[:3] + rows[3])


def _patch(blueprint: Drawn, rows: Rows) -> Patch:
    """A piece as it is seen from above: with its letter, or lying on it with its recesses."""
    marks: list[Polygon] = []
    if blueprint.facing == "down":
        open_ones = [recess for recess in blueprint.recesses if recess.is_open]
        marks = [Point(r.centre_mm).buffer(r.bores.widest_mm / 2) for r in open_ones]
    elif blueprint.label is not None:
        letter = blueprint.label.front.polygon()
        marks = list(getattr(letter, "geoms", [letter]))
    plane = [*rows[:2, :2].T.flat, *rows[3, :2]]  # as shapely wants it
    outline, *moved = (affinity.affine_transform(one, plane) for one in (blueprint.outline, *marks))
    return Patch(outline, blueprint.colour, tuple(moved))


def _metadata(puzzle: PuzzleSet, profile: Profile) -> dict[str, str]:
    return {
        "Title": puzzle.title,
        "Description": f"{puzzle.title}: {many(len(puzzle.pieces), 'piece')}. Shapes: {puzzle.credit}",
        "LicenseTerms": puzzle.licence,
        "Application": f"fabkit {__version__}",
        "Set": puzzle.name,
        "Profile": profile.name,
        "Unit": format_mm(profile.unit_mm),
    }
