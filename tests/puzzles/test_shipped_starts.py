"""The starting positions that come with the sets, held against plain code that knows only the
files.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shapely

from fabkit.certify import verify
from fabkit.certify.document import parse
from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.core.formats import json_text
from fabkit.model.entry import LEVEL_SCORES, LEVELS
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.numbering import number_challenges
from fabkit.puzzles.entries import Selection, gather, stated_and_generated
from fabkit.sets.catalog import (
    catalog_records,
    rules_sha256,
    shipped_count,
    shipped_entries,
    snowflake_names,
)
from fabkit.sets.challenge_file import read_list
from fabkit.sets.challenges import find_challenge, resolve_id
from fabkit.sets.library import load_set, shipped_names
from fabkit.solve.answer import solve
from fabkit.solve.certificate import make_certificate
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget, get_engine
from tests.conftest import ROOT
from tests.support.catalogs import catalog_of
from tests.support.published import iqfit_samples, iqstars_samples

SETS = ("balls12", "cubimagici", "fridgeiq", "iqblock", "iqfit", "iqstars")
#: The boards' last row and column, and by which moves they are carried to themselves.
BOARDS = {
    "balls12": (4, 10, "rectangle"),
    "cubimagici": (6, 6, "all"),
    "iqblock": (7, 7, "all"),
    "iqfit": (4, 9, "half"),
}
TWINS = str.maketrans("EB", "RQ")  # FridgeIQ's identical pieces

Point = tuple[float, float]
Document = dict[str, Any]


def starting_positions(document: Document) -> list[Document]:
    return [one for one in document["challenges"] if "given" in one and "parity" not in one]


# --- an independent count
# ---------------------------------------------------------------------------


def moves(name: str, flips: bool = False) -> Iterator[Callable[[Point], Point]]:
    """What may be done with a starting position without changing it."""
    if name == "fridgeiq":
        for mirror in (1, -1)[: 1 + flips]:
            for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1)):
                yield lambda p, m=mirror, c=c, s=s: (
                    c * m * p[0] - s * p[1],
                    s * m * p[0] + c * p[1],
                )
    elif name == "iqstars":  # rows of 7, 6, 7 and 6: no turn carries them to themselves
        yield lambda p: p
    else:
        bottom, right, which = BOARDS[name]
        yield lambda p: p
        yield lambda p: (bottom - p[0], right - p[1])
        if which != "half":
            yield lambda p: (bottom - p[0], p[1])
            yield lambda p: (p[0], right - p[1])
        if which == "all":
            yield lambda p: (p[1], p[0])
            yield lambda p: (bottom - p[1], p[0])
            yield lambda p: (p[1], right - p[0])
            yield lambda p: (bottom - p[1], right - p[0])


def points(name: str, frame: list[list[int]]) -> list[Point]:
    """The cells of a drawing: row and column of a board from its top left, or centroids of
    FridgeIQ's.
    """
    if name == "fridgeiq":
        return [(x, y) for x, y in frame]
    puzzle = load_set(name)
    board = [puzzle.lattice.row_col(cell) for cell in puzzle.boards[0].cells]
    top, left = min(row for row, _ in board), min(column for _, column in board)
    places = [puzzle.lattice.row_col((x, y)) for x, y in frame]
    return [(row - top, column - left) for row, column in places]


def key(name: str, start: Document) -> str:
    """The same for starting positions that are alike."""
    is_free = name == "fridgeiq"
    outlines = [("", points(name, start["frame"]))] if is_free else []
    outlines += [(given["piece"], points(name, given["frame"])) for given in start["given"]]
    used = "".join(sorted("".join(start["pieces"]).translate(TWINS))) if is_free else ""
    found = []
    for move in moves(name, bool(start.get("flips"))):
        moved = [(piece.translate(TWINS), list(map(move, some))) for piece, some in outlines]
        dx, dy = (0.0, 0.0)
        if is_free:
            dx, dy = (min(point[axis] for point in moved[0][1]) for axis in (0, 1))
        found.append(
            sorted((piece, sorted((x - dx, y - dy) for x, y in some)) for piece, some in moved)
        )
    return used + min(map(str, found))


def faults(name: str, document: Document) -> list[str]:
    """What is wrong with the starting positions of a catalog, but for how many solutions they have."""
    starts, found = starting_positions(document), []
    if not 60 <= len(starts) <= 120:
        found.append(f"there are {len(starts)}")
    counts = Counter(one["result"]["level"] for one in starts)
    found += [f"few {level}" for level in LEVELS[:3] if 10 * counts[level] < len(starts)]
    keys = Counter(key(name, one) for one in starts)
    found += [f"{count} alike" for count in keys.values() if count > 1]
    scores = [one["result"]["difficulty"]["score"] for one in starts]
    if scores != sorted(scores):
        found.append("not from easy to hard")
    for one, score in zip(starts, scores, strict=True):
        if one["result"]["level"] != LEVELS[sum(score >= lowest for lowest in LEVEL_SCORES)]:
            found.append(f"{one['id']}: another level")
        found += [f"{one['id']}: {fault}" for fault in faults_of(name, one)]
    given = Counter(one["piece"] for start in starts for one in start["given"])
    found += [
        f"{piece} nearly always given" for piece, n in given.items() if n > 0.75 * len(starts)
    ]
    if len({len(one["given"]) for one in starts}) < 4:
        found.append("as many given everywhere")
    solutions = Counter(json.dumps(one["result"]["solution"], sort_keys=True) for one in starts)
    if max(solutions.values()) > len(starts) // 20:
        found.append("one solution over and over")
    return found


def faults_of(name: str, start: Document) -> list[str]:
    """What is wrong with one."""
    found, result = [], start["result"]
    solution = result["solution"]
    if (result["count"], result["count_complete"]) != (1, True):
        found.append("says that it has several solutions")
    if any(solution.get(one["piece"]) != one["frame"] for one in start["given"]):
        found.append("its given pieces lie elsewhere in the solution")
    if name in BOARDS:
        covered = Counter(cell for cells in solution.values() for cell in points(name, cells))
        bottom, right, _ = BOARDS[name]
        board = {(row, col) for row in range(bottom + 1) for col in range(right + 1)}
        if covered.keys() != board or max(covered.values()) > 1:
            found.append("its solution does not cover the board")
    return found


@pytest.mark.in_turn
@pytest.mark.parametrize("name", SETS)
def test_they_are_graded_and_different(name: str) -> None:
    document = catalog_of(name)
    assert faults(name, document) == []
    # Reading holds each solution against the pieces' shapes.
    assert len(read_list(document, load_set(name), name)) == len(document["challenges"])


def test_pieces_that_change_places_in_a_solution_are_found() -> None:
    document = deepcopy(catalog_of("cubimagici"))
    solution = starting_positions(document)[30]["result"]["solution"]
    solution["p6"], solution["p7"] = solution["p7"], solution["p6"]
    with pytest.raises(InputError, match=r"challenges\[30\]\.result\.solution: "):
        read_list(document, load_set("cubimagici"), "cubimagici")


def turned(document: Document) -> None:
    """The second is the first, half a turn of the board away."""
    starts = starting_positions(document)
    whole = starts[0]["frame"]
    width, height = (min(steps) + max(steps) for steps in zip(*whole, strict=True))
    starts[1]["given"] = [
        {**one, "frame": [[width - x, height - y] for x, y in one["frame"]]}
        for one in starts[0]["given"]
    ]


def one_level(document: Document) -> None:
    """Of starters one in twenty is left, and the others are juniors."""
    for start in starting_positions(document)[5:20]:
        start["result"]["level"] = "junior"


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (turned, "2 alike"),
        (one_level, "few starter"),
        (lambda document: document["challenges"].__delitem__(slice(50)), "there are 50"),
        (lambda document: document["challenges"].reverse(), "not from easy to hard"),
        (lambda document: document["challenges"][3]["result"].update(count=2), "several solutions"),
        (
            lambda document: document["challenges"][3]["result"]["solution"]["red"].pop(),
            "does not cover",
        ),
    ],
)
def test_faults_are_found(plant: Callable[[Document], None], message: str) -> None:
    document = deepcopy(catalog_of("iqfit"))
    plant(document)
    found = faults("iqfit", document)
    assert any(message in fault for fault in found) if message else found == []


def test_none_is_published() -> None:
    """Neither as it lies nor turned; of the books of IQ Fit and of IQ Stars forty are known."""
    for name, read in (("iqfit", iqfit_samples), ("iqstars", iqstars_samples)):
        samples = [*read(), *read(f"{name}-book")]
        assert len(samples) >= 40
        known = set()
        for sample in samples:
            given = [
                {"piece": one.piece, "frame": sorted(map(list, one.cells))}
                for one in sample.challenge.given
            ]
            known.add(key(name, {"given": given}))
        assert len(known) >= 30
        assert known.isdisjoint(key(name, one) for one in starting_positions(catalog_of(name)))


@pytest.mark.integration
def test_starters_are_for_starters() -> None:
    """In no set more than four pieces are to be placed for them; snowflakes are for wizards."""
    counts = Counter[str]()
    for name in shipped_names():
        for entry in gather(load_set(name)):
            free_count = entry.challenge.pieces_used - len(entry.challenge.given)
            assert free_count <= 4 or entry.level != "starter", entry.challenge.id
            assert entry.kind != "snowflake" or entry.level == "wizard"
            counts[entry.level] += 1
    assert min(counts[level] for level in LEVELS) > 100


def holes(puzzle: PuzzleSet, entry: Entry) -> int:
    """The number of parts of the uncovered cells, as polygons."""
    given = frozenset[Cell]().union(*(placed.cells for placed in entry.challenge.given))
    polygons = [
        shapely.Polygon(puzzle.lattice.ring(cell)) for cell in entry.challenge.region - given
    ]
    return len(shapely.get_parts(shapely.union_all(polygons)))


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_a_start_is_a_puzzle(name: str) -> None:
    """In none every hole takes one piece."""
    puzzle = load_set(name)
    for entry in shipped_entries(puzzle, "start"):
        free_count = entry.challenge.pieces_used - len(entry.challenge.given)
        assert 1 <= holes(puzzle, entry) < free_count, entry.challenge.id


# --- uniqueness
# ---------------------------------------------------------------------------------------


def proved(name: str, start_id: str, engines: tuple[str, ...]) -> bool:
    """Whether engines find one solution, and a certificate of it holds."""
    puzzle = load_set(name)
    encoded = to_exact_cover(puzzle, find_challenge(puzzle, start_id))
    answers = [get_engine(one).unique(encoded.problem, Budget()) for one in engines]
    if any((one.count, one.complete) != (1, True) for one in answers):
        return False
    document = json.loads(json_text(make_certificate(encoded, "unique", Budget())))
    return verify(parse(document, start_id), None).holds


@pytest.mark.parametrize("name", SETS)
def test_a_few_are_proved_unique(name: str) -> None:
    for start in starting_positions(catalog_of(name))[8::42]:
        assert proved(name, start["id"], ("search",))


@pytest.mark.integration
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])
def test_every_one_is_proved_unique(name: str, step: int) -> None:
    for start in starting_positions(catalog_of(name))[::step]:
        assert proved(name, start["id"], ("search", "sat")), start["id"]


def test_one_with_two_solutions_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that is minimal has several when a given piece is left out."""
    starts = starting_positions(catalog_of("iqfit"))
    stated = deepcopy(next(start for start in starts if start["result"]["minimal"]))
    stated["given"].pop()
    monkeypatch.setattr("fabkit.sets.catalog.catalog_records", lambda *_: (stated,))
    assert not proved("iqfit", stated["id"], ("search",))
    assert not proved("iqfit", stated["id"], ("sat",))


