"""DXF and SVG files for cutting machines, read back: what a machine would do, and nothing else.

That pieces are cut as they should be is tested in tests/drawing/test_cut.py.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.etree import ElementTree

import pytest
from shapely import Polygon, affinity, box
from shapely.geometry.base import BaseGeometry

from fabkit.core.errors import InputError
from fabkit.drawing.laser import CutPiece
from fabkit.output.cutting import sheet_dxf, sheet_svg
from fabkit.printing.cut_sheets import CutSheet, nest_cut_sheets
from tests.printing.test_nesting import using
from tests.support import cuts
from tests.support.cuts import MACHINES

SVG, INKSCAPE = "{http://www.w3.org/2000/svg}", "{http://www.inkscape.org/namespaces/inkscape}"
#: In the order in which they are worked: what is cut free may move.
LAYERS = {"ENGRAVE": (7, "#000000"), "MAGNET": (5, "#0000ff"), "CUT": (1, "#ff0000")}
#: Coordinates in SVG are written to a micrometre.
TINY_MM = 1e-3


@dataclass
class Read:
    """What a machine would do: in which order of layers, on a sheet of which size, y up.

    Attributes:
        circles: middles and radii of the magnets' holes.
        faults: what a machine would stumble over, or cut by mistake.
    """

    size_mm: tuple[float, float]
    layers: list[str] = field(default_factory=list)
    rings: dict[str, list[Polygon]] = field(default_factory=lambda: {"ENGRAVE": [], "CUT": []})
    circles: list[tuple[float, float, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read_dxf(text: str) -> Read:
    import ezdxf

    document = ezdxf.read(io.StringIO(text))
    read = Read(document.header["$LIMMAX"])
    if (document.header["$INSUNITS"], document.header["$MEASUREMENT"]) != (4, 1):
        read.faults.append("not in millimetres")
    for name, (colour, _) in LAYERS.items():
        if name not in document.layers or document.layers.get(name).color != colour:
            read.faults.append(f"layer {name}")
    for entity in document.modelspace():
        kind, layer = entity.dxftype(), entity.dxf.layer
        read.layers += [layer] if read.layers[-1:] != [layer] else []
        if kind != ("CIRCLE" if layer == "MAGNET" else "LWPOLYLINE") or entity.dxf.color != 256:
            read.faults.append(f"{kind} on {layer}, colour {entity.dxf.color}")
        elif kind == "CIRCLE":
            read.circles.append((*entity.dxf.center.vec2, entity.dxf.radius))
        else:
            read.rings[layer].append(Polygon(entity.get_points("xy")))
            if not entity.closed or entity.has_arc or entity.has_width:
                read.faults.append("open, or not plain")
    auditor = document.audit()
    read.faults += [str(error) for error in (*auditor.errors, *auditor.fixes)]
    return read


def read_svg(text: str) -> Read:
    root = ElementTree.fromstring(text)
    _, _, width, height = root.get("viewBox", "0 0 0 0").split()
    read, top = Read((float(width), float(height))), float(height)
    if (root.get("width"), root.get("height")) != (f"{width}mm", f"{height}mm"):
        read.faults.append("not at 1:1")
    groups = root.findall(f"{SVG}g")
    read.layers = [group.get("id", "") for group in groups]
    if [one.tag for one in root] != [f"{SVG}title", *(f"{SVG}g" for _ in groups)]:
        read.faults.append("something outside of a layer")
    for name, group in zip(read.layers, groups, strict=True):
        if name != group.get(f"{INKSCAPE}label") or group.get(f"{INKSCAPE}groupmode") != "layer":
            read.faults.append(f"{name} is no layer")
        for shape in group:
            look = [shape.get(key) for key in ("fill", "stroke", "stroke-width")]
            path = shape.get("d", "")
            if look != ["none", LAYERS[name][1], "0.1"]:
                read.faults.append(f"{shape.tag} on {name}: {look}")
            elif name == "MAGNET" and shape.tag == f"{SVG}circle":
                x, y, radius = (float(shape.get(key, "")) for key in ("cx", "cy", "r"))
                read.circles.append((x, top - y, radius))
            elif re.fullmatch(r"M-?[\d.]+ -?[\d.]+(L-?[\d.]+ -?[\d.]+){2,}Z", path):
                numbers = [float(one) for one in re.findall(r"-?[\d.]+", path)]
                pairs = zip(numbers[::2], numbers[1::2], strict=True)
                read.rings[name].append(Polygon([(x, top - y) for x, y in pairs]))
            else:
                read.faults.append("not closed")
    return read


FORMATS: dict[str, tuple[Callable[..., str], Callable[[str], Read]]] = {
    "dxf": (sheet_dxf, read_dxf),
    "svg": (sheet_svg, read_svg),
}


def same(one: BaseGeometry, other: BaseGeometry) -> bool:
    return bool(one.symmetric_difference(other).area < 2 * TINY_MM * other.length)


def holds(read: Read, pieces: list[CutPiece], by_mm: tuple[float, float] = (0, 0)) -> None:
    """A file contains the cuts of pieces, moved by a vector, in their order."""
    assert read.faults == []
    assert read.layers == [one for one in LAYERS if one in read.layers]
    rings = iter(read.rings["CUT"])
    for piece in pieces:
        # What is cut free is cut last: it may have moved.
        *holes, outer = itertools.islice(rings, 1 + len(piece.path.interiors))
        cut = Polygon(outer.exterior, [hole.exterior.coords for hole in holes])
        assert cut.is_valid
        assert same(cut, affinity.translate(piece.path, *by_mm))
    assert not list(rings)
    letters = [Polygon(ring) for one in pieces for ring in one.engraving]
    for found, letter in zip(read.rings["ENGRAVE"], letters, strict=True):
        assert same(found, affinity.translate(letter, *by_mm))
    holes_of = [hole for one in pieces for hole in one.magnets]
    for (x, y, radius), hole in zip(read.circles, holes_of, strict=True):
        assert 2 * radius == pytest.approx(hole.diameter_mm, abs=2 * TINY_MM)
        middle = [at + by for at, by in zip(hole.centre_mm, by_mm, strict=True)]
        assert [x, y] == pytest.approx(middle, abs=TINY_MM)


@pytest.mark.parametrize(
    ("set_name", "machine"),
    [
        ("fridgeiq", MACHINES[1]),
        ("cubimagici", MACHINES[2]),
        pytest.param("iqblock", MACHINES[0], marks=pytest.mark.long),
        pytest.param("iqstars", MACHINES[1], marks=pytest.mark.long),
    ],
)
def test_files_hold_what_is_cut(set_name: str, machine: tuple[str, ...]) -> None:
    for piece in cuts.cut_set(set_name, "default", machine):
        left, bottom, right, top = piece.path.bounds
        for write, reader in FORMATS.values():
            read = reader(write(*piece.on_own_sheet()))
            assert read.size_mm == pytest.approx((right - left + 2, top - bottom + 2), abs=TINY_MM)
            holds(read, [piece], (1 - left, 1 - bottom))


# --- sheets -------------------------------------------------------------------------------------


def sheets_of(machine: tuple[str, ...], set_name: str = "fridgeiq") -> list[CutSheet]:
    profile = cuts.profile_of("default", machine)
    with using("rectpack"):
        return nest_cut_sheets(cuts.cut_set(set_name, "default", machine), profile)


def turned_onto(one: Polygon, other: Polygon) -> bool:
    """Whether a shape, turned but not turned over, is another one elsewhere."""
    for degrees in range(0, 360, 90):
        image = affinity.rotate(one, degrees)
        (left, low, *_), (to_left, to_low, *_) = image.bounds, other.bounds
        if same(affinity.translate(image, to_left - left, to_low - low), other):
            return True
    return False


def test_every_piece_lies_on_one_sheet() -> None:
    profile = cuts.profile_of("default", MACHINES[1])
    pieces = {one.piece: one for one in cuts.cut_set("fridgeiq", "default", MACHINES[1])}
    sheets = sheets_of(MACHINES[1])
    assert [sheet.number for sheet in sheets] == list(range(1, len(sheets) + 1))
    assert sorted(one.piece for sheet in sheets for one in sheet.placed) == sorted(pieces)
    for sheet in sheets:
        assert (sheet.width_mm, sheet.depth_mm) == (297, 210)
        room = box(0, 0, sheet.width_mm, sheet.depth_mm).buffer(-profile.sheet_edge_mm + 1e-6)
        for piece in sheet.placed:
            assert room.contains(piece.path)
            assert turned_onto(pieces[piece.piece].path, piece.path)
        for one, other in itertools.combinations(sheet.placed, 2):
            assert one.path.distance(other.path) >= profile.sheet_gap_mm - 1e-6
        for write, reader in FORMATS.values():
            read = reader(write(sheet.placed, sheet.width_mm, sheet.depth_mm))
            assert read.layers == list(LAYERS)
            assert read.size_mm == (297, 210)
            holds(read, list(sheet.placed))


def test_no_piece_lies_in_the_hole_of_another() -> None:
    """It might fall out with the waste before it is cut."""
    frame = Polygon(box(0, 0, 90, 90).exterior, [box(5, 5, 85, 85).exterior.coords])
    pieces = [
        CutPiece("frame", frame, frame, (), ()),
        CutPiece("small", box(0, 0, 20, 20), box(0, 0, 20, 20), (), ()),
    ]
    machine = ("laser.sheet_width=100 mm", "laser.sheet_depth=100 mm")
    with using("rectpack"):
        sheets = nest_cut_sheets(pieces, cuts.profile_of("default", machine))
    assert [[one.piece for one in sheet.placed] for sheet in sheets] == [["frame"], ["small"]]
    for write, reader in FORMATS.values():
        holds(reader(write(*pieces[0].on_own_sheet())), pieces[:1], (1, 1))


def test_small_sheets() -> None:
    sheets = sheets_of(("laser.sheet_width=100 mm", "laser.sheet_depth=100 mm"))
    assert len(sheets) > 1
    assert sum(len(sheet.placed) for sheet in sheets) == 16
    with pytest.raises(InputError) as error:
        sheets_of(("laser.sheet_width=50 mm", "laser.sheet_depth=50 mm"))
    assert str(error.value).startswith("profile default, sheets of 50 mm x 50 mm: 5 errors\n")
    # What is three units long does not fit into 40 x 40 mm; nothing else does not.
    assert "".join(fault.key for fault in error.value.errors) == "LTSNU"


def test_others_get_their_own_times_and_ids() -> None:
    """What keeps the bytes the same is not left switched on, also not after a failure."""
    import ezdxf

    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    sheet = piece.on_own_sheet()
    assert sheet_dxf(*sheet) == sheet_dxf(*sheet)
    broken = CutPiece("A", piece.outline, piece.path, (None,), ())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        sheet_dxf([broken], 100, 100)
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    assert len({ezdxf.new().header["$FINGERPRINTGUID"] for _ in range(2)}) == 2
    assert ezdxf.__version__ not in sheet_dxf(*sheet)
