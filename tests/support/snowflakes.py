"""What is wrong with a catalog of snowflakes, by shapely and the set's file alone.

Pieces are drawn from the set's TOML file a second time, see `tests.support.pictures`. Regions are compared
as their rings of corners in whole quarters of a unit, so that nothing depends on rounding: shapely
is only asked for unions, areas and contacts, of shapes on a grid where all of these are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial, reduce
from typing import Any

import numpy as np
import shapely

from tests.support.pictures import Shape, file_of, forms

#: Unions are taken on this grid, and corners counted in it.
GRID = 0.25
PARITIES = ["even", "odd", "mixed"]
HEAD = {"id", "parity", "half_width", "flips", "outlines"}
KEYS = HEAD | {"rigid", "solution", "count", "count_complete", "difficulty"}

Corner = tuple[int, int]
Ring = tuple[Corner, ...]
#: A region: its rings, each from its least corner on, counterclockwise, without needless corners.
Rings = frozenset[Ring]

TURNS: tuple[Callable[[Corner], Corner], ...] = (
    lambda p: (p[0], p[1]),
    lambda p: (-p[1], p[0]),
    lambda p: (-p[0], -p[1]),
    lambda p: (p[1], -p[0]),
)
MIRRORS: tuple[Callable[[Corner], Corner], ...] = (
    lambda p: (-p[0], p[1]),
    lambda p: (p[0], -p[1]),
    lambda p: (p[1], p[0]),
    lambda p: (-p[1], -p[0]),
)


# --- a catalog --------------------------------------------------------------------------------


def catalog_faults(catalog: dict[str, Any], name: str) -> list[str]:
    """What is wrong with a catalog: its entries, its order, its sums."""
    pieces = catalog["pieces"]
    entries, unknown = catalog["challenges"], catalog["unknown"]
    found = [f"{one.get('id')}: {said}" for one in entries for said in faults(one, name, pieces)]
    for one in unknown:
        found += [f"{one.get('id')}: {said}" for said in shape_faults(one, name, pieces)]
    found += alike([*entries, *unknown])
    for listed in (entries, unknown):
        keys = [(PARITIES.index(one["parity"]), _farthest(one), one["id"]) for one in listed]
        found += ["not in order"] if keys != sorted(keys) else []
    for part in catalog["complete"]:
        found += [f"{part['parity']}: {said}" for said in _sum_faults(catalog, part)]
    searched = [part["parity"] for part in catalog["complete"]]
    strangers = [one for one in (*entries, *unknown) if one["parity"] not in searched]
    return found + [f"{one['id']}: of a parity that was not searched" for one in strangers]


def alike(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Which entries are the same shape as an earlier one, or have its name."""
    found, shapes, ids = [], dict[Rings, str](), set[str]()
    for entry in entries:
        rings = rings_of(region(entry["outlines"]))
        if rings in shapes:
            found.append(f"{entry['id']} is the same shape as {shapes[rings]}")
        if entry["id"] in ids:
            found.append(f"{entry['id']} is a name that is there twice")
        shapes[rings] = entry["id"]
        ids.add(entry["id"])
    return found


def _sum_faults(catalog: dict[str, Any], part: dict[str, Any]) -> list[str]:
    """Whether the steps of a search add up, and to what is listed."""
    found = []
    impossible = sum(part["impossible"].values())
    listed, open_ones = (
        [
            one
            for one in catalog[key]
            # Where both are searched, what needs no flip is listed without.
            if one["parity"] == part["parity"] and one["flips"] <= part["flips"]
        ]
        for key in ("challenges", "unknown")
    )
    if part["candidates"] != part["solved"] + impossible + part["unknown"]:
        found.append("candidates are not the solved, the impossible and the unknown ones")
    if not part["unions"] >= part["full_area"] >= part["candidates"]:
        found.append("a step leaves more than there were")
    searches = [one for one in catalog["complete"] if one["parity"] == part["parity"]]
    is_clear = len(searches) == 1 or not any(one["unknown"] for one in searches)
    if is_clear and (part["solved"], part["unknown"]) != (len(listed), len(open_ones)):
        found.append("not so many are listed")
    for one in (*listed, *open_ones):
        if one["flips"] not in [search["flips"] for search in searches]:
            found.append(f"{one['id']} has other moves")
        if part["rigid"] and not one.get("rigid", True):
            found.append(f"{one['id']} is not rigid")
        if any(a > b for a, b in zip(_even_and_odd(one), _limits(part), strict=True)):
            found.append(f"{one['id']} lies beyond what was searched")
    return found


def _farthest(entry: dict[str, Any]) -> int:
    return max(entry["half_width"]) if entry["parity"] == "mixed" else entry["half_width"]


def _even_and_odd(entry: dict[str, Any]) -> list[int]:
    if entry["parity"] != "mixed":
        return [entry["half_width"]]
    return entry["half_width"][:: -1 if entry["centre"] == "odd" else 1]


