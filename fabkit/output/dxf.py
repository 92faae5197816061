"""DXF files for laser cutters and cutting plotters: closed polylines in millimetres, by layer."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from shapely import total_bounds

from fabkit.drawing.cut import CutPiece
from fabkit.drawing.outline import PointMm, rings_mm

#: The layers and their colours by AutoCAD's index, in the order in which they should be worked:
#: what is cut free may move. (7 is black on white, 5 blue, 1 red.)
LAYERS = {"ENGRAVE": 7, "MAGNET": 5, "CUT": 1}

_MILLIMETRES = 4  # of $INSUNITS
_METRIC = 1  # of $MEASUREMENT
_DIGITS = 6  # nanometres: finer differences are the machine's that computed them
#: ezdxf's options are one for the whole process.
_options_are_ours = Lock()


def piece_dxf(piece: CutPiece) -> str:
    """One piece for a cutting machine.

    Args:
        piece: what is cut.

    Returns:
        A DXF document (R2010) with nothing but what the machine shall do: closed LWPOLYLINEs on
        CUT and ENGRAVE, CIRCLEs on MAGNET.

    Example:
        >>> from shapely import box
        >>> text = piece_dxf(CutPiece("A", box(0, 0, 20, 10), box(0, 0, 20, 10), (), ()))
        >>> text.count("LWPOLYLINE"), text.count("CIRCLE")
        (1, 0)
    """
    placed, width_mm, depth_mm = piece.alone()
    return sheet_dxf([placed], width_mm, depth_mm)


def sheet_dxf(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Pieces on a sheet for a cutting machine. The sheet's own edge is not drawn.

    Args:
        pieces: where they lie on the sheet.
        width_mm: of the sheet, whose lower left corner is the origin.
        depth_mm: of the sheet.

    Returns:
        A DXF document, as from `piece_dxf`.
    """
    from ezdxf.filemanagement import new

    with _same_bytes():
        document = new("R2010", setup=False)
        document.header["$INSUNITS"] = _MILLIMETRES
        document.header["$MEASUREMENT"] = _METRIC
        for layer, colour in LAYERS.items():
            document.layers.add(layer, color=colour)
        space = document.modelspace()
        space.reset_limits((0, 0), (round(width_mm, _DIGITS), round(depth_mm, _DIGITS)))
        left, bottom, right, top = total_bounds([piece.path for piece in pieces])
        low, high = ((*point, 0.0) for point in _rounded([(left, bottom), (right, top)]))
        space.reset_extents(low, high)
        # These are not taken from there when one is the origin.
        document.header["$EXTMIN"], document.header["$EXTMAX"] = low, high
        for piece in pieces:
            for contour in piece.engraving:
                space.add_lwpolyline(_rounded(contour), close=True, dxfattribs={"layer": "ENGRAVE"})
        for piece in pieces:
            for circle in piece.magnets:
                [centre] = _rounded([circle.centre_mm])
                radius_mm = round(circle.diameter_mm / 2, _DIGITS)
                space.add_circle(centre, radius_mm, dxfattribs={"layer": "MAGNET"})
        for piece in pieces:
            # Holes first: a piece that is cut free may have moved.
            for ring in reversed(rings_mm(piece.path)):
                space.add_lwpolyline(_rounded(ring), close=True, dxfattribs={"layer": "CUT"})
        # What is in use the library would enter in the order of a set, which is not always the same.
        for name in sorted(document.entitydb.dxf_types_in_use()):
            document.classes.add_class(name)
        stream = io.StringIO()
        document.write(stream)
    return stream.getvalue()


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