# --- numbers of solutions
# -------------------------------------------------------------------------------


def counts_of(name: str) -> dict[str, int]:
    """The numbers of solutions of a set's own challenges, each of them complete."""
    own = tuple(one.id for one in load_set(name).challenges)
    entries = gather(load_set(name), Selection(only=own or (load_set(name).boards[0].id,)))
    solved = [entry for entry in entries if entry.result.status == "solved"]
    assert all(entry.result.count_complete for entry in solved)
    return {entry.challenge.id: entry.result.count or 0 for entry in solved}


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n == "fridgeiq")) for n in SETS]
)
def test_each_is_the_number_that_solve_counts(
    name: str, run_json: Callable[..., Any], pytestconfig: pytest.Config
) -> None:
    for id_, count in counts_of(name).items():
        if id_ != "square_10" or pytestconfig.getoption("--long"):  # two minutes, 1.7 GB
            assert run_json("solve", name, id_, "--count")["count"] == count, id_


def test_a_count_is_that_of_one_challenge_only() -> None:
    """A challenge of the same name with other cells or pieces is counted for itself."""
    puzzle = load_set("iqfit")
    (entry,) = gather(puzzle, Selection(only=("board",)))
    board = entry.challenge
    assert shipped_count(puzzle, board) == entry.result.count == 301_350
    assert shipped_count(puzzle, replace(board, region=board.region - {min(board.region)})) is None
    assert shipped_count(puzzle, replace(board, pieces=board.pieces[1:])) is None
    assert shipped_count(puzzle, replace(board, flips=True)) is None