def _limits(part: dict[str, Any]) -> list[int]:
    limit = part["half_width_max"]
    return limit if isinstance(limit, list) else [limit]


# --- an entry ---------------------------------------------------------------------------------


def faults(entry: dict[str, Any], name: str, pieces: Sequence[str] = ()) -> list[str]:
    """What is wrong with a snowflake and its solution.

    Args:
        entry: of the catalog.
        name: of a shipped set, or the path of a set's file.
        pieces: those that must be used; none for all.
    """
    if KEYS - entry.keys():
        return [f"{key} is missing" for key in sorted(KEYS - entry.keys())]
    found = shape_faults(entry, name, pieces)
    lying = {piece: _rings_given(given) for piece, given in entry["solution"].items()}
    if not all(map(_on_grid, lying.values())):
        return [*found, "a piece's corner is no multiple of 1/2"]
    if not isinstance(entry["count"], int) or entry["count"] < 1:
        found.append("has a count below 1, but a solution")
    wanted = dict(_drawn(name, tuple(pieces), entry["flips"]))
    found += [f"{piece} is missing" for piece in wanted if piece not in lying]
    found += [f"{piece} is not asked for" for piece in lying if piece not in wanted]
    shapes = {piece: even_odd(rings) for piece, rings in lying.items()}
    for piece, shape in shapes.items():
        if piece in wanted and at_origin(rings_of(shape)) not in wanted[piece]:
            found.append(f"{piece} is not as drawn")
        if not _in_one_lattice(lying[piece], entry["parity"]):
            found.append(f"{piece} does not lie on a grid of this parity")
    found += _overlaps(shapes)
    if rings_of(together(shapes.values())) != rings_of(region(entry["outlines"])):
        found.append("the pieces do not make the shape")
    if is_rigid(together(shapes.values())) != entry["rigid"]:
        found.append("falls apart" if entry["rigid"] else "does not fall apart")
    return found


def shape_faults(entry: dict[str, Any], name: str, pieces: Sequence[str] = ()) -> list[str]:
    """What is wrong with a shape, with or without a solution."""
    if HEAD - entry.keys():
        return [f"{key} is missing" for key in sorted(HEAD - entry.keys())]
    outlines = entry["outlines"]
    if not all(map(_on_grid, outlines)):
        return ["a corner is no multiple of 1/2"]
    found = []
    shapes = [even_odd(rings) for rings in outlines]
    whole = together(shapes)
    if not all(_is_outline(rings, shape) for rings, shape in zip(outlines, shapes, strict=True)):
        found.append("an outline is not one outer ring and its holes")
    found += ["two outlines overlap"] if _overlaps(dict(enumerate(shapes))) else []
    rings = rings_of(whole)
    found += ["is not symmetric"] if not is_symmetric(rings) else []
    if not is_rigid(whole) and entry.get("rigid", True):
        found.append("is not rigid")
    if whole.area != _area(name, tuple(pieces)):
        found.append("has not the pieces' area")
    return found + _place_faults(entry)


def _place_faults(entry: dict[str, Any]) -> list[str]:
    """Whether parity, half-width and centre are what the outlines say."""
    parity, found = entry["parity"], []
    parts = [halves_of(rings) for rings in entry["outlines"]]
    if any(len(halves) > 1 for halves in parts) and "solution" not in entry:
        return []  # with a corner in the middle of a cell, which no piece has
    if not all(_in_one_lattice(rings, parity) for rings in entry["outlines"]):
        return ["does not lie on a grid of its parity"]
    reach = {0: -1.0, 1: -0.5}
    for rings, (odd,) in zip(entry["outlines"], parts, strict=True):
        reach[odd] = max(reach[odd], *(abs(v) for ring in rings for corner in ring for v in corner))
    even, odd = int(reach[0]), int(reach[1] - 0.5)
    if parity == "mixed":
        if min(even, odd) < 0:
            found.append("is not of mixed parity")
        centre = "odd" if odd < even else "even"
        widths: Any = [odd, even] if odd < even else [even, odd]
        found += ["has another centre"] if entry.get("centre") != centre else []
    else:
        widths = even if parity == "even" else odd
    found += ["has another half-width"] if entry["half_width"] != widths else []
    spelt = "-".join(map(str, widths)) if isinstance(widths, list) else widths
    found += ["has another name"] if not entry["id"].startswith(f"{parity}{spelt}-") else []
    return found


def _in_one_lattice(rings: Sequence[Any], parity: str) -> bool:
    """Whether all corners are corners of one grid, which has the centre where the parity says."""
    halves = halves_of(rings)
    return len(halves) == 1 and halves <= {"even": {0}, "odd": {1}, "mixed": {0, 1}}[parity]


def halves_of(rings: Sequence[Any]) -> set[int]:
    """Of whole numbers 0, and of those and a half 1."""
    return {int(2 * value) % 2 for ring in rings for corner in ring for value in corner}


