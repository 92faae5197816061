"""SVG files for cutting machines, and sheets of either kind, read back with a plain XML parser."""

from __future__ import annotations

import io
import itertools
import re
from xml.etree import ElementTree

import ezdxf
import pytest
from shapely import Polygon, affinity, box

from fabkit.core.errors import InputError
from fabkit.drawing.cut import CutPiece
from fabkit.model.library import load_set
from fabkit.output.cutting import piece_svg, sheet_svg
from fabkit.output.dxf import sheet_dxf
from fabkit.printing.laser import CutSheet, cut_sheets
from tests.support import analytic, cuts
from tests.support.cuts import FLAT_SETS, MACHINES, PRESETS

SVG, INKSCAPE = "{http://www.w3.org/2000/svg}", "{http://www.inkscape.org/namespaces/inkscape}"
STROKES = {"ENGRAVE": "#000000", "MAGNET": "#0000ff", "CUT": "#ff0000"}
#: Coordinates are written to a micrometre.
TINY_MM = 1e-3
Points = list[tuple[float, float]]


def faults(text: str) -> list[str]:
    """What a machine would stumble over, or cut by mistake."""
    root = ElementTree.fromstring(text)
    _, _, width, height = root.get("viewBox", "0 0 0 0").split()
    found = []
    if (root.get("width"), root.get("height")) != (f"{width}mm", f"{height}mm"):
        found.append("not at 1:1")
    for element in root:
        if element.tag not in (f"{SVG}title", f"{SVG}g"):
            found.append(f"{element.tag} outside of a layer")
    layers = root.findall(f"{SVG}g")
    for layer in layers:
        name = layer.get("id", "")
        if name != layer.get(f"{INKSCAPE}label") or layer.get(f"{INKSCAPE}groupmode") != "layer":
            found.append(f"{name} is no layer")
        for shape in layer:
            wanted = "circle" if name == "MAGNET" else "path"
            look = [shape.get(key) for key in ("fill", "stroke", "stroke-width")]
            if shape.tag != SVG + wanted or look != ["none", STROKES.get(name), "0.1"]:
                found.append(f"{shape.tag} on {name}: {look}")
            if wanted == "path" and not re.fullmatch(
                r"M-?[\d.]+ -?[\d.]+(L-?[\d.]+ -?[\d.]+){2,}Z", shape.get("d", "")
            ):
                found.append("not closed")
    return found


def layer(text: str, name: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    found = root.find(f"{SVG}g[@id='{name}']")
    return found if found is not None else ElementTree.Element("g")


def rings(text: str, name: str = "CUT") -> list[Points]:
    """The rings on a layer, y up from the lower edge of the page."""
    height = float(ElementTree.fromstring(text).get("viewBox", "").split()[3])
    found = []
    for path in layer(text, name):
        numbers = [float(one) for one in re.findall(r"-?[\d.]+", path.get("d", ""))]
        found.append([(x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)])
    return found


# --- one piece ------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("machine", MACHINES, ids=["foil", "laser", "coarse"])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_files_hold_what_is_cut(set_name: str, preset: str, machine: tuple[str, ...]) -> None:
    profile = cuts.profile_of(preset, machine)
    pieces = cuts.cut_set(set_name, preset, machine)
    for drawing, piece in zip(analytic.drawings(set_name), pieces, strict=True):
        text = piece_svg(piece)
        assert faults(text) == []
        cut = cuts.polygon_of(rings(text))
        path = cuts.path(drawing, profile)
        left, bottom, right, top = path.bounds
        there = affinity.translate(path, 1 - left, 1 - bottom)
        assert cut.symmetric_difference(there).area < TINY_MM * there.length
        width, height = (
            float(x) for x in ElementTree.fromstring(text).get("viewBox", "").split()[2:]
        )
        assert (width, height) == pytest.approx((right - left + 2, top - bottom + 2), abs=TINY_MM)
        circles = layer(text, "MAGNET")
        assert len(circles) == (drawing.magnets if profile.has_recesses else 0)
        for circle in circles:
            bore_mm = 2 * float(circle.get("r", 0)) + profile.kerf_mm
            assert bore_mm == pytest.approx(analytic.bore_mm(profile), abs=2 * TINY_MM)
        letters = rings(text, "ENGRAVE")
        assert len(letters) == len(piece.engraving)
        assert all(cut.contains(Polygon(letter)) for letter in letters)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('width="', 'width="1', "not at 1:1"),
        ("</title>", "</title><text>A</text>", "text outside of a layer"),
        ("<title>", "<style>path{}</style><title>", "style outside of a layer"),
        ("Z", "", "not closed"),
        ("#ff0000", "#ff0001", "on CUT"),
        ('stroke-width="0.1"', 'stroke-width="1"', "on CUT"),
        ('inkscape:label="CUT"', 'inkscape:label="Cut"', "CUT is no layer"),
        ("<circle", "<ellipse", "ellipse on MAGNET"),
    ],
)
def test_what_a_machine_would_stumble_over_is_found(old: str, new: str, fault: str) -> None:
    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    text = piece_svg(piece)
    assert faults(text) == []
    assert fault in str(faults(text.replace(old, new)))


