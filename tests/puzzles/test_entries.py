"""Entries: what booklet and page show is what the sets and files say, held against shapely."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from shapely.affinity import translate

from fabkit.build.artifacts import Artifacts
from fabkit.build.booklet import BookletFile, BookletOptions
from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.entry import LEVELS
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Entry
from fabkit.output.i18n import load_messages
from fabkit.output.numbering import number_challenges
from fabkit.output.web.playdata import play_data
from fabkit.profiles.profile_file import load_profile
from fabkit.puzzles.entries import NothingToShowError, Selection, gather, select_solved
from fabkit.sets.catalog import catalog_records
from fabkit.sets.library import load_set
from tests.conftest import ROOT
from tests.support.built import built
from tests.support.catalogs import snowflakes_of
from tests.support.drawings import snowflakes
from tests.support.snowflakes import area_of
from tests.support.trioset import TRIO

FRIDGEIQ = load_set("fridgeiq")
#: One of each parity, the last of which needs flips.
FEW = ("even4-0057708264", "odd3-050283cb59", "mixed1-3-2910d98921")


# --- the shipped catalog, by shapely
# ----------------------------------------------------------------


def drawn(entry: Entry, cells: Iterable[Cell]) -> Any:
    """Cells of the quarter-square lattice as shapely has them, in grid units."""
    steps = 6 * entry.halves
    rings = [np.array(FRIDGEIQ.lattice.ring(cell)) / steps for cell in sorted(cells)]
    return shapely.union_all(shapely.polygons(rings), grid_size=1 / 12)


def test_snowflakes_lie_as_the_catalog_draws_them() -> None:
    entries, stated = snowflakes(), snowflakes_of("fridgeiq")
    assert [entry.challenge.id for entry in entries] == [expected["id"] for expected in stated]
    assert Counter(entry.halves for entry in entries) == {1: 134, 2: 12}
    for place, (entry, expected) in enumerate(zip(entries, stated, strict=True)):
        challenge = entry.challenge
        result = expected["result"]
        solution = entry.solution
        # The cells of the pieces are as many as the region's, and the same: they cover it exactly.
        covered = Counter(cell for cells in solution.values() for cell in cells)
        assert covered == Counter(challenge.region)
        assert (challenge.flips, challenge.given) == (expected["flips"], ())
        assert (entry.parity, entry.result.count) == (expected["parity"], result["count"])
        assert entry.result.status == "solved"
        assert entry.result.count_complete == result["count_complete"]
        assert (entry.level, entry.score) == (result["level"], result["difficulty"]["score"])
        if place % 29 == 0:
            shift = 0.5 if entry.parity == "odd" else 0.0
            pairs = [(challenge.region, expected["frame"])]
            pairs += [(solution[piece], cells) for piece, cells in result["solution"].items()]
            for cells, frame in pairs:
                area = translate(area_of(frame, entry.parity, "quarter-square"), shift, shift)
                difference = drawn(entry, cells).symmetric_difference(area, grid_size=1 / 12)
                assert difference.area < 1e-9


def test_a_set_of_other_pieces_has_no_catalog(tmp_path: Path) -> None:
    path, text = tmp_path / "fridgeiq.toml", (ROOT / "pieces/fridgeiq.toml").read_text()
    other = text.replace("[[0, 0], [2, 0], [1, 1]]", "[[0, 0], [2, 0], [0, 2]]")
    for content, count in (
        (text + "\n# mine\n", len(snowflakes_of("fridgeiq"))),
        (other.replace("area = 40\n", ""), 0),
    ):
        path.write_text(content)
        assert len(catalog_records(load_set(str(path)), "snowflake")) == count


# --- what is there
# ----------------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "challenge"),
    [
        ("iqstars", "board"),
        ("iqfit", "board"),
        ("fridgeiq", "square_06"),
    ],
)
def test_the_rating_is_that_of_solve(
    name: str, challenge: str, run_json: Callable[..., Any]
) -> None:
    (entry,) = gather(load_set(name), Selection(only=(challenge,)))
    rating = run_json("solve", name, challenge, "--difficulty")["difficulty"]
    assert (entry.level, entry.score) == (rating["level"], rating["score"])
    count = run_json("solve", name, challenge, "--count")["count"]
    assert (entry.result.count, entry.result.count_complete) == (count, True)


@pytest.mark.parametrize(
    ("name", "challenge"), [("iqfit", "start-042"), ("tangram", "start-030"), ("iqblock", "square")]
)
def test_the_level_is_the_same_everywhere(
    name: str, challenge: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    puzzle = load_set(name)
    entries = gather(puzzle, Selection(only=(challenge,)))
    (page,) = play_data(puzzle, entries, 20.0)["entries"]
    (booklet,) = number_challenges(puzzle, entries, load_messages("booklet", "en"))
    (card,) = run_json("cards", name, challenge, "--no-templates", "-o", str(tmp_path))["cards"]
    solved = run_json("solve", name, challenge, "--difficulty")["difficulty"]
    shown = run_json("show", name, "--challenge", challenge)
    levels = [page["level"], booklet.level, card["level"], shown["level"], solved["level"]]
    assert len({*levels}) == 1
    assert levels[0] in LEVELS


def test_a_board_is_there_once_and_an_optional_one_when_it_is_named() -> None:
    """Also if the set has it as a challenge."""
    block = load_set("iqblock")
    steps: list[tuple[float, str]] = []
    entry, *starts = gather(block, progress=lambda *step: steps.append(step))
    assert {one.kind for one in starts} == {"start"}
    # Starting positions come with their solutions.
    assert steps == [(0.0, "0/1 square"), (1.0, "")]
    assert (entry.kind, entry.challenge.region) == ("board", block.boards[0].cells)
    assert entry.challenge.pieces == tuple(piece.id for piece in block.pieces)
    selection = Selection(only=("tray", "square_01"))
    entries = gather(FRIDGEIQ, selection)
    assert [(one.challenge.id, one.kind, one.result.status) for one in entries] == [
        ("tray", "board", "impossible"),
        ("square_01", "challenge", "solved"),
    ]
    with pytest.raises(InputError, match="tray has no solution; omit it"):
        select_solved(FRIDGEIQ, entries, selection)
    with pytest.raises(InputError, match=r'no challenge "sqare".*did you mean "square"'):
        gather(block, Selection(only=("square", "sqare")))


def test_what_is_not_solved_in_time_is_reported_and_nothing_to_do_is_refused(
    tmp_path: Path,
) -> None:
    puzzle, selection = load_set("iqfit"), Selection(only=("board",), budget_s=0)
    entries = gather(puzzle, selection)
    assert [entry.result.status for entry in entries] == ["unknown"]
    with pytest.raises(InputError, match="was not solved within the time limit; omit it, or raise"):
        select_solved(puzzle, entries, selection)
    with pytest.raises(NothingToShowError, match="no challenge has a known solution"):
        select_solved(puzzle, entries, Selection())
    path = tmp_path / "mine.toml"
    path.write_text(TRIO[: TRIO.index("[[board]]")])
    with pytest.raises(NothingToShowError, match="has no challenge and no board; give a challenge"):
        gather(load_set(str(path)))


# --- files
# ------------------------------------------------------------------------------------------


def catalog(tmp_path: Path, change: Callable[[list[dict[str, Any]]], Any] | None = None) -> Path:
    """A catalog of a few snowflakes, changed."""
    stated = {entry["id"]: entry for entry in snowflakes_of("fridgeiq")}
    entries = deepcopy([stated[name] for name in FEW])
    if change is not None:
        change(entries)
    path = tmp_path / "snowflakes.json"
    head = {"schema": 1, "set": "fridgeiq", "complete": [], "unknown": []}
    path.write_text(json.dumps(head | {"challenges": entries}))
    return path


def of_catalog(*arguments: Any) -> list[Entry]:
    return gather(FRIDGEIQ, Selection(files=(catalog(*arguments),)))


def solution_of(entry: dict[str, Any]) -> dict[str, Any]:
    solution: dict[str, Any] = entry["result"]["solution"]
    return solution


def changed(entry: dict[str, Any], change: Callable[[int, int], list[int]], *pieces: str) -> None:
    solution = solution_of(entry)
    for piece in pieces or solution:
        solution[piece] = [change(*point) for point in solution[piece]]


def right(x: int, y: int) -> list[int]:
    return [x + 6, y]


def swap(entry: dict[str, Any]) -> None:
    solution = solution_of(entry)
    solution["A"], solution["L"] = solution["L"], solution["A"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: swap(e[0]), r"challenges\[0\]\.result\.solution: piece [AL] has another shape"),
        (
            lambda e: changed(e[1], right, "Q"),
            r"ges\[1\]\.result\.solution: pieces . and . overlap",
        ),
        (
            lambda e: changed(e[2], lambda x, y: [x + 12, y], "B"),
            r"ges\[2\]\.result\.solution: pieces . and . overlap",
        ),
        (lambda e: solution_of(e[0]).pop("U"), r"solution: it does not use the pieces"),
        (lambda e: solution_of(e[0]).update(Z=[[3, 1]]), 'there is no piece "Z"'),
        (lambda e: e[0].update(frame=[]), "expected a list of 1 to 10000 cells"),
        (lambda e: e[0]["frame"].pop(), "it does not cover the region exactly"),
        (lambda e: e[0]["frame"].append([3, 2]), r"frame\[160\]: \[3, 2\] is not a cell"),
        (lambda e: solution_of(e[0]).update(A=[[10**400, 0]]), r"A\[0\]: expected \[x, y\], whole"),
        (lambda e: solution_of(e[0]).update(A=[[0.5, 1]]), r"A\[0\]: expected \[x, y\], whole"),
        (lambda e: e[0].update(outlines=[]), "is of an older fabkit; make it again with `fabkit"),
        (lambda e: e[0]["result"].update(status="impossible"), "but there is a solution"),
        (lambda e: e[0].update(id="../up"), "not safe as a file name"),
        (lambda e: e[0].update(id=e[1]["id"]), "is listed twice"),
        (lambda e: e[0].update(parity="odder"), 'did you mean "odd"'),
        (lambda e: e[0]["result"].update(count=-1), r"challenges\[0\]\.result\.count: is -1"),
        (
            lambda e: e[0]["result"].update(level="<b>"),
            r'"<b>" is not a valid value; expected "starter"',
        ),
        (lambda e: e[0]["result"].update(difficulty={"score": "9"}), "score: expected a number"),
        (lambda e: e[0]["result"].update(difficulty={"score": 1e300}), "score: is"),
        (lambda e: e.clear(), "holds no challenges"),
    ],
)
def test_a_wrong_catalog_is_refused(
    change: Callable[[list[dict[str, Any]]], Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        of_catalog(tmp_path, change)


def test_a_catalog_file_is_read(tmp_path: Path) -> None:
    """A mirrored solution needs flips, and an unknown rating is none."""
    assert of_catalog(tmp_path) == [one for one in snowflakes() if one.challenge.id in FEW]

    def mirror(entries: list[dict[str, Any]], flips: bool = False) -> None:
        changed(entries[0], lambda x, y: [-x, y])
        entries[0]["flips"] = flips

    def without_rating(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            del entry["result"]["level"], entry["result"]["difficulty"]

    with pytest.raises(
        InputError, match=r"has another shape under the allowed moves \(rotations\)"
    ):
        of_catalog(tmp_path, mirror)
    assert of_catalog(tmp_path, lambda entries: mirror(entries, True))[0].challenge.flips
    assert {(one.level, one.score) for one in of_catalog(tmp_path, without_rating)} == {("", None)}


def start(folder: Path) -> Path:
    """A challenge file: one piece of IQ Stars lies on its board."""
    path = folder / "mine.toml"
    cells = "[0, 4], [0, 5], [0, 6], [1, 4]"
    path.write_text(f'title = "Mine"\ngiven = [{{ piece = "yellow", cells = [{cells}] }}]\n')
    return path


def test_challenge_files_and_lists_are_read_together(tmp_path: Path) -> None:
    """A list of starting positions as the command writes it; in the output folder it counts, too."""

    def make(folder: Path) -> None:
        assert main(["challenges", "iqstars", "--count", "3", "-o", str(folder), "-q"]) == 0

    made = (built("starts-iqstars", make) / "challenges.json").read_text()
    stars, path = load_set("iqstars"), tmp_path / "challenges.json"
    path.write_text(made)
    entries = gather(stars, Selection(files=(start(tmp_path), path)))
    assert [(one.challenge.id, one.challenge.name, one.kind) for one in entries] == [
        ("mine", "Mine", "start"),
        *((f"start-00{n}", f"start-00{n}", "start") for n in (1, 2, 3)),
    ]
    listed = json.loads(made)["challenges"]
    assert [
        (one.level, one.score, one.result.count, one.result.count_complete) for one in entries[1:]
    ] == [(one["result"]["level"], one["result"]["difficulty"]["score"], 1, True) for one in listed]
    for one in entries:
        assert one.solution
        assert [one.solution[given.piece] for given in one.challenge.given] == [
            g.cells for g in one.challenge.given
        ]
    # Of a list in the output folder they keep apart from those that come with the set.
    shipped = [one["id"] for one in catalog_records(stars)]
    for name in ("start-003", "board"):
        path.write_text(made.replace('"start-003"', f'"{name}"'))
        made_ids = ["made-start-001", "made-start-002", f"made-{name}"]
        found = [one.challenge.id for one in gather(stars, folder=tmp_path)]
        assert found == ["board", *made_ids, *shipped]


def test_a_list_that_changes_while_its_booklet_is_made_makes_it_stale(tmp_path: Path) -> None:
    path = start(tmp_path)
    options = BookletOptions(Selection(files=(path,)), picture=False)
    stars = load_set("iqstars")
    booklets = [
        BookletFile(Artifacts(stars, (), load_profile()), tmp_path, options, always=False)
        for _ in range(3)
    ]
    booklets[0].begin()
    path.write_text(path.read_text().replace("Mine", "Yours"))
    assert [booklet.update() is None for booklet in booklets] == [False, False, True]


BARS = """
set = { name = "bars", lattice = "square", moves = "rotations" }
piece = [{ id = "A", cells = [[0, 0], [0, 1]] }, { id = "B", cells = [[0, 0]] }]
board = [{ id = "tray", cells = [[0, 0], [1, 0], [2, 0]] }]
challenge = [{ id = "a", cells = [[0, 0], [0, 1], [0, 2]] }]
"""


def listed(folder: Path, set_name: str, pieces: dict[str, str]) -> Path:
    """A list with a challenge for each of the ids: to cover a piece's own outline."""
    outlines = {"A": [[0, 0], [2, 0], [2, 1], [0, 1]], "B": [[0, 0], [1, 0], [1, 1], [0, 1]]}
    outlines["Q"] = [[0, 0], [2, 0], [2, 2], [0, 2]]
    challenges = [
        {"id": name, "outline": outlines[piece], "pieces": [piece]}
        for name, piece in pieces.items()
    ]
    folder.mkdir(parents=True)
    document = {"schema": 1, "set": set_name, "challenges": challenges}
    (folder / "challenges.json").write_text(json.dumps(document))
    return folder


