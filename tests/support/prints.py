"""Printing for tests: sets exported with many profiles, and read back as meshes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.support import analytic, measure

if TYPE_CHECKING:
    import trimesh

#: IQ Stars as plain prisms with magnets; the other sets have no pegs anyway.
NO_PEGS = "peg.height=0 mm"
#: FridgeIQ's pieces that hold two magnets.
LONG_PIECES = "LNSTU"
#: Single precision and rounding of positions.
TINY_MM = 2e-4


@dataclass(frozen=True)
class Order:
    """A profile to print with: presets and single settings."""

    presets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.presets + self.settings).replace("recess.", "") or "default"

    def profile(self) -> Profile:
        return load_profile(self.presets, self.settings)


FITS = tuple((f"recess.fit={fit}",) for fit in ("press", "glue", "ribs", "embedded"))
#: What is printed of FridgeIQ. In the default run every fit, one magnet and two, letters on both
#: faces, handed pieces; with --integration and --long all pieces.
QUICK = [
    (Order(), "DLNS"),
    (Order(("flippable",)), "JT"),
    (Order((), ("recess.fit=ribs",)), "RU"),
    (Order(("compact",), ("recess.fit=glue",)), "BY"),
    (Order((), ("recess.fit=embedded", "label.faces=none")), "I"),
]
WITH_EVERY_FIT = (
    ("unit=15 mm", "magnet.diameter=8 mm", "recess.wall=1.5 mm"),
    ("layers.height=0.15 mm", "layers.first=0.25 mm"),
    ("unit=40 mm", "label.cap_height=14 mm", "tip_flat=2 mm"),
    ("recess.lead_in=0.1 mm", "foot_chamfer=0.8 mm"),
    ("top_chamfer=0 mm", "foot_chamfer=0 mm"),
)
EVERY_PIECE = [
    *(Order(("petg",), fit) for fit in FITS),
    Order(("flippable", "compact")),
    *(Order((), (*fit, *settings)) for settings in WITH_EVERY_FIT for fit in FITS),
    Order((), ("unit=1in", "magnet.diameter=0.5in", "magnet.height=0.125in")),
    Order((), ("recess.fit=none",)),
]
ORDERS_TO_PRINT = [pytest.param(*one, id=str(one[0])) for one in QUICK] + [
    pytest.param(
        one, "", id=f"all {one}", marks=pytest.mark.long if i % 5 else pytest.mark.integration
    )
    for i, one in enumerate(EVERY_PIECE)
]


@dataclass(frozen=True)
class Print:
    """A piece as it would be printed, beside its drawing and profile."""

    drawing: analytic.Drawing
    profile: Profile
    blueprint: FlatDrawing
    mesh: trimesh.Trimesh
    outline: Polygon

    @property
    def magnets(self) -> int:
        return self.drawing.magnets if self.profile.has_recesses else 0

    @property
    def cap_height_mm(self) -> float:
        label = self.blueprint.label
        return label.cap_height_mm if label else 0.0

    def glyph(self) -> analytic.Glyph:
        return analytic.glyph(self.drawing.label, self.cap_height_mm)

    def section(self, z_mm: float) -> BaseGeometry:
        return measure.section(self.mesh, z_mm)


def print_set(set_name: str, order: Order, folder: Path, pieces: str = "") -> list[Print]:
    """All pieces of a set, or some with ids of one letter: built, written and read back."""
    puzzle, profile = load_set(set_name), order.profile()
    chosen = [one for one in puzzle.pieces if not pieces or one.id in pieces]
    drawings = {one.id: one for one in analytic.drawings(set_name)}
    prints = []
    for blueprint in draft_all(puzzle, chosen, profile, draft_flat_piece):
        drawing = drawings[blueprint.piece]
        mesh = print_one(blueprint, folder / f"{blueprint.piece}.stl")
        outline = analytic.printed_outline(drawing.outline, profile)
        prints.append(Print(drawing, profile, blueprint, mesh, outline))
    return prints


def print_one(blueprint: FlatDrawing, path: Path) -> trimesh.Trimesh:
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    solid = build_solid(blueprint)
    assert solid.isValid()
    write_stl(solid, path)
    return measure.read_mesh(path)
