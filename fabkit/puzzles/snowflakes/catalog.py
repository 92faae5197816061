"""The catalog file: the results of a search, as challenge documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabkit import __version__
from fabkit.core.formats import SCHEMA_VERSION, json_text
from fabkit.model.entry import level_of, subdivide
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece
from fabkit.model.puzzle import Challenge, piece_document
from fabkit.puzzles.snowflakes.bound import half_widths
from fabkit.puzzles.snowflakes.field import EVEN, MIXED, ODD, PARITIES, Field
from fabkit.puzzles.snowflakes.query import ALGORITHM, SnowflakeQuery
from fabkit.puzzles.snowflakes.search import UNKNOWN, CandidateResult, ParityResult
from fabkit.puzzles.snowflakes.tiler import IMPOSSIBLE, SOLVED
from fabkit.sets.challenge_writer import challenge_record, solution_record
from fabkit.sets.library import set_argument


def document(
    query: SnowflakeQuery,
    results: Sequence[ParityResult],
    command: str,
    seconds: float | None = None,
) -> dict[str, Any]:
    """Return the catalog as a JSON document, with the command that reproduces it.

    Equal queries give equal catalogs, unless a budget was spent or `seconds` are given.
    """
    made: dict[str, Any] = {
        "command": command,
        "versions": {"fabkit": __version__, "algorithm": ALGORITHM},
        "pieces_sha256": query.puzzle.pieces_sha256,
    }
    if seconds is not None:
        made["seconds"] = round(seconds, 1)
    challenges = [_record(query, shape) for result in results for shape in result.of(SOLVED)]
    unknown = [
        {**_head(query, shape), "result": {"status": UNKNOWN}}
        for result in results
        for shape in result.of(UNKNOWN)
    ]
    return {
        "set": query.puzzle.name,
        "pieces": list(query.pieces),
        "made": made,
        "complete": [_complete(query, result) for result in results],
        "challenges": sorted(challenges, key=catalog_order),
        "unknown": sorted(unknown, key=catalog_order),
    }


def text(catalog: Mapping[str, Any]) -> str:
    """Format a catalog with one line for each challenge, to make it readable and comparable.

    Example:
        >>> print(text({"set": "mine", "challenges": [{"id": "a"}, {"id": "b"}]}), end="")
        {
        "schema": 1,
        "set": "mine",
        "challenges": [
        {"id":"a"},
        {"id":"b"}
        ]
        }
    """
    lines = []
    for key, value in {"schema": SCHEMA_VERSION, **catalog}.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            records = ",\n".join(
                json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in value
            )
            lines.append(f"{json.dumps(key)}: [\n{records}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def command(query: SnowflakeQuery) -> str:
    """Return the command that reproduces the catalog."""
    parts = ["fabkit snowflakes", set_argument(query.puzzle)]
    if query.parities != PARITIES:
        parts.append(f"--parity {','.join(query.parities)}")
    if query.flips != query.puzzle.flips:
        parts.append("--flips" if query.flips else "--no-flips")
    if len(query.pieces) < len(query.puzzle.pieces):
        parts.append(f"--pieces {','.join(query.pieces)}")
    if query.max_half_width is not None:
        parts.append(f"--max-half-width {query.max_half_width}")
    if not query.rigid:
        parts.append("--wandering")
    if query.count_s != SnowflakeQuery.count_s:
        parts.append(f"--count-budget {query.count_s:g}")
    if query.decide_s != SnowflakeQuery.decide_s:
        parts.append(f"--budget {query.decide_s:g}")
    return " ".join(parts)


def catalog_order(record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a record: parity, half-width, id."""
    widths = record["half_width"]
    largest = max(widths) if isinstance(widths, list) else widths
    return PARITIES.index(record["parity"]), largest, record["id"]


#: The grids of the pieces in shapes of each parity, as the argument for completeness names them.
_GRIDS = {
    EVEN: "one grid about a corner of it",
    ODD: "one grid about the middle of a cell",
    MIXED: "both of these grids, the pieces on each being symmetric themselves",
}


def _complete(query: SnowflakeQuery, result: ParityResult) -> dict[str, Any]:
    """Describe the range searched for one parity, and why it is complete."""
    known = query.bound
    if known is None:
        argument = "all shapes on boards of this half-width, also those that fall apart"
    elif result.half_width == half_widths(result.parity, known, None):
        argument = f"every rigid shape there is on {_GRIDS[result.parity]}: {known.argument}"
    else:
        argument = "every rigid shape on boards of this half-width; larger ones were not asked for"
    if result.of(UNKNOWN):
        argument += f"; but for the {len(result.of(UNKNOWN))} candidates that are listed as unknown"
    width = result.half_width
    return {
        "parity": result.parity,
        "flips": query.flips,
        "rigid": query.rigid,
        "half_width_max": list(width) if isinstance(width, tuple) else width,
        "argument": argument,
        **result.funnel,
    }


def _head(query: SnowflakeQuery, shape: CandidateResult) -> dict[str, Any]:
    """Return the entries that every candidate has."""
    field = shape.field
    widths, centre = _reach(field, shape.orbits)
    return {
        **challenge_record(query.puzzle, _challenge(query, shape)),
        "flips": query.flips,
        "parity": field.parity,
        "half_width": widths[0] if len(widths) == 1 else list(widths),
        **({"centre": centre} if field.parity == MIXED else {}),
    }


