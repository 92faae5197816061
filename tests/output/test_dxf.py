"""DXF files, read back with ezdxf: what a machine would do, and nothing else."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable

import ezdxf
import pytest
import shapely
from ezdxf.document import Drawing
from shapely import Point, Polygon, box

from fabkit.drawing.cut import CutPiece
from fabkit.model.library import load_set
from fabkit.output.dxf import piece_dxf, sheet_dxf
from tests.support import analytic, cuts
from tests.support.cuts import FLAT_SETS, MACHINES, PRESETS

LAYERS = {"CUT": 1, "ENGRAVE": 7, "MAGNET": 5}


def read(text: str) -> Drawing:
    return ezdxf.read(io.StringIO(text))


def faults(text: str) -> list[str]:
    """What a machine would stumble over, or cut by mistake."""
    document = read(text)
    found = []
    if (document.header["$INSUNITS"], document.header["$MEASUREMENT"]) != (4, 1):
        found.append("not in millimetres")
    found += [
        f"layer {name}"
        for name, colour in LAYERS.items()
        if name not in document.layers or document.layers.get(name).color != colour
    ]
    for layout in document.layouts:
        for entity in layout if layout.is_modelspace else ():
            kind, layer = entity.dxftype(), entity.dxf.layer
            wanted = "CIRCLE" if layer == "MAGNET" else "LWPOLYLINE"
            if layer not in LAYERS or kind != wanted:
                found.append(f"{kind} on {layer}")
            if entity.dxf.color != 256:
                found.append("a colour of its own")
            if kind == "LWPOLYLINE":
                if not entity.closed:
                    found.append("open")
                if entity.has_arc or entity.has_width or len(entity) < 3:
                    found.append("not plain")
    auditor = document.audit()
    found += [str(error) for error in (*auditor.errors, *auditor.fixes)]
    return found


def rings(document: Drawing, layer: str) -> list[list[tuple[float, float]]]:
    found = document.modelspace().query(f'LWPOLYLINE[layer=="{layer}"]')
    return [[(x, y) for x, y in one.get_points("xy")] for one in found]


def at_origin(area: shapely.Geometry, edge_mm: float = 1.0) -> shapely.Geometry:
    left, bottom, _, _ = area.bounds
    return shapely.affinity.translate(area, edge_mm - left, edge_mm - bottom)


@pytest.mark.every(3)
@pytest.mark.parametrize("machine", MACHINES, ids=["foil", "laser", "coarse"])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("set_name", FLAT_SETS)
def test_files_hold_what_is_cut(set_name: str, preset: str, machine: tuple[str, ...]) -> None:
    profile = cuts.profile_of(preset, machine)
    pieces = cuts.cut_set(set_name, preset, machine)
    for drawing, piece in zip(analytic.drawings(set_name), pieces, strict=True):
        text = piece_dxf(piece)
        assert faults(text) == []
        document = read(text)
        path = at_origin(cuts.path(drawing, profile))
        cut = cuts.polygon_of(rings(document, "CUT"))
        assert cut.symmetric_difference(path).area < 1e-3
        inside_mm = profile.laser_inset_mm - profile.kerf_mm / 2
        expected = cuts.area_inside(cuts.canonical(drawing, profile), inside_mm)
        assert cut.area == pytest.approx(expected, abs=1e-3)
        left = at_origin(analytic.moved_in(cut, profile.kerf_mm / 2))
        assert left.symmetric_difference(at_origin(cuts.finished(drawing, profile))).area < 1e-3
        circles = document.modelspace().query('CIRCLE[layer=="MAGNET"]')
        assert len(circles) == (drawing.magnets if profile.has_recesses else 0)
        for circle in circles:
            bore_mm = 2 * circle.dxf.radius + profile.kerf_mm
            assert bore_mm == pytest.approx(analytic.bore_mm(profile))
            wall_mm = left.boundary.distance(Point(circle.dxf.center.x, circle.dxf.center.y))
            # `left` was moved to the corner of the sheet, too: by half a kerf.
            assert wall_mm >= bore_mm / 2 + profile.wall_mm - profile.kerf_mm
        letters = rings(document, "ENGRAVE")
        assert len(letters) == len(piece.engraving)
        assert all(left.contains(Polygon(letter)) for letter in letters)


def test_what_a_machine_would_stumble_over_is_found() -> None:
    """The check of these tests, on files with one fault each."""
    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    assert changed(piece, lambda document: None) == []
    assert "open" in changed(piece, open_polyline)
    assert "TEXT on 0" in changed(piece, lambda one: one.modelspace().add_text("A"))
    assert "LINE on CUT" in changed(piece, lambda one: one.modelspace().add_line(
        (0, 0), (1, 1), dxfattribs={"layer": "CUT"}
    ))  # fmt: skip
    assert "not in millimetres" in changed(piece, set_inches)
    assert "layer CUT" in changed(piece, lambda one: one.layers.remove("CUT"))


def changed(piece: CutPiece, change: Callable[[Drawing], object]) -> list[str]:
    document = read(piece_dxf(piece))
    change(document)
    stream = io.StringIO()
    document.write(stream)
    return faults(stream.getvalue())


def open_polyline(document: Drawing) -> None:
    document.modelspace().query("LWPOLYLINE").first.closed = False


def set_inches(document: Drawing) -> None:
    document.header["$INSUNITS"] = 1


def test_holes_come_before_what_they_are_in() -> None:
    """A piece that is cut free may have moved."""
    ring = Polygon(box(0, 0, 30, 30).exterior, [box(10, 10, 20, 20).exterior.coords])
    text = sheet_dxf([CutPiece("A", ring, ring, (), ())], 40, 50)
    hole, outer = rings(read(text), "CUT")
    assert (Polygon(hole).area, Polygon(outer).area) == (100, 900)
    assert read(text).header["$LIMMAX"] == (40, 50)
    assert read(text).header["$EXTMIN"] == (0, 0, 0)
    assert read(text).header["$EXTMAX"] == (30, 30, 0)


def test_letters_and_magnets_come_before_the_cuts() -> None:
    text = sheet_dxf(cuts.cut_set("fridgeiq", "default", ()), 300, 300)
    layers = [entity.dxf.layer for entity in read(text).modelspace()]
    assert list(dict.fromkeys(layers)) == ["ENGRAVE", "MAGNET", "CUT"]
    assert layers == sorted(layers, key=["ENGRAVE", "MAGNET", "CUT"].index)


@pytest.mark.parametrize("machine", [(), ("laser.inset=0.1 mm",)], ids=["foil", "inset"])
def test_the_reader_of_meshes_knows_the_pieces_again(machine: tuple[str, ...]) -> None:
    """The polylines, made bodies, are taken for all sixteen pieces, none of them mirrored."""
    pieces = cuts.cut_set("fridgeiq", "default", machine)
    polygons = [cuts.polygon_of(rings(read(piece_dxf(piece)), "CUT")) for piece in pieces]
    assert cuts.recognised("fridgeiq", polygons, 20.0) == names()


def names() -> list[str]:
    return sorted(piece.id for piece in load_set("fridgeiq").pieces)


def test_a_piece_that_is_missing_is_not_recognised() -> None:
    """Not all sixteen are recognised when one of them is another's shape."""
    pieces = cuts.cut_set("fridgeiq", "default", ())
    polygons = [cuts.polygon_of(rings(read(piece_dxf(piece)), "CUT")) for piece in pieces]
    polygons[0] = polygons[5]
    assert cuts.recognised("fridgeiq", polygons, 20.0) != names()


