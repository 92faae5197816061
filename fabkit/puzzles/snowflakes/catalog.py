"""The catalog file: what the search found, as people and programs read it.

Coordinates are in grid units with the centre at the origin, so they are multiples of 1/2.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabkit import __version__
from fabkit.core.files import SCHEMA, json_text
from fabkit.model.lattice import Cell
from fabkit.model.library import set_argument
from fabkit.model.piece import Piece
from fabkit.model.polygon import parts_of_cells, rings_of_cells
from fabkit.model.puzzle import drawn
from fabkit.puzzles.snowflakes.bound import half_widths
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field, Part
from fabkit.puzzles.snowflakes.query import ALGORITHM, SnowflakeQuery
from fabkit.puzzles.snowflakes.search import UNKNOWN, Searched, Shape
from fabkit.puzzles.snowflakes.tiling import IMPOSSIBLE, SOLVED

#: Rings of corners in grid units.
Outline = list[list[list[float]]]


def document(
    query: SnowflakeQuery, found: Sequence[Searched], command: str, seconds: float | None = None
) -> dict[str, Any]:
    """The catalog, ready for JSON, with the command that makes it again.

    It is the same for the same query, unless a budget was spent or it says how long it took.
    """
    made: dict[str, Any] = {
        "command": command,
        "versions": {"fabkit": __version__, "algorithm": ALGORITHM},
        "pieces_sha256": query.puzzle.pieces_sha256,
    }
    if seconds is not None:
        made["seconds"] = round(seconds, 1)
    challenges = [_entry(query, shape) for one in found for shape in one.of(SOLVED)]
    unknown = [_head(query, shape) for one in found for shape in one.of(UNKNOWN)]
    return {
        "set": query.puzzle.name,
        "pieces": list(query.pieces),
        "made": made,
        "complete": [_complete(query, one) for one in found],
        "challenges": sorted(challenges, key=_order),
        "unknown": sorted(unknown, key=_order),
    }


def text(catalog: Mapping[str, Any]) -> str:
    """A catalog as a file's text: one line for each challenge, so that it can be read and compared.

    Example:
        >>> print(text({"set": "mine", "challenges": [{"id": "a"}, {"id": "b"}]}), end="")
        {
        "schema": 1,
        "set": "mine",
        "challenges": [
        {"id": "a"},
        {"id": "b"}
        ]
        }
    """
    lines = []
    for key, value in {"schema": SCHEMA, **catalog}.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            entries = ",\n".join(json.dumps(one, ensure_ascii=False) for one in value)
            lines.append(f"{json.dumps(key)}: [\n{entries}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def merged(turned: Mapping[str, Any], flipped: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Two catalogs of a set as one: what can be made without turning pieces over, and the rest.

    A shape that needs no flip is listed as it was made without.
    """
    solved, unknown = (
        {entry["id"]: entry for entry in (*flipped[key], *turned[key])}
        for key in ("challenges", "unknown")
    )
    made = {**turned["made"], "command": command}
    if "seconds" in made:
        made["seconds"] = round(made["seconds"] + flipped["made"]["seconds"], 1)
    left = (entry for name, entry in unknown.items() if name not in solved)
    return {
        "set": turned["set"],
        "pieces": turned["pieces"],
        "made": made,
        "complete": [*turned["complete"], *flipped["complete"]],
        "challenges": sorted(solved.values(), key=_order),
        "unknown": sorted(left, key=_order),
    }


def command(query: SnowflakeQuery) -> str:
    """The command that makes the same again."""
    said = ["fabkit snowflakes", set_argument(query.puzzle)]
    if query.parities != PARITIES:
        said.append(f"--parity {','.join(query.parities)}")
    if query.flips != query.puzzle.flips:
        said.append("--flips" if query.flips else "--no-flips")
    if len(query.pieces) < len(query.puzzle.pieces):
        said.append(f"--pieces {','.join(query.pieces)}")
    if query.most is not None:
        said.append(f"--max-half-width {query.most}")
    if not query.rigid:
        said.append("--wandering")
    if query.count_s != SnowflakeQuery.count_s:
        said.append(f"--count-budget {query.count_s:g}")
    if query.decide_s != SnowflakeQuery.decide_s:
        said.append(f"--budget {query.decide_s:g}")
    return " ".join(said)


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    widths = entry["half_width"]
    largest = max(widths) if isinstance(widths, list) else widths
    return PARITIES.index(entry["parity"]), largest, entry["id"]


_GRIDS = {
    EVEN: "one grid about a corner of it",
    ODD: "one grid about the middle of a cell",
    MIXED: "both of these grids, the pieces on each being symmetric themselves",
}


def _complete(query: SnowflakeQuery, one: Searched) -> dict[str, Any]:
    """How far one parity was searched, and why there is nothing beyond."""
    known = query.bound
    if known is None:
        argument = "all shapes on boards of this half-width, also those that fall apart"
    elif one.half_width == half_widths(one.parity, known, None):
        argument = f"every rigid shape there is on {_GRIDS[one.parity]}: {known.argument}"
    else:
        argument = "every rigid shape on boards of this half-width; larger ones were not asked for"
    if one.of(UNKNOWN):
        argument += f"; but for the {len(one.of(UNKNOWN))} candidates that are listed as unknown"
    width = one.half_width
    return {
        "parity": one.parity,
        "flips": query.flips,
        "rigid": query.rigid,
        "half_width_max": list(width) if isinstance(width, tuple) else width,
        "argument": argument,
        **one.funnel,
    }


