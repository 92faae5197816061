"""The drawing of a challenge and its solution: what is drawn is what is covered."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from shapely import Polygon, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.model.challengeload import find_challenge
from fabkit.model.library import load_set
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.model.setfile import read_set
from fabkit.sheet.challenge import challenge_sheet
from fabkit.solve.engines.engine import Effort
from fabkit.solve.engines.oracle import Oracle
from fabkit.solve.posing import Layout, pose
from tests.published import iqfit_samples, iqstars_samples

SVG = "{http://www.w3.org/2000/svg}"
Drawn = tuple[PuzzleSet, Challenge, Layout]


def solved(name: str, challenge_id: str) -> Drawn:
    puzzle = load_set(name)
    challenge = find_challenge(puzzle, challenge_id)
    posed = pose(puzzle, challenge)
    found = Oracle().enumerate(posed.problem, Effort(), limit=1)
    return puzzle, challenge, posed.layout(found.solutions[0])


def drawn(name: str) -> Drawn:
    if name in ("iqfit", "iqstars"):
        sample = (iqfit_samples() if name == "iqfit" else iqstars_samples())[4]
        return sample.puzzle, sample.challenge, sample.expected
    return solved(*name.split(" "))


CHALLENGES = (
    "fridgeiq square_01",
    "fridgeiq triangle_05",
    "fridgeiq square_10",
    "fridgeiq rectangle_10_a",
    "iqblock square",
    "cubimagici tray",
    "iqfit",
    "iqstars",
)


@pytest.fixture(scope="module", params=CHALLENGES)
def case(request: pytest.FixtureRequest) -> Drawn:
    return drawn(request.param)


def area_of(path: ElementTree.Element) -> BaseGeometry:
    """What a path fills, under the even-odd rule."""
    assert path.get("fill-rule") == "evenodd"
    filled: BaseGeometry = Polygon()
    for ring in path.get("d", "").removesuffix("Z").split("Z"):
        corners = [tuple(map(float, c.split(" "))) for c in ring.removeprefix("M").split("L")]
        filled = filled.symmetric_difference(Polygon(corners))
    return filled


def shapes(root: ElementTree.Element, kind: str) -> list[BaseGeometry]:
    return [area_of(path) for path in root.iter(f"{SVG}path") if path.get("class") == kind]


def test_the_solution_covers_the_region_once(case: Drawn) -> None:
    puzzle, challenge, layout = case
    root = ElementTree.fromstring(challenge_sheet(puzzle, challenge, layout))
    regions, pieces = shapes(root, "region"), shapes(root, "piece")
    assert len(regions) == 2
    assert len(pieces) == len(challenge.given) + len(layout)
    asked, answered = regions
    assert asked.intersection(answered).area == 0, "the panels lie on each other"
    in_solution = pieces[len(challenge.given) :]
    assert sum(piece.area for piece in in_solution) == pytest.approx(answered.area, rel=1e-4)
    assert union_all(in_solution).area == pytest.approx(answered.area, rel=1e-4)
    for given in pieces[: len(challenge.given)]:
        assert asked.buffer(0.01).contains(given)


def test_pieces_have_the_colours_of_the_set(case: Drawn) -> None:
    puzzle, challenge, layout = case
    root = ElementTree.fromstring(challenge_sheet(puzzle, challenge, layout))
    colours = [path.get("fill") for path in root.iter(f"{SVG}path") if path.get("class") == "piece"]
    given = {one.piece for one in challenge.given}
    expected = [piece.colour for piece in puzzle.pieces if piece.id in given]
    assert colours == expected + [piece.colour for piece in puzzle.select(list(layout))]


def test_every_label_lies_well_inside_its_piece(case: Drawn) -> None:
    puzzle, challenge, layout = case
    root = ElementTree.fromstring(challenge_sheet(puzzle, challenge, layout))
    pieces, labels = shapes(root, "piece"), shapes(root, "label")
    for piece, label in zip(pieces, labels, strict=True):
        assert piece.contains(label)
        low, high = label.bounds[1], label.bounds[3]
        assert piece.exterior.distance(label) >= 0.1 * (high - low)
        assert high - low >= 3


def test_nothing_leaves_the_page_or_lies_on_the_title(case: Drawn) -> None:
    puzzle, challenge, layout = case
    root = ElementTree.fromstring(challenge_sheet(puzzle, challenge, layout, "118 solutions"))
    width, height = map(float, root.get("viewBox", "").split(" ")[2:])
    assert width <= 300
    title, summary = list(root.iter(f"{SVG}text"))[:2]
    assert summary.text
    assert summary.text.endswith("118 solutions")
    for text in root.iter(f"{SVG}text"):
        size, left = float(text.get("font-size", "")), float(text.get("x", ""))
        assert left + 0.5 * size * len(text.text or "") <= width
        assert float(text.get("y", "")) <= height - 5
    for region in shapes(root, "region"):
        left, top, right, bottom = region.bounds
        assert left >= 9.99
        assert right <= width - 9.99
        assert bottom <= height - 10
        assert top > float(summary.get("y", "")) + 3 > float(title.get("y", ""))


def test_the_same_challenge_gives_the_same_bytes(case: Drawn) -> None:
    puzzle, challenge, layout = case
    shuffled = dict(sorted(layout.items(), key=lambda one: one[0][::-1]))
    once = challenge_sheet(puzzle, challenge, layout, "1 solution")
    assert once == challenge_sheet(puzzle, challenge, shuffled, "1 solution")


def test_a_challenge_alone_fills_a_page_of_its_own() -> None:
    stars = load_set("iqstars")
    source = challenge_sheet(stars, find_challenge(stars, None), unit_mm=15)
    root = ElementTree.fromstring(source)
    assert [text.text for text in root.iter(f"{SVG}text")][2] == "challenge"
    assert "one solution" not in source
    (region,) = shapes(root, "region")
    assert region.area == pytest.approx(26 * 15**2 * 3**0.5 / 2, rel=1e-3)


ODD = """
[set]
name = "odd"
title = "<script>alert(1)</script> & \\"friends\\" ]]> that will not end before the page does"
lattice = "square"
moves = "rotations"

[[piece]]
id = "ring"
label = "<&>"
cells = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 2]]

[[piece]]
id = "dot"
label = "☃"
cells = [[0, 0]]

[[piece]]
id = "away"
cells = [[0, 0], [1, 0], [2, 0]]

[[challenge]]
id = "two-parts"
cells = [
    [0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2],
    [0, 4], [1, 4], [2, 4],
]
"""


def test_names_with_markup_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(ODD, encoding="utf-8")
    puzzle = read_set(path)
    challenge = puzzle.challenges[0]
    posed = pose(puzzle, challenge)
    found = Oracle().enumerate(posed.problem, Effort(), limit=1)
    layout = posed.layout(found.solutions[0])
    source = challenge_sheet(puzzle, challenge, layout, "<b>1</b> & \x00 \u202e")
    root = ElementTree.fromstring(source)
    assert not re.search("<script|<b>|\x00|\u202e", source)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[0].startswith('<script>alert(1)</script> & "friends" ]]>')
    assert len(texts[0]) <= 60
    assert texts[1].endswith("<b>1</b> &  ")
    assert "☃" in texts
    pieces = shapes(root, "piece")
    assert sum(piece.area for piece in pieces) == pytest.approx(shapes(root, "region")[1].area)
    ring, away = pieces[0], pieces[2]
    for piece, label in zip((ring, away), shapes(root, "label"), strict=True):
        assert piece.contains(label)