# --- as users meet them
# -------------------------------------------------------------------------------


def test_they_are_solved_and_shown_by_name(run_json: Callable[..., Any]) -> None:
    start = starting_positions(catalog_of("iqfit"))[11]
    assert start["id"] == "start-012"
    answer = run_json("solve", "iqfit", "start-012", "--unique", "--difficulty")
    (solution,), result = answer["solutions"], start["result"]
    assert answer["unique"]
    assert solution == {
        piece: sorted(map(list, points("iqfit", cells)))
        for piece, cells in result["solution"].items()
    }
    assert answer["difficulty"]["level"] == result["level"]
    assert answer["difficulty"]["score"] == result["difficulty"]["score"]
    found = run_json("show", "iqfit", "--challenge", "start-012")
    assert (found["kind"], found["level"], found["count"]) == ("start", result["level"], 1)
    counts = {one["set"]: len(one["starts"]) for one in run_json("sets")["sets"]}
    for name in SETS:
        others = [one for one in catalog_of(name)["challenges"] if "clue" in one]
        assert counts[name] == len(starting_positions(catalog_of(name))) + len(others)


def test_coloured_cells_of_iqstars_have_one_solution() -> None:
    """Every filling is compared with the clues, without the solver's clues."""
    puzzle = load_set("iqstars")
    encoded = to_exact_cover(puzzle, find_challenge(puzzle, "board"))
    fillings = [encoded.decode(found) for found in solve(encoded, "all").solutions]
    assert len(fillings) == 381
    colours = {piece.id: piece.colour for piece in puzzle.pieces}
    owners = [
        {cell: colours[piece] for piece, cells in filling.items() for cell in cells}
        for filling in fillings
    ]
    told = [one for one in catalog_of("iqstars")["challenges"] if "clue" in one]
    assert len(told) == 40
    assert {one["result"]["level"] for one in told} == {"junior", "expert", "master", "wizard"}
    for one in told:
        clues = {
            tuple(cell): colours[clue["colour"]] for clue in one["clue"] for cell in clue["frame"]
        }
        agreeing = [
            number
            for number, owner in enumerate(owners)
            if all(owner[cell] == colour for cell, colour in clues.items())
        ]
        assert len(agreeing) == 1
        solution = fillings[agreeing[0]]
        stated = one["result"]["solution"]
        assert {piece: sorted(map(list, cells)) for piece, cells in solution.items()} == {
            piece: sorted(cells) for piece, cells in stated.items()
        }


