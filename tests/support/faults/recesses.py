"""Faults of the recesses for magnets: recesses, ribs, lead_ins, walls, floors and roofs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fabkit.drawing.magnets import RecessDiameters, ReleaseHole
from tests.support.faults.mesh import with_tip
from tests.support.faults.planting import Case, Planted, Points, beyond, point_inside, towards_side


def diameter_off(case: Case, size: float) -> Planted:
    return case.with_diameters(wider_mm=0.05 * size * case.sign())


def crest_off(case: Case, size: float) -> Planted:
    return case.with_diameters(higher_mm=0.05 * size * case.sign())


def ribs_missing(case: Case, _: float) -> Planted:
    diameters = case.recess.diameters
    recesses = [
        replace(one, diameters=RecessDiameters(diameters.widest_mm, None))
        for one in case.drawing.recesses
    ]
    return case.rebuilt(recesses=tuple(recesses))


def oval_recess(case: Case, size: float) -> Planted:
    """The corners of one recess, stretched one way and pressed together the other."""
    x, y = case.random.choice(case.drawing.recesses).centre_mm
    angle = case.random.uniform(0, math.pi)
    along = np.array([math.cos(angle), math.sin(angle)])
    part = 0.1 * size / 2 / case.recess.diameters.widest_mm

    def stretch(vertices: Points) -> Points:
        away = vertices[:, :2] - (x, y)
        radius = case.recess.diameters.widest_mm / 2 + case.recess.lead_in_mm + 0.01
        near = (np.hypot(*away.T) < radius) & (vertices[:, 2] < case.recess.high_mm + 0.01)
        far = (away @ along)[:, None] * along
        vertices[near, :2] += (part * far - part * (away - far))[near]
        return vertices

    return case.moved(stretch)


def tapered_recess(case: Case, size: float) -> Planted:
    """One recess narrower at its upper end, or wider, than it should be."""
    x, y = case.random.choice(case.drawing.recesses).centre_mm
    part = 0.05 * size / case.recess.diameters.widest_mm * case.sign()

    def taper(vertices: Points) -> Points:
        away = vertices[:, :2] - (x, y)
        end = np.hypot(*away.T) < case.recess.diameters.widest_mm / 2 + 0.01
        end &= np.abs(vertices[:, 2] - case.recess.high_mm) < 0.01
        vertices[end, :2] += part * away[end]
        return vertices

    return case.moved(taper)


def depth_off(case: Case, size: float) -> Planted:
    return case.with_recess(high_mm=case.recess.high_mm + 0.1 * size * case.sign())


def lead_in_off(case: Case, size: float) -> Planted:
    return case.with_recess(lead_in_mm=case.recess.lead_in_mm + 0.05 * size * case.sign())


def off_centre(case: Case, wall_mm: float) -> Planted:
    """One recess moved straight towards a side until that much wall is left."""
    which = case.random.randrange(len(case.drawing.recesses))
    x, y = case.drawing.recesses[which].centre_mm
    there = towards_side(case, (x, y), wall_mm, case.recess.diameters.widest_mm / 2)
    return case.with_recess(which, centre_mm=there)


def thin_wall(case: Case, size: float) -> Planted:
    return off_centre(case, beyond(case.profile.wall_mm, size))


def open_at_side(case: Case, _: float) -> Planted:
    return off_centre(case, -case.random.uniform(0.3, 4.0))


def thin_bed_wall(case: Case, size: float) -> Planted:
    """The wall at the bed is the one beside the recess less lead-in and foot chamfer."""
    least = beyond(case.profile.bed_wall_mm, size)
    return off_centre(case, least + case.profile.lead_in_mm + case.profile.foot_chamfer_mm)


def recesses_near(case: Case, size: float) -> Planted:
    """Two magnets with too thin a wall between them: one of them moved towards the other."""
    first, second = case.drawing.recesses
    way = np.subtract(second.centre_mm, first.centre_mm)
    apart = case.recess.diameters.widest_mm + beyond(case.profile.wall_mm, size)
    centre = np.asarray(first.centre_mm) + way / np.linalg.norm(way) * apart
    return case.with_recess(1, centre_mm=tuple(centre.round(4).tolist()))


def one_recess_less(case: Case, _: float) -> Planted:
    return case.rebuilt(recesses=(case.random.choice(case.drawing.recesses),))


def one_recess_more(case: Case, _: float) -> Planted:
    """A second one in a piece that gets one, with all its walls."""
    x, y = case.recess.centre_mm
    while True:
        second = point_inside(case, 0, 0, case.recess.diameters.widest_mm / 2 + 2.01)[:2]
        if math.dist(second, (x, y)) > case.recess.diameters.widest_mm + 2.01:
            other = replace(case.recess, centre_mm=tuple(second.round(3).tolist()))
            return case.rebuilt(recesses=(case.recess, other))


def needless_release(case: Case, _: float) -> Planted:
    return case.with_recess(
        release=ReleaseHole(2, case.recess.high_mm, case.profile.thickness_mm, 0.2, 10)
    )


def release_off(case: Case, size: float) -> Planted:
    """Another width of the hole that pushes a magnet out."""
    release = case.recess.release
    assert release
    wide_mm = release.diameter_mm + 0.05 * size * case.sign()
    return case.with_recess(release=replace(release, diameter_mm=wide_mm))


def release_astray(case: Case, size: float) -> Planted:
    """The hole moved sideways, from a recess that stays."""
    recess = case.random.choice(case.drawing.recesses)
    angle = case.random.uniform(0, 2 * math.pi)

    def move(vertices: Points) -> Points:
        near = np.hypot(*(vertices[:, :2] - recess.centre_mm).T) < 1.01
        vertices[near, :2] += 0.05 * size * np.array([math.cos(angle), math.sin(angle)])
        return vertices

    return case.moved(move)


def spike_in_recess(case: Case, _: float) -> Planted:
    """A spike that hangs from the ceiling of a recess, where the magnet is to go."""
    vertices, faces = case.body.vertices, case.body.faces
    at_end = np.abs(vertices[faces][:, :, 2] - case.recess.high_mm) < 1e-3
    which = int(case.random.choice(np.flatnonzero(at_end.all(axis=1)).tolist()))
    tip = vertices[faces[which]].mean(axis=0)
    tip[2] -= case.random.uniform(1, 2.5)
    return case.mesh(*with_tip(vertices, faces, which, tip))


def pause_off(case: Case, size: float) -> Planted:
    """The end that is printed last, which is the lower one where the face is on the bed."""
    off_mm = 0.02 * size * case.sign()
    if case.profile.facing == "down":
        return case.with_recess(low_mm=case.recess.low_mm + off_mm)
    return case.with_recess(high_mm=case.recess.high_mm + off_mm)


def thin_floor(case: Case, size: float) -> Planted:
    """Only the floor: the cavity is the more high for it, within what its height may be off."""
    return case.with_recess(low_mm=beyond(0.6, size))


def thin_roof(case: Case, size: float) -> Planted:
    """Less between recess and letter: both are a little deeper, each within its limit."""
    less = case.profile.thickness_mm - 0.6 - 3.2 - beyond(case.profile.roof_mm, size)
    recess = replace(case.recess, high_mm=case.recess.high_mm + 0.75 * less)
    label = replace(case.label, depth_mm=case.label.depth_mm + 0.25 * less)
    return case.rebuilt(recesses=(recess,), label=label)


def into_letter(case: Case, _: float) -> Planted:
    """A recess so deep that it opens into the letter."""
    top = case.profile.thickness_mm - case.profile.label_depth_mm
    return case.with_recess(high_mm=top + case.random.uniform(0.05, 0.4))
