"""Set files and SVG files that tests draw."""

from __future__ import annotations

from pathlib import Path

from fabkit.model.lattice import LATTICES, Cell, Lattice
from fabkit.model.piece import normalize_cells
from fabkit.model.puzzle import PuzzleSet
from fabkit.sets.set_file import read_set
from fabkit.sets.svg import SvgFolder

SQUARE, QUARTER = LATTICES["square"], LATTICES["quarter-square"]
HEAD = '[set]\nname = "mine"\nlattice = "{lattice}"\nmoves = "rotations"\nunit = "20 mm"\n'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" {root}>\n{shapes}\n</svg>\n'
PAGE = 'width="200mm" height="200mm" viewBox="0 0 200 200"'
DOMINO = '<path id="A" d="M0 0h40v20H0z"/>'


def written(folder: Path, body: str, lattice: str = "square", extra: str = "") -> Path:
    path = folder / "mine.toml"
    path.write_text(f"{HEAD.format(lattice=lattice)}{extra}\n{body}", encoding="utf-8")
    return path


def drawing(folder: Path, shapes: str, root: str = PAGE, name: str = "shapes.svg") -> Path:
    path = folder / name
    path.write_text(SVG.format(root=root, shapes=shapes), encoding="utf-8")
    return path


def svg_cells(
    folder: Path,
    shapes: str,
    wanted: str = "shapes.svg",
    root: str = PAGE,
    lattice: Lattice = SQUARE,
) -> frozenset[Cell]:
    """What a drawing covers, moved to the lattice's anchor."""
    drawing(folder, shapes, root)
    return normalize_cells(lattice, SvgFolder(folder).cells(wanted, lattice, 20.0, may_touch=False))


def squares(*places: tuple[int, int]) -> frozenset[Cell]:
    cells = (cell for row, col in places for cell in SQUARE.cells_at(row, col))
    return normalize_cells(SQUARE, frozenset(cells))


def read(folder: Path, body: str, lattice: str = "square", extra: str = "") -> PuzzleSet:
    return read_set(written(folder, body, lattice, extra))
