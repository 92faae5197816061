"""Which layers of a print make the letter and the recess."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabkit.drawing.drawn import Drawn
from fabkit.printing.slicer.gcode import SAME_MM, Layer


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


@dataclass(frozen=True)
class FeatureLayers:
    """The layers of a feature.

    Attributes:
        feature: whose layers they are.
        first_layer: from 1; None when it lies in no layer.
        last_layer: from 1; None when it lies in no layer.
        begins_on_layer: whether a layer begins where it begins.
        ends_on_layer: whether a layer ends where it ends.
    """

    feature: Feature
    first_layer: int | None
    last_layer: int | None
    begins_on_layer: bool
    ends_on_layer: bool


def features_of(blueprints: Iterable[Drawn]) -> tuple[Feature, ...]:
    """The letters and recesses of some pieces, each height once.

    Args:
        blueprints: of the pieces on a plate.

    Example:
        >>> from fabkit.drawing.draft import draft_all
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq, profile = load_set("fridgeiq"), load_profile()
        >>> for feature in features_of(draft_all(fridgeiq, fridgeiq.pieces, profile)):
        ...     print(feature)
        Feature(name='letter', low_mm=6.4, high_mm=7.0)
        Feature(name='recess', low_mm=0.0, high_mm=3.2)
    """
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


def layers_of(feature: Feature, layers: Sequence[Layer]) -> FeatureLayers:
    """The layers of a feature: those whose middle, where a slicer cuts, lies in it.

    Example:
        >>> layers = [Layer(0.0, 0.2), Layer(0.2, 0.4), Layer(0.4, 0.6)]
        >>> found = layers_of(Feature("letter", 0.2, 0.55), layers)
        >>> found.first_layer, found.last_layer, found.begins_on_layer, found.ends_on_layer
        (2, 3, True, False)
    """
    inside = [
        number
        for number, layer in enumerate(layers, start=1)
        if feature.low_mm < (layer.low_mm + layer.top_mm) / 2 < feature.high_mm
    ]
    if not inside:
        return FeatureLayers(feature, None, None, False, False)
    first, last = inside[0], inside[-1]
    begins = abs(layers[first - 1].low_mm - feature.low_mm) <= SAME_MM
    ends = abs(layers[last - 1].top_mm - feature.high_mm) <= SAME_MM
    return FeatureLayers(feature, first, last, begins, ends)
