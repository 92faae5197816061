"""Reading G-code back, line by line, however long the file is and whatever is in it.

PrusaSlicer's comments say where layers begin (``;LAYER_CHANGE``, ``;Z:``), which object the next
moves belong to (``; printing object A id:0 copy 0``) and, at the end, what it all takes; the moves
themselves say what is really printed. Both count: a layer in which no plastic flows is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabkit.core.errors import OutsideError, shown
from fabkit.core.files import outside_failures

_MOST_EXTRUDERS = 256
_TIME = re.compile(r"(?:(\d{1,6})d ?)?(?:(\d{1,6})h ?)?(?:(\d{1,6})m ?)?(?:(\d{1,9})s)?")
_SECONDS = (86_400, 3_600, 60, 1)


@dataclass(frozen=True)
class Summary:
    """What a print takes. None for what the file does not say.

    Attributes:
        metres: of filament, for each extruder.
        total_grams: of all, with what is purged.
    """

    seconds: int | None = None
    metres: tuple[float, ...] | None = None
    grams: tuple[float, ...] | None = None
    total_grams: float | None = None

    def with_line(self, line: str) -> Summary:
        """This, with what a line says; itself when the line says nothing of the kind.

        Raises:
            ValueError: when it does, and makes no sense.

        Example:
            >>> Summary().with_line("; estimated printing time (normal mode) = 1h 2m 3s").seconds
            3723
        """
        key, equals, value = line.partition(" = ")
        if not equals:
            return self
        if key == "; estimated printing time (normal mode)":
            return replace(self, seconds=_seconds(value))
        if key == "; filament used [mm]":
            return replace(self, metres=tuple(one / 1000 for one in _numbers(value)))
        if key == "; filament used [g]":
            return replace(self, grams=_numbers(value))
        if key == "; total filament used [g]":
            return replace(self, total_grams=_numbers(value)[0])
        return self


def _seconds(text: str) -> int:
    found = _TIME.fullmatch(text.strip()[:60])
    if found is None or not any(found.groups()):
        raise ValueError(f'expected a time such as "1h 2m 3s", found {shown(text[:200])}')
    return sum(int(count or 0) * of for count, of in zip(found.groups(), _SECONDS, strict=True))


def _numbers(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(word) for word in text.split(",", _MOST_EXTRUDERS)[:_MOST_EXTRUDERS])
    except ValueError:
        values = (math.nan,)
    if not all(0 <= value < math.inf for value in values):
        raise ValueError(f"expected amounts, found {shown(text[:200])}")
    return values


#: Of a line, so much is looked at. Real lines have at most a few thousand bytes.
_LONGEST_LINE = 65_536
_MOST_LAYERS = 100_000
_MOST_OBJECTS = 10_000
_LONGEST_NAME = 200
#: Heights are written with three digits.
SAME_MM = 0.002

_OBJECT = re.compile(r"; printing object (.*) id:(\d{1,9}) copy (\d{1,9})")
_PAUSES = ("M601", "M0", "M1")

#: Left, front, right and back, in mm.
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Layer:
    """A layer in which something is printed; heights above the bed."""

    low_mm: float
    top_mm: float


@dataclass(frozen=True)
class Stop:
    """A pause.

    Attributes:
        layer: how many layers are begun before it; all of them are done if `between`.
        height_mm: top of the last of those; 0 before the first.
        between: whether nothing more of that layer is printed after it.
    """

    layer: int
    height_mm: float
    between: bool


@dataclass(frozen=True)
class Printed:
    """An object as it is printed.

    Attributes:
        number: of the object in the slicer's list.
        first_layer: from 1.
        last_layer: from 1.
        layers: in how many something of it is printed.
        low_mm: where the first of them begins.
        high_mm: where the last of them ends.
        box: around the middles of its lines.
    """

    name: str
    number: int
    copy: int
    low_mm: float
    high_mm: float
    first_layer: int
    last_layer: int
    layers: int
    box: Box


@dataclass(frozen=True)
class Gcode:
    """What a G-code file holds.

    Attributes:
        box: around the middles of all lines, tower and skirt included.
    """

    layers: tuple[Layer, ...]
    printed: tuple[Printed, ...]
    stops: tuple[Stop, ...]
    box: Box
    summary: Summary


def read_gcode(path: Path, source: str) -> Gcode:
    """Reads a G-code file.

    Raises:
        OutsideError: when it cannot be read or is not what a slicer writes, with the line.
    """
    reader = _Reader()
    number = 0
    with outside_failures(f"cannot read the G-code of {source}"):
        for number, line in enumerate(_lines(path), start=1):
            try:
                reader.line(line)
            except ValueError as error:
                raise OutsideError(
                    f"{source} wrote G-code that is broken: line {number}: {error}"
                ) from None
    try:
        return reader.result()
    except ValueError as error:
        raise OutsideError(
            f"{source} wrote G-code that is broken: {error}, in {number} lines"
        ) from None


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; what is too long in one is left out."""
    with path.open("rb") as file:
        while line := file.readline(_LONGEST_LINE):
            yield line.decode(errors="replace").rstrip()
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = file.readline(_LONGEST_LINE)


@dataclass
class _Extent:
    """Grows around points."""

    left: float = math.inf
    front: float = math.inf
    right: float = -math.inf
    back: float = -math.inf

    def add(self, x: float, y: float) -> None:
        self.left, self.right = min(self.left, x), max(self.right, x)
        self.front, self.back = min(self.front, y), max(self.back, y)

    def box(self) -> Box:
        return self.left, self.front, self.right, self.back


@dataclass
class _Object:
    """An object while its moves are read."""

    first: int = 0
    last: int = 0
    layers: int = 0
    extent: _Extent = field(default_factory=_Extent)


