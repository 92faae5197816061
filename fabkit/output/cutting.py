"""SVG at 1:1 for laser cutters and cutting plotters: hairlines only, by layer and by colour."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.drawing.cut import CutPiece
from fabkit.drawing.outline import rings_mm
from fabkit.output.svg import Drawing, number

#: The layers and the colours by which machines tell them, in the order in which they should be
#: worked: what is cut free may move.
COLOURS = {"ENGRAVE": "#000000", "MAGNET": "#0000ff", "CUT": "#ff0000"}
#: Lines are so thin that machines take them for cuts and not for areas.
HAIRLINE_MM = 0.1


def piece_svg(piece: CutPiece) -> str:
    """One piece for a cutting machine, or to be cut from paper with scissors.

    Args:
        piece: what is cut.

    Returns:
        An SVG document in mm with the layers CUT, ENGRAVE and MAGNET, as far as there is
        something on them. It shows no text, and has no style sheet, which machines do not read.

    Example:
        >>> from shapely import box
        >>> text = piece_svg(CutPiece("A", box(0, 0, 20, 10), box(0, 0, 20, 10), (), ()))
        >>> 'width="22mm" height="12mm" viewBox="0 0 22 12"' in text
        True
    """
    placed, width_mm, depth_mm = piece.alone()
    return sheet_svg([placed], width_mm, depth_mm)


def sheet_svg(pieces: Sequence[CutPiece], width_mm: float, depth_mm: float) -> str:
    """Pieces on a sheet for a cutting machine. The page is the sheet; its edge is not drawn.

    Args:
        pieces: where they lie on the sheet.
        width_mm: of the sheet, whose lower left corner is the origin.
        depth_mm: of the sheet.

    Returns:
        An SVG document, as from `piece_svg`.
    """
    drawing = Drawing(
        width_mm, depth_mm, f"Cut: {', '.join(piece.piece for piece in pieces)}", theme=None
    )
    lines = {
        layer: {"fill": "none", "stroke": colour, "stroke_width": number(HAIRLINE_MM)}
        for layer, colour in COLOURS.items()
    }
    contours = [contour for piece in pieces for contour in piece.engraving]
    if contours:
        with drawing.layer("ENGRAVE"):
            for contour in contours:
                drawing.polygon([contour], **lines["ENGRAVE"])
    circles = [circle for piece in pieces for circle in piece.magnets]
    if circles:
        with drawing.layer("MAGNET"):
            for circle in circles:
                x, y = circle.centre_mm
                drawing.circle(x, y, circle.diameter_mm / 2, **lines["MAGNET"])
    with drawing.layer("CUT"):
        for piece in pieces:
            # Holes first: a piece that is cut free may have moved.
            for ring in reversed(rings_mm(piece.path)):
                drawing.polygon([ring], **lines["CUT"])
    return drawing.source()