def _on_grid(rings: Sequence[Any]) -> bool:
    return all(2 * value == int(2 * value) for ring in rings for at in ring for value in at)


def _rings_given(given: Any) -> list[Any]:
    """A piece without holes is one ring; others are lists of them."""
    return given if isinstance(given[0][0], list) else [given]


def _is_outline(rings: Sequence[Any], shape: Shape) -> bool:
    """In one piece, and within its first ring."""
    outer = shapely.Polygon(rings[0])
    inside = shapely.make_valid(outer).difference(shape).area
    held = sum(shapely.make_valid(shapely.Polygon(ring)).area for ring in rings[1:])
    return shape.area > 0 and inside == held


def _overlaps(shapes: dict[Any, Shape]) -> list[str]:
    names, drawn = list(shapes), np.array(list(shapes.values()), dtype=object)
    one, other = np.triu_indices(len(drawn), 1)
    common = shapely.area(shapely.intersection(drawn[one], drawn[other], grid_size=GRID))
    pairs = np.flatnonzero(common > 0)
    return [f"{names[one[pair]]} overlaps {names[other[pair]]}" for pair in pairs]


# --- regions ----------------------------------------------------------------------------------


def region(outlines: Iterable[Sequence[Any]]) -> Shape:
    """What all outlines hold."""
    return together(map(even_odd, outlines))


def even_odd(rings: Sequence[Any]) -> Shape:
    shapes = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings]
    return reduce(partial(shapely.symmetric_difference, grid_size=GRID), shapes)


def together(shapes: Iterable[Shape]) -> Shape:
    return shapely.union_all(list(shapes), grid_size=GRID)


def is_symmetric(rings: Rings) -> bool:
    """Whether each of the eight symmetries about the origin carries a region to itself."""
    return all(moved(rings, symmetry) == rings for symmetry in (*TURNS, *MIRRORS))


def is_rigid(shape: Shape) -> bool:
    """Whether each part is carried to itself; contact in a point makes one part of two."""
    parts = np.array(shapely.get_parts(shape), dtype=object)
    waiting = set(range(len(parts)))
    while waiting:
        component, frontier = set[int](), {waiting.pop()}
        while frontier:
            component |= frontier
            frontier = {
                other
                for other in waiting
                if shapely.intersects(parts[list(frontier)], parts[other]).any()
            }
            waiting -= frontier
        if not is_symmetric(frozenset().union(*(rings_of(parts[one]) for one in component))):
            return False
    return True


def rings_of(shape: Shape) -> Rings:
    """The one way to write a region as rings."""
    return frozenset(
        _written([(round(x / GRID), round(y / GRID)) for x, y in ring.coords[:-1]])
        for part in shapely.get_parts(shape)
        if part.geom_type == "Polygon"
        for ring in (part.exterior, *part.interiors)
    )


def _written(ring: Sequence[Corner]) -> Ring:
    around = zip((ring[-1], *ring[:-1]), ring, (*ring[1:], ring[0]), strict=True)
    bends = [
        (at, (at[0] - a[0]) * (b[1] - at[1]) - (at[1] - a[1]) * (b[0] - at[0]))
        for a, at, b in around
    ]
    corners = [at for at, bend in bends if bend]
    doubled = sum(
        x * v - y * u for (x, y), (u, v) in zip(corners, (*corners[1:], corners[0]), strict=True)
    )
    corners = corners if doubled > 0 else corners[::-1]
    first = corners.index(min(corners))
    return (*corners[first:], *corners[:first])


def moved(rings: Rings, way: Callable[[Corner], Corner]) -> Rings:
    return frozenset(_written([way(corner) for corner in ring]) for ring in rings)


def at_origin(rings: Rings) -> Rings:
    left = min((x for ring in rings for x, _ in ring), default=0)
    low = min((y for ring in rings for _, y in ring), default=0)
    return moved(rings, lambda corner: (corner[0] - left, corner[1] - low))


# --- the set ----------------------------------------------------------------------------------


@cache
def _drawn(name: str, pieces: tuple[str, ...], flips: bool) -> tuple[tuple[str, set[Rings]], ...]:
    """For each piece all regions at the origin that it can cover."""
    document = file_of(name)
    ways = (*TURNS, *MIRRORS) if flips else TURNS
    return tuple(
        (
            piece["id"],
            {
                at_origin(moved(rings_of(form), way))
                for form in forms(piece, document["set"]["lattice"])
                for way in ways
            },
        )
        for piece in document["piece"]
        if not pieces or piece["id"] in pieces
    )


@cache
def _area(name: str, pieces: tuple[str, ...]) -> float:
    document = file_of(name)
    return sum(
        forms(piece, document["set"]["lattice"])[0].area
        for piece in document["piece"]
        if not pieces or piece["id"] in pieces
    )
