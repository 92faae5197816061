"""Whether a plate can be printed, judged by PrusaSlicer's report on each object (``--info``), its
warnings while slicing, and the G-code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from shapely import Polygon, box

from fabkit.core.errors import escape, pluralize, quote
from fabkit.core.units import format_mm
from fabkit.drawing.part import PartDrawing
from fabkit.printing.slicer.gcode import SAME_MM, Box, Gcode, Layer, PrintedObject
from fabkit.printing.slicer.program import Slicer
from fabkit.profiles.profile import Profile


@dataclass(frozen=True, order=True)
class Feature:
    """A ``letter`` or ``recess`` of a piece, between two heights above the bed, as it
    is printed."""

    name: str
    low_mm: float
    high_mm: float


def features_of(drawings: Iterable[PartDrawing]) -> tuple[Feature, ...]:
    """Return the letters and recesses of some pieces, each pair of heights once."""
    features = set()
    for drawing in drawings:
        top_mm = drawing.thickness_mm
        spans = [("recess", recess.low_mm, recess.high_mm) for recess in drawing.recesses]
        if drawing.label is not None:
            depth_mm, low_mm = drawing.label.depth_mm, drawing.label_low_mm
            spans.append(("letter", low_mm, low_mm + depth_mm))
            if drawing.label.back is not None:
                spans.append(("letter", 0.0, depth_mm))
        if drawing.facing == "down":
            spans = [(name, top_mm - high_mm, top_mm - low_mm) for name, low_mm, high_mm in spans]
        features |= {Feature(name, round(low, 6), round(high, 6)) for name, low, high in spans}
    return tuple(sorted(features))


def layers_of_feature(feature: Feature, layers: Sequence[Layer]) -> dict[str, Any]:
    """Return the layers of a feature, counted from 1: those whose middle, where a slicer cuts, is
    inside it; and whether a layer begins and one ends exactly at its ends.

    Example:
        >>> layers = [Layer(0.0, 0.2), Layer(0.2, 0.4), Layer(0.4, 0.6)]
        >>> list(layers_of_feature(Feature("letter", 0.2, 0.55), layers).values())
        ['letter', 0.2, 0.55, 2, 3, True, False]
    """
    inside = [
        (number, layer)
        for number, layer in enumerate(layers, start=1)
        if feature.low_mm < (layer.low_mm + layer.top_mm) / 2 < feature.high_mm
    ]
    (first, bottom), (last, top) = (inside[0], inside[-1]) if inside else ((None, None),) * 2
    return asdict(feature) | {
        "first_layer": first,
        "last_layer": last,
        "begins_on_layer": bottom is not None and abs(bottom.low_mm - feature.low_mm) <= SAME_MM,
        "ends_on_layer": top is not None and abs(top.top_mm - feature.high_mm) <= SAME_MM,
    }


_MAX_WARNINGS = 20
#: Progress, and log lines below warnings.
_HARMLESS = re.compile(
    r"\d+ => .*|Slicing result exported to .*|\[[^\]]*\] \[[^\]]*\] \[(trace|debug|info)\].*"
)
#: The prefix of a log message.
_LOGGED = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(\w+)\]\s*")


@dataclass(frozen=True)
class MeshInfo:
    """The slicer's report on an object of a file: whether its mesh is closed; its open edges."""

    manifold: bool
    open_edges: int


def parse_mesh_info(output: str, file: str) -> tuple[MeshInfo, ...]:
    r"""Parse the objects in the output of ``--info``, in the order of the slicer's list.

    Example:
        >>> parse_mesh_info("[a.3mf]\nmanifold = no\nopen_edges = 3\n[a.3mf]\nmanifold = yes", "a.3mf")
        (MeshInfo(manifold=False, open_edges=3), MeshInfo(manifold=True, open_edges=0))
    """  # noqa: E501
    models = []
    for block in re.split(rf"^\[{re.escape(file)}\]$", output, flags=re.MULTILINE)[1:]:
        edges = re.findall(r"\nopen_edges = *(\d+)", block)
        models.append(MeshInfo("\nmanifold = yes" in block, int(edges[0]) if edges else 0))
    return tuple(models)


