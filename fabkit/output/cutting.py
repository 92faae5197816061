"""DXF and SVG files for laser cutters and cutting plotters: hairlines in millimetres, by layer.

The layers are worked in their order, and holes before what they are in: what is cut free may move.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from shapely import total_bounds

from fabkit.drawing.cut import CutPiece
from fabkit.drawing.outline import PointMm, RingMm, rings_mm
from fabkit.output.svg import Drawing, number

#: The layers, with their colours by AutoCAD's index (7 is black on white, 5 blue, 1 red) and in SVG.
LAYERS = {"ENGRAVE": (7, "#000000"), "MAGNET": (5, "#0000ff"), "CUT": (1, "#ff0000")}
#: Lines are so thin that machines take them for cuts and not for areas.
HAIRLINE_MM = 0.1

_MILLIMETRES = 4  # of $INSUNITS
_METRIC = 1  # of $MEASUREMENT
_DIGITS = 6  # nanometres: finer differences are the machine's that computed them
#: ezdxf's options are one for the whole process.
_options_are_ours = Lock()


def piece_svg(piece: CutPiece) -> str:
    """One piece as `sheet_svg` writes it, for a machine or to be cut from paper with scissors."""
    placed, width_mm, depth_mm = piece.alone()
    return sheet_svg([placed], width_mm, depth_mm)


def sheet_svg(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Pieces on a sheet whose lower left corner is the origin. The page is the sheet.

    Returns:
        An SVG document in mm with the layers CUT, ENGRAVE and MAGNET, as far as there is
        something on them. It shows no text, and has no style sheet, which machines do not read.

    Example:
        >>> from shapely import box
        >>> text = sheet_svg([CutPiece("A", box(1, 1, 9, 9), box(1, 1, 9, 9), (), ())], 20, 10)
        >>> 'width="20mm" height="10mm" viewBox="0 0 20 10"' in text
        True
    """
    title = f"Cut: {', '.join(piece.piece for piece in pieces)}"
    drawing = Drawing(width_mm, depth_mm, title, theme=None)
    for layer, (rings, circles) in _contents(pieces).items():
        style = {"fill": "none", "stroke": LAYERS[layer][1], "stroke_width": number(HAIRLINE_MM)}
        if rings or circles:
            with drawing.layer(layer):
                for ring in rings:
                    drawing.polygon([ring], **style)
                for x, y, radius in circles:
                    drawing.circle(x, y, radius, **style)
    return drawing.source()


def piece_dxf(piece: CutPiece) -> str:
    """One piece as `sheet_dxf` writes it."""
    placed, width_mm, depth_mm = piece.alone()
    return sheet_dxf([placed], width_mm, depth_mm)


def sheet_dxf(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Pieces on a sheet whose lower left corner is the origin. The sheet's edge is not drawn.

    Returns:
        A DXF document (R2010) with nothing but what the machine is to do: closed LWPOLYLINEs on
        CUT and ENGRAVE, CIRCLEs on MAGNET.
    """
    from ezdxf.filemanagement import new

    with _same_bytes():
        document = new("R2010", setup=False)
        document.header["$INSUNITS"] = _MILLIMETRES
        document.header["$MEASUREMENT"] = _METRIC
        for layer, (colour, _) in LAYERS.items():
            document.layers.add(layer, color=colour)
        space = document.modelspace()
        space.reset_limits((0, 0), (round(width_mm, _DIGITS), round(depth_mm, _DIGITS)))
        left, bottom, right, top = total_bounds([piece.path for piece in pieces])
        low, high = ((*point, 0.0) for point in _rounded([(left, bottom), (right, top)]))
        space.reset_extents(low, high)
        # These are not taken from there when one is the origin.
        document.header["$EXTMIN"], document.header["$EXTMAX"] = low, high
        for layer, (rings, circles) in _contents(pieces).items():
            for ring in rings:
                space.add_lwpolyline(_rounded(ring), close=True, dxfattribs={"layer": layer})
            for x, y, radius in circles:
                [centre] = _rounded([(x, y)])
                space.add_circle(centre, round(radius, _DIGITS), dxfattribs={"layer": layer})
        # What is in use the library would enter in the order of a set, which is not always the same.
        for name in sorted(document.entitydb.dxf_types_in_use()):
            document.classes.add_class(name)
        stream = io.StringIO()
        document.write(stream)
    return stream.getvalue()


_Contents = tuple[list[RingMm], list[tuple[float, float, float]]]


def _contents(pieces: Sequence[CutPiece]) -> dict[str, _Contents]:
    """By layer the rings, and the circles by centre and radius."""
    engraved = [ring for piece in pieces for ring in piece.engraving]
    holes = [(*one.centre_mm, one.diameter_mm / 2) for piece in pieces for one in piece.magnets]
    cuts = [ring for piece in pieces for ring in reversed(rings_mm(piece.path))]
    return {"ENGRAVE": (engraved, []), "MAGNET": ([], holes), "CUT": (cuts, [])}


def _rounded(points: Iterable[PointMm]) -> list[PointMm]:
    # Adding nothing makes a minus zero a zero.
    return [(round(float(x), _DIGITS) + 0.0, round(float(y), _DIGITS) + 0.0) for x, y in points]


@contextmanager
def _same_bytes() -> Iterator[None]:
    """Keeps times, random ids and the library's version out of what is written meanwhile."""
    from ezdxf import options  # type: ignore[attr-defined]

    with _options_are_ours:
        before = options.write_fixed_meta_data_for_testing
        options.write_fixed_meta_data_for_testing = True
        try:
            yield
        finally:
            options.write_fixed_meta_data_for_testing = before
