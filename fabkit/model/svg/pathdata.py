"""The corners of a path, polygon or rect: straight lines only, everything else by its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabkit.core.errors import shown
from fabkit.model.polygon import MAX_SIZE
from fabkit.model.svg.document import Element
from fabkit.model.svg.fault import SvgError
from fabkit.model.svg.numbers import NUMBER, number, numbers, user_units

Corner = tuple[float, float]

_COMMAND = re.compile(r"\s*([A-Za-z])")
_NEXT = re.compile(rf"\s*,?\s*({NUMBER})")
#: What is not straight, or not known: the command in capitals, and what it draws.
_BENT = {"C": "a curve", "S": "a curve", "Q": "a curve", "T": "a curve", "A": "an arc"}


@dataclass(frozen=True)
class Line:
    """Some corners in a row.

    Attributes:
        corners: in user units, y down.
        closed: whether the last one is joined to the first.
    """

    corners: tuple[Corner, ...]
    closed: bool


def lines_of(shape: Element) -> list[Line]:
    """What a shape draws.

    Args:
        shape: a path, polygon or rect.

    Raises:
        SvgError: when there are curves, rounded corners or no corners at all, or it cannot be
            read.

    Example:
        >>> lines_of(Element("path", {"d": "M1 1h2v2H1z"}, 1))
        [Line(corners=((1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0)), closed=True)]
    """
    try:
        if shape.tag == "rect":
            lines = [_rect(shape)]
        elif shape.tag == "polygon":
            lines = [_polygon(shape.attributes.get("points", ""))]
        else:
            lines = list(_path(shape.attributes.get("d", "")))
    except SvgError as fault:
        shape.refuse(str(fault))
    if not lines:
        shape.refuse("draws nothing")
    if sum(len(line.corners) for line in lines) > MAX_SIZE:
        shape.refuse(f"has more than {MAX_SIZE} corners")
    return lines


def _rect(shape: Element) -> Line:
    said = {
        key: user_units(shape.attributes.get(key, "0")) for key in ("x", "y", "width", "height")
    }
    for key in ("rx", "ry"):
        if shape.attributes.get(key, "0") not in ("0", "auto"):
            raise SvgError(f"has rounded corners ({key}); expected sharp ones")
    x, y, width, height = said.values()
    if min(width, height) <= 0:
        raise SvgError("has no width or no height")
    return Line(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), closed=True)


def _polygon(points: str) -> Line:
    values = numbers(points)
    if len(values) % 2 or not values:
        raise SvgError(f"has {len(values)} numbers as points; expected pairs of x and y")
    return Line(tuple(zip(values[::2], values[1::2], strict=True)), closed=True)


def _path(data: str) -> Iterator[Line]:
    """The subpaths; one that is a single point draws nothing."""
    here = start = (0.0, 0.0)
    corners: list[Corner] = []
    for command, values in _commands(data):
        kind = command.upper()
        if kind in "MZ":
            if corners:
                yield Line(tuple(corners), closed=kind == "Z")
            corners = []
        if kind == "Z":
            here = start
        for index, step in enumerate(_steps(kind, values)):
            before, here = here, _after(here, step, relative=command.islower())
            if kind == "M" and index == 0:
                start = here
            else:
                corners += [here] if corners else [before, here]
    if corners:
        yield Line(tuple(corners), closed=False)


def _commands(data: str) -> Iterator[tuple[str, list[float]]]:
    """Each command with its numbers, checked to be one of straight lines."""
    position, first = 0, True
    while match := _COMMAND.match(data, position):
        command, at = match[1], match.start(1)
        place = f"({command}, at character {at + 1} of d)"
        if command.upper() in _BENT:
            bent = _BENT[command.upper()]
            raise SvgError(f"holds {bent} {place}; expected straight lines: M, L, H, V and Z")
        if command.upper() not in "MLHVZ":
            raise SvgError(f"holds an unknown command {place}; expected M, L, H, V and Z")
        if first and command.upper() != "M":
            raise SvgError(f"does not begin with M {place}")
        values = []
        position = match.end()
        while found := _NEXT.match(data, position):
            values.append(number(found[1]))
            position = found.end()
        pairs = command.upper() in "ML"
        if (not values or (pairs and len(values) % 2)) if command.upper() != "Z" else values:
            raise SvgError(f"has {len(values)} numbers behind a command {place}")
        yield command, values
        first = False
    if rest := data[position:].strip():
        raise SvgError(f"cannot be read at character {position + 1} of d: {shown(rest[:20])}")


def _steps(kind: str, values: list[float]) -> Iterator[tuple[float | None, float | None]]:
    """What a command says of x and y, one line after the other."""
    if kind == "H":
        yield from ((x, None) for x in values)
    elif kind == "V":
        yield from ((None, y) for y in values)
    else:
        yield from zip(values[::2], values[1::2], strict=True)


def _after(here: Corner, step: tuple[float | None, float | None], relative: bool) -> Corner:
    x, y = (
        old if new is None else old + new if relative else new
        for old, new in zip(here, step, strict=True)
    )
    return x, y