def test_the_reader_of_meshes_knows_the_pieces_again() -> None:
    """The paths, made bodies, are taken for all sixteen pieces, none of them mirrored."""
    pieces = cuts.cut_set("fridgeiq", "default", ())
    polygons = [cuts.polygon_of(rings(piece_svg(piece))) for piece in pieces]
    names = sorted(piece.id for piece in load_set("fridgeiq").pieces)
    assert cuts.recognised("fridgeiq", polygons, 20.0) == names
    with pytest.raises(AssertionError):
        cuts.recognised("fridgeiq", [affinity.scale(one, -1, 1) for one in polygons], 20.0)


def test_what_is_cut_free_is_cut_last() -> None:
    """It may have moved."""
    frame = Polygon(box(0, 0, 30, 30).exterior, [box(10, 10, 20, 20).exterior.coords])
    areas = [Polygon(ring).area for ring in rings(piece_svg(CutPiece("A", frame, frame, (), ())))]
    assert areas == [100, 900]
    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    layers = ElementTree.fromstring(piece_svg(piece)).findall(f"{SVG}g")
    assert [one.get("id") for one in layers] == ["ENGRAVE", "MAGNET", "CUT"]


# --- sheets ---------------------------------------------------------------------------------


def sheets_of(set_name: str, preset: str, machine: tuple[str, ...]) -> list[CutSheet]:
    profile = cuts.profile_of(preset, machine)
    return cut_sheets(cuts.cut_set(set_name, preset, machine), profile, "rectpack")


@pytest.mark.parametrize("engine", ["auto", "rectpack"])
@pytest.mark.parametrize("machine", MACHINES[:2], ids=["foil", "laser"])
@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_every_piece_lies_on_one_sheet(
    set_name: str, machine: tuple[str, ...], engine: str
) -> None:
    profile = cuts.profile_of("default", machine)
    sheets = cut_sheets(cuts.cut_set(set_name, "default", machine), profile, engine)
    assert [sheet.number for sheet in sheets] == list(range(1, len(sheets) + 1))
    placed = [piece for sheet in sheets for piece in sheet.placed]
    drawings = analytic.drawings(set_name)
    assert sorted(piece.piece for piece in placed) == sorted(one.id for one in drawings)
    for sheet in sheets:
        assert (sheet.width_mm, sheet.depth_mm) == (297, 210)
        room = box(0, 0, sheet.width_mm, sheet.depth_mm).buffer(-profile.sheet_edge_mm + 1e-6)
        for piece in sheet.placed:
            assert room.contains(piece.path)
            # It is neither smaller nor larger than it should be, and not turned over.
            (drawing,) = [one for one in drawings if one.id == piece.piece]
            target = cuts.path(drawing, profile)
            assert piece.path.area == pytest.approx(target.area)
            assert piece.path.exterior.is_ccw
        for one, other in itertools.combinations(sheet.placed, 2):
            assert one.path.distance(other.path) >= profile.sheet_gap_mm - 1e-6


