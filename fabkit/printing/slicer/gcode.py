"""Reading G-code back, line by line, whatever is in it.

PrusaSlicer's comments say where layers begin (``;LAYER_CHANGE``, ``;Z:``), which object the next
moves belong to (``; printing object A id:0 copy 0``) and, at the end, what it all takes; the moves
themselves say what is really printed. Both count: a layer in which no plastic flows is none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from fabkit.core.errors import OutsideError, shown
from fabkit.core.files import outside_failures

#: Heights are written with three digits.
SAME_MM = 0.002

_TIME = re.compile(r"(?:(\d+)d ?)?(?:(\d+)h ?)?(?:(\d+)m ?)?(?:(\d+)s)?")
_SECONDS = (86_400, 3_600, 60, 1)
_OBJECT = re.compile(r"; printing object (.*) id:(\d{1,9}) copy (\d{1,9})")
_PAUSES = ("M601", "M0", "M1")

#: Left, front, right and back, in mm.
Box = tuple[float, float, float, float]
_NOWHERE = (math.inf, math.inf, -math.inf, -math.inf)


@dataclass(frozen=True)
class Layer:
    """A layer in which something is printed; heights above the bed."""

    low_mm: float
    top_mm: float


@dataclass
class Stop:
    """A pause.

    Attributes:
        layer: how many layers are begun before it; all of them are done if `between`.
        height_mm: top of the last of those; 0 before the first.
        between: whether nothing more of that layer is printed after it.
    """

    layer: int
    height_mm: float
    between: bool = True


@dataclass
class Printed:
    """An object as it is printed.

    Attributes:
        number: of the object in the slicer's list.
        low_mm: where the first of its layers begins.
        high_mm: where the last of them ends.
        first_layer: from 1.
        last_layer: from 1.
        layers: in how many something of it is printed.
        box: around the middles of its lines.
    """

    name: str
    number: int
    copy: int
    low_mm: float = 0.0
    high_mm: float = 0.0
    first_layer: int = 0
    last_layer: int = 0
    layers: int = 0
    box: Box = _NOWHERE


@dataclass
class Gcode:
    """What a G-code file holds; None for what it does not say.

    Attributes:
        box: around the middles of all lines, tower and skirt included.
        seconds: how long it takes.
        metres: of filament, for each extruder.
        grams: of filament, for each extruder.
        total_grams: of all, with what is purged.
    """

    layers: list[Layer] = field(default_factory=list)
    printed: list[Printed] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    box: Box = _NOWHERE
    seconds: int | None = None
    metres: tuple[float, ...] | None = None
    grams: tuple[float, ...] | None = None
    total_grams: float | None = None


def read_gcode(path: Path, source: str) -> Gcode:
    """Reads a G-code file.

    Raises:
        OutsideError: when it cannot be read or is not what a slicer writes, with the line.
    """
    reader, count = _Reader(), 0
    with outside_failures(f"cannot read the G-code of {source}"):
        try:
            with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                for line in file:
                    count += 1
                    reader.line(line.rstrip())
            return reader.result()
        except ValueError as error:
            raise OutsideError(
                f"{source} wrote G-code that is broken: {error} (line {count})"
            ) from None


class _Reader:
    """Follows a print: where the nozzle is, in which layer, at which object."""

    def __init__(self) -> None:
        self._found = Gcode()
        self._objects: dict[tuple[int, int, str], Printed] = {}
        self._object: Printed | None = None
        self._position = {"X": 0.0, "Y": 0.0, "E": 0.0}
        self._relative = False
        self._next_top: float | None = None
        self._wants_height = False
        self._paused = False

    def line(self, line: str) -> None:
        """Takes the next line in.

        Raises:
            ValueError: when it makes no sense; the sentence says why.
        """
        if not line.startswith(";"):
            self._command(line.partition(";")[0].split())
        elif line == ";LAYER_CHANGE":
            self._wants_height = True
        elif self._wants_height and line.startswith(";Z:"):
            self._begin_layer(_number(line[3:]))
        elif line.startswith("; printing object "):
            found = _OBJECT.fullmatch(line)
            if found is None:
                raise ValueError(f"expected an object's name, id and copy, found {shown(line)}")
            name, number, copy = found[1], int(found[2]), int(found[3])
            one = Printed(name, number, copy)
            self._object = self._objects.setdefault((number, copy, name), one)
        elif line.startswith("; stop printing object "):
            self._object = None
        elif line == ";PAUSE_PRINT":
            self._stop()
        else:
            self._sum(*line.partition(" = "))

    def result(self) -> Gcode:
        """What has been read.

        Raises:
            ValueError: when it is no whole print.
        """
        if not self._found.layers:
            raise ValueError("it prints no layer")
        if self._found.seconds is None:
            raise ValueError("it ends without the estimated printing time")
        self._found.printed = [one for _, one in sorted(self._objects.items()) if one.layers]
        return self._found

    def _sum(self, key: str, _: str, value: str) -> None:
        """Notes what the print takes, if a line says that."""
        found = self._found
        if key == "; estimated printing time (normal mode)":
            times = _TIME.fullmatch(value.strip())
            if times is None or not any(times.groups()):
                raise ValueError(f'expected a time such as "1h 2m 3s", found {shown(value)}')
            counts = zip(times.groups(), _SECONDS, strict=True)
            found.seconds = sum(int(count or 0) * of for count, of in counts)
        elif key == "; filament used [mm]":
            found.metres = tuple(one / 1000 for one in _amounts(value))
        elif key == "; filament used [g]":
            found.grams = _amounts(value)
        elif key == "; total filament used [g]":
            found.total_grams = _amounts(value)[0]

    def _begin_layer(self, top_mm: float) -> None:
        self._wants_height = False
        below_mm = self._found.layers[-1].top_mm if self._found.layers else 0.0
        if top_mm <= 0:
            raise ValueError(f"a layer at {top_mm:g} mm; expected it above the bed")
        if top_mm < below_mm - SAME_MM:
            raise ValueError(
                f"a layer at {top_mm:g} mm after one at {below_mm:g} mm; expected layer on layer"
            )
        self._next_top = top_mm

    def _command(self, words: list[str]) -> None:
        command = words[0] if words else ""
        if command in ("G0", "G1", "G2", "G3"):
            axes, before = _axes(words), self._position
            self._position = before | axes
            start = 0.0 if self._relative else before["E"]
            if axes.get("E", start) > start and ("X" in axes or "Y" in axes):
                self._print(before)
        elif command == "G92":
            self._position = self._position | _axes(words)
        elif command in ("M82", "M83"):
            self._relative = command == "M83"
        elif command in _PAUSES:
            self._stop()

    def _print(self, before: dict[str, float]) -> None:
        """Notes a line of plastic from a position to the present one."""
        found, layers = self._found, self._found.layers
        if self._next_top is not None:
            below_mm = layers[-1].top_mm if layers else 0.0
            if not layers or self._next_top > below_mm + SAME_MM:
                layers.append(Layer(below_mm, self._next_top))
            self._next_top = None
        if not layers:  # what is purged at the edge of the bed before the first layer
            return
        if self._paused:  # it was in the middle of a layer if that goes on
            self._paused = False
            found.stops[-1].between = found.stops[-1].layer < len(layers)
        found.box = _around(found.box, before, self._position)
        one = self._object
        if one is not None:
            one.box = _around(one.box, before, self._position)
            if one.last_layer != len(layers):
                if not one.layers:
                    one.first_layer, one.low_mm = len(layers), layers[-1].low_mm
                one.last_layer, one.high_mm = len(layers), layers[-1].top_mm
                one.layers += 1

    def _stop(self) -> None:
        """Notes a pause; a comment and its command are one."""
        layers = self._found.layers
        if not self._paused:
            self._found.stops.append(Stop(len(layers), layers[-1].top_mm if layers else 0.0))
        self._paused = True


def _around(box: Box, *positions: dict[str, float]) -> Box:
    xs, ys = [one["X"] for one in positions], [one["Y"] for one in positions]
    left, front, right, back = box
    return min(left, *xs), min(front, *ys), max(right, *xs), max(back, *ys)


def _axes(words: list[str]) -> dict[str, float]:
    return {word[0]: _number(word[1:]) for word in words if word[0] in "XYE"}


def _amounts(text: str) -> tuple[float, ...]:
    values = tuple(_number(word) for word in text.split(","))
    if min(values) < 0:
        raise ValueError(f"expected amounts, found {shown(text)}")
    return values


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number, found {shown(text)}")
    return value
