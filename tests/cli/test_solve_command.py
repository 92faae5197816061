"""`fabkit solve` as people and scripts meet it: the JSON document, the output, the exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import shapely
from shapely import Polygon, union_all

from fabkit.cli import main, report
from fabkit.sets.library import load_set
from fabkit.solve.engines import ENGINES

Capture = pytest.CaptureFixture[str]

FIELDS = ["schema", "set", "challenge", "status", "count", "count_labelled", "count_at_least",
          "count_up_to_symmetry", "unique", "engine", "nodes", "seconds", "reason",
          "solutions"]  # fmt: skip
QUESTIONS = ("--first", "--count", "--all", "--unique")
UNABLE = {("count", "--first"), ("count", "--all"), ("mip", "--count")}
pytestmark = pytest.mark.usefixtures("empty_folder")


def solve(capsys: Capture, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON document, and what stands on standard error."""
    code = main(["solve", *arguments, "--json"])
    output = capsys.readouterr()
    document = json.loads(output.out)
    if "--starts" not in arguments:
        assert [key for key in document if key != "difficulty"] == FIELDS
        assert 0 <= document.pop("seconds") < 300
        assert isinstance(document["nodes"], int)
        assert isinstance(document["engine"], str)
    return code, document, output.err


def picked(document: dict[str, Any]) -> list[Any]:
    """What is known: status, the four counts, unique, and how many solutions are listed."""
    return [*(document[key] for key in FIELDS[3:9]), len(document["solutions"])]


def covers(document: dict[str, Any], region: Any) -> bool:
    """Whether every solution that is listed is one: looked at without the solver's code."""
    pieces = {piece.id for piece in load_set(document["set"]).pieces}
    for solution in document["solutions"]:
        assert solution.keys() <= pieces
        if isinstance(region, Polygon):
            parts = [Polygon(outline) for outline in solution.values()]
            assert sum(part.area for part in parts) == region.area
            assert union_all(parts).equals(region)
        else:
            cells = [tuple(cell) for cells in solution.values() for cell in cells]
            assert sorted(cells) == sorted(region)
    return True


# --- what is asked, and what is known then
# ---------------------------------------------------------

SQUARE = Polygon([(0, 0), (3, 0), (3, 3), (0, 3)])


@pytest.mark.parametrize(
    ("challenge", "expected"),
    [
        (
            "square_01",
            {
                "--first": [0, "solved", None, None, 1, None, None, 1],
                "--count": [0, "solved", 4, 4, None, 1, False, 0],
                "--all": [0, "solved", 4, 4, None, 1, False, 4],
                "--unique": [1, "solved", None, None, 2, None, False, 2],
            },
        ),
        (
            "square_02",
            {
                "--count": [0, "solved", 84, 168, None, 21, False, 0],
                "--all": [0, "solved", 84, 168, None, 21, False, 84],
            },
        ),
        ("triangle_01", {"--unique": [0, "solved", 1, 1, None, 1, True, 1]}),
        ("rectangle_02_b", {one: [1, "impossible", 0, 0, None, 0, False, 0] for one in QUESTIONS}),
    ],
)
def test_fridgeiq_for_scripts(
    challenge: str, expected: dict[str, list[Any]], capsys: Capture
) -> None:
    """The pieces lie as outlines in grid units; identical ones count as interchangeable."""
    for question, found in expected.items():
        code, document, _ = solve(capsys, "fridgeiq", challenge, question)
        assert [code, *picked(document)] == found
        assert (document["set"], document["challenge"]) == ("fridgeiq", challenge)
        if challenge == "square_01":
            assert covers(document, SQUARE)


