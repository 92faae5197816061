"""Notebooks: what shows itself in Jupyter, and that a set's texts stay text there."""

from __future__ import annotations

import base64
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

from fabkit.core.errors import InputError
from fabkit.model.lattice import Cell
from fabkit.model.piece import is_image
from fabkit.notebook import SetView, load_set

SVG = "{http://www.w3.org/2000/svg}"
#: What a set may be called by somebody who means ill, and as what it may be shown.
HOSTILE = "<script>alert('1')</script><b a=\"b\">&amp; $x$ \u202egnol\u2066"
SHOWN = "<script>alert('1')</script><b a=\"b\">&amp; $x$ \\u202egnol\\u2…"
#: What the table of a set is made of.
HTML_ELEMENTS = {"div", "h3", "table", "tr", "th", "td", "img"}


class Seen(HTMLParser):
    """What a browser finds in HTML: elements with attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def drawn(svg: str) -> ElementTree.Element:
    """A drawing, in which nothing runs and nothing is fetched."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    for one in root.iter():
        assert one.tag != f"{SVG}script"
        assert not [name for name in one.attrib if name.startswith("on") or "href" in name]
    return root


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in drawn(svg).iter(f"{SVG}text")]


def pieces_in(svg: str) -> int:
    """How many pieces are drawn in a challenge or a solution."""
    return sum("piece" in one.get("class", "").split() for one in drawn(svg).iter())


@pytest.fixture
def hostile(pair: str) -> SetView:
    """A set with hostile texts wherever it has any; its file may not even hold them."""
    shown = load_set(pair)
    puzzle = replace(shown.puzzle, title=HOSTILE, credit=HOSTILE, licence=HOSTILE)
    return SetView(puzzle, shown.profile)


@pytest.mark.parametrize("name", ["fridgeiq", "iqfit"])
def test_a_set_shows_a_table_and_its_pieces(name: str) -> None:
    shown = load_set(name)
    html = shown._repr_html_()
    seen = Seen(html)
    assert {tag for tag, _ in seen.elements} == HTML_ELEMENTS
    assert shown.puzzle.title in seen.text
    assert ", ".join(piece.id for piece in shown) in seen.text
    (picture,) = [attributes for tag, attributes in seen.elements if tag == "img"]
    kind, _, content = (picture["src"] or "").partition(",")
    assert kind == "data:image/svg+xml;base64"
    svg = base64.b64decode(content).decode()
    assert svg == shown._repr_svg_()
    assert "prefers-color-scheme: dark" in svg
    assert "color" not in html.split("base64")[0]
    ids = {piece.id for piece in shown}
    assert ids <= {text.split(" ")[0] for text in texts(svg)}
    for piece in list(shown)[:3]:
        captions = {text.split(" ")[0] for text in texts(piece._repr_svg_())}
        assert captions & ids == {piece.id}


def test_other_profiles_are_taken() -> None:
    plain, large = load_set("fridgeiq"), load_set("fridgeiq", settings=["unit=25 mm"])
    assert (plain.profile.unit_mm, large.profile.unit_mm) == (20.0, 25.0)
    assert load_set("fridgeiq", "compact").profile.title != plain.profile.title
    wide = [
        solid.BoundingBox().xlen
        for solid in (
            plain["D"].solid(),
            large["D"].solid(),
            plain["D"].solid(settings=["unit=25 mm"]),
        )
    ]
    # Two units wide, and a gap between pieces that is the same for both.
    assert wide[1] == wide[2] == pytest.approx(wide[0] + 10.0, abs=1e-6)


def test_a_set_is_a_collection_of_pieces() -> None:
    shown = load_set("fridgeiq")
    assert [piece.id for piece in shown] == shown._ipython_key_completions_()
    assert len(shown) == 16
    assert "L" in shown
    assert "l" not in shown
    assert str(shown["L"]) == "piece L of FridgeIQ, unit 20 mm"


def covered_once(layout: dict[str, frozenset[Cell]]) -> frozenset[Cell]:
    union = frozenset().union(*layout.values())
    assert sum(map(len, layout.values())) == len(union)
    return union


@pytest.mark.parametrize("name", ["square_05", "mixed"])
def test_a_challenge_is_solved(name: str) -> None:
    """Also one on two lattices, which shows its known solution."""
    fridgeiq = load_set("fridgeiq")
    shown = fridgeiq.challenge(next(one for one in fridgeiq.challenges if one.startswith(name)))
    assert pieces_in(shown._repr_svg_()) == 0
    found = shown.solve()
    assert covered_once(dict(found.layout)) == shown.entry.challenge.region
    assert pieces_in(found._repr_svg_()) == len(shown.entry.challenge.pieces) == len(found.layout)
    assert shown.entry.halves == (2 if name == "mixed" else 1)
    if name != "mixed":
        lattice = shown.puzzle.lattice
        for piece_id, cells in found.layout.items():
            assert is_image(
                lattice, shown.puzzle.piece(piece_id), cells, shown.entry.challenge.flips
            )
        assert pieces_in(found.steps()._repr_svg_()) > len(shown.entry.challenge.pieces)
        assert repr(found.steps()).startswith("a drawing")


def test_every_challenge_that_is_listed_is_found() -> None:
    fridgeiq = load_set("fridgeiq")
    names = fridgeiq.challenges
    assert len(names) == len(set(names))
    for name in names[::30]:
        assert fridgeiq.challenge(name).entry.challenge.id == name


def test_what_has_no_solution_says_so() -> None:
    found = load_set("fridgeiq").challenge("rectangle_02_b").solve()
    assert found.layout == {}
    assert "no solution" in str(found)
    assert "no solution" in " ".join(texts(found._repr_svg_()))
    with pytest.raises(InputError, match="no solution, so there are no steps"):
        found.steps()
    found = load_set("iqblock").challenge("square").solve(budget_s=0.0)
    assert "not solved within the time limit" in str(found)
    assert found.entry.result.status == "unknown"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: load_set("fridge"), 'there is no set "fridge"; did you mean "fridgeiq"'),
        (lambda: load_set("fridgeiq", "compct"), 'there is no profile "compct"; choose from default'),
        (lambda: load_set("fridgeiq", settings=["unt=3"]), "unt"),
        (lambda: load_set("fridgeiq")["l"], 'fridgeiq: has no piece "l"; choose from A'),
        (lambda: load_set("fridgeiq")[3], "has no piece 3"),
        (lambda: load_set("fridgeiq").challenge("sqare_05"), 'did you mean "square_05"'),
        (lambda: load_set("iqfit").challenge("mixed1-1"), "has no challenge"),
    ],
)  # fmt: skip
def test_unknown_names_are_reported(wrong: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        wrong()
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_hostile_texts_are_text(hostile: SetView) -> None:
    seen = Seen(hostile._repr_html_())
    assert {tag for tag, _ in seen.elements} == HTML_ELEMENTS
    assert seen.text.count(SHOWN) == 3  # title, credit and licence
    for _, attributes in seen.elements:
        assert set(attributes) <= {"class", "scope", "style", "src", "alt"}
    shown = [hostile, hostile["P"], hostile.challenge(hostile.challenges[0])]
    for one in shown:
        svg = one._repr_svg_()
        drawn(svg)
        assert "\u202e" not in svg
        assert "\u202e" not in repr(one)
        assert len(repr(one)) < 200
