"""Faults of the letter: its depth, strokes and place, or that it is another one or none."""

from __future__ import annotations

import math
from dataclasses import replace

from shapely import Point, Polygon, affinity, maximum_inscribed_circle
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import Lettering
from fabkit.drawing.label import Label, place_label
from tests.support import measure
from tests.support.faults.planting import Case, Planted, beyond


def letter_cut_through(case: Case, _: float) -> Planted:
    return case.rebuilt(label=replace(case.label, depth_mm=case.profile.thickness_mm))


def letter_depth_off(case: Case, size: float) -> Planted:
    depth = case.profile.label_depth_mm + 0.05 * size * case.sign()
    return case.rebuilt(label=replace(case.label, depth_mm=depth))


def turned(case: Case, _: float) -> Planted:
    """A quarter turn to the left, in its place."""
    x, y = case.label.centre_mm
    contours = tuple(
        tuple(tuple((x - (v - y), y + u - x) for u, v in segment) for segment in contour)
        for contour in case.label.front.contours
    )
    return case.rebuilt(label=replace(case.label, front=Lettering(contours)))


def thin_strokes(case: Case, size: float) -> Planted:
    """A smaller letter; 2 % of a stroke may be lost in chords."""
    stroke = stroke_mm(case.label.front.polygon())
    return case.with_letter(scale=max(0.05, beyond(0.98 * case.profile.stroke_mm, size)) / stroke)


def stroke_mm(letter: BaseGeometry) -> float:
    """The thinnest stroke; the gauge gets the expected value, to distinguish strokes from corners."""
    low, high = 0.5, 3.0
    for _ in range(9):
        middle = (low + high) / 2
        found = measure.thinnest_stroke_mm(letter, middle) >= middle
        low, high = (middle, high) if found else (low, middle)
    return low


def narrow_island(case: Case, size: float) -> Planted:
    letter = case.label.front.polygon()
    islands = [Polygon(ring) for part in measure.parts(letter) for ring in part.interiors]
    width = min(2 * maximum_inscribed_circle(island).length for island in islands)
    return case.with_letter(scale=max(0.1, beyond(case.profile.nozzle_mm, size)) / width)


def letter_at_rim(case: Case, size: float) -> Planted:
    """The letter moved straight towards the chamfer; 0.05 mm of the room may be missing."""
    room = beyond(case.profile.label_margin_mm - 0.05, size)
    letter, face = case.label.front.polygon(), case.drawing.face
    angle = case.random.uniform(0, 2 * math.pi)

    def shift(far: float) -> tuple[float, float]:
        return far * math.cos(angle), far * math.sin(angle)

    def is_clear(far: float) -> bool:
        there = affinity.translate(letter, *shift(far))
        return bool(face.contains(there)) and face.exterior.distance(there) > room

    step = 0.25
    high = next(k * step for k in range(1, 400) if not is_clear(k * step))
    low = high - step
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if is_clear(middle) else (low, middle)
    x, y = case.label.centre_mm
    dx, dy = shift(low)
    label = replace(case.label, front=case.label.front.moved(dx, dy), centre_mm=(x + dx, y + dy))
    return case.rebuilt(label=label)


def letter_at_release(case: Case, size: float) -> Planted:
    """The letter moved straight towards the hole that pushes the magnet out."""
    release = case.recess.release
    assert release
    letter, hole = case.label.front.polygon(), Point(case.recess.centre_mm)
    (x, y), room = case.label.centre_mm, beyond(case.profile.roof_mm, size)
    low, high = 0.0, 1.0
    for _ in range(30):
        part = (low + high) / 2
        dx, dy = part * (hole.x - x), part * (hole.y - y)
        apart = hole.distance(affinity.translate(letter, dx, dy)) - release.diameter_mm / 2
        low, high = (part, high) if apart > room else (low, part)
    label = replace(case.label, front=case.label.front.moved(dx, dy), centre_mm=(x + dx, y + dy))
    return case.rebuilt(label=label)


def mirrored_letter(case: Case, _: float) -> Planted:
    return case.with_letter(mirrored=True)


def no_letter_on_back(case: Case, _: float) -> Planted:
    return case.rebuilt(label=replace(case.label, back=None))


def mirrored_on_back(case: Case, _: float) -> Planted:
    """On the back the letter as the face has it, so that it is read in a mirror from there."""
    return case.rebuilt(label=replace(case.label, back=case.label.front))


def needless_letter(case: Case, _: float) -> Planted:
    return case.rebuilt(label=other_label(case, case.piece))


def other_label(case: Case, text: str) -> Label:
    lettered = replace(case.profile, faces="front")
    label = place_label(text, case.drawing.face, case.drawing.outline.centroid, lettered)
    assert label is not None
    return label


def wrong_letter(case: Case, _: float) -> Planted:
    """That of another piece of the set, which has another outline."""
    other = case.random.choice([piece for piece in case.kit.bodies if piece != case.piece])
    return case.rebuilt(label=other_label(case, other))
