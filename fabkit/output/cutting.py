"""DXF and SVG files for laser cutters and cutting plotters: hairlines in mm, by layer.

Machines cut layer by layer, and holes come before their outlines: a part that is cut free may move.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from shapely import total_bounds

from fabkit.drawing.laser import CutPiece
from fabkit.drawing.outline import PointMm, RingMm, rings_mm
from fabkit.output.svg import Drawing, number

#: The layers: colours by AutoCAD's index (7 is black on white, 5 blue, 1 red) and in SVG.
LAYERS = {"ENGRAVE": (7, "#000000"), "MAGNET": (5, "#0000ff"), "CUT": (1, "#ff0000")}
#: Machines cut lines as thin as this and engrave wider ones.
HAIRLINE_MM = 0.1
#: Decimals of a length in mm: differences below a nanometre depend on the processor.
_DIGITS = 6


def sheet_svg(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Return pieces on a sheet, origin at the lower left, as an SVG document in mm with those of
    the layers CUT, ENGRAVE and MAGNET that are not empty. No style sheet: machines ignore it."""
    title = f"Cut: {', '.join(piece.piece for piece in pieces)}"
    drawing = Drawing(width_mm, depth_mm, title, theme=None)
    for layer, (rings, circles) in _contents(pieces).items():
        style = {"fill": "none", "stroke": LAYERS[layer][1], "stroke_width": number(HAIRLINE_MM)}
        if rings or circles:
            with drawing.layer(layer):
                for x, y, radius in circles:
                    drawing.circle(x, y, radius, **style)
                for ring in rings:
                    drawing.polygon([ring], **style)
    return drawing.source()


def sheet_dxf(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Return pieces on a sheet, origin at the lower left, as a DXF document (R2010) with toolpaths
    only: closed LWPOLYLINEs on CUT and ENGRAVE, CIRCLEs on MAGNET and, for pegs, on CUT."""
    from ezdxf.filemanagement import new

    with _same_bytes():
        document = new("R2010", setup=False)
        document.header["$INSUNITS"] = 4  # millimetres
        document.header["$MEASUREMENT"] = 1  # metric
        for layer, (colour, _) in LAYERS.items():
            document.layers.add(layer, color=colour)
        space = document.modelspace()
        space.reset_limits((0, 0), (round(width_mm, _DIGITS), round(depth_mm, _DIGITS)))
        left, bottom, right, top = total_bounds([piece.path for piece in pieces])
        low, high = ((*point, 0.0) for point in _rounded([(left, bottom), (right, top)]))
        space.reset_extents(low, high)
        # ezdxf does not copy extents that begin at the origin.
        document.header["$EXTMIN"], document.header["$EXTMAX"] = low, high
        for layer, (rings, circles) in _contents(pieces).items():
            for x, y, radius in circles:
                [centre] = _rounded([(x, y)])
                space.add_circle(centre, round(radius, _DIGITS), dxfattribs={"layer": layer})
            for ring in rings:
                space.add_lwpolyline(_rounded(ring), close=True, dxfattribs={"layer": layer})
        # ezdxf would add these in the order of a set, which varies between runs.
        for name in sorted(document.entitydb.dxf_types_in_use()):
            document.classes.add_class(name)
        stream = io.StringIO()
        document.write(stream)
    return stream.getvalue()


def _contents(
    pieces: Sequence[CutPiece],
) -> dict[str, tuple[list[RingMm], list[tuple[float, float, float]]]]:
    """Return rings and circles (centre and radius) by layer."""
    engraved = [ring for piece in pieces for ring in piece.engraving]
    holes = [
        (*magnet.centre_mm, magnet.diameter_mm / 2) for piece in pieces for magnet in piece.magnets
    ]
    cuts = [ring for piece in pieces for ring in reversed(rings_mm(piece.path))]
    pegs = [(*hole.centre_mm, hole.diameter_mm / 2) for piece in pieces for hole in piece.holes]
    return {"ENGRAVE": (engraved, []), "MAGNET": ([], holes), "CUT": (cuts, pegs)}


def _rounded(points: Iterable[PointMm]) -> list[PointMm]:
    # Adding 0.0 turns -0.0 into 0.0.
    return [(round(float(x), _DIGITS) + 0.0, round(float(y), _DIGITS) + 0.0) for x, y in points]


@contextmanager
def _same_bytes() -> Iterator[None]:
    """Keep times, random ids and the library's version out of files written inside the context."""
    from ezdxf import options  # type: ignore[attr-defined]

    before = options.write_fixed_meta_data_for_testing
    options.write_fixed_meta_data_for_testing = True
    try:
        yield
    finally:
        options.write_fixed_meta_data_for_testing = before
