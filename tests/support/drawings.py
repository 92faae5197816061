"""Reading drawings back: what their paths fill, and the pixels of the pictures made of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from shapely import Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.model.entry import entry_of
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.png import svg_to_png
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget
from tests.support.algorithm_x import AlgorithmX
from tests.support.entries import altered
from tests.support.pictures import cell_drawn
from tests.support.published import iqfit_samples, iqstars_samples

SVG = "{http://www.w3.org/2000/svg}"
Case = tuple[PuzzleSet, Entry]


def posed_entry(puzzle: PuzzleSet, challenge_id: str) -> Entry:
    """A challenge with the first solution that a slow and simple solver finds."""
    challenge = find_challenge(puzzle, challenge_id)
    encoded = to_exact_cover(puzzle, challenge)
    found = AlgorithmX().enumerate(encoded.problem, Budget(), limit=1)
    return altered(entry_of(challenge), solution=encoded.decode(found.solutions[0]))


@lru_cache(maxsize=1)
def snowflakes() -> list[Entry]:
    return shipped_entries(load_set("fridgeiq"), "snowflake")


@lru_cache(maxsize=32)
def case(name: str) -> Case:
    """``SET CHALLENGE``; a published sample of IQ Fit or IQ Stars; ``mixed``, ``even`` or ``odd``."""
    if name in ("iqfit", "iqstars"):
        sample = (iqfit_samples() if name == "iqfit" else iqstars_samples())[4]
        return sample.puzzle, altered(entry_of(sample.challenge), solution=sample.expected)
    if " " not in name:
        snowflake = next(one for one in snowflakes() if one.challenge.id.startswith(name))
        return load_set("fridgeiq"), snowflake
    set_name, challenge_id = name.split(" ")
    return load_set(set_name), posed_entry(load_set(set_name), challenge_id)


def shape_of(puzzle: PuzzleSet, entry: Entry, cells: Any, unit_mm: float) -> BaseGeometry:
    """Cells in mm, drawn a second way."""
    shape = union_all([cell_drawn(puzzle.lattice.name, cell) for cell in cells])
    factor = unit_mm / entry.halves
    return affinity.scale(shape, factor, factor, origin=(0, 0))


def root_of(source: str) -> ElementTree.Element:
    return ElementTree.fromstring(source)


def of_class(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """Elements with a class, in order."""
    for one in root.iter():
        if name in one.get("class", "").split():
            yield one


def rings(path: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """The corners of every ring or line of a path; y down."""
    found = []
    for ring in path.get("d", "").replace("Z", "").split("M")[1:]:
        found.append([tuple(map(float, corner.split(" "))) for corner in ring.split("L")])
    return found


def area_of(path: ElementTree.Element) -> BaseGeometry:
    """What a path fills, under the even-odd rule."""
    assert path.get("fill-rule") == "evenodd"
    filled: BaseGeometry = Polygon()
    for ring in rings(path):
        filled = filled.symmetric_difference(Polygon(ring))
    return filled


def shapes(root: ElementTree.Element, name: str) -> list[BaseGeometry]:
    return [area_of(path) for path in of_class(root, name) if path.tag == f"{SVG}path"]


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def scale_of(root: ElementTree.Element) -> float:
    """One to what a drawing says it is drawn."""
    (found,) = [re.search(r"drawn 1 : ([\d.]+)$", text) for text in texts(root) if "drawn" in text]
    assert found
    return float(found[1])


def page_mm(root: ElementTree.Element) -> tuple[float, float]:
    width, height = map(float, root.get("viewBox", "").split(" ")[2:])
    return width, height


def pixels(source: str, per_mm: float) -> tuple[NDArray[np.uint8], float]:
    """A drawing's picture, and how many pixels a mm of it really has."""
    width, _ = page_mm(root_of(source))
    picture = Image.open(io.BytesIO(svg_to_png(source, round(width * per_mm))))
    # The page's corners are round, and nothing is behind them.
    return np.asarray(picture.convert("RGB")), picture.width / width