def parse_warnings(output: str) -> tuple[str, ...]:
    r"""Return the warnings in a slicer's output, one string for each paragraph.

    Example:
        >>> parse_warnings("20 => Generating perimeters\nprint warning: Empty layer.\n\nObject: A\n")
        ('print warning: Empty layer. Object: A',)
    """  # noqa: E501
    warnings: list[str] = []
    begins = True
    for line in output.splitlines():
        if _HARMLESS.fullmatch(line):
            begins = True
        elif line.strip():
            text = escape(_LOGGED.sub(r"\1: ", line).strip())
            if not begins:
                text = f"{warnings.pop()} {text}"[:400]
            warnings.append(text)
            begins = False
    return tuple(warnings[:_MAX_WARNINGS])


@dataclass(frozen=True)
class Bed:
    """A printer's bed: its corners in mm, in the frame of plates, how high it prints, and the
    configuration that states it, empty for the profile."""

    corners: tuple[tuple[float, float], ...]
    height_mm: float
    source: str = ""

    @classmethod
    def of(cls, profile: Profile) -> Bed:
        """Return that of a profile."""
        width_mm, depth_mm = profile.bed_width_mm, profile.bed_depth_mm
        corners = (0.0, 0.0), (width_mm, 0.0), (width_mm, depth_mm), (0.0, depth_mm)
        return cls(corners, profile.bed_height_mm)


@dataclass(frozen=True)
class ExpectedPrint:
    """What the G-code of a plate should contain.

    Attributes:
        objects: names of the objects, with repetitions.
        pause_height_mm: top of the last layer before the pause; None for no pause.
        features: features to look up in the layers.
    """

    objects: tuple[str, ...]
    pause_height_mm: float | None = None
    extruders: int = 1
    features: tuple[Feature, ...] = ()


def judge_print(
    plate: str,
    slicer: Slicer,
    models: Sequence[MeshInfo],
    warnings: Sequence[str],
    gcode: Gcode,
    expected: ExpectedPrint,
    profile: Profile,
    bed: Bed,
) -> dict[str, Any]:
    """Judge the G-code of a plate: return a document for JSON with ``printable``, ``reasons`` (why
    not, in sentences), time and material, layers, pauses, objects and features. Lengths are in mm,
    layers count from 1, unknown values are null."""
    printed, layers = gcode.objects, gcode.layers
    all_reported = len(models) == 1 + max((part.number for part in printed), default=-1)
    all_closed = all(model.manifold for model in models)
    features = [layers_of_feature(feature, layers) for feature in expected.features]
    reasons = [
        *(f"slicer warning: {warning}" for warning in warnings),
        *_open_meshes(models, printed if all_reported else ()),
        *_object_faults(gcode, expected),
        *_layer_faults(gcode, profile),
        *_pause_faults(gcode, expected),
        *_bed_faults(gcode, bed, profile.nozzle_mm / 2),
    ]
    reasons += [
        f"the {feature['name']} between {format_mm(feature['low_mm'])} and "
        f"{format_mm(feature['high_mm'])} is not in any layer"
        for feature in features
        if feature["first_layer"] is None
    ]
    objects = []
    for part in printed:
        manifold = models[part.number].manifold if all_reported else all_closed
        fields = {"name": part.name, "manifold": manifold} | asdict(part)
        objects.append({key: fields[key] for key in fields if key not in ("number", "copy", "box")})
    metres, grams = gcode.metres or (), gcode.grams or ()
    return {
        "plate": plate,
        "slicer": {"name": slicer.name, "version": slicer.version},
        "printable": not reasons,
        "reasons": reasons,
        "seconds": gcode.seconds,
        "grams": gcode.total_grams,
        "metres": None if gcode.metres is None else round(sum(gcode.metres), 5),
        "extruders": [
            {"metres": round(metre, 5), "grams": gram}
            for metre, gram in zip_longest(metres, grams[: len(metres)])
        ],
        "layers": len(layers),
        "height_mm": layers[-1].top_mm,
        "pauses": [
            {"after_layer": stop.layer, "height_mm": stop.height_mm} for stop in gcode.pauses
        ],
        "objects": objects,
        "features": features,
    }