@pytest.mark.parametrize(
    ("name", "rows", "count", "orbits"),
    [
        ("iqblock", [8] * 8, 48, 6),
        ("cubimagici", [7] * 7, 816, 102),
        ("iqstars", [7, 6, 7, 6], 381, 381),
        ("iqfit", [10] * 5, 301_350, 150_675),
    ],
)
def test_boards_for_scripts(
    name: str, rows: list[int], count: int, orbits: int, capsys: Capture
) -> None:
    """The pieces lie as cells by row and column."""
    region = [(row, col) for row, length in enumerate(rows) for col in range(length)]
    expected = {
        "--first": [0, ["solved", None, None, 1, None, None, 1]],
        "--count": [0, ["solved", count, count, None, orbits, False, 0]],
        "--unique": [1, ["solved", None, None, 2, None, False, 2]],
    }
    if count < 1000:
        expected["--all"] = [0, ["solved", count, count, None, orbits, False, count]]
    for question, found in expected.items():
        code, document, _ = solve(capsys, name, question)
        assert [code, picked(document)] == found
        assert covers(document, region)
        listed = [json.dumps(solution) for solution in document["solutions"]]
        assert len(set(listed)) == len(listed)


def test_an_infeasible_challenge_is_reported(capsys: Capture) -> None:
    Path("mine.json").write_text('{"board": "square", "pieces": ["0", "1"]}')
    code, document, stderr = solve(capsys, "iqblock", "--file", "mine.json")
    assert (code, document["status"], document["engine"]) == (1, "impossible", "presolve")
    assert document["reason"] == (
        "the region has 64 cells, but the pieces cover 16; with --leftover cells may stay uncovered"
    )
    assert stderr == f"mine: no solution: {document['reason']}\n"


def test_a_limit_ends_the_list(capsys: Capture) -> None:
    code, document, _ = solve(capsys, "fridgeiq", "square_02", "--all", "--limit", "5")
    assert (code, picked(document)) == (0, ["solved", None, None, 5, None, False, 5])
    for most in ("85", "0085"):
        code, document, _ = solve(capsys, "fridgeiq", "square_02", "--all", "--limit", most)
        assert (code, picked(document)) == (0, ["solved", 84, 168, None, 21, False, 84])


def test_cells_may_be_left_over(capsys: Capture) -> None:
    Path("mine.json").write_text(json.dumps({"pieces": ["0"], "cells": [*range(5), *range(8, 13)]}))
    arguments = ["iqblock", "--file", "mine.json", "--count"]
    code, document, _ = solve(capsys, *arguments)
    assert (code, document["status"]) == (1, "impossible")
    code, document, _ = solve(capsys, *arguments, "--leftover")
    assert (code, document["status"]) == (0, "solved")
    _, by_sat, _ = solve(capsys, *arguments, "--leftover", "--engine", "sat")
    assert document["count"] == by_sat["count"]


# --- engines and budgets
# ---------------------------------------------------------------------------


#: Those of other processes, which take a second to start; tests/solve has them, too.
LIBRARIES = ("cp-sat", "mip", "sat")
MORE = [(engine, "triangle_01", 1) for engine in ENGINES]