# --- the same bytes -------------------------------------------------------------------------

CODE = """
import sys
from fabkit.drawing.cut import cut_all
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.output.cutting import sheet_svg
from fabkit.output.dxf import piece_dxf, sheet_dxf
puzzle = load_set("fridgeiq")
pieces = cut_all(puzzle, puzzle.pieces, load_profile())
for text in (*map(piece_dxf, pieces[:2]), sheet_dxf(pieces, 300, 200), sheet_svg(pieces, 300, 200)):
    sys.stdout.buffer.write(text.encode())
"""


def test_two_processes_write_the_same_bytes() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (
            ("1", "UTC"),
            ("4", "Asia/Tokyo"),
            ("77", "UTC"),
        )  # 4 sorts a set of ezdxf's otherwise
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert outputs[0].count(b"EOF") == 3


def test_others_get_their_own_times_and_ids() -> None:
    """What keeps the bytes the same is not left switched on, also not after a failure."""
    (piece, *_) = cuts.cut_set("fridgeiq", "default", ())
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    assert piece_dxf(piece) == piece_dxf(piece)
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    broken = CutPiece("A", piece.outline, piece.path, (None,), ())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        sheet_dxf([broken], 100, 100)
    assert not ezdxf.options.write_fixed_meta_data_for_testing
    ids = {ezdxf.new().header["$FINGERPRINTGUID"] for _ in range(2)}
    assert len(ids) == 2
    assert ezdxf.__version__ not in piece_dxf(piece)