def test_no_two_challenges_have_one_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also not with a name that a listed one was given, or that of a board."""
    monkeypatch.chdir(tmp_path)
    Path("bars.toml").write_text(BARS)
    folder = listed(tmp_path / "output/bars", "bars", {"a": "A", "made-a": "B", "tray": "B"})
    entries = gather(load_set("bars.toml"), folder=folder)
    assert [(one.challenge.id, one.kind, len(one.challenge.pieces)) for one in entries] == [
        ("tray", "board", 2),
        ("a", "challenge", 2),
        ("made-a", "challenge", 1),
        ("made-made-a", "challenge", 1),
        ("made-tray", "challenge", 1),
    ]
    assert main(["show", "bars.toml", "--challenge", "made-a"]) == 0
    assert "made-a" in capsys.readouterr().out
    # A board keeps its name beside a listed one that asks the same.
    challenge = {"id": "tray", "board": "tray", "pieces": ["A", "B"]}
    document = {"schema": 1, "set": "bars", "challenges": [challenge]}
    (tmp_path / "challenges.json").write_text(json.dumps(document))
    found = gather(load_set("bars.toml"), folder=tmp_path)
    assert [one.challenge.id for one in found if one.kind == "board"] == ["made-tray", "tray"]


@pytest.mark.integration
def test_a_snowflake_s_id_is_its_own(tmp_path: Path) -> None:
    flake = FEW[0]
    folder = listed(tmp_path / "out", "fridgeiq", {flake: "Q"})
    selection = Selection(only=(flake, f"made-{flake}"))
    assert [(one.challenge.id, one.kind) for one in gather(FRIDGEIQ, selection, folder)] == [
        (f"made-{flake}", "challenge"),
        (flake, "snowflake"),
    ]
    # What a set says of itself comes before its catalog, as for `fabkit solve`.
    path = tmp_path / "mine.toml"
    text = (ROOT / "pieces/fridgeiq.toml").read_text()
    path.write_text(text.replace('id = "square_01"', f'id = "{flake}"'))
    (own,) = gather(load_set(str(path)), Selection(only=(flake,)))
    assert (own.kind, len(own.challenge.pieces)) == ("challenge", 4)


def test_balls_lie_on_one_lattice(tmp_path: Path) -> None:
    fit = load_set("iqfit")
    piece = fit.pieces[0]
    frame = sorted(map(list, piece.forms[0].cells))
    result = {"solution": {piece.id: frame}, "count": 1}
    entry = {"id": "m", "parity": "mixed", "pieces": [piece.id], "frame": frame, "result": result}
    document = {"schema": 1, "set": "iqfit", "complete": [], "challenges": [entry]}
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r'\[0\]\.parity: is "mixed".* expected "even" or "odd"'):
        gather(fit, Selection(files=(path,)))


def test_files_that_do_not_do_are_refused(tmp_path: Path) -> None:
    stars, block = load_set("iqstars"), load_set("iqblock")
    mine, again = start(tmp_path), tmp_path / "again"
    again.mkdir()
    with pytest.raises(
        InputError, match=r'"mine" is also in .*mine\.toml; give only one of the files'
    ):
        gather(stars, Selection(files=(mine, start(again))))
    with pytest.raises(InputError, match="there is no such file"):
        gather(stars, Selection(files=(tmp_path / "none.json",)))
    with pytest.raises(InputError, match="is a folder"):
        gather(stars, Selection(files=(again,)))
    with pytest.raises(InputError, match='contains challenges of "fridgeiq", not of "iqblock"'):
        gather(block, Selection(files=(catalog(tmp_path),)))
    odd = tmp_path / "odd.json"
    odd.write_text('{"schema": 1, "set": "iqstars", "challenges": 5}')
    with pytest.raises(InputError, match=r"expected tables \[\[challenges\]\]"):
        gather(stars, Selection(files=(odd,)))
