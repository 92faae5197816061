"""What is wrong with a catalog of snowflakes, by shapely and the set's file alone.

Pieces are drawn from the set's TOML file a second time, see `tests.support.pictures`. All corners
are multiples of a quarter unit, of which shapely's unions and areas are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, partial, reduce
from itertools import combinations
from typing import Any

import numpy as np
import shapely
from shapely.affinity import affine_transform, translate

from tests.support.pictures import Shape, file_of, forms

#: Unions are taken on this grid.
GRID = 0.25
PARITIES = ["even", "odd", "mixed"]
HEAD = {"id", "parity", "half_width", "flips", "frame"}
RESULT = {"rigid", "solution", "count", "count_complete", "difficulty"}

TURNS = [(1, 0, 0, 1), (0, -1, 1, 0), (-1, 0, 0, -1), (0, 1, -1, 0)]
MIRRORS = [(-1, 0, 0, 1), (1, 0, 0, -1), (0, 1, 1, 0), (0, -1, -1, 0)]


# --- cells as whole numbers -------------------------------------------------------------------

#: For each lattice: steps in a unit, and the corners of a cell in that square by its centroid
#: there.
SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))
FRAMES = {
    "square": (2, {(1, 1): SQUARE}),
    "quarter-square": (
        6,
        {
            middle: (SQUARE[side], SQUARE[(side + 1) % 4], (0.5, 0.5))
            for side, middle in enumerate([(3, 1), (5, 3), (3, 5), (1, 3)])
        },
    ),
}


def area_of(cells: Iterable[Sequence[int]], parity: str, lattice: str) -> Shape:
    """The region of cells in units from the centre; those of mixed parity are half as long."""
    steps, corners = FRAMES[lattice]
    scale, shift = {"even": (1, 0), "odd": (1, -0.5), "mixed": (0.5, 0)}[parity]
    return together(
        shapely.Polygon(
            [
                ((x // steps + dx) * scale + shift, (y // steps + dy) * scale + shift)
                for dx, dy in corners[x % steps, y % steps]
            ]
        )
        for x, y in cells
    )


def corners_of(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    """The points of a ring at which it turns."""
    around = zip((points[-1], *points), points, (*points[1:], points[0]), strict=False)
    return [
        [x, y]
        for (px, py), (x, y), (nx, ny) in around
        if (x - px) * (ny - y) != (y - py) * (nx - x)
    ]


def outlines_of(shape: Shape) -> list[Any]:
    """For each part of a region its rings, the outer one first."""
    return [
        [corners_of(ring.coords[:-1]) for ring in (part.exterior, *part.interiors)]
        for part in shapely.get_parts(shape)
    ]


def drawn(record: dict[str, Any], name: str) -> dict[str, Any]:
    """A snowflake of a catalog with outlines in units from the centre, and its result beside them."""
    if HEAD - record.keys():
        return record
    lattice, parity = file_of(name)["set"]["lattice"], record["parity"]
    result = record.get("result", {})
    whole = area_of(record["frame"], parity, lattice)
    entry = {**record, **result, "outlines": outlines_of(whole)}
    if "solution" in result:
        shapes = {
            piece: area_of(cells, parity, lattice) for piece, cells in result["solution"].items()
        }
        entry["solution"] = {piece: outlines_of(shape)[0] for piece, shape in shapes.items()}
        if parity == "mixed" and together(shapes.values()).equals(whole):
            grids: dict[str, list[Shape]] = {}
            for piece, rings in entry["solution"].items():
                grids.setdefault(str(_halves(rings)), []).append(shapes[piece])
            entry["outlines"] = [
                rings for some in grids.values() for rings in outlines_of(together(some))
            ]
    return entry


# --- a catalog --------------------------------------------------------------------------------


def catalog_faults(catalog: dict[str, Any], name: str) -> list[str]:
    """What is wrong with a catalog: its entries, its order, its sums."""
    pieces, found = catalog["pieces"], []
    entries, unknown = (
        [drawn(record, name) for record in catalog[key]] for key in ("challenges", "unknown")
    )
    for listed, judge in ((entries, faults), (unknown, shape_faults)):
        found += [
            f"{one.get('id')}: {fault}" for one in listed for fault in judge(one, name, pieces)
        ]
        keys = [
            (PARITIES.index(one["parity"]), np.max(one["half_width"]), one["id"]) for one in listed
        ]
        found += ["not in order"] if keys != sorted(keys) else []
    shapes = [(one["id"], together(map(even_odd, one["outlines"]))) for one in (*entries, *unknown)]
    for (one, shape), (other, theirs) in combinations(shapes, 2):
        if one == other or shape.equals(theirs):
            found.append(f"{one} is the same shape as {other}, or has its name")
    for part in catalog["complete"]:
        found += [f"{part['parity']}: {fault}" for fault in _sum_faults(catalog, part)]
    searched = Counter(part["parity"] for part in catalog["complete"])
    return found + [f"{one['id']}: not searched" for one in entries if not searched[one["parity"]]]


def _sum_faults(catalog: dict[str, Any], part: dict[str, Any]) -> list[str]:
    """Whether the steps of a search add up, and to what is listed."""
    searches = [one for one in catalog["complete"] if one["parity"] == part["parity"]]
    # Where both are searched, what needs no flip is listed without.
    listed, unknown = (
        [
            one
            for one in catalog[key]
            if one["parity"] == part["parity"] and one["flips"] <= part["flips"]
        ]
        for key in ("challenges", "unknown")
    )
    judged = part["solved"] + sum(part["impossible"].values()) + part["unknown"]
    is_clear = len(searches) == 1 or not any(one["unknown"] for one in searches)
    counts = (part["solved"], part["unknown"])
    faults = {
        "candidates are not those that were judged": part["candidates"] != judged,
        "a step adds some": not part["unions"] >= part["full_area"] >= part["candidates"],
        "not so many are listed": is_clear and counts != (len(listed), len(unknown)),
    }
    for one in (*listed, *unknown):
        widths = np.atleast_1d(one["half_width"])[:: -1 if one.get("centre") == "odd" else 1]
        faults |= {
            f"{one['id']} has other moves": one["flips"] not in [s["flips"] for s in searches],
            f"{one['id']} is not rigid": part["rigid"]
            and not one.get("result", {}).get("rigid", True),
            f"{one['id']} lies beyond": bool((widths > part["half_width_max"]).any()),
        }
    return [fault for fault, is_wrong in faults.items() if is_wrong]


# --- an entry ---------------------------------------------------------------------------------


def faults(entry: dict[str, Any], name: str, pieces: Sequence[str] = ()) -> list[str]:
    """What is wrong with a snowflake, as `drawn`, of a set, and its solution of all pieces or some."""
    lacking = (HEAD | RESULT) - entry.keys()
    if lacking:
        return [f"{key} is missing" for key in sorted(lacking)]
    found = shape_faults(entry, name, pieces)
    if not isinstance(entry["count"], int) or entry["count"] < 1:
        found.append("has a count below 1, but a solution")
    wanted = _drawn(name, tuple(pieces), entry["flips"])
    # A piece without holes is one ring; others are lists of them.
    placed = {
        piece: given if isinstance(given[0][0], list) else [given]
        for piece, given in entry["solution"].items()
    }
    found += [f"{piece} is missing" for piece in wanted.keys() - placed]
    found += [f"{piece} is not asked for" for piece in placed.keys() - wanted]
    shapes = {piece: even_odd(rings) for piece, rings in placed.items()}
    for piece, shape in shapes.items():
        if not any(_at_origin(shape).equals(form) for form in wanted.get(piece, ())):
            found.append(f"{piece} is not as drawn")
        if not _in_one_lattice(placed[piece], entry["parity"]):
            found.append(f"{piece} does not lie on a grid of this parity")
    whole = together(shapes.values())
    if whole.area < sum(shape.area for shape in shapes.values()):
        found.append("a piece overlaps another")
    if not whole.equals(together(map(even_odd, entry["outlines"]))):
        found.append("the pieces do not make the shape")
    if is_rigid(whole) != entry["rigid"]:
        found.append("falls apart" if entry["rigid"] else "does not fall apart")
    return found


def shape_faults(entry: dict[str, Any], name: str, pieces: Sequence[str] = ()) -> list[str]:
    """What is wrong with a shape, with or without a solution."""
    if HEAD - entry.keys():
        return [f"{key} is missing" for key in sorted(HEAD - entry.keys())]
    found, shapes = [], [even_odd(rings) for rings in entry["outlines"]]
    whole = together(shapes)
    for rings, shape in zip(entry["outlines"], shapes, strict=True):
        outer = shapely.make_valid(shapely.Polygon(rings[0]))
        holes = sum(shapely.make_valid(shapely.Polygon(ring)).area for ring in rings[1:])
        if not shape.area or outer.difference(shape).area != holes:
            found.append("an outline is not one outer ring and its holes")
    if whole.area < sum(shape.area for shape in shapes):
        found.append("two outlines overlap")
    found += ["is not symmetric"] if not is_symmetric(whole) else []
    if not is_rigid(whole) and entry.get("rigid", True):
        found.append("is not rigid")
    if whole.area != sum(forms[0].area for forms in _drawn(name, tuple(pieces), False).values()):
        found.append("has not the pieces' area")
    return found + _place_faults(entry)


def _place_faults(entry: dict[str, Any]) -> list[str]:
    """Whether parity, half-width, centre and name are what the outlines say."""
    parity, found = entry["parity"], []
    parts = [_halves(rings) for rings in entry["outlines"]]
    if any(len(halves) > 1 for halves in parts) and "solution" not in entry:
        return []  # with a corner in the middle of a cell, which no piece has
    if not all(_in_one_lattice(rings, parity) for rings in entry["outlines"]):
        return ["does not lie on a grid of its parity"]
    reach = {0: -1.0, 1: -0.5}
    for rings, (odd,) in zip(entry["outlines"], parts, strict=True):
        reach[odd] = max(reach[odd], *(abs(v) for ring in rings for corner in ring for v in corner))
    even, odd = int(reach[0]), int(reach[1] - 0.5)
    widths: Any = even if parity == "even" else odd
    if parity == "mixed":
        widths = sorted([even, odd])
        found += ["is not of mixed parity"] if min(even, odd) < 0 else []
        centre = "odd" if odd < even else "even"
        found += ["has another centre"] if entry.get("centre") != centre else []
    found += ["has another half-width"] if entry["half_width"] != widths else []
    spelt = "-".join(map(str, widths)) if isinstance(widths, list) else widths
    found += ["has another name"] if not entry["id"].startswith(f"{parity}{spelt}-") else []
    return found


def _in_one_lattice(rings: Sequence[Any], parity: str) -> bool:
    """Whether all corners are corners of one grid, which has the centre where the parity says."""
    return _halves(rings) in {"even": ({0},), "odd": ({1},), "mixed": ({0}, {1})}[parity]


def _halves(rings: Sequence[Any]) -> set[float]:
    """Of whole numbers 0, and of those and a half 1."""
    return {2 * value % 2 for ring in rings for corner in ring for value in corner}


# --- regions ----------------------------------------------------------------------------------


def even_odd(rings: Sequence[Any]) -> Shape:
    shapes = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings]
    return reduce(partial(shapely.symmetric_difference, grid_size=GRID), shapes)


def together(shapes: Iterable[Shape]) -> Shape:
    return shapely.union_all(list(shapes), grid_size=GRID)


def is_symmetric(shape: Shape) -> bool:
    """Whether each of the eight symmetries about the origin carries a region to itself."""
    return all(affine_transform(shape, (*move, 0, 0)).equals(shape) for move in TURNS + MIRRORS)


def is_rigid(shape: Shape) -> bool:
    """Whether each part is carried to itself; contact in a point makes one part of two."""
    waiting = list(shapely.get_parts(shape))
    while waiting:
        component, frontier = [], [waiting.pop()]
        while frontier:
            component += frontier
            near = [one for one in waiting if any(map(one.intersects, frontier))]
            waiting = [one for one in waiting if one not in near]
            frontier = near
        if not is_symmetric(shapely.union_all(component)):
            return False
    return True


def _at_origin(shape: Shape) -> Shape:
    return translate(shape, -shape.bounds[0], -shape.bounds[1])


@cache
def _drawn(name: str, pieces: tuple[str, ...], flips: bool) -> dict[str, list[Shape]]:
    """For each piece all regions at the origin that it can cover."""
    document = file_of(name)
    turns = TURNS + MIRRORS if flips else TURNS
    return {
        piece["id"]: [
            _at_origin(affine_transform(form, (*turn, 0, 0)))
            for form in forms(piece, document["set"]["lattice"])
            for turn in turns
        ]
        for piece in document["piece"]
        if not pieces or piece["id"] in pieces
    }
