"""Write the shipped catalog of a set: snowflakes, starting positions, and long counts.

Arguments: SET WORK TARGET. Snowflakes are those of the two runs in WORK, without and with flips,
else the shipped ones; starting positions are those of the list in WORK.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from merged_catalog import merge_catalogs

from fabkit import __version__
from fabkit.core.formats import read_json
from fabkit.core.staging import write_atomically
from fabkit.model.entry import halved, level_of
from fabkit.model.puzzle import problem_sha256
from fabkit.puzzles.entries import gather
from fabkit.puzzles.snowflakes.catalog import text
from fabkit.sets.catalog import (
    catalog_path,
    record_kind,
    rules_sha256,
)
from fabkit.sets.challenge_file import read_challenges, read_list
from fabkit.sets.challenge_writer import challenge_record, solution_record
from fabkit.sets.library import load_set
from fabkit.solve.answer import count_solutions
from fabkit.solve.difficulty import difficulty
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget

name, work, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
puzzle = load_set(name)
flakes = [work / moves / "snowflakes.json" for moves in ("no-flips", "flips")]
if all(path.is_file() for path in flakes):
    catalog = merge_catalogs(read_json(flakes[0]), read_json(flakes[1]), "scripts/catalogs")
elif (shipped := catalog_path(puzzle)).is_file():
    catalog = {key: value for key, value in read_json(shipped).items() if key != "schema"}
else:
    versions = {"fabkit": __version__}
    made = {"command": "scripts/catalogs", "versions": versions, "pieces_sha256": ""}
    pieces = [piece.id for piece in puzzle.pieces]
    catalog = {"set": name, "pieces": pieces, "made": made, "complete": [], "unknown": []}
catalog["made"].pop("seconds", None)
catalog["made"] |= {"pieces_sha256": puzzle.pieces_sha256, "rules_sha256": rules_sha256(puzzle)}

records = catalog.get("challenges", [])
snowflakes = [record for record in records if record_kind(record) == "snowflake"]
results = {record["id"]: record["result"] for record in snowflakes}
# Rated like `fabkit solve --difficulty`; those on two lattices with half the unit.
of_halves = {1: puzzle}
for entry in read_list({"challenges": snowflakes}, puzzle, name):
    if entry.halves not in of_halves:
        half_pieces = tuple(halved(puzzle.lattice, piece) for piece in puzzle.pieces)
        of_halves[entry.halves] = replace(puzzle, pieces=half_pieces)
    encoded = to_exact_cover(of_halves[entry.halves], entry.challenge)
    rating = difficulty(encoded.problem, entry.result.count, patient=True)
    assert rating  # since the probes are patient
    score = round(rating.score, 3)
    rated = {"level": level_of(entry.challenge, score), "difficulty": {"score": score}}
    results[entry.challenge.id] |= rated
if not all(result["count_complete"] for result in results.values()):
    raise SystemExit("a count of solutions ended early: it would depend on the machine")

# Sets of few pieces have few hard starts, so some are in the books; omit those.
book, published = Path(__file__).parents[1] / f"tests/facts/{name}-book.json", []
for one in json.loads(book.read_text())["all"] if book.is_file() else ():
    board = [puzzle.lattice.row_col(cell) for cell in puzzle.boards[0].cells]
    top, left = min(row for row, _ in board), min(column for _, column in board)
    sockets = sorted([row - top, column - left] for row, column in board)
    placements = [(piece, rest[-1]) for piece, *rest in one.get("given") or one.get("placed", ())]
    published.append(
        {
            piece: sorted(sockets[i] if isinstance(i, int) else i for i in some)
            for piece, some in placements
        }
    )

starts = list[dict[str, Any]]()
lists = [
    path for folder in (work, work / "clues") if (path := folder / "challenges.json").is_file()
]
generated = {record["id"]: record for path in lists for record in read_json(path)["challenges"]}
for entry in (entry for path in lists for entry in read_challenges(path, puzzle)):
    record = generated[entry.challenge.id]
    given = {given["piece"]: given.get("cells") for given in record.get("given", ())}
    if given and given in published:
        continue
    prefix = entry.challenge.id.partition("-")[0]
    number = sum(start["id"].startswith(prefix) for start in starts) + 1
    start = replace(entry.challenge, id=f"{prefix}-{number:03}")
    of = {"of": entry.of} if entry.of else {}
    result = record["result"] | {"solution": solution_record(entry.solution)}
    del result["count_up_to_symmetry"]
    starts.append(challenge_record(puzzle, start) | of | {"result": result})
own = [entry for entry in gather(puzzle) if entry.kind in ("board", "challenge")]
counts = {}
for entry in own:
    problem = to_exact_cover(puzzle, challenge := entry.challenge).problem
    rating = difficulty(problem) if entry.solution else None
    if rating and not rating.complete:
        count, complete = count_solutions(problem, Budget())
        assert complete
        counts[entry.challenge.id] = {
            "count": count,
            "problem_sha256": problem_sha256(puzzle, challenge),
        }
catalog |= {"counts": counts, "challenges": [*snowflakes, *starts]}
order = ("set", "pieces", "made", "counts", "complete", "challenges", "unknown")
write_atomically(target / f"{name}.json", text({key: catalog[key] for key in order}))
