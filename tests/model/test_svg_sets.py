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

from fabkit.model.setfile import read_set
from fabkit.model.svg import SvgError, SvgFolder
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


@pytest.mark.parametrize(
    "shape",
    [
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
    ],
)
def test_straight_lines_in_all_their_spellings(shape: str, tmp_path: Path) -> None:
    assert svg_cells(tmp_path, shape) == L_SHAPE


def test_a_drawing_may_be_turned_and_mirrored_as_it_is_seen(tmp_path: Path) -> None:
    """What shapely says of the transformed outline is what is read."""
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


def test_a_hole_is_a_subpath(tmp_path: Path) -> None:
    ring = svg_cells(tmp_path, '<path d="M0 0h60v60h-60z M20 20h20v20h-20z"/>')
    assert ring == squares(*((r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)))


@pytest.mark.parametrize(
    ("root", "unit"),
    [
        ('width="10cm" height="10cm" viewBox="0 0 50 50"', 10),
        ('width="100mm" viewBox="-5 -5 100 20"', 20),
        ('width="2in" height="2in" viewBox="0 0 50.8 50.8"', 20),
        ("", 20 / 25.4 * 96),
        ('width="300" height="300"', 20 / 25.4 * 96),
        ('width="72pt" height="72pt" viewBox="0 0 25.4 25.4"', 20),
    ],
)
def test_the_size_on_paper_counts(root: str, unit: float, tmp_path: Path) -> None:
    shape = f'<rect x="3" width="{2 * unit}" height="{unit}"/>'
    assert svg_cells(tmp_path, shape, root=root) == squares((0, 0), (0, 1))
    with pytest.raises(SvgError, match="off the lattice"):
        svg_cells(tmp_path, shape.replace(f'"{unit}"', f'"{unit * 1.1}"'), root=root)


def test_lines_go_on_after_a_ring_is_closed(tmp_path: Path) -> None:
    shape = '<path d="m20 0h20v20h-20z h-20v40h60v-20h-20v-20z"/>'
    with pytest.raises(SvgError, match=r"\(1, 0\)"):
        svg_cells(tmp_path, shape)


def test_the_tolerance_is_a_fiftieth_of_a_unit(tmp_path: Path) -> None:
    for off, fine in ((0.39, True), (-0.39, True), (0.41, False), (-0.41, False)):
        shape = f'<polygon points="3,3 {43 + off},3 43,23 3,23"/>'
        if fine:
            assert svg_cells(tmp_path, shape) == squares((0, 0), (0, 1))
        else:
            with pytest.raises(SvgError, match=r"corner 2 at \(4\d\.\d+, 3\) mm lies 0\.02"):
                svg_cells(tmp_path, shape)


def test_the_odd_corner_is_named_not_the_others(tmp_path: Path) -> None:
    with pytest.raises(SvgError, match=r"corner 1 at \(5, 3\) mm lies 0\.1 units off"):
        svg_cells(tmp_path, '<polygon points="5,3 43,3 43,23 3,23"/>')


def test_a_changed_drawing_is_another_set(tmp_path: Path) -> None:
    path = written(tmp_path, '[[piece]]\nid = "A"\nsvg = "shapes.svg#A"\n')
    drawing(tmp_path, DOMINO)
    before = read_set(path)
    assert read_set(path).digest == before.digest
    drawing(tmp_path, DOMINO + "<desc>another file</desc>")
    assert read_set(path).digest != before.digest
    assert read_set(path).pieces == before.pieces


def test_a_drawing_in_a_folder_below(tmp_path: Path) -> None:
    (tmp_path / "drawn").mkdir()
    drawing(tmp_path / "drawn", DOMINO)
    puzzle = read(tmp_path, '[[piece]]\nid = "A"\nsvg = "drawn/shapes.svg"\n')
    assert len(puzzle.pieces[0].forms[0].cells) == 2


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_a_link_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    drawing(outside, DOMINO)
    (inside / "file.svg").symlink_to(outside / "shapes.svg")
    (inside / "folder").symlink_to(outside)
    (inside / "circle.svg").symlink_to(inside / "circle.svg")
    for name, message in {
        "file.svg": "is a link that leads elsewhere",
        "folder/shapes.svg": "is a link that leads elsewhere",
        "circle.svg": "cannot be read|no such file",
    }.items():
        with pytest.raises(SvgError, match=message):
            SvgFolder(inside).cells(name, SQUARE, 20.0, False)
    shutil.copy(outside / "shapes.svg", inside)
    (inside / "near.svg").symlink_to(inside / "shapes.svg")
    assert len(SvgFolder(inside).cells("near.svg", SQUARE, 20.0, False)) == 2


@pytest.mark.parametrize(
    "name",
    ["../shapes.svg", "a/../../shapes.svg", "/shapes.svg", "C:/shapes.svg", "..\\shapes.svg",
     "shapes.svg/../../x.svg", "file:shapes.svg"],
)  # fmt: skip
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    drawing(tmp_path, DOMINO)
    with pytest.raises(SvgError, match="leads elsewhere"):
        SvgFolder(tmp_path / "in").cells(name, SQUARE, 20.0, False)


def entities() -> str:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 9))
    return f'<!DOCTYPE svg [<!ENTITY e0 "ha">{levels}]><svg><title>&e8;</title></svg>'


HOSTILE = {
    "entities": (entities, "document type"),
    "deep": (lambda: "<svg>" + "<g>" * 5000, "nests elements deeper"),
    "many": (lambda: "<svg>" + "<g/>" * 30_000 + "</svg>", "more than 20000 elements"),
    "huge": (lambda: "<svg>" + " " * 5_000_000 + "</svg>", "larger than 4 MiB"),
    "points": (
        lambda: SVG.format(root="", shapes=f'<polygon points="{"0 0 1 1 " * 20_000}"/>'),
        "more than 10000 corners",
    ),
    "continent": (
        lambda: SVG.format(root=PAGE, shapes='<rect width="9e6" height="9e6"/>'),
        "farther than 10000 units|encloses more",
    ),
    "transforms": (
        lambda: SVG.format(root=PAGE, shapes=f'<g transform="{"scale(9e6) " * 90}">{DOMINO}</g>'),
        "too far away",
    ),
    "zeros": (lambda: "\0" * 100, "not well-formed"),
    "speck": (
        lambda: SVG.format(root=PAGE, shapes='<polygon points="1 1 1.1 1 1 1.1"/>'),
        "corner",
    ),
    "one corner": (
        lambda: SVG.format(root=PAGE, shapes='<polygon points="1 1"/>'),
        "draws nothing",
    ),
    "no data": (lambda: SVG.format(root=PAGE, shapes="<path/>"), "draws nothing"),
    "a page of its own": (
        lambda: SVG.format(root=PAGE, shapes=f'<svg viewBox="0 0 9 9">{DOMINO}</svg>'),
        "no outline of straight lines",
    ),
    "open call": (
        lambda: SVG.format(root=PAGE, shapes=f'<g transform="scale(2) scale(3">{DOMINO}</g>'),
        r'transform that cannot be read at "\W*scale\(3"',
    ),
    "too few": (lambda: SVG.format(root=PAGE, shapes='<path d="M1 1 2z"/>'), "cannot be read"),
    "no move": (lambda: SVG.format(root=PAGE, shapes='<path d="L1 1 2 2z"/>'), "begin with M"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_drawings_are_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    make, message = HOSTILE[name]
    (tmp_path / "shapes.svg").write_text(make(), encoding="utf-8")
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