def test_they_are_found_by_what_page_and_booklet_call_them(run_json: Callable[..., Any]) -> None:
    """Titles are names, too, in commands."""
    puzzle, messages = load_set("fridgeiq"), load_messages("booklet", "en")
    entries = [*stated_and_generated(puzzle, None), *shipped_entries(puzzle)]
    for item in number_challenges(puzzle, entries, messages)[::5]:
        assert resolve_id(puzzle, item.title) == item.entry.challenge.id
        assert resolve_id(puzzle, item.entry.challenge.id) == item.entry.challenge.id
    assert run_json("solve", "iqfit", "Starter 7")["challenge"] == "start-007"
    shown = run_json("show", "fridgeiq", "--challenge", "snowflake amaryllis")
    assert (shown["kind"], shown["title"]) == ("snowflake", "Snowflake Amaryllis")


def test_an_unknown_one_is_named_without_a_hundred_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["solve", "iqfit", "start-0012"]) == 2
    message = capsys.readouterr().err
    assert 'did you mean "start-012"?' in message
    assert message.count("start-") == 2
    assert "choose from board, and 100 starts;" in message


def test_they_need_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabkit.puzzles.entries.solve", None)
    entries = gather(load_set("iqfit"), Selection(only=("start-001", "start-100")))
    assert [(one.kind, one.level, one.result.status) for one in entries] == [
        ("start", "starter", "solved"),
        ("start", "wizard", "solved"),
    ]


