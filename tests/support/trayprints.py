"""Trays and lids for tests: drawn, built, written as STL and read back as meshes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import manifold3d
import numpy as np
import pytest
import shapely
from shapely import LineString, Point, Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.boards.draft import draft_board, draft_lid
from fabkit.drawing.boards.steps import BoardBlueprint
from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from fabkit.mesh.part import Part
from fabkit.mesh.section import UP, Sections
from fabkit.model.accessory import LID, accessories
from fabkit.model.catalog import catalog_challenge
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import Board, PuzzleSet, rings_in_units
from fabkit.solid.boards import build_board
from fabkit.solid.export import write_stl


@dataclass(frozen=True)
class Case:
    """A board to make."""

    name: str
    presets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.name, *self.presets, *self.settings))

    @property
    def puzzle(self) -> PuzzleSet:
        return puzzles()[self.name]

    @property
    def profile(self) -> Profile:
        settings = self.settings
        if self.name == "iqstars":
            settings += ("stub.height=0 mm",)
        return load_profile(self.presets, settings, self.puzzle.unit_mm)

    @property
    def unit_mm(self) -> float:
        return self.profile.unit_mm

    def with_(self, *settings: str) -> Case:
        return replace(self, settings=self.settings + settings)


@dataclass(frozen=True, eq=False)
class Made:
    """A tray or lid as its file has it."""

    drawn: BoardBlueprint
    body: Body

    @property
    def sections(self) -> Sections:
        return Sections(self.body.vertices, self.body.faces)

    def at(self, height_mm: float) -> BaseGeometry:
        return self.sections.at(height_mm)

    @property
    def part(self) -> Part:
        return Part(self.body, self.body.vertices, 0.0, False, None)

    @property
    def manifold(self) -> Any:
        mesh = manifold3d.Mesh(
            self.body.vertices.astype(np.float32), self.body.faces.astype(np.uint32)
        )
        made = manifold3d.Manifold(mesh)
        assert made.status() == manifold3d.Error.NoError
        return made


@cache
def puzzles() -> dict[str, PuzzleSet]:
    """The shipped sets with one board each, and regions that no set of today has for a board."""
    found = {name: load_set(name) for name in ("iqblock", "cubimagici", "iqstars")}
    found = {name: replace(one, boards=one.boards[:1]) for name, one in found.items()}
    fridgeiq = load_set("fridgeiq")
    cells = fridgeiq.lattice.first
    per = fridgeiq.lattice.per_unit
    six = frozenset(
        (x + c * per, y - r * per) for x, y in cells for r in range(6) for c in range(6)
    )
    found["six"] = replace(fridgeiq, boards=(Board("six", six),))
    flake = catalog_challenge(fridgeiq, "even4-0057708264")
    assert flake is not None
    found["flake"] = replace(fridgeiq, boards=(Board("flake", flake.region),))
    middle = frozenset((x + 2 * per, y - 2 * per) for x, y in cells)
    found["ring"] = replace(fridgeiq, boards=(Board("ring", six - middle),))
    wide = load_set("iqblock")
    found["wide"] = replace(
        wide,
        boards=(
            Board("wide", frozenset((2 * c + 1, -2 * r - 1) for r in range(6) for c in range(10))),
        ),
    )
    return found


def draft(case: Case, lid: bool = False) -> BoardBlueprint:
    puzzle, profile = case.puzzle, case.profile
    for one in accessories(puzzle, replace(profile, boards_made="all")):
        if (one.kind == LID) == lid:
            return (draft_lid if lid else draft_board)(puzzle, one, profile)
    raise AssertionError("there is no such thing")


@cache
def made(case: Case, lid: bool = False) -> Made:
    drawn = draft(case, lid)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "one.stl"
        write_stl(build_board(drawn), path)
        (body,) = read_bodies(path)
    return Made(drawn, body)


def turned_over(manifold: Any, middle: tuple[float, float]) -> Any:
    """Turned over about an axis along y through the middle."""
    x, y = middle
    return manifold.translate((-x, -y, 0)).rotate((0, 180, 0)).translate((x, y, 0))


LIDS = ("sliding", "snap", "none")
NAMES = ("iqblock", "cubimagici", "iqstars", "six", "flake", "ring", "wide")
CASES = [Case(name, (), (f"lid.kind={lid}",)) for name in NAMES for lid in LIDS]
CASES += [
    Case(name, (preset,), (f"lid.kind={lid}",))
    for name in ("cubimagici", "iqstars", "flake")
    for preset in ("compact", "petg")
    for lid in LIDS
]
QUICK = {("cubimagici", ())}


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    known = case.name, case.presets
    return [] if known in QUICK else [pytest.mark.long]


TRAYS = [pytest.param(one, id=str(one), marks=_marks(one)) for one in CASES]
LIDDED = [one for one in TRAYS if "lid.kind=none" not in one.values[0].settings]
SLIDING = [one for one in TRAYS if "lid.kind=sliding" in one.values[0].settings]
SNAPPING = [one for one in TRAYS if "lid.kind=snap" in one.values[0].settings]
EXACT_MM = 0.01
#: Overlap of two meshes that touch, in mm3.
TOUCH_MM3 = 0.01


def region(case: Case) -> Polygon:
    """The board's region: its cells, united (not by way of their outline, as it is drawn)."""
    lattice = case.puzzle.lattice
    (board,) = case.puzzle.boards
    cells = rings_in_units(lattice, [lattice.ring(cell) for cell in board.cells])
    polygons = [Polygon(ring).buffer(1e-7, join_style="mitre") for ring in cells]
    area = shapely.union_all(polygons).buffer(-1e-7, join_style="mitre").simplify(1e-5)
    return shapely.affinity.scale(area, case.unit_mm, case.unit_mm, origin=(0, 0))


def rings(area: Polygon) -> list[np.ndarray[Any, Any]]:
    """Its rings, the area on their left."""
    area = shapely.geometry.polygon.orient(area)
    return [np.asarray(ring.coords) for ring in (area.exterior, *area.interiors)]


def middle(case: Case) -> tuple[float, float]:
    box = region(case).envelope.centroid
    return box.x, box.y


def above_floor(tray: Made) -> float:
    """Just above what pieces rest on, below the notch's sill."""
    return tray.drawn.rest_mm + 0.5


def gaps_mm(tray: Made, case: Case) -> list[float]:
    """How far the walls are from the region, at right angles to each of its edges."""
    walls, found = tray.at(above_floor(tray)), []
    for ring in rings(region(case)):
        for start, end in pairwise(ring):
            length = np.linalg.norm(end - start)
            for part in np.arange(2.0, length - 1.9, 1.0):
                here = start + (end - start) * part / length
                out = np.array([end[1] - start[1], start[0] - end[0]]) / length
                ray = LineString([here - 0.5 * out, here + 9 * out]).intersection(walls)
                found.append(Point(here).distance(ray))
    return found


def ledge(tray: Made) -> float:
    """The height of what a sliding lid lies on: the highest level below the top of the walls."""
    flats = tray.sections.flats().items()
    levels = sorted(height for (height, facing), area in flats if facing == UP and area > 10)
    return levels[-2]


def overlap(one: Any, other: Any, move: tuple[float, float, float] = (0, 0, 0)) -> float:
    return float((one.translate(move) ^ other).volume())
