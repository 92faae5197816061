"""Reading G-code line by line.

PrusaSlicer's comments mark where layers begin (``;LAYER_CHANGE``, ``;Z:``), which object the next moves
belong to (``; printing object A id:0 copy 0``) and, at the end, time and material; the moves show what
is really printed. Both are used: a layer without extrusion does not count.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from fabkit.core.errors import ExternalError, quote
from fabkit.core.staging import external_errors

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
    """A layer with extrusion; heights above the bed."""

    low_mm: float
    top_mm: float


@dataclass
class Pause:
    """A pause.

    Attributes:
        layer: number of layers begun before it; all are complete if `between`.
        height_mm: top of the last of them; 0 before the first.
        between: whether nothing more of that layer is printed after it.
    """

    layer: int
    height_mm: float
    between: bool = True


@dataclass
class PrintedObject:
    """A printed object.

    Attributes:
        number: of the object in the slicer's list.
        low_mm: bottom of its first layer.
        high_mm: top of its last layer.
        first_layer, last_layer: from 1; `layers` of these have extrusion.
        box: around the centre lines of its extrusion.
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
    """The contents of a G-code file; None for unknown values.

    Attributes:
        box: around the centre lines of all extrusion, including tower and skirt.
        seconds: print time.
        metres, grams: of filament, for each extruder.
        total_grams: of all filament, including purging.
    """

    layers: list[Layer] = field(default_factory=list)
    objects: list[PrintedObject] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    box: Box = _NOWHERE
    seconds: int | None = None
    metres: tuple[float, ...] | None = None
    grams: tuple[float, ...] | None = None
    total_grams: float | None = None


def read_gcode(path: Path, source: str) -> Gcode:
    """Read a G-code file.

    Raises:
        ExternalError: when it cannot be read or is not a slicer's output, with the line number.
    """
    reader = _Reader()
    count = 0
    with external_errors(f"cannot read the G-code of {source}"):
        try:
            with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
                for line in file:
                    count += 1
                    reader.line(line.rstrip())
            return reader.result()
        except ValueError as error:
            raise ExternalError(
                f"{source} wrote G-code that is broken: {error} (line {count})"
            ) from None


class _Reader:
    """Tracks the position of the nozzle, the layer and the object."""

    def __init__(self) -> None:
        self._found = Gcode()
        self._objects: dict[tuple[int, int, str], PrintedObject] = {}
        self._object: PrintedObject | None = None
        self._position = {"X": 0.0, "Y": 0.0, "E": 0.0}
        self._relative = False
        self._next_top: float | None = None
        self._expects_height = False
        self._paused = False

    def line(self, line: str) -> None:
        """Process the next line.

        Raises:
            ValueError: when it is invalid.
        """
        if not line.startswith(";"):
            self._command(line.partition(";")[0].split())
        elif line == ";LAYER_CHANGE":
            self._expects_height = True
        elif self._expects_height and line.startswith(";Z:"):
            self._begin_layer(_number(line[3:]))
        elif line.startswith("; printing object "):
            match = _OBJECT.fullmatch(line)
            if match is None:
                raise ValueError(f"expected an object's name, id and copy, found {quote(line)}")
            name, number, copy = match[1], int(match[2]), int(match[3])
            printed = PrintedObject(name, number, copy)
            self._object = self._objects.setdefault((number, copy, name), printed)
        elif line.startswith("; stop printing object "):
            self._object = None
        elif line == ";PAUSE_PRINT":
            self._stop()
        else:
            self._sum(*line.partition(" = "))

    def result(self) -> Gcode:
        """Return the contents.

        Raises:
            ValueError: when the print is incomplete.
        """
        if not self._found.layers:
            raise ValueError("it prints no layer")
        if self._found.seconds is None:
            raise ValueError("it ends without the estimated printing time")
        self._found.objects = [
            printed for _, printed in sorted(self._objects.items()) if printed.layers
        ]
        return self._found

    def _sum(self, key: str, _: str, value: str) -> None:
        """Record time and material, if a line has them."""
        gcode = self._found
        if key == "; estimated printing time (normal mode)":
            times = _TIME.fullmatch(value.strip())
            if times is None or not any(times.groups()):
                raise ValueError(f'expected a time such as "1h 2m 3s", found {quote(value)}')
            counts = zip(times.groups(), _SECONDS, strict=True)
            gcode.seconds = sum(int(count or 0) * seconds for count, seconds in counts)
        elif key == "; filament used [mm]":
            gcode.metres = tuple(millimetres / 1000 for millimetres in _amounts(value))
        elif key == "; filament used [g]":
            gcode.grams = _amounts(value)
        elif key == "; total filament used [g]":
            gcode.total_grams = _amounts(value)[0]

    def _begin_layer(self, top_mm: float) -> None:
        self._expects_height = False
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
            axes = _axes(words)
            before = self._position
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
        """Record an extrusion from a position to the present one."""
        gcode, layers = self._found, self._found.layers
        if self._next_top is not None:
            below_mm = layers[-1].top_mm if layers else 0.0
            if not layers or self._next_top > below_mm + SAME_MM:
                layers.append(Layer(below_mm, self._next_top))
            self._next_top = None
        if not layers:  # purging at the edge of the bed before the first layer
            return
        if self._paused:  # it was in the middle of a layer if that goes on
            self._paused = False
            gcode.pauses[-1].between = gcode.pauses[-1].layer < len(layers)
        gcode.box = _around(gcode.box, before, self._position)
        printed = self._object
        if printed is not None:
            printed.box = _around(printed.box, before, self._position)
            if printed.last_layer != len(layers):
                if not printed.layers:
                    printed.first_layer = len(layers)
                    printed.low_mm = layers[-1].low_mm
                printed.last_layer = len(layers)
                printed.high_mm = layers[-1].top_mm
                printed.layers += 1

    def _stop(self) -> None:
        """Record a pause; a comment and its command count once."""
        layers = self._found.layers
        if not self._paused:
            self._found.pauses.append(Pause(len(layers), layers[-1].top_mm if layers else 0.0))
        self._paused = True


def _around(box: Box, *positions: dict[str, float]) -> Box:
    xs = [position["X"] for position in positions]
    ys = [position["Y"] for position in positions]
    left, front, right, back = box
    return min(left, *xs), min(front, *ys), max(right, *xs), max(back, *ys)


def _axes(words: list[str]) -> dict[str, float]:
    return {word[0]: _number(word[1:]) for word in words if word[0] in "XYE"}


def _amounts(text: str) -> tuple[float, ...]:
    values = tuple(_number(word) for word in text.split(","))
    if min(values) < 0:
        raise ValueError(f"expected amounts, found {quote(text)}")
    return values


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number, found {quote(text)}")
    return value