@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_both_kinds_of_sheet_hold_the_same(set_name: str) -> None:
    for sheet in sheets_of(set_name, "default", MACHINES[1]):
        svg = sheet_svg(sheet.placed, sheet.width_mm, sheet.depth_mm)
        assert faults(svg) == []
        assert 'width="297mm" height="210mm" viewBox="0 0 297 210"' in svg
        document = ezdxf.read(io.StringIO(sheet_dxf(sheet.placed, 297, 210)))
        auditor = document.audit()
        assert not auditor.errors
        assert not auditor.fixes
        assert document.header["$LIMMAX"] == (297, 210)
        for name in ("CUT", "ENGRAVE"):
            polylines = document.modelspace().query(f'LWPOLYLINE[layer=="{name}"]')
            drawn = rings(svg, name)
            assert len(drawn) == len(polylines) > 0
            for ring, polyline in zip(drawn, polylines, strict=True):
                expected = Polygon([(x, y) for x, y in polyline.get_points("xy")])
                off = Polygon(ring).symmetric_difference(expected).area
                assert off < 2 * TINY_MM * expected.length
        circles = document.modelspace().query("CIRCLE")
        assert [(c.dxf.center.x, 210 - c.dxf.center.y) for c in circles] == [
            pytest.approx((float(c.get("cx", 0)), float(c.get("cy", 0))), abs=TINY_MM)
            for c in layer(svg, "MAGNET")
        ]


def test_the_pieces_on_a_sheet_are_recognised() -> None:
    """Turned and moved, but not turned over."""
    polygons = [
        polygon
        for sheet in sheets_of("fridgeiq", "default", ())
        for polygon in cuts.polygons_of(
            rings(sheet_svg(sheet.placed, sheet.width_mm, sheet.depth_mm))
        )
    ]
    names = sorted(piece.id for piece in load_set("fridgeiq").pieces)
    assert cuts.recognised("fridgeiq", polygons, 20.0) == names


def test_no_piece_lies_in_the_hole_of_another() -> None:
    """It might fall out with the waste before it is cut."""
    frame = Polygon(box(0, 0, 90, 90).exterior, [box(5, 5, 85, 85).exterior.coords])
    pieces = [
        CutPiece("frame", frame, frame, (), ()),
        CutPiece("small", box(0, 0, 20, 20), box(0, 0, 20, 20), (), ()),
    ]
    machine = ("laser.sheet_width=100 mm", "laser.sheet_depth=100 mm")
    sheets = cut_sheets(pieces, cuts.profile_of("default", machine), "rectpack")
    assert [[one.piece for one in sheet.placed] for sheet in sheets] == [["frame"], ["small"]]


def test_more_than_one_sheet() -> None:
    machine = ("laser.sheet_width=100 mm", "laser.sheet_depth=100 mm")
    sheets = sheets_of("fridgeiq", "default", machine)
    assert len(sheets) > 1
    assert sum(len(sheet.placed) for sheet in sheets) == 16


def test_a_sheet_that_is_too_small_is_refused() -> None:
    machine = ("laser.sheet_width=50 mm", "laser.sheet_depth=50 mm")
    with pytest.raises(InputError) as error:
        sheets_of("fridgeiq", "default", machine)
    assert str(error.value).startswith("profile default, sheets of 50 mm x 50 mm: 5 faults\n")
    # What is three units long does not fit into 40 x 40 mm; nothing else does not.
    assert "".join(fault.key for fault in error.value.faults) == "LTSNU"
