"""Whether a plate can be printed, by what PrusaSlicer says (of each object when asked for ``--info``,
and while it slices) and by what it has written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from fabkit.core.errors import many, printable, shown
from fabkit.core.units import format_mm
from fabkit.drawing.part import PartDrawing
from fabkit.model.profile import Profile
from fabkit.printing.slicer.finding import Slicer
from fabkit.printing.slicer.gcode import SAME_MM, Gcode, Layer, Printed


@dataclass(frozen=True, order=True)
class Feature:
    """Something that a piece has between two heights.

    Attributes:
        name: ``letter`` or ``recess``.
        low_mm: above the bed, as it is printed.
        high_mm: above the bed, as it is printed.
    """

    name: str
    low_mm: float
    high_mm: float


def features_of(blueprints: Iterable[PartDrawing]) -> tuple[Feature, ...]:
    """The letters and recesses of some pieces, each height once."""
    found = set()
    for blueprint in blueprints:
        top_mm = blueprint.thickness_mm
        spans = [("recess", recess.low_mm, recess.high_mm) for recess in blueprint.recesses]
        if blueprint.label is not None:
            depth_mm, low_mm = blueprint.label.depth_mm, blueprint.label_low_mm
            spans.append(("letter", low_mm, low_mm + depth_mm))
            if blueprint.label.faces == "both":
                spans.append(("letter", 0.0, depth_mm))
        if blueprint.facing == "down":
            spans = [(name, top_mm - high_mm, top_mm - low_mm) for name, low_mm, high_mm in spans]
        found |= {Feature(name, round(low, 6), round(high, 6)) for name, low, high in spans}
    return tuple(sorted(found))


def layers_of(feature: Feature, layers: Sequence[Layer]) -> dict[str, Any]:
    """The layers of a feature, from 1: those whose middle, where a slicer cuts, lies in it; and
    whether a layer begins, and one ends, just where it does.

    Example:
        >>> layers = [Layer(0.0, 0.2), Layer(0.2, 0.4), Layer(0.4, 0.6)]
        >>> list(layers_of(Feature("letter", 0.2, 0.55), layers).values())
        ['letter', 0.2, 0.55, 2, 3, True, False]
    """
    inside = [
        number
        for number, layer in enumerate(layers, start=1)
        if feature.low_mm < (layer.low_mm + layer.top_mm) / 2 < feature.high_mm
    ]
    first, last = (inside[0], inside[-1]) if inside else (None, None)
    return asdict(feature) | {
        "first_layer": first,
        "last_layer": last,
        "begins_on_layer": first is not None
        and abs(layers[first - 1].low_mm - feature.low_mm) <= SAME_MM,
        "ends_on_layer": last is not None
        and abs(layers[last - 1].top_mm - feature.high_mm) <= SAME_MM,
    }


_MOST_COMPLAINTS = 20
#: How far it has come, and what goes into its log below warnings.
_HARMLESS = re.compile(
    r"\d+ => .*|Slicing result exported to .*|\[[^\]]*\] \[[^\]]*\] \[(trace|debug|info)\].*"
)
#: What its log puts before a message.
_LOGGED = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(\w+)\]\s*")


@dataclass(frozen=True)
class Model:
    """An object of a file, as the slicer describes it.

    Attributes:
        manifold: whether its mesh is closed.
    """

    manifold: bool
    open_edges: int


def read_models(said: str, file: str) -> tuple[Model, ...]:
    r"""The objects that ``--info`` tells of, in the order of the slicer's list.

    Example:
        >>> read_models("[a.3mf]\nmanifold = no\nopen_edges = 3\n[a.3mf]\nmanifold = yes", "a.3mf")
        (Model(manifold=False, open_edges=3), Model(manifold=True, open_edges=0))
    """
    found = []
    for block in re.split(rf"^\[{re.escape(file)}\]$", said, flags=re.MULTILINE)[1:]:
        edges = re.findall(r"\nopen_edges = *(\d+)", block)
        found.append(Model("\nmanifold = yes" in block, int(edges[0]) if edges else 0))
    return tuple(found)


def read_complaints(said: str) -> tuple[str, ...]:
    r"""What is neither progress nor chat in what a slicer said, a paragraph each.

    Example:
        >>> read_complaints("20 => Generating perimeters\nprint warning: Empty layer.\n\nObject: A\n")
        ('print warning: Empty layer. Object: A',)
    """
    complaints: list[str] = []
    fresh = True
    for line in said.splitlines():
        if _HARMLESS.fullmatch(line):
            fresh = True
        elif line.strip():
            text = printable(_LOGGED.sub(r"\1: ", line).strip())
            if fresh:
                complaints.append(text)
            else:
                complaints[-1] = f"{complaints[-1]} {text}"[:400]
            fresh = False
    return tuple(complaints[:_MOST_COMPLAINTS])


@dataclass(frozen=True)
class Expected:
    """What a plate should become.

    Attributes:
        objects: the names of its objects; one that is there twice comes twice.
        pause_height_mm: top of the last layer before the pause; None for no pause.
        extruders: how many filaments it needs.
        features: whose layers are looked for.
    """

    objects: tuple[str, ...]
    pause_height_mm: float | None = None
    extruders: int = 1
    features: tuple[Feature, ...] = ()


def judge(
    plate: str,
    slicer: Slicer,
    models: Sequence[Model],
    complaints: Sequence[str],
    gcode: Gcode,
    expected: Expected,
    profile: Profile,
) -> dict[str, Any]:
    """What was found, and what speaks against printing.

    Returns:
        All of it for JSON: ``printable``, ``reasons`` (sentences; none if it is), and what the
        print takes, its layers, pauses, objects and features. Lengths are in mm, layers counted
        from 1, what is not known is null.
    """
    printed, layers = gcode.printed, gcode.layers
    known = len(models) == 1 + max((one.number for one in printed), default=-1)
    all_closed = all(model.manifold for model in models)
    features = [layers_of(feature, layers) for feature in expected.features]
    reasons = [
        *(f"the slicer says: {complaint}" for complaint in complaints),
        *_open_meshes(models, printed if known else ()),
        *_wrong_objects(gcode, expected),
        *_wrong_layers(gcode, profile),
        *_wrong_pauses(gcode, expected),
        *_off_the_bed(gcode, profile),
    ]
    reasons += [
        f"the {found['name']} between {format_mm(found['low_mm'])} and "
        f"{format_mm(found['high_mm'])} lies in no layer"
        for found in features
        if found["first_layer"] is None
    ]
    objects = []
    for one in printed:
        told = asdict(one)
        for key in ("number", "copy", "box"):
            del told[key]
        manifold = models[one.number].manifold if known else all_closed
        objects.append({"name": told.pop("name"), "manifold": manifold} | told)
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
            {"after_layer": stop.layer, "height_mm": stop.height_mm} for stop in gcode.stops
        ],
        "objects": objects,
        "features": features,
    }


def _open_meshes(models: Sequence[Model], printed: Sequence[Printed]) -> Iterator[str]:
    names = {one.number: one.name for one in printed}
    for number, model in enumerate(models):
        if not model.manifold:
            name = shown(names[number]) if number in names else f"number {number + 1}"
            edges = many(model.open_edges, "open edge") if model.open_edges else "not closed"
            yield f"the mesh of object {name} is not manifold: {edges}"


def _wrong_objects(gcode: Gcode, expected: Expected) -> Iterator[str]:
    wanted, found = Counter(expected.objects), Counter(one.name for one in gcode.printed)
    for name in sorted(wanted | found):
        if found[name] < wanted[name]:
            yield f"object {shown(name)} is printed {found[name]} times, not {wanted[name]}"
        if found[name] > wanted[name]:
            yield f"object {shown(name)} is printed, and nobody asked for it"


def _wrong_layers(gcode: Gcode, profile: Profile) -> Iterator[str]:
    for number, layer in enumerate(gcode.layers, start=1):
        height_mm = layer.top_mm - layer.low_mm
        wanted_mm = profile.first_layer_mm if number == 1 else profile.layer_mm
        if abs(height_mm - wanted_mm) > SAME_MM:
            yield (
                f"layer {number} reaches from {format_mm(layer.low_mm)} to "
                f"{format_mm(layer.top_mm)}; expected a height of {format_mm(wanted_mm)}"
            )
            break  # one wrong layer makes the next ones wrong
    for one in gcode.printed:
        if one.first_layer != 1:
            yield f"object {shown(one.name)} begins at {format_mm(one.low_mm)}, not on the bed"
        empty = one.last_layer - one.first_layer + 1 - one.layers
        if empty:
            yield f"object {shown(one.name)} has {many(empty, 'empty layer')}"


def _wrong_pauses(gcode: Gcode, expected: Expected) -> Iterator[str]:
    wanted_mm = expected.pause_height_mm
    right = 0
    for stop in gcode.stops:
        place = f"a pause after layer {stop.layer}, at {format_mm(stop.height_mm)}"
        if wanted_mm is None:
            yield f"there is {place}, and none was asked for"
        elif abs(stop.height_mm - wanted_mm) > SAME_MM:
            yield f"there is {place}; expected it at {format_mm(wanted_mm)}"
        elif not stop.between:
            yield f"there is {place}, with that layer not yet done"
        elif stop.layer == len(gcode.layers):
            yield f"there is {place}, and nothing is printed after it"
        else:
            right += 1
    if wanted_mm is not None and not gcode.stops:
        yield f"the pause at {format_mm(wanted_mm)} is missing"
    if right > 1:
        yield f"there are {right} pauses at {format_mm(wanted_mm or 0.0)}; expected one"


def _off_the_bed(gcode: Gcode, profile: Profile) -> Iterator[str]:
    """PrusaSlicer does not mind when it is called from the command line."""
    half_mm = profile.nozzle_mm / 2
    left, front, right, back = gcode.box
    beyond_mm = max(right - profile.bed_width_mm, back - profile.bed_depth_mm, -left, -front)
    if beyond_mm + half_mm > SAME_MM:
        yield (
            f"it prints from ({left:.1f}, {front:.1f}) to ({right:.1f}, {back:.1f}) mm, which is "
            f"not all on the bed of {format_mm(profile.bed_width_mm)} by "
            f"{format_mm(profile.bed_depth_mm)}"
        )
    top_mm = gcode.layers[-1].top_mm
    if top_mm > profile.bed_height_mm + SAME_MM:
        yield f"it is {format_mm(top_mm)} high; the printer reaches {format_mm(profile.bed_height_mm)}"