def test_they_are_those_of_the_same_boards_and_moves(tmp_path: Path) -> None:
    text = (ROOT / "pieces/iqstars.toml").read_text()
    path, shipped = tmp_path / "iqstars.toml", catalog_of("iqstars")
    for was, now, count in (
        ('title = "IQ Stars"', 'title = "Mine"', len(shipped["challenges"])),
        ("rows = [7, 6, 7, 6]", "rows = [7, 7, 6, 6]", 0),
        ('moves = "rotations"', 'moves = "rotations and flips"', 0),
    ):
        assert was in text
        path.write_text(text.replace(was, now))
        puzzle = load_set(str(path))
        assert len(catalog_records(puzzle, "start")) == len(shipped_entries(puzzle)) == count
        assert (rules_sha256(puzzle) == shipped["made"]["rules_sha256"]) == bool(count)


def test_titles_stay_and_nothing_counts_twice() -> None:
    """Whatever else is shown; nothing is called by a hash, and no two alike."""
    puzzle = load_set("fridgeiq")
    entries = shipped_entries(puzzle)
    flowers = tomllib.loads((ROOT / "pieces/catalogs/snowflakes.toml").read_text())["names"]
    assert len(set(flowers)) == len(flowers)
    for language in LANGUAGES:
        messages = load_messages("booklet", language)
        items = number_challenges(puzzle, entries, messages)
        titles = {item.entry.challenge.id: item.title for item in items}
        assert len(set(titles.values())) == len(entries)
        for selection in (entries[::7], entries[100:140]):
            for item in number_challenges(puzzle, selection, messages):
                assert item.title == titles[item.entry.challenge.id]
        assert not any(
            entry.challenge.id in title for entry in entries for title in titles.values()
        )
        flakes = [entry.challenge.id for entry in entries if entry.kind == "snowflake"]
        for name, flake_id in zip(flowers, flakes, strict=True):
            assert titles[flake_id].endswith(f" {name}")
        for entry in entries:
            title = titles[entry.challenge.id]
            assert len(re.findall(r"\d+", title)) <= 1, title
            if entry.of in flakes:
                assert title.startswith(f"{titles[entry.of]}, ")
        assert titles["even4-0057708264"].split() == [
            *messages["snowflake_title"].split()[:-1],
            "Acacia",
        ]


def test_starts_on_a_board_are_numbered_by_level() -> None:
    """In each level from 1; and those of a user apart."""
    puzzle, messages = load_set("iqstars"), load_messages("booklet", "en")
    shipped = shipped_entries(puzzle)
    starts = number_challenges(puzzle, shipped, messages)
    counts = Counter(item.level for item in starts)
    numbered = [
        f"{level.capitalize()} {n}" for level in LEVELS for n in range(1, counts[level] + 1)
    ]
    assert [item.title for item in starts] == numbered
    first = starts[0].entry
    own = [
        replace(first, challenge=replace(first.challenge, id=own_id))
        for own_id in ("made-start-001", "start-901")
    ]
    titles = [item.title for item in number_challenges(puzzle, [*shipped, *own], messages)]
    level = starts[0].level.capitalize()
    assert sorted({*titles} - {*numbered}) == [f"{level} 1 (yours)", f"{level} 2 (yours)"]
    assert len(titles) == len({*titles})


def test_more_snowflakes_than_names_have_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    puzzle = load_set("fridgeiq")
    monkeypatch.setattr("fabkit.sets.catalog._flower_names", lambda: ["Rosa", "Viola"])
    names = list(snowflake_names(puzzle).values())
    assert names[:4] == ["Rosa", "Viola", "3", "4"]
    assert names[-1] == str(len(names))
