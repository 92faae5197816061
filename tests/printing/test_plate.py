"""Print plates: shipped sets on their beds, where meshes go, pauses, and the drawing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from shapely import MultiPoint, Polygon, affinity, total_bounds

from fabkit.core.errors import InputError
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.nesting.bin import Bin
from fabkit.printing.plate import (
    Plate,
    arrange_plates,
    bed_bin,
    mesh_transform,
    outline_from_above,
    plate_document,
    plate_drawing,
)
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import load_set
from tests.printing.test_nesting import ENGINES, judge_layout, using
from tests.support.cuts import FLAT_SETS, PRESETS
from tests.support.drawings import SVG

SMALL_BED = ("printer.bed_width=180 mm", "printer.bed_depth=180 mm")


@cache
def drafted(
    name: str, layers: tuple[str, ...] = (), settings: tuple[str, ...] = ()
) -> tuple[PuzzleSet, dict[str, FlatDrawing], Profile]:
    puzzle, profile = load_set(name), load_profile(layers, settings)
    return (
        puzzle,
        {one.piece: one for one in draft_all(puzzle, puzzle.pieces, profile, draft_flat_piece)},
        profile,
    )


def arranged(drawings: dict[str, FlatDrawing], profile: Profile, engine: str) -> list[Plate]:
    with using(engine):
        return arrange_plates(list(drawings.values()), profile)


def checked(drawings: dict[str, FlatDrawing], profile: Profile, engine: str) -> list[Plate]:
    """Lays pieces out, and judges what comes of it."""
    plates = arranged(drawings, profile, engine)
    shapes = {name: outline_from_above(one) for name, one in drawings.items()}
    corner = profile.tower_mm if profile.inlay != "none" else 0.0
    bed = profile.bed_width_mm, profile.bed_depth_mm
    room = Bin(*bed, profile.plate_gap_mm, profile.plate_edge_mm, corner)
    judge_layout(shapes, room, [list(plate.placements) for plate in plates])
    assert [plate.number for plate in plates] == list(range(1, len(plates) + 1))
    free_mm2 = np.prod([side - 2 * profile.plate_edge_mm for side in bed]) - corner**2
    for plate in plates:
        here = [drawings[placement.name] for placement in plate.placements]
        assert {one.pause_height_mm for one in here} <= {None, plate.pause_height_mm}
        assert plate.used == pytest.approx(sum(one.outline.area for one in here) / free_mm2)
        placed = [shapes[placement.name] for placement in plate.placements]
        corners = [
            point
            for placement, shape in zip(plate.placements, placed, strict=True)
            for point in placement.place(shape).exterior.coords
        ]
        left, bottom, right, top = MultiPoint(corners).bounds
        if (
            not corner
        ):  # then they lie in the middle, but for thousandths to which places are rounded
            assert (left, bottom) == pytest.approx((bed[0] - right, bed[1] - top), abs=0.0021)
    return plates


@pytest.mark.every(7)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layer", PRESETS)
@pytest.mark.parametrize("name", FLAT_SETS)
def test_shipped_sets_with_shipped_profiles(name: str, layer: str, engine: str) -> None:
    _, drawings, profile = drafted(name, (layer,))
    assert len(checked(drawings, profile, engine)) == 1


@pytest.mark.in_turn
@pytest.mark.parametrize("engine", ENGINES)
def test_small_beds_with_a_tower_and_face_down(engine: str) -> None:
    settings = (*SMALL_BED, "label.inlay=letter", "plate.face=down")
    _, drawings, profile = drafted("fridgeiq", settings=settings)
    assert len(checked(drawings, profile, engine)) == {"auto": 1, "rectpack": 2}[engine]


@pytest.mark.parametrize("settings", [(), ("label.inlay=letter",)])
def test_pieces_lie_close_together_in_the_middle(settings: tuple[str, ...]) -> None:
    """Also beside the corner of a prime tower."""
    _, drawings, profile = drafted("fridgeiq", settings=settings)
    shapes = {name: outline_from_above(one) for name, one in drawings.items()}

    (plate,) = checked(drawings, profile, "auto")
    placed = [placement.place(shapes[placement.name]) for placement in plate.placements]
    left, bottom, right, top = total_bounds(placed)
    middle = (left + right - profile.bed_width_mm) / 2, (bottom + top - profile.bed_depth_mm) / 2
    assert math.hypot(*middle) < 1.0
    assert math.hypot(right - left, top - bottom) < 220  # nesting alone: 130 x 200, so 239
    assert max(right - left, top - bottom) < 1.1 * min(right - left, top - bottom)
    filled = sum(shape.area for shape in shapes.values()) / ((right - left) * (top - bottom))
    assert filled > 0.66


def test_beside_a_tower_the_pieces_are_as_near_to_the_middle_as_can_be() -> None:
    """A bed that is nearly full: they keep off the corner, and lie beside or below it."""
    _, drawings, profile = drafted("fridgeiq", settings=("label.inlay=letter", *SMALL_BED))
    few = {name: drawings[name] for name in "NUTSAEJR"}
    (plate,) = checked(few, profile, "rectpack")
    placed = [
        placement.place(outline_from_above(few[placement.name])) for placement in plate.placements
    ]
    left, bottom, right, top = total_bounds(placed)
    corner = bed_bin(profile).corner
    assert corner is not None
    off = (left + right) / 2 - 90, (bottom + top) / 2 - 90
    assert min(map(abs, off)) < 1.0
    gap = min(one.distance(corner) for one in placed)
    assert gap == pytest.approx(profile.plate_gap_mm, abs=0.01) or max(map(abs, off)) < 1.0


@pytest.mark.parametrize("facing", ["up", "down"])
def test_meshes_go_where_outlines_lie(facing: str) -> None:
    """A prism between foot and face, moved by the matrix, is in its place and not mirrored."""
    _, drawings, profile = drafted("fridgeiq", settings=(*SMALL_BED, f"plate.face={facing}"))
    (plate, *_) = arranged(drawings, profile, "rectpack")
    for placement in plate.placements:
        one = drawings[placement.name]
        matrix = mesh_transform(placement, one)
        turn = matrix[:, :3]
        assert np.allclose(turn @ turn.T, np.eye(3))
        assert np.linalg.det(turn) == pytest.approx(1)
        flat = np.array(one.outline.exterior.coords)
        back, front = (
            np.column_stack([flat, np.full(len(flat), height)]) @ turn.T + matrix[:, 3]
            for height in (0.0, one.thickness_mm)
        )
        low, high = (back, front) if facing == "up" else (front, back)
        assert np.allclose(low[:, 2], 0)
        assert np.allclose(high[:, 2], one.thickness_mm)
        outline = one.outline
        if facing == "down":
            outline = affinity.scale(outline, xfact=-1, origin=(0, 0))
        assert Polygon(low[:, :2]).symmetric_difference(placement.place(outline)).area < 1e-6


@pytest.mark.parametrize("facing", ["up", "down"])
def test_one_pause_for_each_plate(facing: str) -> None:
    _, drawings, profile = drafted("fridgeiq", ("flippable",), (f"plate.face={facing}",))
    (plate,) = checked(drawings, profile, "rectpack")
    assert plate.pause_height_mm == next(iter(drawings.values())).pause_height_mm is not None
    mixed = {}
    for i, (name, one) in enumerate(drawings.items()):
        by_mm = 0.2 if i < 5 else 0.0
        recesses = [
            replace(recess, low_mm=recess.low_mm + by_mm, high_mm=recess.high_mm + by_mm)
            for recess in one.recesses
        ]
        mixed[name] = replace(one, recesses=tuple(recesses) if i < 12 else ())
    plates = checked(mixed, profile, "rectpack")
    heights = {one.pause_height_mm for one in mixed.values()} - {None}
    assert [plate.pause_height_mm for plate in plates] == sorted(heights)  # type: ignore[type-var]
    free = {name for name, one in mixed.items() if one.pause_height_mm is None}
    assert any(free <= {placement.name for placement in plate.placements} for plate in plates)


def test_pieces_that_do_not_fit_the_printer() -> None:
    assert arrange_plates([], load_profile()) == []
    _, drawings, profile = drafted("fridgeiq")
    with pytest.raises(InputError, match=r"A: is 7 mm high, .*printer\.bed_height"):
        arrange_plates(list(drawings.values()), replace(profile, bed_height_mm=6.0))
    with pytest.raises(InputError) as caught:
        arrange_plates(
            list(drawings.values()), replace(profile, bed_width_mm=50.0, bed_depth_mm=50.0)
        )
    assert str(caught.value).startswith("profile default: ")
    assert "N" in {fault.key for fault in caught.value.errors}
    assert "the usable 40 mm x 40 mm" in str(caught.value)


def test_the_document_says_where_pieces_lie() -> None:
    puzzle, drawings, profile = drafted("cubimagici", settings=("printer.bed_width=120 mm",))
    plates = arranged(drawings, profile, "rectpack")
    document = plate_document(puzzle, plates, drawings, profile)
    assert json.loads(json.dumps(document)) == document
    assert (document["set"], document["bed_mm"]) == ("cubimagici", [120, 210])
    assert len(document["plates"]) == len(plates) > 1
    for plate, listed in zip(plates, document["plates"], strict=True):
        assert listed["file"] == f"plates/plate-{plate.number}.3mf"
        placed = [
            (one["piece"], one["degrees"], one["x_mm"], one["y_mm"]) for one in listed["pieces"]
        ]
        assert placed == [(s.name, s.degrees, s.x_mm, s.y_mm) for s in plate.placements]
        assert {one["facing"] for one in listed["pieces"]} == {"up"}


@pytest.mark.parametrize(
    ("name", "layer", "settings", "expected"),
    [
        ("fridgeiq", "default", ("label.inlay=letter",), ["no pause", "the prime tower"]),
        ("fridgeiq", "default", ("plate.face=down",), ["face down"]),
        ("iqblock", "flippable", ("label.faces=none",), ["pause for the magnets at 4.2 mm"]),
    ],
)
def test_the_drawing_of_a_plate(
    name: str, layer: str, settings: tuple[str, ...], expected: list[str]
) -> None:
    puzzle, drawings, profile = drafted(name, (layer,), settings)
    plates = arranged(drawings, profile, "rectpack")
    svg = ElementTree.fromstring(plate_drawing(puzzle.title, plates, plates[0], drawings, profile))
    title, text = (
        " | ".join(element.text or "" for element in svg.iter(f"{SVG}{tag}"))
        for tag in ("title", "text")
    )
    assert f"{puzzle.title}, plate 1 of 1" in title
    assert f"{len(drawings)} pieces · bed 250 x 210 mm" in text
    assert all(words in text for words in expected)
    assert ("prime tower" in text) == (profile.inlay == "letter")
    circles = list(svg.iter(f"{SVG}circle"))
    assert len(circles) == sum(len(one.circles) for d in drawings.values() for one in d.recesses)
    # A recess that is open upwards is not dashed. Pieces without a letter are named all the same.
    assert {bool(one.get("stroke-dasharray")) for one in circles} == {profile.facing == "up"}
    paths = list(svg.iter(f"{SVG}path"))
    letters = [path for path in paths if path.get("fill-opacity")]
    assert len(letters) >= len(drawings)
    # The first point of a piece's path lies on the page where its spot puts the outline.
    height = float(svg.get("viewBox", "").split()[3])
    at = {path.get("fill"): path.get("d", "M0 0L").removeprefix("M") for path in paths}
    upper = [path.get("d", "M") for path in paths if path.get("stroke-opacity") == "0.3"]
    for placement, face in zip(plates[0].placements, upper, strict=True):
        one = drawings[placement.name]
        above = one.foot if one.facing == "down" else one.face
        for path, shape in ((at[one.colour], one.outline), (face.removeprefix("M"), above)):
            x, y = map(float, path.split("L")[0].split()[:2])
            seen = placement.place(outline_from_above(replace(one, outline=shape)))
            corners = np.array(seen.exterior.coords)
            assert min(np.hypot(*(corners - (x - 10, height - y - 17)).T)) < 0.002