class _Reader:
    """Follows a print: where the nozzle is, in which layer, at which object."""

    def __init__(self) -> None:
        self._summary = Summary()
        self._tops: list[float] = []
        self._position = {"X": 0.0, "Y": 0.0, "E": 0.0}
        self._relative = False
        self._next_top: float | None = None
        self._wants_height = False
        self._objects: dict[tuple[str, int, int], _Object] = {}
        self._object: _Object | None = None
        self._extent = _Extent()
        self._stops: list[Stop] = []
        self._open_stop = False

    def line(self, line: str) -> None:
        """Takes the next line in.

        Raises:
            ValueError: when it makes no sense; the sentence says why.
        """
        if not line.startswith(";"):
            self._command(line)
        elif line == ";LAYER_CHANGE":
            self._wants_height = True
        elif self._wants_height and line.startswith(";Z:"):
            self._begin_layer(_number(line[3:]))
        elif line.startswith("; printing object "):
            self._begin_object(line)
        elif line.startswith("; stop printing object "):
            self._object = None
        elif line == ";PAUSE_PRINT":
            self._stop()
        else:
            self._summary = self._summary.with_line(line)

    def result(self) -> Gcode:
        """What has been read.

        Raises:
            ValueError: when it is no whole print.
        """
        if not self._tops:
            raise ValueError("it prints no layer")
        if self._summary.seconds is None:
            raise ValueError("it ends without the estimated printing time")
        layers = tuple(
            Layer(low, top) for low, top in zip([0.0, *self._tops], self._tops, strict=False)
        )
        printed = tuple(
            Printed(
                *key,
                first_layer=one.first,
                last_layer=one.last,
                layers=one.layers,
                low_mm=layers[one.first - 1].low_mm,
                high_mm=layers[one.last - 1].top_mm,
                box=one.extent.box(),
            )
            for key, one in sorted(self._objects.items(), key=_by_number)
            if one.layers
        )
        return Gcode(layers, printed, tuple(self._stops), self._extent.box(), self._summary)

    def _begin_layer(self, top_mm: float) -> None:
        self._wants_height = False
        if self._tops and top_mm < self._tops[-1] - SAME_MM:
            raise ValueError(
                f"a layer at {top_mm:g} mm after one at {self._tops[-1]:g} mm; expected layer on layer"
            )
        if not 0 < top_mm < math.inf:
            raise ValueError(f"a layer at {top_mm:g} mm; expected it above the bed")
        self._next_top = top_mm

    def _begin_object(self, line: str) -> None:
        found = _OBJECT.fullmatch(line)
        if found is None:
            raise ValueError(f"expected an object's name, id and copy, found {shown(line[:200])}")
        key = (found[1][:_LONGEST_NAME], int(found[2]), int(found[3]))
        self._object = self._objects.setdefault(key, _Object())
        if len(self._objects) > _MOST_OBJECTS:
            raise ValueError(f"there are more than {_MOST_OBJECTS} objects")

    def _command(self, line: str) -> None:
        words = line.partition(";")[0].split()
        if not words:
            return
        if words[0] in ("G0", "G1", "G2", "G3"):
            self._move(words[1:])
        elif words[0] == "G92":
            self._position |= _axes(words[1:])
        elif words[0] in ("M82", "M83"):
            self._relative = words[0] == "M83"
        elif words[0] in _PAUSES:
            self._stop()

    def _move(self, words: list[str]) -> None:
        axes = _axes(words)
        before = dict(self._position)
        extruded = (
            axes.get("E", 0.0) if self._relative else axes.get("E", before["E"]) - before["E"]
        )
        self._position |= axes
        if extruded > 0 and ("X" in axes or "Y" in axes):
            self._print(before)

    def _print(self, before: dict[str, float]) -> None:
        """Notes a line of plastic from a position to the present one."""
        if self._next_top is not None:
            if not self._tops or self._next_top > self._tops[-1] + SAME_MM:
                self._tops.append(self._next_top)
            self._next_top = None
        if not self._tops:  # what is purged at the edge of the bed before the first layer
            return
        self._end_stop()
        if len(self._tops) > _MOST_LAYERS:
            raise ValueError(f"there are more than {_MOST_LAYERS} layers")
        extents = [self._extent]
        if self._object is not None:
            extents.append(self._object.extent)
            self._count_layer(self._object)
        for extent in extents:
            extent.add(before["X"], before["Y"])
            extent.add(self._position["X"], self._position["Y"])

    def _count_layer(self, one: _Object) -> None:
        here = len(self._tops)
        if one.last != here:
            one.first, one.last = one.first or here, here
            one.layers += 1

    def _stop(self) -> None:
        """Notes a pause; a comment and its command are one."""
        if self._open_stop:
            return
        self._open_stop = True
        self._stops.append(Stop(len(self._tops), self._tops[-1] if self._tops else 0.0, True))
        if len(self._stops) > _MOST_LAYERS:
            raise ValueError(f"there are more than {_MOST_LAYERS} pauses")

    def _end_stop(self) -> None:
        """At the first plastic after a pause: it was in the middle of a layer if that goes on."""
        if self._open_stop:
            self._open_stop = False
            stop = self._stops[-1]
            if stop.layer == len(self._tops):
                self._stops[-1] = Stop(stop.layer, stop.height_mm, False)


def _by_number(item: tuple[tuple[str, int, int], _Object]) -> tuple[int, int, str]:
    name, number, copy = item[0]
    return number, copy, name


def _axes(words: list[str]) -> dict[str, float]:
    return {word[0]: _number(word[1:]) for word in words if word[0] in "XYE"}


def _number(text: str) -> float:
    try:
        value = float(text) if len(text) <= 40 else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"expected a number, found {shown(text[:200])}")
    return value
