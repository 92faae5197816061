"""The page of a report on real meshes: told whole, and marked where a fault was made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import manifold3d
import numpy as np
import pytest
import shapely
from shapely import Point, Polygon, box

from fabkit.drawing.glyphs import lettering
from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output.checkpage import check_page
from fabkit.verify.check import CheckReport, check
from fabkit.verify.page import check_sheet
from fabkit.verify.taking import take
from tests.support.checkpage import (
    NEAR_MM,
    Shape,
    complaints,
    drawn,
    having,
    moved,
    read,
    text_of,
)

MINE = """
[set]
name = "mine"
title = "Mine & <yours>"
lattice = "square"
moves = "rotations"
[[piece]]
id = "K"
outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
[[piece]]
id = "W"
outline = [[0, 0], [1, 0], [1, 1], [0, 1]]
[[challenge]]
id = "square"
outline = [[0, 0], [2, 0], [2, 2], [0, 2]]
"""
#: The recess of K: 10.1 mm wide, 1.2 mm from the left side and 4.85 mm from the lower one.
RECESS_MM = (6.35, 10.0)
K_MM = Polygon([(0.1, 0.1), (39.9, 0.1), (39.9, 19.9), (19.9, 19.9), (19.9, 39.9), (0.1, 39.9)])


def mesh(name: str, outline: Polygon, recess_mm: tuple[float, float], quarter_turns: int) -> Body:
    """A piece 7 mm thick with a recess from below and its letter, but without chamfers."""

    def section(shape: Shape) -> Any:
        rings = [
            ring for one in shapely.get_parts(shape) for ring in (one.exterior, *one.interiors)
        ]
        return manifold3d.CrossSection(
            [np.asarray(ring.coords)[:-1] for ring in rings], manifold3d.FillRule.EvenOdd
        )

    letter = section(lettering(name[0]).moved(10, 10, 8).polygon()).extrude(1)
    bore = section(Point(recess_mm).buffer(5.05, quad_segs=16)).extrude(4.2)
    solid = section(outline).extrude(7) - letter.translate((0, 0, 6.4)) - bore.translate((0, 0, -1))
    solid = solid.rotate((0, 0, 90 * quarter_turns)).translate((7, -3, 0))
    found = solid.to_mesh()
    return Body(
        name, np.asarray(found.vert_properties, float)[:, :3], np.asarray(found.tri_verts, np.int64)
    )


def checked(folder: Path, quarter_turns: int) -> CheckReport:
    path = folder / "mine.toml"
    path.write_text(MINE, encoding="utf-8")
    square = mesh("W.stl", box(0.1, 0.1, 19.9, 19.9), (10, 10), 2)
    bodies = [mesh("K<i>.stl", K_MM, RECESS_MM, quarter_turns), square]
    return check(take(bodies, load_set(str(path)), 20.0), load_profile())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    return checked(tmp_path_factory.mktemp("set"), 0)


def test_a_report_is_told_whole(report: CheckReport) -> None:
    sheet = check_sheet(report)
    page = check_page(sheet)
    assert complaints(sheet, page) == []
    assert [piece.key for piece in sheet.pieces] == ["K", "W"]
    assert (text_of(read(page).find(".//h1")), "&lt;i&gt;" in page) == ("Mine & <yours>", True)
    document = report.document()
    assert not document["ok"]
    found = [
        *document["findings"],
        *(f for p in document["pieces"].values() for f in p["findings"]),
    ]
    shown = [*sheet.findings, *(row for piece in sheet.pieces for row in piece.rows)]
    assert [(f["rule"], f["ok"], f["message"]) for f in found] == [
        (row.rule, row.ok, row.sentence) for row in shown
    ]
    told = text_of(read(page))
    assert all(finding["message"] in told for finding in found)
    (assembly,) = document["assemblies"]
    (line,) = sheet.sections[0].rows
    assert (line.ok, line.cells[:3]) == (assembly["ok"], ("square", "0.2 mm", "0.2 mm"))


@pytest.mark.parametrize(
    "quarter_turns", [1, *(pytest.param(n, marks=pytest.mark.integration) for n in (0, 2, 3))]
)
def test_a_thin_wall_is_marked_where_it_was_made(tmp_path: Path, quarter_turns: int) -> None:
    """However the piece is turned in its file, it is shown with its letter upright."""
    page = check_page(check_sheet(checked(tmp_path, quarter_turns)))
    card = next(one for one in having(read(page), "piece") if text_of(one.find("h3")) == "K")
    (place,) = [n for n, item in enumerate(card.iter("li"), 1) if "wall beside" in text_of(item)]
    left, bottom, *_ = drawn(next(having(card, "seen"))).bounds
    (mark,) = [one for one in having(card, "place") if one.get("data-fault") == str(place)]
    expected = moved(Point(RECESS_MM).buffer(5.05), left - 0.1, bottom - 0.1)
    assert drawn(mark).hausdorff_distance(expected) < NEAR_MM
    letter = shapely.union_all([drawn(one) for one in having(card, "letter")])
    right_way_up = lettering("K").moved(10 + left - 0.1, 10 + bottom - 0.1, 8).polygon()
    assert letter.symmetric_difference(right_way_up).area < 0.1 * letter.area


def test_a_report_without_faults_passes(report: CheckReport) -> None:
    parts = [
        replace(part, findings=tuple(f for f in part.findings if f.ok)) for part in report.parts
    ]
    sheet = check_sheet(replace(report, parts=tuple(parts)))
    assert complaints(sheet, check_page(sheet)) == []
    assert "✓ Passed" in check_page(sheet)
