"""Scans of prints for tests: exported once, read back from their meshes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.mesh import Mesh
from fabkit.sets.library import load_set
from fabkit.verify.scan import ScannedSet, Scanner
from tests.support.built import exported
from tests.support.prints import Order, Print, print_set
from tests.support.shapes import body_of


@lru_cache
def printed_set(set_name: str, order: Order, pieces: str = "") -> tuple[Print, ...]:
    """A set's pieces, or some of them, written and read back."""
    with TemporaryDirectory() as folder:
        return tuple(print_set(set_name, order, Path(folder), pieces))


@lru_cache
def bodies(set_name: str, order: Order, pieces: str = "") -> tuple[Mesh, ...]:
    """The bodies of a set's STL files, or of some pieces'."""
    if order == Order():  # the folder that others read, too
        folder = exported(set_name) / "stl"
        files = [p for p in sorted(folder.glob("*.stl")) if p.stem in (pieces or p.stem)]
        return tuple(body for path in files for body in read_meshes(path))
    prints = printed_set(set_name, order, pieces)
    return tuple(body_of(one.mesh, f"{one.drawing.id}.stl") for one in prints)


@lru_cache
def scanned(set_name: str, order: Order, pieces: str = "") -> ScannedSet:
    """The set, or some of its pieces, as meshes show it."""
    puzzle = load_set(set_name)
    if pieces:
        puzzle = replace(puzzle, pieces=tuple(p for p in puzzle.pieces if p.id in pieces))
    return Scanner(bodies(set_name, order, pieces), puzzle).scan(order.profile().unit_mm)