def _open_meshes(models: Sequence[MeshInfo], objects: Sequence[PrintedObject]) -> Iterator[str]:
    names = {part.number: part.name for part in objects}
    for number, model in enumerate(models):
        if not model.manifold:
            name = quote(names[number]) if number in names else f"number {number + 1}"
            edges = pluralize(model.open_edges, "open edge") if model.open_edges else "not closed"
            yield f"the mesh of object {name} is not manifold: {edges}"


def _object_faults(gcode: Gcode, expected: ExpectedPrint) -> Iterator[str]:
    numbers = Counter(expected.objects)
    counts = Counter(part.name for part in gcode.objects)
    for name in sorted(numbers | counts):
        if counts[name] < numbers[name]:
            yield f"object {quote(name)} is printed {counts[name]} times, not {numbers[name]}"
        if counts[name] > numbers[name]:
            yield f"object {quote(name)} is printed unexpectedly"


def _layer_faults(gcode: Gcode, profile: Profile) -> Iterator[str]:
    for number, layer in enumerate(gcode.layers, start=1):
        height_mm = profile.first_layer_mm if number == 1 else profile.layer_mm
        if abs(layer.top_mm - layer.low_mm - height_mm) > SAME_MM:
            yield (
                f"layer {number} reaches from {format_mm(layer.low_mm)} to "
                f"{format_mm(layer.top_mm)}; expected a height of {format_mm(height_mm)}"
            )
            break  # the following layers are off as well
    for part in gcode.objects:
        if part.first_layer != 1:
            yield f"object {quote(part.name)} begins at {format_mm(part.low_mm)}, not on the bed"
        empty = part.last_layer - part.first_layer + 1 - part.layers
        if empty:
            yield f"object {quote(part.name)} has {pluralize(empty, 'empty layer')}"


def _pause_faults(gcode: Gcode, expected: ExpectedPrint) -> Iterator[str]:
    height_mm = expected.pause_height_mm
    right_count = 0
    for stop in gcode.pauses:
        subject = f"there is a pause after layer {stop.layer}, at {format_mm(stop.height_mm)}"
        if height_mm is None:
            yield f"{subject}; expected none"
        elif abs(stop.height_mm - height_mm) > SAME_MM:
            yield f"{subject}; expected it at {format_mm(height_mm)}"
        elif not stop.between:
            yield f"{subject}, before that layer is complete"
        elif stop.layer == len(gcode.layers):
            yield f"{subject}, and nothing is printed after it"
        else:
            right_count += 1
    if height_mm is not None and not gcode.pauses:
        yield f"the pause at {format_mm(height_mm)} is missing"
    if right_count > 1:
        yield f"there are {right_count} pauses at {format_mm(height_mm or 0.0)}; expected one"


def _bed_faults(gcode: Gcode, bed: Bed, half_mm: float) -> Iterator[str]:
    """Check the bed; PrusaSlicer does not when called from the command line."""
    area = Polygon(bed.corners).buffer(SAME_MM, join_style="mitre")

    def fits(around: Box, bounds: Polygon) -> bool:
        return bool(bounds.covers(box(*around).buffer(half_mm, join_style="mitre")))

    if not (fits(gcode.box, area.envelope) and all(fits(part.box, area) for part in gcode.objects)):
        left, front, right, back = gcode.box
        low_x, low_y, high_x, high_y = Polygon(bed.corners).bounds
        name = f"the bed of {bed.source}" if bed.source else "the bed"
        remedy = "; choose printer.bed_width and printer.bed_depth for it" if bed.source else ""
        yield (
            f"it prints from ({left:.1f}, {front:.1f}) to ({right:.1f}, {back:.1f}) mm, which is "
            f"not all on {name}, ({low_x:g}, {low_y:g}) to ({high_x:g}, {high_y:g}) mm{remedy}"
        )
    top_mm = gcode.layers[-1].top_mm
    if top_mm > bed.height_mm + SAME_MM:
        yield f"it is {format_mm(top_mm)} high; the printer reaches {format_mm(bed.height_mm)}"
