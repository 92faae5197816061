"""DXF and SVG files for cutting machines, read back: what a machine would do, and nothing else."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

import ezdxf
import pytest
from shapely import Point, Polygon, affinity, box
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.drawing.cut import CutPiece
from fabkit.output.cutting import piece_dxf, piece_svg, sheet_dxf, sheet_svg
from fabkit.printing.laser import CutSheet, cut_sheets
from tests.support import analytic, cuts
from tests.support.cuts import FLAT_SETS, MACHINES, PRESETS

SVG, INKSCAPE = "{http://www.w3.org/2000/svg}", "{http://www.inkscape.org/namespaces/inkscape}"
#: In the order in which they are worked: what is cut free may move.
LAYERS = {"ENGRAVE": (7, "#000000"), "MAGNET": (5, "#0000ff"), "CUT": (1, "#ff0000")}
#: Coordinates in SVG are written to a micrometre.
TINY_MM = 1e-3
Points = list[tuple[float, float]]


@dataclass
class Read:
    """What a machine would do.

    Attributes:
        layers: those on which something lies, in order.
        rings: what is cut and engraved, by layer, y up; in order.
        circles: middles and radii of the magnets' holes.
        size_mm: of the sheet.
        faults: what a machine would stumble over, or cut by mistake.
    """

    layers: list[str]
    rings: dict[str, list[Points]]
    circles: list[tuple[float, float, float]]
    size_mm: tuple[float, float]
    faults: list[str]


def read_dxf(text: str) -> Read:
    document = ezdxf.read(io.StringIO(text))
    faults = []
    if (document.header["$INSUNITS"], document.header["$MEASUREMENT"]) != (4, 1):
        faults.append("not in millimetres")
    for name, (colour, _) in LAYERS.items():
        if name not in document.layers or document.layers.get(name).color != colour:
            faults.append(f"layer {name}")
    read = Read([], {name: [] for name in LAYERS}, [], document.header["$LIMMAX"], faults)
    for entity in document.modelspace():
        kind, layer = entity.dxftype(), entity.dxf.layer
        read.layers += [layer] if read.layers[-1:] != [layer] else []
        if layer not in LAYERS or kind != ("CIRCLE" if layer == "MAGNET" else "LWPOLYLINE"):
            faults.append(f"{kind} on {layer}")
        elif kind == "CIRCLE":
            read.circles.append((*entity.dxf.center.vec2, entity.dxf.radius))
        else:
            read.rings[layer].append([(x, y) for x, y in entity.get_points("xy")])
            if not entity.closed or entity.has_arc or entity.has_width or len(entity) < 3:
                faults.append("open, or not plain")
        if entity.dxf.color != 256:
            faults.append("a colour of its own")
    auditor = document.audit()
    faults += [str(error) for error in (*auditor.errors, *auditor.fixes)]
    return read


def read_svg(text: str) -> Read:
    root = ElementTree.fromstring(text)
    _, _, width, height = root.get("viewBox", "0 0 0 0").split()
    faults, top = [], float(height)
    if (root.get("width"), root.get("height")) != (f"{width}mm", f"{height}mm"):
        faults.append("not at 1:1")
    faults += [
        f"{one.tag} outside of a layer" for one in root if one.tag not in (f"{SVG}title", f"{SVG}g")
    ]
    groups = root.findall(f"{SVG}g")
    names = [one.get("id", "") for one in groups]
    read = Read(names, {name: [] for name in LAYERS}, [], (float(width), top), faults)
    for name, group in zip(names, groups, strict=True):
        if name != group.get(f"{INKSCAPE}label") or group.get(f"{INKSCAPE}groupmode") != "layer":
            faults.append(f"{name} is no layer")
        for shape in group:
            look = [shape.get(key) for key in ("fill", "stroke", "stroke-width")]
            wanted = "circle" if name == "MAGNET" else "path"
            if shape.tag != SVG + wanted or look != ["none", LAYERS[name][1], "0.1"]:
                faults.append(f"{shape.tag} on {name}: {look}")
            elif wanted == "circle":
                x, y, radius = (float(shape.get(key, "")) for key in ("cx", "cy", "r"))
                read.circles.append((x, top - y, radius))
            elif re.fullmatch(r"M-?[\d.]+ -?[\d.]+(L-?[\d.]+ -?[\d.]+){2,}Z", shape.get("d", "")):
                numbers = [float(one) for one in re.findall(r"-?[\d.]+", shape.get("d", ""))]
                pairs = zip(numbers[::2], numbers[1::2], strict=True)
                read.rings[name].append([(x, top - y) for x, y in pairs])
            else:
                faults.append("not closed")
    return read


FORMATS: dict[str, tuple[Callable[..., str], Callable[..., str], Callable[[str], Read]]] = {
    "dxf": (piece_dxf, sheet_dxf, read_dxf),
    "svg": (piece_svg, sheet_svg, read_svg),
}
in_both_formats = pytest.mark.parametrize("kind", FORMATS)


def at_origin(area: BaseGeometry, edge_mm: float = 1.0) -> BaseGeometry:
    left, bottom, _, _ = area.bounds
    return affinity.translate(area, edge_mm - left, edge_mm - bottom)


# --- pieces -------------------------------------------------------------------------------------


@pytest.mark.every(9)
@pytest.mark.parametrize("machine", MACHINES, ids=["foil", "laser", "coarse"])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_files_hold_what_is_cut(set_name: str, preset: str, machine: tuple[str, ...]) -> None:
    profile = cuts.profile_of(preset, machine)
    pieces = cuts.cut_set(set_name, preset, machine)
    for drawing, piece in zip(analytic.drawings(set_name), pieces, strict=True):
        path = at_origin(cuts.path(drawing, profile))
        inside_mm = profile.laser_inset_mm - profile.kerf_mm / 2
        expected = cuts.area_inside(cuts.canonical(drawing, profile), inside_mm)
        for write, _, reader in FORMATS.values():
            read = reader(write(piece))
            assert read.faults == []
            assert list(read.layers) == [one for one in LAYERS if one in read.layers]
            assert read.size_mm == pytest.approx(
                (path.bounds[2] + 1, path.bounds[3] + 1), abs=TINY_MM
            )
            cut = cuts.polygon_of(read.rings["CUT"])
            assert cut.symmetric_difference(path).area < TINY_MM * path.length
            assert cut.area == pytest.approx(expected, rel=1e-4)
            left = at_origin(analytic.moved_in(cut, profile.kerf_mm / 2))
            whole = at_origin(cuts.finished(drawing, profile))
            assert left.symmetric_difference(whole).area < 2 * TINY_MM * path.length
            assert len(read.circles) == (drawing.magnets if profile.has_recesses else 0)
            for x, y, radius in read.circles:
                bore_mm = 2 * radius + profile.kerf_mm
                assert bore_mm == pytest.approx(analytic.bore_mm(profile), abs=2 * TINY_MM)
                # `left` was moved to the corner of the sheet, too: by half a kerf.
                wall_mm = left.boundary.distance(Point(x, y))
                assert wall_mm >= bore_mm / 2 + profile.wall_mm - profile.kerf_mm - TINY_MM
            letters = read.rings["ENGRAVE"]
            assert len(letters) == len(piece.engraving)
            assert all(left.contains(Polygon(letter)) for letter in letters)


@in_both_formats
def test_what_is_cut_free_is_cut_last(kind: str) -> None:
    """It may have moved."""
    _, write, reader = FORMATS[kind]
    ring = Polygon(box(0, 0, 30, 30).exterior, [box(10, 10, 20, 20).exterior.coords])
    read = reader(write([CutPiece("A", ring, ring, (), ())], 40, 50))
    assert [Polygon(one).area for one in read.rings["CUT"]] == [100, 900]
    assert read.size_mm == (40, 50)
    assert reader(write(cuts.cut_set("fridgeiq", "default", ()), 300, 300)).layers == list(LAYERS)


# --- sheets -------------------------------------------------------------------------------------


@lru_cache
def sheets_of(
    set_name: str, machine: tuple[str, ...] = (), engine: str = "rectpack"
) -> list[CutSheet]:
    profile = cuts.profile_of("default", machine)
    return cut_sheets(cuts.cut_set(set_name, "default", machine), profile, engine)


@pytest.mark.every(4)
@pytest.mark.parametrize("machine", MACHINES[:2], ids=["foil", "laser"])
@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_every_piece_lies_on_one_sheet(set_name: str, machine: tuple[str, ...]) -> None:
    profile = cuts.profile_of("default", machine)
    sheets = sheets_of(set_name, machine)
    assert [sheet.number for sheet in sheets] == list(range(1, len(sheets) + 1))
    placed = [piece for sheet in sheets for piece in sheet.placed]
    drawings = {one.id: one for one in analytic.drawings(set_name)}
    assert sorted(piece.piece for piece in placed) == sorted(drawings)
    for sheet in sheets:
        assert (sheet.width_mm, sheet.depth_mm) == (297, 210)
        room = box(0, 0, sheet.width_mm, sheet.depth_mm).buffer(-profile.sheet_edge_mm + 1e-6)
        for piece in sheet.placed:
            assert room.contains(piece.path)
            # It is neither smaller nor larger than it should be, and not turned over.
            target = cuts.path(drawings[piece.piece], profile)
            assert piece.path.area == pytest.approx(target.area)
            assert piece.path.exterior.is_ccw
        for one, other in itertools.combinations(sheet.placed, 2):
            assert one.path.distance(other.path) >= profile.sheet_gap_mm - 1e-6
        svg, dxf = (
            reader(write(sheet.placed, sheet.width_mm, sheet.depth_mm))
            for _, write, reader in FORMATS.values()
        )
        assert svg.faults == dxf.faults == []
        assert svg.layers == dxf.layers
        for layer in LAYERS:
            pairs = zip(svg.rings[layer], dxf.rings[layer], strict=True)
            for ring, same in pairs:
                off = Polygon(ring).symmetric_difference(Polygon(same)).area
                assert off < 2 * TINY_MM * Polygon(same).length
        for circle, other_circle in zip(svg.circles, dxf.circles, strict=True):
            assert circle == pytest.approx(other_circle, abs=TINY_MM)


def test_the_pieces_on_a_sheet_are_recognised() -> None:
    """Turned and moved, but not turned over: made bodies, they are taken for the pieces."""
    placed = [piece for sheet in sheets_of("fridgeiq") for piece in sheet.placed]
    few = [piece for piece in placed if piece.piece in "AJLQU"]
    rings = read_svg(sheet_svg(few, 297, 210)).rings["CUT"]
    assert cuts.recognised("fridgeiq", cuts.polygons_of(rings), 20.0) == list("AJLQU")


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


def test_small_sheets() -> None:
    sheets = sheets_of("fridgeiq", ("laser.sheet_width=100 mm", "laser.sheet_depth=100 mm"))
    assert len(sheets) > 1
    assert sum(len(sheet.placed) for sheet in sheets) == 16
    with pytest.raises(InputError) as error:
        sheets_of("fridgeiq", ("laser.sheet_width=50 mm", "laser.sheet_depth=50 mm"))
    assert str(error.value).startswith("profile default, sheets of 50 mm x 50 mm: 5 faults\n")
    # What is three units long does not fit into 40 x 40 mm; nothing else does not.
    assert "".join(fault.key for fault in error.value.faults) == "LTSNU"


# --- the same bytes -----------------------------------------------------------------------------


def test_others_get_their_own_times_and_ids() -> None:
    """What keeps the bytes the same is not left switched on, also not after a failure."""
    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    assert piece_dxf(piece) == piece_dxf(piece)
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    broken = CutPiece("A", piece.outline, piece.path, (None,), ())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        sheet_dxf([broken], 100, 100)
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    ids = {ezdxf.new().header["$FINGERPRINTGUID"] for _ in range(2)}
    assert len(ids) == 2
    assert ezdxf.__version__ not in piece_dxf(piece)