def _challenge(query: SnowflakeQuery, shape: CandidateResult) -> Challenge:
    field = shape.field
    numbers = [number for orbit in shape.orbits for number in field.orbits[orbit]]
    cells = frozenset(_frame_cells(field, numbers))
    return Challenge(shape_id(field, shape.orbits), cells, query.pieces, flips=query.flips)


def _record(query: SnowflakeQuery, shape: CandidateResult) -> dict[str, Any]:
    solutions = shape.solutions or {}
    rating = solutions["difficulty"]
    return {
        **_head(query, shape),
        "result": {
            "status": SOLVED,
            "solution": _solution(query, shape.field, shape.outcome["tiling"]),
            "count": solutions["count"],
            "count_complete": solutions["complete"],
            "rigid": shape.field.is_rigid(shape.orbits),
            "level": level_of(_challenge(query, shape), rating["score"]),
            "difficulty": rating,
        },
    }


def _frame_cells(field: Field, numbers: Iterable[int]) -> set[Cell]:
    """Return cells of a field, by their numbers, in the frame of a challenge document.

    Those of a mixed field are subdivided, about the common centre.
    """
    by_board: list[list[Cell]] = [[] for _ in field.boards]
    for number in numbers:
        board_number, cell = field.cells[number]
        by_board[board_number].append(cell)
    if field.parity != MIXED:
        return set(by_board[0])
    subdivided = set[Cell]()
    for board, cells in zip(field.boards, by_board, strict=True):
        centre_x, centre_y = board.centre
        for x, y in subdivide(field.lattice, cells):
            subdivided.add((x - 2 * centre_x, y - 2 * centre_y))
    return subdivided


def _reach(field: Field, orbits: Iterable[int]) -> tuple[tuple[int, ...], str]:
    """Return the half-widths, the centre's first, and the centre's parity.

    The centre is the part that reaches less far; an odd board reaches half a cell farther.
    """
    widths = field.half_widths(orbits)
    centre = ODD if len(widths) > 1 and widths[1] < widths[0] else EVEN
    return (widths[::-1] if centre == ODD else widths), centre


def shape_id(field: Field, orbits: Sequence[int]) -> str:
    """Return an id that depends on the shape alone: parity, half-width, and a hash of its cells.

    Example:
        >>> from fabkit.model.lattice import LATTICES
        >>> small, large = (Field.for_parity(LATTICES["square"], "even", width) for width in (1, 3))
        >>> shape_id(small, [0]), shape_id(large, [0])
        ('even1-a33d5dfbab', 'even1-a33d5dfbab')
    """
    places = sorted(min(field.centroid(cell) for cell in field.orbits[orbit]) for orbit in orbits)
    text = json.dumps([field.lattice.name, places], separators=(",", ":"))
    widths = "-".join(map(str, _reach(field, orbits)[0]))
    return f"{field.parity}{widths}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def _solution(
    query: SnowflakeQuery, field: Field, tiling: Sequence[tuple[int, Sequence[int]]]
) -> dict[str, Any]:
    """Return the cells of each piece; identical pieces are assigned in the set's order."""
    kinds = query.tiler(field.parity, field.half_width).kinds
    waiting = [iter(kind) for kind in kinds]
    solution: dict[str, frozenset[Cell]] = {}
    for kind, numbers in sorted((kind, tuple(cells)) for kind, cells in tiling):
        solution[next(waiting[kind]).id] = frozenset(_frame_cells(field, numbers))
    return solution_record({piece_id: solution[piece_id] for piece_id in query.pieces})


def proof_files(query: SnowflakeQuery, result: ParityResult) -> Iterator[tuple[str, str]]:
    """Yield the proofs of one parity as files, each a name and a text.

    One file holds all proofs by search; each proof by CaDiCaL has a formula file and a refutation
    file.
    """
    outcomes = [shape.outcome for shape in result.of(IMPOSSIBLE)]
    by_search = [outcome["proof"] for outcome in outcomes if outcome["engine"] == "search"]
    field = query.field(result.parity, 0)
    text = impossible_shapes_document(
        query.puzzle.name, field, query.selected_pieces, query.flips, by_search
    )
    yield f"{result.parity}.json", json_text(text, indent=None)
    for outcome in outcomes:
        if outcome["engine"] == "sat":
            name = f"{result.parity}-{outcome['sha256'][:12]}"
            yield f"{name}.cnf", outcome["proof"]["cnf"]
            yield f"{name}.drat", outcome["proof"]["drat"]


def impossible_shapes_document(
    set_name: str, field: Field, pieces: Sequence[Piece], flips: bool, proofs: Sequence[Any]
) -> dict[str, Any]:
    """Return many proofs as one JSON document, with the pieces and centres that all share."""
    return {
        "kind": "fabkit impossible shapes",
        "set": set_name,
        "lattice": field.lattice.name,
        "flips": flips,
        "centres": [list(board.centre) for board in field.boards],
        "pieces": [piece_document(field.lattice, piece) for piece in pieces],
        "shapes": list(proofs),
    }
