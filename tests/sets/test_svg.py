"""Pieces drawn in SVG files: every spelling of straight lines, and nothing else."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon, affinity, union_all

from fabkit.sets.set_file import read_set
from fabkit.sets.svg import SvgError, SvgFolder
from tests.support.drawnsets import (
    DOMINO,
    PAGE,
    SQUARE,
    SVG,
    drawing,
    read,
    squares,
    svg_cells,
    written,
)

L_SHAPE = squares((0, 0), (1, 0), (1, 1))


def test_straight_lines_in_all_their_spellings(tmp_path: Path) -> None:
    for shape in (
        '<path d="M 7 3 V 43 H 47 V 23 H 27 V 3 Z"/>',
        '<path d="m7,3v40h40v-20h-20v-20z"/>',
        '<path d="M7 3 7 43 47 43 47 23 27 23 27 3z"/>',
        '<path d="M7 3v20 20h40v-20h-20v-20h-20"><title>closed by its last line</title></path>',
        '<path d="M7 3v40h40v-20h-20v-20z m1 1"/>',
        '<path d="M7.,3.V43.0e0H4.7e1V2.3E+1l-20.-0,0.-20.z"/>',
        '<polygon points="7,3 7,43 47,43 47,23 27,23 27,3"/>',
        '<polygon points="7 3 7 43.3 47 43 47 23 26.8 23 27 3"/>',
        '<g transform="translate(3 1) scale(20)"><polygon points="0 0 0 2 2 2 2 1 1 1 1 0"/></g>',
        '<polygon transform="matrix(0 20 -20 0 90 9)" points="0 2 2 2 2 0 1 0 1 1 0 1"/>',
        '<g transform="translate(50)"><path transform="scale(-1 1)" d="M7 3v40h-40v-20h20v-20z"/></g>',
        '<a><g><g><path style="fill:#fff;stroke-width:1" d="M7 3v40h40v-20h-20v-20z"/></g></g></a>',
    ):
        assert svg_cells(tmp_path, shape) == L_SHAPE, shape
    ring = svg_cells(tmp_path, '<path d="M0 0h60v60h-60z M20 20h20v20h-20z"/>')
    assert ring == squares(*((r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)))


def test_a_drawing_may_be_turned_and_mirrored_as_it_is_seen(tmp_path: Path) -> None:
    """The outline read equals the one transformed by shapely."""
    points = [(0, 0), (60, 0), (60, 20), (20, 20), (20, 40), (0, 40)]
    text = " ".join(f"{x},{y}" for x, y in points)
    # A page's y goes down: where it goes up, its turns have the other sense.
    seen = affinity.scale(Polygon(points), 1, -1, origin=(0, 0))
    for transform, expected in {
        "rotate(90)": affinity.rotate(seen, -90, origin=(0, 0)),
        "rotate(-90 5 5)": affinity.rotate(seen, 90, origin=(0, 0)),
        "scale(1 -1)": affinity.scale(seen, 1, -1, origin=(0, 0)),
    }.items():
        cells = svg_cells(tmp_path, f'<polygon transform="{transform}" points="{text}"/>')
        covered = union_all([Polygon(SQUARE.ring(cell)) for cell in cells])
        small = affinity.scale(expected, 0.1, 0.1, origin=(0, 0))
        (left, bottom), (x, y) = covered.bounds[:2], small.bounds[:2]
        moved = affinity.translate(small, left - x, bottom - y)
        assert covered.symmetric_difference(moved).area < 1e-6, transform


def test_the_size_on_paper_counts(tmp_path: Path) -> None:
    for root, unit in {
        'width="10cm" height="10cm" viewBox="0 0 50 50"': 10,
        'width="100mm" viewBox="-5 -5 100 20"': 20,
        'width="2in" height="2in" viewBox="0 0 50.8 50.8"': 20,
        'width="300" height="300"': 20 / 25.4 * 96,
        'width="72pt" height="72pt" viewBox="0 0 25.4 25.4"': 20,
    }.items():
        shape = f'<rect x="3" width="{2 * unit}" height="{unit}"/>'
        assert svg_cells(tmp_path, shape, root=root) == squares((0, 0), (0, 1))
        with pytest.raises(SvgError, match="off the lattice"):
            svg_cells(tmp_path, shape.replace(f'"{unit}"', f'"{unit * 1.1}"'), root=root)


def test_the_tolerance_is_a_fiftieth_of_a_unit(tmp_path: Path) -> None:
    """The odd corner is named, not the others."""
    for off in (0.39, -0.39):
        shape = f'<polygon points="3,3 {43 + off},3 43,23 3,23"/>'
        assert svg_cells(tmp_path, shape) == squares((0, 0), (0, 1))
    for points, message in {
        "3,3 43.41,3 43,23 3,23": r"corner 2 at \(43\.41, 3\) mm is 0\.02",
        "3,3 42.59,3 43,23 3,23": r"corner 2 at \(42\.59, 3\) mm is 0\.02",
        "5,3 43,3 43,23 3,23": r"corner 1 at \(5, 3\) mm is 0\.1 units off",
    }.items():
        with pytest.raises(SvgError, match=message):
            svg_cells(tmp_path, f'<polygon points="{points}"/>')


def test_a_changed_drawing_is_another_set(tmp_path: Path) -> None:
    path = written(tmp_path, '[[piece]]\nid = "A"\nsvg = "shapes.svg#A"\n')
    drawing(tmp_path, DOMINO)
    before = read_set(path)
    assert read_set(path).digest == before.digest
    drawing(tmp_path, DOMINO + "<desc>another file</desc>")
    assert read_set(path).digest != before.digest
    assert read_set(path).pieces == before.pieces
    (tmp_path / "drawn").mkdir()
    drawing(tmp_path / "drawn", DOMINO)
    puzzle = read(tmp_path, '[[piece]]\nid = "A"\nsvg = "drawn/shapes.svg"\n')
    assert len(puzzle.pieces[0].forms[0].cells) == 2


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_nothing_leads_out_of_the_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    drawing(outside, DOMINO)
    (inside / "file.svg").symlink_to(outside / "shapes.svg")
    (inside / "folder").symlink_to(outside)
    (inside / "circle.svg").symlink_to(inside / "circle.svg")
    elsewhere = ("../out/shapes.svg", "a/../../out/shapes.svg", str(outside / "shapes.svg"),
                 "C:/shapes.svg", "..\\shapes.svg", "file:shapes.svg")  # fmt: skip
    for name, message in {
        "file.svg": "is a link to outside the folder",
        "folder/shapes.svg": "is a link to outside the folder",
        "circle.svg": "cannot be read|no such file",
        **dict.fromkeys(elsewhere, "is outside the folder"),
    }.items():
        with pytest.raises(SvgError, match=message):
            SvgFolder(inside).cells(name, SQUARE, 20.0, False)
    shutil.copy(outside / "shapes.svg", inside)
    (inside / "near.svg").symlink_to(inside / "shapes.svg")
    assert len(SvgFolder(inside).cells("near.svg", SQUARE, 20.0, False)) == 2


ENTITIES = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 9))


def on_page(shapes: str) -> str:
    return SVG.format(root=PAGE, shapes=shapes)


HOSTILE = {
    f'<!DOCTYPE svg [<!ENTITY e0 "ha">{ENTITIES}]><svg><title>&e8;</title></svg>': "DOCTYPE",
    "<svg>" + "<g>" * 5000: "nests elements deeper",
    "<svg>" + "<g/>" * 30_000 + "</svg>": "more than 20000 elements",
    "<svg>" + " " * 5_000_000 + "</svg>": "larger than 4 MiB",
    on_page(f'<polygon points="{"0 0 1 1 " * 8_000}"/>'): "more than 10000 corners",
    on_page('<rect width="9e6" height="9e6"/>'): "farther than 10000 units|encloses more",
    on_page(f'<g transform="{"scale(9e6) " * 90}">{DOMINO}</g>'): "too far away",
    "\0" * 100: "not well-formed",
    on_page('<polygon points="1 1 1.1 1 1 1.1"/>'): "corner",
    on_page('<polygon points="1 1"/>'): "draws nothing",
    on_page("<path/>"): "draws nothing",
    on_page(f'<svg viewBox="0 0 9 9">{DOMINO}</svg>'): "not a straight-line outline",
    on_page(f'<g transform="scale(2) scale(3">{DOMINO}</g>'): r'cannot be read at "\W*scale\(3"',
    on_page('<path d="M1 1 2z"/>'): "cannot be read",
    on_page('<path d="L1 1 2 2z"/>'): "begin with M",
    on_page('<path d="m20 0h20v20h-20z h-20v40h60v-20h-20v-20z"/>'): r"\(1, 0\)",
}


def test_hostile_drawings_are_refused_in_a_sentence(tmp_path: Path) -> None:
    for content, message in HOSTILE.items():
        (tmp_path / "shapes.svg").write_text(content, encoding="utf-8")
        with pytest.raises(SvgError, match=message) as refused:
            SvgFolder(tmp_path).cells("shapes.svg", SQUARE, 20.0, False)
        assert len(str(refused.value)) < 400


@given(st.text(alphabet="MmLlHhVvZzCcAa 0123456789.,-+eE", max_size=60), st.text(max_size=20))
def test_no_path_is_read_by_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: str, transform: str
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    safe = "".join(c for c in transform if c not in '<&"' and c.isprintable())
    drawing(folder, f'<path transform="{safe}" d="{data}"/>')
    with contextlib.suppress(SvgError):
        SvgFolder(folder).cells("shapes.svg", SQUARE, 20.0, False)
