"""From a shape's own coordinates to millimetres on paper."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from fabkit.core.errors import shown
from fabkit.model.svg.document import Element
from fabkit.model.svg.fault import SvgError
from fabkit.model.svg.numbers import LARGEST, length_mm, numbers

#: ``(a, b, c, d, e, f)`` for ``x' = a x + c y + e`` and ``y' = b x + d y + f``, as SVG orders them.
Matrix = tuple[float, float, float, float, float, float]

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
#: Editors write matrices with six digits.
_ROUNDING = 1e-4
_MOST = 100
_SIZES = ("width", "height")
_CALL = re.compile(r"\s*,?\s*([A-Za-z]+)\s*\(([^()]*)\)")


def applied(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    """The image of a point."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def transform_of(way: Sequence[Element]) -> Matrix:
    """All transforms of a shape and the groups around it.

    Args:
        way: the groups, and the shape at the end.

    Raises:
        SvgError: when one cannot be read, or they change angles or proportions.

    Example:
        >>> group = Element("g", {"transform": "translate(5) scale(2)"}, 1)
        >>> transform_of([group, Element("path", {"transform": "rotate(90 1 0)"}, 2)])
        (0.0, 2.0, -2.0, 0.0, 7.0, -2.0)
    """
    total = IDENTITY
    for element in way:
        try:
            for one in _parts(element.attributes.get("transform", "")):
                total = _product(total, one)
            _refuse_dissimilar(total)
        except SvgError as fault:
            element.refuse(f"has a transform that {fault}")
    return tuple(round(value, 12) + 0.0 for value in total)  # type: ignore[return-value]


def page(top: Element) -> Matrix:
    """From user units to millimetres on paper, from the page's top left.

    Args:
        top: the outermost element.

    Raises:
        SvgError: when the drawing has no size on paper, or is stretched.

    Example:
        >>> page(Element("svg", {"width": "40mm", "viewBox": "0 0 80 20"}, 1))
        (0.5, 0.0, 0.0, 0.5, 0.0, 0.0)
        >>> round(page(Element("svg", {}, 1))[0], 4)
        0.2646
    """
    sizes = [length_mm(top.attributes[key]) if key in top.attributes else None for key in _SIZES]
    if "viewBox" not in top.attributes:
        pixel_mm = 25.4 / 96
        return (pixel_mm, 0.0, 0.0, pixel_mm, 0.0, 0.0)
    box = numbers(top.attributes["viewBox"])
    if len(box) != 4 or min(box[2:]) <= 0:
        found = shown(top.attributes["viewBox"])
        raise SvgError(f"has the viewBox {found}; expected left, top, width and height")
    scales = [size / side for size, side in zip(sizes, box[2:], strict=True) if size is not None]
    if not scales or min(scales) <= 0:
        raise SvgError(
            "has a viewBox, but no width and height that say how large it is on paper; write "
            f'them in mm, such as width="{box[2]:g}mm" height="{box[3]:g}mm"'
        )
    if max(scales) > min(scales) * (1 + _ROUNDING * 10):
        across, down = scales
        raise SvgError(
            f"is stretched: a unit of its viewBox is {across:.4g} mm across and {down:.4g} mm down"
        )
    scale = scales[0]
    return (scale, 0.0, 0.0, scale, 0 - box[0] * scale, 0 - box[1] * scale)


def _parts(text: str) -> list[Matrix]:
    found, position = [], 0
    while match := _CALL.match(text, position):
        found.append(_matrix(match[1], numbers(match[2])))
        position = match.end()
        if len(found) > _MOST:
            raise SvgError(f"has more than {_MOST} parts")
    if text[position:].strip():
        raise SvgError(f"cannot be read at {shown(text[position : position + 20].strip())}")
    return found


def _matrix(name: str, values: list[float]) -> Matrix:
    count = len(values)
    if name == "translate" and count in (1, 2):
        return (1.0, 0.0, 0.0, 1.0, values[0], values[1] if count > 1 else 0.0)
    if name == "scale" and count in (1, 2):
        return (values[0], 0.0, 0.0, values[-1], 0.0, 0.0)
    if name == "rotate" and count in (1, 3):
        cos, sin = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
        x, y = values[1:] or (0.0, 0.0)
        return (cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y)
    if name == "matrix" and count == 6:
        a, b, c, d, e, f = values
        return (a, b, c, d, e, f)
    if name in ("skewX", "skewY"):
        raise SvgError(f"skews ({name}); a piece keeps its angles")
    if name in ("translate", "scale", "rotate", "matrix"):
        raise SvgError(f"gives {name} {count} numbers")
    raise SvgError(f"is not known: {shown(name)}; expected translate, scale, rotate or matrix")


def _product(outer: Matrix, inner: Matrix) -> Matrix:
    a, b, c, d, _, _ = outer
    (e, f), (p, q, r, s, _, _) = applied(outer, *inner[4:]), inner
    return (a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, e, f)


def _refuse_dissimilar(matrix: Matrix) -> None:
    a, b, c, d, e, f = matrix
    across, down = math.hypot(a, b), math.hypot(c, d)
    if not max(across, down, abs(e), abs(f)) <= LARGEST:
        raise SvgError("moves the shape too far away")
    if min(across, down) < 1e-9:
        raise SvgError("shrinks the shape to nothing")
    if abs(across - down) > _ROUNDING * max(across, down):
        raise SvgError(
            f"scales unequally ({across:.4g} across, {down:.4g} down); a piece keeps its proportions"
        )
    if abs(a * c + b * d) > _ROUNDING * across * down:
        raise SvgError("skews; a piece keeps its angles")
