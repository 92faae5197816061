"""Print plates: every shipped set on its beds, where meshes go, pauses, and the drawing."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from shapely import MultiPoint, Polygon, affinity

from fabkit.core.errors import InputError
from fabkit.drawing.draft import Blueprint, draft_all
from fabkit.model.library import load_set
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.nesting.bin import Bin, Shape
from fabkit.printing.plate import (
    Plate,
    lay_out,
    mesh_rows,
    outline_from_above,
    plate_document,
    plate_drawing,
    room_of,
)
from tests.printing.test_nesting import judge

SVG = "{http://www.w3.org/2000/svg}"
FLAT_SETS = ("fridgeiq", "iqblock", "cubimagici", "iqstars")
PROFILES = ("default", "compact", "petg", "flippable")
SMALL_BED = ("printer.bed_width=180 mm", "printer.bed_depth=180 mm")


@cache
def drafted(
    name: str, layers: tuple[str, ...] = (), settings: tuple[str, ...] = ()
) -> tuple[PuzzleSet, list[Blueprint], Profile]:
    puzzle, profile = load_set(name), load_profile(layers, settings)
    return puzzle, draft_all(puzzle, puzzle.pieces, profile), profile


def check_plates(plates: list[Plate], blueprints: list[Blueprint], profile: Profile) -> None:
    shapes = [Shape(one.piece, outline_from_above(one)) for one in blueprints]
    corner = profile.tower_mm if profile.inlay != "none" else 0.0
    bed = profile.bed_width_mm, profile.bed_depth_mm
    room = Bin(*bed, profile.plate_gap_mm, profile.plate_edge_mm, corner)
    judge(shapes, room, [list(plate.spots) for plate in plates])
    assert [plate.number for plate in plates] == list(range(1, len(plates) + 1))
    pauses = {one.piece: one.pause_height_mm for one in blueprints}
    for plate in plates:
        assert {pauses[spot.name] for spot in plate.spots} <= {None, plate.pause_height_mm}
        area = sum(one.outline.area for one in blueprints if one.piece in names(plate))
        inner = (profile.bed_width_mm - 2 * profile.plate_edge_mm) * (
            profile.bed_depth_mm - 2 * profile.plate_edge_mm
        )
        assert plate.used == pytest.approx(area / (inner - corner**2))


def names(plate: Plate) -> set[str]:
    return {spot.name for spot in plate.spots}


@pytest.mark.every(7)
@pytest.mark.parametrize("engine", ["rectpack", "spyrrow"])
@pytest.mark.parametrize("layer", PROFILES)
@pytest.mark.parametrize("name", FLAT_SETS)
def test_shipped_sets_with_shipped_profiles(name: str, layer: str, engine: str) -> None:
    _, blueprints, profile = drafted(name, (layer,))
    plates = lay_out(blueprints, profile, engine)
    check_plates(plates, blueprints, profile)
    assert len(plates) == 1


@pytest.mark.parametrize("engine", ["rectpack", "spyrrow"])
def test_small_beds_with_a_tower_and_face_down(engine: str) -> None:
    settings = (*SMALL_BED, "label.inlay=letter", "plate.face=down")
    _, blueprints, profile = drafted("fridgeiq", settings=settings)
    plates = lay_out(blueprints, profile, engine)
    check_plates(plates, blueprints, profile)
    assert len(plates) == {"spyrrow": 1, "rectpack": 2}[engine]


def test_the_tower_is_kept_free_only_with_two_colours() -> None:
    assert room_of(load_profile()).corner_mm == 0
    assert room_of(load_profile((), ["label.inlay=letter"])).corner_mm == 40


def test_without_a_tower_pieces_lie_in_the_middle() -> None:
    _, blueprints, profile = drafted("fridgeiq")
    (plate,) = lay_out(blueprints, profile)
    outlines = {one.piece: one.outline for one in blueprints}
    corners = [c for s in plate.spots for c in s.place(outlines[s.name]).exterior.coords]
    left, bottom, right, top = MultiPoint(corners).bounds
    assert left == pytest.approx(profile.bed_width_mm - right, abs=0.002)
    assert bottom == pytest.approx(profile.bed_depth_mm - top, abs=0.002)


@pytest.mark.parametrize("facing", ["up", "down"])
def test_meshes_go_where_outlines_lie(facing: str) -> None:
    """A prism between foot and face, moved by the rows, stands on its spot and is not mirrored."""
    _, blueprints, profile = drafted("fridgeiq", settings=(*SMALL_BED, f"plate.face={facing}"))
    (plate, *_) = lay_out(blueprints, profile, "rectpack")
    laid = []
    for spot in plate.spots:
        one = next(one for one in blueprints if one.piece == spot.name)
        rows = np.array(mesh_rows(spot, one))
        assert np.allclose(rows[:3] @ rows[:3].T, np.eye(3))
        assert np.linalg.det(rows[:3]) == pytest.approx(1)
        flat = np.array(one.outline.exterior.coords)
        back, front = (
            np.column_stack([flat, np.full(len(flat), height)]) @ rows[:3] + rows[3]
            for height in (0.0, one.thickness_mm)
        )
        low, high = (back, front) if facing == "up" else (front, back)
        assert np.allclose(low[:, 2], 0)
        assert np.allclose(high[:, 2], one.thickness_mm)
        outline = one.outline
        if facing == "down":
            outline = affinity.scale(outline, xfact=-1, origin=(0, 0))
        assert Polygon(low[:, :2]).symmetric_difference(spot.place(outline)).area < 1e-6
        laid.append(Polygon(low[:, :2]))
    assert all(a.distance(b) >= 2 - 1e-6 for i, a in enumerate(laid) for b in laid[:i])


@pytest.mark.parametrize("facing", ["up", "down"])
def test_one_pause_for_each_plate(facing: str) -> None:
    _, blueprints, profile = drafted("fridgeiq", ("flippable",), (f"plate.face={facing}",))
    (plate,) = lay_out(blueprints, profile, "rectpack")
    assert plate.pause_height_mm == blueprints[0].pause_height_mm
    assert plate.pause_height_mm is not None

    def shifted(one: Blueprint, by_mm: float) -> Blueprint:
        recesses = tuple(
            replace(recess, low_mm=recess.low_mm + by_mm, high_mm=recess.high_mm + by_mm)
            for recess in one.recesses
        )
        return replace(one, recesses=recesses)

    mixed = [shifted(one, 0.2) for one in blueprints[:5]] + blueprints[5:12]
    mixed += [replace(one, recesses=()) for one in blueprints[12:]]
    plates = lay_out(mixed, profile, "rectpack")
    check_plates(plates, mixed, profile)
    assert len(plates) == 2
    heights = [plate.pause_height_mm for plate in plates]
    assert heights == sorted({one.pause_height_mm for one in mixed[:12]})
    free = {one.piece for one in mixed[12:]}
    assert any(free <= names(plate) for plate in plates)


def test_pieces_that_do_not_fit_the_printer() -> None:
    assert lay_out([], load_profile()) == []
    _, blueprints, profile = drafted("fridgeiq")
    low = replace(profile, bed_height_mm=6.0)
    with pytest.raises(InputError, match=r"A: is 7 mm high, .*printer\.bed_height"):
        lay_out(blueprints, low)
    small = replace(profile, bed_width_mm=50.0, bed_depth_mm=50.0)
    with pytest.raises(InputError) as caught:
        lay_out(blueprints, small)
    assert str(caught.value).startswith("profile default: ")
    assert "N" in {fault.key for fault in caught.value.faults}
    assert "40 mm x 40 mm that can be used" in str(caught.value)


def test_the_document_says_where_pieces_lie() -> None:
    puzzle, blueprints, profile = drafted("cubimagici", settings=("printer.bed_width=120 mm",))
    plates = lay_out(blueprints, profile, "rectpack")
    named = {one.piece: one for one in blueprints}
    told = plate_document(puzzle, plates, named, profile)
    assert json.loads(json.dumps(told)) == told
    assert (told["set"], told["bed_mm"]) == ("cubimagici", [120, 210])
    assert {one["facing"] for plate in told["plates"] for one in plate["pieces"]} == {"up"}
    assert len(told["plates"]) == len(plates) > 1
    for plate, said in zip(plates, told["plates"], strict=True):
        assert said["file"] == f"plates/plate-{plate.number}.3mf"
        lying = [(one["piece"], one["degrees"], one["x_mm"], one["y_mm"]) for one in said["pieces"]]
        assert lying == [(s.name, s.degrees, s.x_mm, s.y_mm) for s in plate.spots]


def drawn(*settings: str) -> tuple[ElementTree.Element, list[Blueprint], Profile]:
    puzzle, blueprints, profile = drafted("fridgeiq", settings=settings)
    plates = lay_out(blueprints, profile, "rectpack")
    named = {one.piece: one for one in blueprints}
    source = plate_drawing(puzzle, plates, plates[0], named, profile)
    assert source == plate_drawing(puzzle, plates, plates[0], named, profile)
    return ElementTree.fromstring(source), blueprints, profile


def words(svg: ElementTree.Element) -> str:
    return " | ".join(element.text or "" for element in svg.iter(f"{SVG}text"))


def test_the_drawing_of_a_plate_with_a_tower() -> None:
    svg, blueprints, _ = drawn("label.inlay=letter")
    assert svg.find(f"{SVG}title").text == "FridgeIQ, plate 1 of 1"  # type: ignore[union-attr]
    assert "16 pieces · bed 250 x 210 mm" in words(svg)
    assert "no pause" in words(svg)
    assert "the prime tower" in words(svg)
    fills = {element.get("fill") for element in svg.iter(f"{SVG}path")}
    assert {one.colour for one in blueprints} <= fills
    circles = list(svg.iter(f"{SVG}circle"))
    assert len(circles) == sum(len(one.recesses) for one in blueprints)
    assert all(circle.get("stroke-dasharray") for circle in circles)


def test_the_drawing_of_a_plate_face_down() -> None:
    svg, _, _ = drawn("plate.face=down")
    assert "prime tower" not in words(svg)
    assert "face down" in words(svg)
    assert not any(circle.get("stroke-dasharray") for circle in svg.iter(f"{SVG}circle"))


def test_the_drawing_names_pieces_without_letters_and_the_pause() -> None:
    puzzle, blueprints, profile = drafted("iqblock", ("flippable",), ("label.faces=none",))
    plates = lay_out(blueprints, profile, "rectpack")
    named = {one.piece: one for one in blueprints}
    svg = ElementTree.fromstring(plate_drawing(puzzle, plates, plates[0], named, profile))
    assert f"pause for the magnets at {plates[0].pause_height_mm:g} mm" in words(svg)
    filled = [path for path in svg.iter(f"{SVG}path") if path.get("fill-opacity") == "1"]
    assert len(filled) >= len(blueprints)


def test_the_drawing_is_true_to_scale() -> None:
    """The first point of a piece's path lies on the page where its spot puts the outline."""
    puzzle, blueprints, profile = drafted("fridgeiq")
    (plate,) = lay_out(blueprints, profile, "rectpack")
    named = {one.piece: one for one in blueprints}
    svg = ElementTree.fromstring(plate_drawing(puzzle, [plate], plate, named, profile))
    height = float(svg.get("viewBox", "").split()[3])
    paths = {path.get("fill"): path.get("d", "") for path in svg.iter(f"{SVG}path")}
    for spot in plate.spots:
        first = paths[named[spot.name].colour].removeprefix("M").split("L")[0].split()
        at = (float(first[0]) - 10, height - float(first[1]) - 17)
        corners = spot.place(named[spot.name].outline).exterior
        assert min(np.hypot(x - at[0], y - at[1]) for x, y in corners.coords) < 0.002
