"""The checks of one print, measured on its mesh; each yields complaints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from shapely import Polygon, affinity
from shapely.geometry.base import BaseGeometry

from fabkit.profiles.profile import Profile
from tests.support import analytic, measure
from tests.support.measure import DOWN, UP
from tests.support.prints import TINY_MM, Print

Complaints = Iterator[str]


def check_shells(one: Print) -> Complaints:
    """One closed body; a closed-in magnet adds one cavity, wholly inside, and nothing else does."""
    if not measure.is_closed(one.mesh):
        yield "the mesh is not closed"
    body, *cavities = measure.shells(one.mesh)
    expected = one.magnets if one.profile.embedded else 0
    if len(cavities) != expected:
        yield f"{len(cavities)} shells beside the body, not {expected}"
    for shell, sign in ((body, 1), *((cavity, -1) for cavity in cavities)):
        if sign * shell.volume <= 0:
            yield f"a shell has the volume {shell.volume}"
    wall_mm, (low_mm, high_mm) = one.profile.wall_mm, analytic.recess_heights_mm(one.profile)
    for cavity in cavities:
        if not np.allclose(measure.winding_numbers(body, cavity.vertices), 1, atol=1e-6):
            yield "a cavity is not wholly inside the body"
        room = np.ravel((cavity.bounds - body.bounds) * [[1], [-1]])
        least = [wall_mm, wall_mm, low_mm, wall_mm, wall_mm, one.profile.thickness_mm - high_mm]
        if (room < np.asarray(least) - TINY_MM).any():
            yield f"a cavity keeps only {room.round(4)} from the sides of the box, not {least}"


def check_volume(one: Print) -> Complaints:
    off = one.mesh.volume / analytic.volume_mm3(one.drawing, one.profile, one.glyph().area_mm2) - 1
    if abs(off) > 0.0002:
        yield f"the volume is {one.mesh.volume:.3f} mm3, {off:+.4%} off"


def check_outline(one: Print) -> Complaints:
    """The box around the mesh, and sections at mid-height, below, and through both chamfers."""
    left, bottom, right, top = one.outline.bounds
    expected_mm = np.array([[left, bottom, 0], [right, top, one.profile.thickness_mm]])
    if (off := np.abs(one.mesh.bounds - expected_mm).max()) > 0.01:
        yield f"the bounding box is {off:.4f} mm off"
    profile = one.profile
    top_mm, top, foot = profile.thickness_mm, profile.top_chamfer_mm, profile.foot_chamfer_mm
    levels = [(top_mm - top - 0.013, 0.0), (foot + 0.013, 0.0)]
    levels += [(top_mm - (1 - share) * top, share * top) for share in (0.23, 0.47, 0.91) if top]
    levels += [((1 - share) * foot, share * foot) for share in (0.23, 0.47, 0.91) if foot]
    for z_mm, inset_mm in levels:
        expected = analytic.inset_outline(one.outline, inset_mm)
        off = measure.difference_mm2(measure.filled(one.section(z_mm)), expected)
        if off > 0.005:
            yield f"the section at {z_mm:.3f} mm is {off:.4f} mm2 off"


def check_levels(one: Print) -> Complaints:
    """Every horizontal surface: at which heights, facing where, and how large."""
    profile, glyph_mm2 = one.profile, one.glyph().area_mm2
    top_mm, depth_mm = profile.thickness_mm, profile.label_depth_mm
    recess_mm2, lead_in_mm2 = 0.0, 0.0
    expected = {
        (0.0, DOWN): analytic.inset_outline(one.outline, profile.foot_chamfer_mm).area,
        (top_mm, UP): analytic.inset_outline(one.outline, profile.top_chamfer_mm).area,
    }
    if one.magnets:
        low_mm, high_mm = analytic.recess_heights_mm(profile)
        recess_mm2 = one.magnets * analytic.recess_area_mm2(profile, high_mm)
        expected[high_mm, DOWN] = recess_mm2
        if profile.embedded:
            expected[low_mm, UP] = recess_mm2
        else:
            lead_in_mm2 = one.magnets * analytic.recess_area_mm2(profile, 0.0)
            expected[0.0, DOWN] -= lead_in_mm2
    for z_mm, facing, inwards in lettered_faces(profile):
        expected[z_mm, facing] -= glyph_mm2
        expected[round(z_mm + inwards * depth_mm, 6), facing] = glyph_mm2
    found = measure.flat_levels(one.mesh)
    if found.keys() != expected.keys():
        yield f"horizontal surfaces are at {sorted(found)}, not at {sorted(expected)}"
        return
    # Curves are chords: a recess of 63 facets lacks 0.17 % of its area.
    tolerance_mm2 = 0.002 * (recess_mm2 + lead_in_mm2) + 0.001 * glyph_mm2 + 0.005
    for level, area_mm2 in expected.items():
        if abs(found[level] - area_mm2) > tolerance_mm2:
            yield f"the surface at {level} is {found[level]:.3f} mm2, not {area_mm2:.3f}"


def lettered_faces(profile: Profile) -> list[tuple[float, int, int]]:
    """Height and facing of each face with a letter, and which way the letter goes down."""
    front, back = (profile.thickness_mm, UP, -1), (0.0, DOWN, 1)
    return {"none": [], "front": [front], "both": [front, back]}[profile.faces]


def roofs(one: Print) -> list[Polygon]:
    """The upper ends of the recesses, from left to right."""
    _, high_mm = analytic.recess_heights_mm(one.profile)
    return measure.parts(measure.flat_part(one.mesh, high_mm, DOWN))


def check_recesses(one: Print) -> Complaints:
    """Number, place and diameters, at the upper end and halfway up."""
    if not one.magnets:
        return
    low_mm, high_mm = analytic.recess_heights_mm(one.profile)
    ends = roofs(one)
    if len(ends) != one.magnets:
        yield f"{len(ends)} recesses, not {one.magnets}"
        return
    for z_mm in (0.45 * low_mm + 0.55 * high_mm, high_mm - 0.013):
        for end, recess in zip(ends, measure.holes(one.section(z_mm)), strict=True):
            if measure.difference_mm2(end, recess) > 0.01 * end.area:
                yield f"a recess is not the same at {z_mm:.3f} mm as at its end"
            yield from wrong_recess(recess, one.profile)
    for end, recess in zip(ends, one.blueprint.recesses, strict=True):
        yield from wrong_recess(end, one.profile)
        circle = fit_circle(end)
        if math.dist((circle.x_mm, circle.y_mm), recess.centre_mm) > 0.01:
            yield f"a recess lies at {circle}, not at {recess.centre_mm}"


def fit_circle(area: Polygon) -> measure.Circle:
    return measure.fit_circle(measure.corners(area.exterior))


def wrong_recess(recess: Polygon, profile: Profile) -> Complaints:
    """What is wrong with the diameters of a recess, and with its ribs."""
    if profile.fit != "ribs":
        yield from wrong_circle("recess", fit_circle(recess), analytic.recess_mm(profile))
        return
    ribs = measure.ribs_of(recess)
    if ribs.count != analytic.RIBS:
        yield f"{ribs.count} ribs"
    yield from wrong_circle("recess between the ribs", ribs.root, analytic.recess_mm(profile))
    yield from wrong_circle("circle of the crests", ribs.crest, analytic.crest_mm(profile))
    if abs(ribs.width_mm - profile.rib_width_mm) > 0.02:
        yield f"the ribs are {ribs.width_mm:.4f} mm wide"


def wrong_circle(name: str, circle: measure.Circle, diameter_mm: float) -> Complaints:
    if abs(circle.diameter_mm - diameter_mm) > 0.02 or circle.off_mm > 0.02:
        yield f"the {name} is {circle}, not {diameter_mm} mm across"


def check_lead_ins(one: Print) -> Complaints:
    """The lead-in of open recesses: its rim on the back, and 45 degrees from there on."""
    profile = one.profile
    if not one.magnets or profile.embedded:
        return
    lead_in_mm = profile.lead_in_mm
    rims = measure.holes(measure.flat_part(one.mesh, 0.0, DOWN))
    if len(rims) != one.magnets:
        yield f"{len(rims)} holes in the back"
    for rim in rims:
        yield from wrong_circle("lead-in", fit_circle(rim), analytic.lead_in_diameter_mm(profile))
    recess_mm = analytic.recess_mm(profile)
    for z_mm in (0.3 * lead_in_mm, 0.7 * lead_in_mm) if lead_in_mm else ():
        for hole in measure.holes(one.section(z_mm)):
            expected_mm = recess_mm + 2 * (lead_in_mm - z_mm)
            yield from wrong_circle(f"lead-in at {z_mm:.2f} mm", fit_circle(hole), expected_mm)
    if profile.fit == "ribs":
        crest_mm = analytic.crest_mm(profile)
        for hole in measure.holes(one.section(lead_in_mm + (recess_mm - crest_mm) / 4)):
            found = measure.ribs_of(hole).crest
            yield from wrong_circle("lead-in", found, (recess_mm + crest_mm) / 2)


def check_walls(one: Print) -> Complaints:
    """Walls beside the recesses, between them, and at the bed."""
    if not one.magnets:
        return
    profile = one.profile
    low_mm, high_mm = analytic.recess_heights_mm(profile)
    begin_mm = low_mm if profile.embedded else profile.lead_in_mm
    heights = [begin_mm + 0.013, 0.45 * begin_mm + 0.55 * high_mm, high_mm - 0.013]
    cuts = [(one.section(z_mm), profile.wall_mm) for z_mm in heights]
    if not profile.embedded:
        cuts.append((measure.flat_part(one.mesh, 0.0, DOWN), profile.bed_wall_mm))
    for area, least_mm in cuts:
        if (wall_mm := thinnest_wall_mm(area)) < least_mm - TINY_MM:
            yield f"a wall of {wall_mm:.4f} mm, and {least_mm} is the least"


def thinnest_wall_mm(area: BaseGeometry) -> float:
    """Beside the holes of an area, and between them."""
    holes = measure.holes(area)
    walls_mm = [measure.wall_mm(area, hole) for hole in holes]
    return min(walls_mm + [a.distance(b) for a, b in itertools.pairwise(holes)])


def check_magnet(one: Print) -> Complaints:
    """The magnet lies a little deep, never protruding, in a recess that ends on layers."""
    if not one.magnets:
        return
    profile = one.profile
    found = measure.flat_levels(one.mesh)
    levels = [z for z, facing in found if facing == DOWN and z not in (0.0, profile.label_depth_mm)]
    floors = [z for z, facing in found if facing == UP and z < profile.thickness_mm / 2]
    if len(levels) != 1 or len(floors) != profile.embedded:
        yield f"recesses begin at {floors} and end at {levels}"
        return
    air_mm = levels[0] - sum(floors) - profile.magnet_height_mm
    if not 0.1 - TINY_MM <= air_mm <= 0.3 + TINY_MM:
        yield f"{air_mm:.4f} mm of air over the magnet"
    for z_mm in levels + floors:
        layers = (z_mm - profile.first_layer_mm) / profile.layer_mm
        if abs(layers - round(layers)) > 0.002:
            yield f"a recess ends at {z_mm:.4f} mm, inside a layer"


def check_letters(one: Print) -> Complaints:
    """Which letter, how large, which way round, on the flat of the face, and strokes that print."""
    profile, glyph = one.profile, one.glyph()
    for z_mm, facing, inwards in lettered_faces(profile):
        face = measure.filled(measure.flat_part(one.mesh, z_mm, facing))
        depth_mm = inwards * profile.label_depth_mm
        floor = measure.flat_part(one.mesh, z_mm + depth_mm, facing)
        letter = measure.hollow(one.section(z_mm + 0.51 * depth_mm))
        if letter.is_empty or floor.is_empty:
            yield "there is no letter"
            continue
        # Between its ends a curved wall is a few micrometres off.
        if (off := measure.difference_mm2(letter, floor)) > 0.005 * floor.area:
            yield f"the letter's floor is {off:.4f} mm2 off its section"
        margin_mm = letter.distance(face.exterior)
        if not letter.within(face) or margin_mm < profile.label_margin_mm - 0.01:
            yield f"the letter keeps {margin_mm:.4f} mm from the chamfer"
        left, bottom, right, top = letter.bounds
        if abs(right - left - glyph.width_mm) > 0.02 or abs(top - bottom - glyph.height_mm) > 0.02:
            yield f"the letter is {right - left:.3f} mm wide and {top - bottom:.3f} mm high"
        shape = affinity.scale(glyph.polygon, xfact=facing, origin=(0, 0))
        expected = affinity.translate(shape, (left + right) / 2, (bottom + top) / 2)
        if (off := measure.difference_mm2(letter, expected)) > 0.01 * glyph.area_mm2:
            yield f"the letter is not {one.drawing.label}: {off:.3f} mm2 differ"
        stroke_mm = measure.thinnest_stroke_mm(letter, profile.stroke_mm)
        if stroke_mm < profile.stroke_mm:
            yield f"a stroke of {stroke_mm:.3f} mm"
        # Larger than asked for is right only where the strokes need it, to a step of 0.1 mm.
        lower_mm = one.cap_height_mm - 0.1
        lower_stroke_mm = stroke_mm * lower_mm / one.cap_height_mm
        if lower_mm > profile.cap_height_mm and lower_stroke_mm > 1.03 * profile.stroke_mm:
            yield f"a letter of {one.cap_height_mm} mm for no reason"


CHECKS: list[Callable[[Print], Complaints]] = [
    check_shells, check_volume, check_outline, check_levels, check_recesses, check_lead_ins,
    check_walls, check_magnet, check_letters,
]  # fmt: skip


def complaints(prints: Sequence[Print], check: Callable[[Print], Complaints]) -> list[str]:
    return [f"{one.drawing.id}: {complaint}" for one in prints for complaint in check(one)]