def _head(query: SnowflakeQuery, shape: Shape) -> dict[str, Any]:
    """What is known of every candidate."""
    field = shape.field
    cells = [field.cells[cell] for orbit in shape.orbits for cell in field.orbits[orbit]]
    outlines = [
        outline_around(part, some)
        for at, part in enumerate(field.parts)
        for some in parts_of_cells(part.lattice, {cell for i, cell in cells if i == at})
    ]
    widths, centre = _reach(field, shape.orbits)
    return {
        "id": identity(field, shape.orbits),
        "parity": field.parity,
        "half_width": widths[0] if len(widths) == 1 else list(widths),
        **({"centre": centre} if field.parity == MIXED else {}),
        "flips": query.flips,
        "outlines": outlines,
    }


def _entry(query: SnowflakeQuery, shape: Shape) -> dict[str, Any]:
    solutions = shape.solutions or {}
    return {
        **_head(query, shape),
        "rigid": shape.field.is_rigid(shape.orbits),
        "solution": _solution(query, shape.field, shape.outcome["tiling"]),
        "count": solutions["count"],
        "count_complete": solutions["complete"],
        "difficulty": solutions["difficulty"],
    }


def _reach(field: Field, orbits: Iterable[int]) -> tuple[tuple[int, ...], str]:
    """The half-widths, the centre's first, and its parity: of the part that reaches less far.

    An odd board reaches half a cell farther.
    """
    widths = field.half_widths(orbits)
    centre = ODD if len(widths) > 1 and widths[1] < widths[0] else EVEN
    return (widths[::-1] if centre == ODD else widths), centre


def identity(field: Field, orbits: Sequence[int]) -> str:
    """A name that depends on the shape alone: parity, half-width, and a hash of its cells.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> small, large = (Field.of(LATTICES["square"], "even", width) for width in (1, 3))
        >>> identity(small, [0]), identity(large, [0])
        ('even1-a33d5dfbab', 'even1-a33d5dfbab')
    """
    places = sorted(min(field.place(cell) for cell in field.orbits[orbit]) for orbit in orbits)
    said = json.dumps([field.lattice.name, places], separators=(",", ":"))
    spelt = "-".join(map(str, _reach(field, orbits)[0]))
    return f"{field.parity}{spelt}-{hashlib.sha256(said.encode()).hexdigest()[:10]}"


def _solution(
    query: SnowflakeQuery, field: Field, tiling: Sequence[tuple[int, Sequence[int]]]
) -> dict[str, Any]:
    """For each piece its outline; identical pieces are dealt out in the set's order."""
    kinds = query.tiler(field.parity, field.half_width).kinds
    waiting = [iter(kind) for kind in kinds]
    found: dict[str, Any] = {}
    for kind, numbers in sorted((kind, tuple(cells)) for kind, cells in tiling):
        cells = [field.cells[number] for number in numbers]
        rings = outline_around(field.parts[cells[0][0]], {cell for _, cell in cells})
        found[next(waiting[kind]).id] = rings[0] if len(rings) == 1 else rings
    return {piece: found[piece] for piece in query.pieces}


def outline_around(part: Part, cells: Iterable[Cell]) -> Outline:
    """The outline of some cells as it lies around the centre, in grid units: outer ring first."""
    unit = 2 * part.lattice.per_unit
    return [
        [[_plain(x / unit), _plain(y / unit)] for x, y in map(part.around, ring)]
        for ring in rings_of_cells(part.lattice, cells)
    ]


def _plain(value: float) -> float:
    """A whole number without its point."""
    return int(value) if value == int(value) else value


def proof_files(query: SnowflakeQuery, found: Searched) -> Iterator[tuple[str, str]]:
    """The proofs of one parity as files, each a name and a text.

    One file holds all that a search proved; a formula and its refutation are each a file for what
    was left to CaDiCaL.
    """
    said = [shape.outcome for shape in found.of(IMPOSSIBLE)]
    by_search = [one["proof"] for one in said if one["engine"] == "search"]
    field = query.field(found.parity, 0)
    text = impossible_shapes(query.puzzle.name, field, query.chosen, query.flips, by_search)
    yield f"{found.parity}.json", json_text(text, indent=None)
    for one in said:
        if one["engine"] == "sat":
            name = f"{found.parity}-{one['sha256'][:12]}"
            yield f"{name}.cnf", one["proof"]["cnf"]
            yield f"{name}.drat", one["proof"]["drat"]


def impossible_shapes(
    set_name: str, field: Field, pieces: Sequence[Piece], flips: bool, proofs: Sequence[Any]
) -> dict[str, Any]:
    """Many proofs as one file, ready for JSON.

    What all share (the pieces, which every shape would have to hold, and the centres, whatever
    the field's size) stands once at its head.
    """
    return {
        "kind": "fabkit impossible shapes",
        "set": set_name,
        "lattice": field.lattice.name,
        "flips": flips,
        "centres": [list(part.centre) for part in field.parts],
        "pieces": [drawn(piece) for piece in pieces],
        "shapes": list(proofs),
    }