@pytest.mark.parametrize(
    ("engine", "challenge", "expected"),
    [(engine, "square_01", 4) for engine in ENGINES]
    + [(engine, "rectangle_02_b", 0) for engine in ENGINES if engine not in LIBRARIES]
    + [
        pytest.param(engine, "rectangle_02_b", 0, marks=pytest.mark.integration)
        for engine in LIBRARIES
    ]
    + [pytest.param(*one, marks=pytest.mark.long) for one in MORE],
)
def test_every_engine_gives_the_same_answers(
    engine: str, challenge: str, expected: int, capsys: Capture
) -> None:
    for question in QUESTIONS:
        if (engine, question) in UNABLE:
            continue
        arguments = ["fridgeiq", challenge, question]
        code, document, _ = solve(capsys, *arguments, "--engine", engine)
        plain_code, plain, _ = solve(capsys, *arguments)
        assert code == plain_code
        assert document["engine"].startswith(engine)
        assert (document["status"], document["unique"]) == (plain["status"], plain["unique"])
        if question in ("--count", "--all"):
            assert document["count"] == expected
        if question == "--all":
            listed = sorted(map(json.dumps, document["solutions"]))
            assert listed == sorted(map(json.dumps, plain["solutions"]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("budget", ["0", pytest.param("0.05", marks=pytest.mark.long)])
def test_a_spent_budget_never_means_impossible(engine: str, budget: str, capsys: Capture) -> None:
    """What is reported is certain: nothing, or what was found until then."""
    for question in QUESTIONS:
        if (engine, question) in UNABLE:
            continue
        arguments = ["fridgeiq", "square_10", question, "--engine", engine, "--budget", budget]
        arguments += ["--limit", "100"] if question == "--all" else []
        code, document, _ = solve(capsys, *arguments)
        assert document["status"] in ("solved", "unknown")
        assert document["count"] is None
        assert document["unique"] in (None, False)
        assert (document["status"] == "solved") == (document["count_at_least"] is not None)
        enough = {"--first": 1, "--all": 100}.get(question)
        assert (code == 0) == (len(document["solutions"]) == enough)


def test_what_is_found_in_time_is_reported(capsys: Capture) -> None:
    assert main(["solve", "iqstars", "--all", "--budget", "0"]) == 1
    output = capsys.readouterr().out
    assert re.search(r"^board: at least (\d+ solutions|one solution; .*)$", output, re.MULTILINE)
    assert main(["solve", "iqstars", "--first", "--engine", "sat", "--budget", "0"]) == 1
    expected = "board: unknown: time limit reached before a solution was found\n"
    assert capsys.readouterr().out == expected


# --- for people
# ------------------------------------------------------------------------------------


def test_how_many_copies_are_used_is_not_always_known(tmp_path: Path, capsys: Capture) -> None:
    """Of more equal pieces than are needed, named ones make as many solutions as nobody counts."""
    (tmp_path / "mine.toml").write_text(
        'set = { name = "mine", lattice = "square", moves = "rotations" }\n'
        'piece = [{ id = "D", count = 4, rows = ["XX"] }]\n'
        'challenge = [{ id = "oblong", outline = [[0, 0], [3, 0], [3, 2], [0, 2]], '
        "pieces_count = 3 }]\n"
    )
    assert main(["solve", str(tmp_path / "mine.toml"), "oblong", "--count"]) == 0
    assert capsys.readouterr().out == "oblong: 3 solutions, 2 up to symmetry\n"


def test_the_answer_in_words(capsys: Capture) -> None:
    assert main(["solve", "fridgeiq", "square_02", "--count"]) == 0
    expected = (
        "square_02: 84 solutions, 21 up to symmetry (168 with identical pieces distinguished)\n"
    )
    assert capsys.readouterr().out == expected
    assert main(["solve", "fridgeiq", "square_01", "--unique"]) == 1
    assert "square_01: not unique: the second solution is a rotation of the first" in (
        capsys.readouterr().out
    )
    assert main(["solve", "fridgeiq", "rectangle_02_b", "-v"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"rectangle_02_b: no solution \(search exhausted, \d+ nodes\)", lines[0])
    assert re.fullmatch(r"engine search, \d+ nodes, \d+\.\d\d s", lines[1])


TWO_WAYS = """
set = { name = "mine", lattice = "square", moves = "rotations" }
piece = [
  { id = "L", rows = ["XXX", "X.."] }, { id = "J", rows = ["XXX", "..X"] },
  { id = "D", rows = ["XX"] }, { id = "I", rows = ["XXX"] },
]
board = [{ id = "tray", size = [3, 3] }]
challenge = [
  { id = "mirror", pieces = "LJD", cells = [
      [0, 0], [0, 4], [1, 0], [1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [2, 3] ] },
  { id = "given", pieces = "LDI", given = [{ piece = "I", cells = [0, 1, 2] }] },
]
"""


@pytest.mark.parametrize(
    ("challenge", "move"),
    [
        ("mirror", "rotation or reflection of the first"),  # L and J change places
        ("given", "rotation of the first, within the free cells"),  # the board's would turn I, too
    ],
)
def test_a_second_solution_may_be_an_image_of_the_first(
    challenge: str, move: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "mine.toml").write_text(TWO_WAYS)
    assert main(["solve", str(tmp_path / "mine.toml"), challenge, "--unique"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{challenge}: not unique: the second solution is a {move}"


def test_an_impossible_challenge_has_no_difficulty(capsys: Capture) -> None:
    assert main(["solve", "fridgeiq", "rectangle_02_b", "--difficulty"]) == 1
    output = capsys.readouterr()
    assert (output.out.count("\n"), output.err) == (1, "")


def picture_and_solution(capsys: Capture, *arguments: str) -> tuple[list[str], dict[str, Any]]:
    """The picture of a solution, and the same solution from the JSON document."""
    assert main(["solve", *arguments, "--json"]) == 0
    solution = json.loads(capsys.readouterr().out)["solutions"][0]
    assert main(["solve", *arguments]) == 0
    return capsys.readouterr().out.split("\n\n")[0].splitlines(), solution


@pytest.mark.parametrize("name", ["iqfit", "iqstars", "iqblock", "cubimagici"])
def test_a_picture_has_a_letter_for_each_cell(name: str, capsys: Capture) -> None:
    lines, solution = picture_and_solution(capsys, name)
    labels = {piece.id: piece.label for piece in load_set(name).pieces}
    found: dict[str, set[tuple[int, int]]] = {}
    for row, line in enumerate(lines):
        shift = row % 2 if name == "iqstars" else 0
        assert not line[:shift].strip()
        assert not line[shift + 1 :: 2].strip()
        for col, letter in enumerate(line[shift::2]):
            found.setdefault(letter, set()).add((row, col))
    assert found == {labels[piece]: {*map(tuple, cells)} for piece, cells in solution.items()}


def test_uncovered_cells_are_dots_in_a_picture(capsys: Capture) -> None:
    Path("three.toml").write_text('pieces = ["red", "yellow", "pink"]\nboard = "board"\n')
    lines, solution = picture_and_solution(capsys, "iqstars", "--file", "three.toml", "--leftover")
    assert [len(line.split()) for line in lines] == [7, 6, 7, 6]
    assert "".join(lines).count("·") == 26 - sum(map(len, solution.values()))


def test_only_some_solutions_are_drawn(capsys: Capture) -> None:
    assert main(["solve", "fridgeiq", "square_01", "--all"]) == 0
    output = capsys.readouterr().out
    assert output.count("\n\n") == 3
    assert "… and 1 more, with --json" in output


@pytest.mark.parametrize("challenge", ["triangle_03", "square_01", "rectangle_10_b"])
def test_quarter_squares_are_drawn_as_letters(challenge: str, capsys: Capture) -> None:
    """Each letter is that of the piece which covers its place; six by three to a square."""
    lines, solution = picture_and_solution(capsys, "fridgeiq", challenge)
    shapes = {piece: shapely.Polygon(ring) for piece, ring in solution.items()}
    left, low, right, high = shapely.union_all(list(shapes.values())).bounds
    assert (len(lines), max(map(len, lines))) == (3 * (high - low), 6 * (right - left))
    for row, line in enumerate(lines):
        for col, letter in enumerate(line.ljust(int(6 * (right - left)))):
            point = shapely.Point(left + (col + 0.5) / 6, high - (row + 0.5) / 3)
            there = [piece for piece, shape in shapes.items() if shape.contains(point)]
            assert [letter] == (there or [" "]), (row, col)


def test_a_large_picture_is_drawn_smaller(capsys: Capture, tmp_path: Path) -> None:
    """And a piece whose label is no letter of its own gets one; an id of one letter stays."""
    pieces = "".join(
        f'[[piece]]\nid = "{name}"\noutline = [[0, 0], [{wide}, 0], [{wide}, 1], [0, 1]]\n'
        for name, wide in (("alpha", 10), ("alto", 9), ("A", 1))
    )
    head = '[set]\nname = "wide"\nlattice = "quarter-square"\nmoves = "rotations"\n'
    board = '[[board]]\nid = "b"\noutline = [[[0, 0], [20, 0], [20, 1], [0, 1]]]\n'
    (tmp_path / "wide.toml").write_text(head + pieces + board)
    assert main(["solve", str(tmp_path / "wide.toml")]) == 0
    first, second, *legend = capsys.readouterr().out.splitlines()[:4]
    assert first == second
    assert {letter: first.count(letter) for letter in first} == {"a": 40, "l": 36, "A": 4}
    assert legend == ["a is alpha", "l is alto"]


def test_long_work_is_reported_line_by_line(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, when that is no terminal; here without two seconds between lines."""
    monkeypatch.setattr(report, "_SECONDS_BETWEEN_LINES", 0.0)
    for engine in ("search", "count", "sat"):
        assert main(["solve", "fridgeiq", "square_02", "--count", "--engine", engine]) == 0
        lines = capsys.readouterr().err.splitlines()
        shares = [float(line.removesuffix("% of the search")) for line in lines]
        assert shares == sorted(shares)
        assert shares[-1] == 100
    assert main(["solve", "fridgeiq", "square_02", "--count", "-q"]) == 0
    assert capsys.readouterr().err == ""


# --- starts
# ----------------------------------------------------------------------------------------


def test_starts_of_iqstars(capsys: Capture) -> None:
    code, document, stderr = solve(capsys, "iqstars", "--starts")
    assert (code, document["status"], document["count"]) == (0, "solved", 381)
    placements, clues = document["placements"], document["clues"]
    numbers = [[each[key] for key in ("total", "possible", "unique", "fewest")]
               for each in (placements, clues)]  # fmt: skip
    assert numbers == [[423, 293, 32, 1], [182, 181, 0, 2]]
    assert len(placements["each"]) == 423
    assert [one for one in clues["each"] if one["count"] < 3] == [
        {"piece": "indigo", "cells": [[2, 0]], "count": 2},
        {"piece": "indigo", "cells": [[2, 6]], "count": 0},
    ]
    assert "starts with one placed piece: 423, of which 293 have a solution" in stderr
    assert "  with exactly one solution: 32\n" in stderr
    bare, odd = "    · · · · · · ·\n", "     · · · · · ·\n"
    assert f"  with the fewest, 2 solutions: 1\n{bare}{odd}    I · · · · · ·\n{odd}" in stderr
    assert f"  without a solution: 1\n{bare}{odd}    · · · · · · I\n{odd}" in stderr


def test_starts_tell_quarters_of_squares_apart(capsys: Capture) -> None:
    code, document, stderr = solve(capsys, "fridgeiq", "triangle_01", "--starts")
    assert (code, document["count"]) == (0, 1)
    for each in (document["placements"]["each"], document["clues"]["each"]):
        assert len({json.dumps(one) for one in each}) == len(each)
    clues = document["clues"]
    assert [clues[key] for key in ("total", "possible", "unique")] == [3 * 18, 18, 18]
    assert all(Polygon(one["outline"]).area == 0.25 for one in clues["each"])
    first = stderr.split("with exactly one solution: 3\n")[1].split("\n\n")[0].splitlines()
    assert first[-1].split() == ["·" * 17, "·" * 11 + "Y" * 6, "I" * 11 + "·" * 6]


# --- the same again, and unsafe names
# ---------------------------------------------------------------


def process(folder: Path, seed: str, *arguments: str) -> tuple[str, dict[str, bytes]]:
    """What a process prints, without its seconds, and the files it leaves."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "fabkit", "solve", *arguments],
        capture_output=True, text=True, check=True, cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    output = re.sub(r'"seconds": [\d.]+', "", done.stdout)
    return output, {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.integration
@pytest.mark.parametrize(
    "arguments",
    [
        ["fridgeiq", "triangle_01", "--unique", "--certificate", "t.json", "--cnf", "t.cnf"],
        ["fridgeiq", "square_02", "--all", "--svg", "s.svg"],
        ["iqstars", "--starts"],
        ["iqblock", "--difficulty"],
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_the_same_again_in_another_process(arguments: list[str], tmp_path: Path) -> None:
    runs = [process(tmp_path / seed, seed, *arguments, "--json") for seed in ("1", "2")]
    assert runs[0] == runs[1]


UNSAFE = {
    "[bold red]hi[-bold].json": "bold-red-hi-bold",
    "\x1b[31mred.json": "31mred",
    "<b>&amp;.json": "b-amp",
    "\u202eevil\n.json": "evil",
}


def test_a_file_with_an_unsafe_name_is_shown_safely(capsys: Capture) -> None:
    for name, shown in UNSAFE.items():
        Path(name).write_text('{"pieces": ["0"], "cells": [0, 1, 2, 3, 8, 9, 10, 11]}')
        assert main(["solve", "iqblock", "--file", name, "--svg", "s.svg", "--count"]) in (0, 1)
        output = capsys.readouterr()
        assert output.out.startswith(f"{shown}: ")
        assert all(line.isprintable() for line in (output.out + output.err).splitlines())
        assert shown in Path("s.svg").read_text()
