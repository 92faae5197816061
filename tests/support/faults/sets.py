"""Faults of printing and of sets: what no printer can print, and parts that do not belong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from shapely import Polygon

from fabkit.drawing.outline import canonical_outline, chamfer_outline, offset_outline
from fabkit.mesh.mesh import Mesh
from fabkit.model.polygon import rings_of_cells
from tests.support.faults.kits import printed_mesh
from tests.support.faults.planting import Case, Planted, beyond
from tests.support.prints import Order


def wide_ceiling(case: Case, size: float) -> Planted:
    """The piece as it is, for a printer that can span less."""
    span = case.recess.diameters.widest_mm / size
    return case.planted(case.body, profile=replace(case.profile, max_bridge_mm=span))


def low_printer(case: Case, size: float) -> Planted:
    height = case.profile.thickness_mm / size
    return case.planted(case.body, profile=replace(case.profile, bed_height_mm=height))


def small_bed(case: Case, size: float) -> Planted:
    """A bed with the shape of the piece, which fits it best in its orientation; rotated at
    random."""
    width, depth = np.ptp(case.body.vertices[:, :2], axis=0) / size
    if case.sign() > 0:
        width, depth = depth, width
    profile = replace(case.profile, bed_width_mm=float(width), bed_depth_mm=float(depth))
    return case.planted(case.body, profile=profile)


# --- sets ---------------------------------------------------------------------------------


def swapped_piece(case: Case, _: float) -> Planted:
    """The mesh of another piece in the file of this one."""
    return case.planted(replace(case.random.choice(case.others), name=case.name), faulty="")


def swapped_files(case: Case, _: float) -> Planted:
    """This piece in the file of another, and that one in the file of this."""
    other, *rest = case.others
    here, there = replace(case.body, name=other.name), replace(other, name=case.name)
    return replace(case.planted(faulty=case.name), bodies=(here, there, *rest))


def claimed_impossible(case: Case, _: float) -> Planted:
    """A challenge that the parts solve, of which the catalog says that it cannot be."""
    (challenge,) = case.kit.puzzle.challenges
    puzzle = replace(case.kit.puzzle, challenges=(replace(challenge, answer="impossible"),))
    return replace(case.planted(case.body, faulty=""), puzzle=puzzle)


def duplicate_piece(case: Case, _: float) -> Planted:
    again = replace(
        case.body, name="again.stl", vertices=case.body.vertices + np.array([100.0, 0.0, 0.0])
    )
    return case.planted(case.body, again, faulty="")


def prism(case: Case, outline: Polygon, name: str) -> Mesh:
    """A piece of another outline, without letter and magnet."""
    profile = case.profile
    drawing = replace(
        case.drawing,
        canonical=outline,
        outline=outline,
        face=chamfer_outline(outline, profile.top_chamfer_mm),
        foot=chamfer_outline(outline, profile.foot_chamfer_mm),
        recesses=(),
        label=None,
    )
    return printed_mesh(drawing, name)


def unknown_outline(case: Case) -> Polygon:
    """A disc or a polygon with some angle at the lattice, of any size."""
    corners = case.random.choice((5, 7, 60))
    radius, turn = case.random.uniform(8, 30), case.random.uniform(0, 6)
    return Polygon(
        [
            (radius * math.cos(turn + a), radius * math.sin(turn + a))
            for a in (2 * math.pi * k / corners for k in range(corners))
        ]
    )


def unknown_part(case: Case, _: float) -> Planted:
    return case.planted(case.body, prism(case, unknown_outline(case), "odd.stl"), faulty="odd.stl")


def foreign_piece(case: Case) -> Polygon:
    """The outline of a piece that FridgeIQ does not have."""
    lattice = case.kit.puzzle.lattice
    squares = case.random.choice(
        (
            [(0, 0)],
            [(0, 0), (0, 1), (0, 2)],
            [(0, 0), (0, 1), (1, 0), (1, 1)],
            [(0, 0), (0, 1), (0, 2), (1, 1)],
        )
    )
    cells = frozenset(cell for row, col in squares for cell in lattice.cells_at(row, col))
    canonical = canonical_outline(lattice, rings_of_cells(lattice, cells), case.profile.unit_mm)
    return offset_outline(canonical, case.profile)


def foreign_part(case: Case, _: float) -> Planted:
    return case.planted(case.body, prism(case, foreign_piece(case), "odd.stl"), faulty="odd.stl")


def other_lengths(case: Case, _: float) -> Planted:
    """All files in inches, centimetres or metres."""
    length = case.random.choice((25.4, 10.0, 1000.0))
    planted = case.planted(case.body, faulty="")
    bodies = [replace(body, vertices=body.vertices / length) for body in planted.bodies]
    return replace(planted, bodies=tuple(bodies))


def no_clearance(size: float) -> Order:
    """Sides that hardly keep inside the drawing; no gap is asked for."""
    return Order((), (f"inset={beyond(0.005, size):.6f} mm", "gap.min=0 mm"))
