"""Boards, trays and lids: their drawings cut at heights against shapely, their meshes against
those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import shapely
from shapely import LineString, Point, affinity
from shapely.geometry.polygon import orient

from fabkit.drawing.boards.csg import BoardDrawing, Cylinder, Step, section_at
from fabkit.drawing.boards.draft import draft_board, draft_lid
from fabkit.drawing.boards.frame import build_block, levels
from fabkit.drawing.boards.lids import MAX_STRAIN, snap_strain
from fabkit.drawing.draft import draft_all, draft_flat_piece
from fabkit.drawing.glyphs import strokes_are_at_least
from fabkit.drawing.label import place_title
from fabkit.drawing.outline import DrawingError
from fabkit.mesh.files.readers import read_meshes
from fabkit.mesh.part import Part
from fabkit.mesh.rules.surface import mesh_findings, printing_findings
from fabkit.mesh.section import Sections, filled
from fabkit.model.lattice import Cell
from fabkit.model.puzzle import Board, PuzzleSet
from fabkit.profiles.accessory import LID, Accessory, accessories
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.challenges import find_challenge
from fabkit.sets.library import load_set
from tests.support import analytic
from tests.support.boardmeshes import cylinder, extruded, socket_places
from tests.support.pictures import cell_drawn, hexagon, together

if TYPE_CHECKING:
    from manifold3d import Manifold

Shape = Any  # shapely has no types
FIT, STARS = load_set("iqfit"), load_set("iqstars")
NO_TITLE = "board.title=0 mm"
#: Overlap of two bodies that touch, in mm3.
TOUCH_MM3 = 0.01


def fit_profile(*settings: str) -> Profile:
    return load_profile((), settings, FIT.profile_values)


def holes_board(profile: Profile, cells: frozenset[Cell] = FIT.boards[0].cells) -> BoardDrawing:
    return draft_board(FIT, Accessory("board", "holes", Board("board", cells), "#ffffff"), profile)


def sockets_board(profile: Profile) -> BoardDrawing:
    return draft_board(STARS, accessories(STARS, profile)[0], profile)


def cells_of(picture: Sequence[str]) -> frozenset[Cell]:
    places = [(r, c) for r, line in enumerate(picture) for c, one in enumerate(line) if one == "#"]
    return frozenset(cell for place in places for cell in FIT.lattice.cells_at(*place))


def discs(places: Sequence[tuple[float, float]], across_mm: float) -> Shape:
    return together(Point(one).buffer(across_mm / 2, 32) for one in places)


def united(cells: Sequence[Shape], unit_mm: float) -> Shape:
    grown = together(cell.buffer(1e-7, join_style="mitre") for cell in cells)
    area = grown.buffer(-1e-7, join_style="mitre").simplify(1e-5)
    return affinity.scale(area, unit_mm, unit_mm, origin=(0, 0))


def same(one: Shape, other: Shape) -> bool:
    return bool(one.symmetric_difference(other).area < 1e-3)


# --- holes and sockets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("picture", "settings"),
    [
        (["####"] * 3, ()),
        # Whole squares with a hole, a notch, and an arm one cell wide.
        (["#####", "#.###", "###..", "#####", "....#"], ("lid.kind=snap", "board.notch=0 mm")),
    ],
)
def test_holes_go_through_and_channels_join_neighbouring_cells(
    picture: list[str], settings: tuple[str, ...]
) -> None:
    profile = fit_profile(*settings)
    unit_mm = profile.unit_mm
    board = holes_board(profile, cells_of(picture))
    low_mm = unit_mm + profile.ball_mm / 2 + 1
    assert board.rest_mm == analytic.layer_top_mm(profile, low_mm)
    places = [
        ((col + 0.5) * unit_mm, -(row + 0.5) * unit_mm)
        for row, line in enumerate(picture)
        for col, one in enumerate(line)
        if one == "#"
    ]
    cylinders = discs(places, profile.hole_mm)
    pairs = [pair for pair in combinations(places, 2) if math.dist(*pair) < 1.01 * unit_mm]
    wide_mm = profile.link_mm + 2 * profile.channel_mm
    channels = [LineString(pair).buffer(wide_mm / 2, cap_style="flat") for pair in pairs]
    floor_mm = board.rest_mm - profile.link_mm / 2
    for height_mm in (0.013, floor_mm - 0.013):
        assert same(section_at(board.steps, height_mm), board.outline - cylinders)
    for height_mm in (floor_mm + 0.013, board.rest_mm - 0.013):
        expected = board.outline - cylinders - together(channels)
        assert same(section_at(board.steps, height_mm), expected)
    cells = together(Point(one).buffer(unit_mm / 2, cap_style="square") for one in places)
    assert section_at(board.steps, board.rest_mm + 0.013).disjoint(cells)


def test_walls_of_the_drawing_are_two_lines_wide() -> None:
    """Right up to the limits: no wall or post of a drawing vanishes when 0.39 mm is taken off."""
    for settings in (
        ("board.hole=14.2 mm",),
        ("ball.link=11 mm", "board.channel=0.4 mm", "board.hole=13 mm"),
        ("ball.diameter=14.1 mm", "ball.link=14 mm", "board.channel=0.04 mm", "board.hole=14.2 mm"),
    ):
        board = holes_board(fit_profile(*settings))
        for height_mm in (1.0, board.rest_mm - 0.01):
            area = section_at(board.steps, height_mm)
            opened = area.buffer(-0.39).buffer(0.39 + 0.25)
            assert area.difference(opened).area < 1e-6


def test_a_socket_for_every_peg() -> None:
    profile = load_profile()
    board, unit_mm = sockets_board(profile), profile.unit_mm
    floor_mm = analytic.layer_top_mm(profile, profile.board_floor_mm)
    assert board.rest_mm == analytic.layer_top_mm(profile, floor_mm + profile.peg_height_mm + 0.2)
    middles = socket_places(7, 6, 7, 6)
    sockets = discs(middles, profile.peg_mm + 2 * profile.socket_mm)
    for height_mm in (floor_mm + 0.013, board.rest_mm - 0.013):
        assert same(section_at(board.steps, height_mm), board.outline - sockets)
    assert same(section_at(board.steps, floor_mm - 0.013), board.outline)
    region = united([hexagon(x / unit_mm, y / unit_mm) for x, y in middles], unit_mm)
    opening = region.buffer(profile.board_clearance_mm, join_style="mitre", mitre_limit=10)
    rim = section_at(board.steps, board.rest_mm + 0.013)
    assert same(filled(rim) - rim, opening)
    # Pieces lie where they are drawn over cells of the board.
    for piece in draft_all(STARS, STARS.pieces, profile, draft_flat_piece):
        for peg in piece.pegs:
            assert min(math.dist(peg.centre_mm, one) for one in middles) < 1e-6
            assert floor_mm + 0.2 <= board.rest_mm - peg.height_mm + 1e-9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["board.hole=12 mm"],
            "board.hole is 12 mm; expected more than the ball's 12 mm, and at most 14.2 mm, which "
            "leaves 0.8 mm between two holes; choose another board.hole, a smaller ball.diameter "
            "or a larger unit",
        ),
        (["board.hole=14.3 mm"], "board.hole is 14.3 mm; expected more than the ball's 12 mm"),
        (
            ["board.channel=1.5 mm"],
            "a channel for links of 9 mm with board.channel 1.5 mm on either side is 12 mm wide, "
            "which holds no ball back; choose a smaller board.channel or a ball.link below 9 mm",
        ),
        (
            ["peg.diameter=18.9 mm"],
            "a socket for pegs of 18.9 mm with board.socket 0.2 mm around is 19.3 mm wide, which "
            "leaves less than 0.8 mm between two sockets; choose a smaller board.socket or a "
            "peg.diameter of 18.8 mm or less",
        ),
        (["board.socket=3 mm", "peg.diameter=13.3 mm"], "a peg.diameter of 13.2 mm or less"),
    ],
)
def test_holes_and_sockets_that_cannot_be(settings: list[str], message: str) -> None:
    sockets = any(setting.startswith("peg") for setting in settings)
    make, profile = (
        (sockets_board, load_profile((), settings))
        if sockets
        else (holes_board, fit_profile(*settings))
    )
    with pytest.raises(DrawingError) as refusal:
        make(profile)
    assert message in str(refusal.value)


# --- trays --------------------------------------------------------------------------------------


@cache
def puzzles() -> dict[str, PuzzleSet]:
    """Sets with one board each, and regions that no set of today has for a board."""
    found = {name: load_set(name) for name in ("cubimagici", "iqstars")}
    fridgeiq = load_set("fridgeiq")

    def cells(*places: tuple[int, int]) -> frozenset[Cell]:
        return frozenset(one for place in places for one in fridgeiq.lattice.cells_at(*place))

    flake = find_challenge(fridgeiq, "even4-0057708264")
    ring = cells(*product(range(6), range(6))) - cells((2, 2))
    wide = cells(*product(range(6), range(10)))
    for name, region in (("flake", flake.region), ("ring", ring), ("wide", wide)):
        found[name] = replace(fridgeiq, boards=(Board(name, region),))
    return found


@cache
def drawn(
    name: str, settings: tuple[str, ...], lid: bool = False
) -> tuple[BoardDrawing, Profile, Shape]:
    """A tray or its lid, the profile, and the region: its cells, united."""
    puzzle = puzzles()[name]
    if name == "iqstars":
        settings += ("peg.height=0 mm",)
    profile = load_profile((), settings, puzzle.profile_values)
    made = accessories(puzzle, replace(profile, boards_made="all"))
    one = next(one for one in made if (one.kind == LID) == lid)
    drawing = (draft_lid if lid else draft_board)(puzzle, one, profile)
    cells = [cell_drawn(puzzle.lattice.name, cell) for cell in one.board.cells]
    return drawing, profile, united(cells, profile.unit_mm)


def sharp_corners(area: Shape) -> list[tuple[float, float]]:
    """The corners that pieces fill."""
    found = [one for ring in shapely.get_rings(orient(area)) for one in analytic.corners(ring)]
    return [(x, y) for _, (x, y), _, angle in found if angle < math.pi - 1e-4]


@pytest.mark.parametrize("lid", ["sliding", "snap", "none"])
@pytest.mark.parametrize("name", ["cubimagici", "iqstars", "flake", "ring", "wide"])
def test_the_opening_is_the_region_and_its_clearance_and_walls_stand(name: str, lid: str) -> None:
    tray, profile, region = drawn(name, (f"lid.kind={lid}", NO_TITLE))
    walls = section_at(tray.steps, tray.rest_mm + 0.5)
    outside = filled(walls)
    opening = outside - walls
    clear = region.buffer(profile.board_clearance_mm, join_style="mitre", mitre_limit=10)
    reliefs = discs(sharp_corners(region), 2 * profile.relief_mm)
    assert same(opening, clear | reliefs)
    assert same(outside, outside.envelope)
    assert outside.exterior.distance(opening) >= profile.board_wall_mm - 1e-9
    # The floor is whole, and no thinner than it should be.
    assert same(section_at(tray.steps, tray.rest_mm - 0.01), tray.outline)
    assert same(section_at(tray.steps, 0.01), tray.outline)
    floor_mm = analytic.layer_top_mm(profile, profile.board_floor_mm)
    assert tray.rest_mm == floor_mm if lid != "snap" else tray.rest_mm >= floor_mm
    for height_mm in np.arange(tray.rest_mm + 0.05, tray.thickness_mm, 0.8):
        assert strokes_are_at_least(section_at(tray.steps, float(height_mm)), 0.4), height_mm


def test_the_frame_opens_to_the_front_only() -> None:
    tray, profile, region = drawn("cubimagici", ("lid.kind=sliding", NO_TITLE))
    walls = section_at(tray.steps, tray.thickness_mm - 0.1)
    left, bottom, right, _ = walls.bounds
    assert walls.geom_type == "Polygon"
    assert not walls.interiors
    front = shapely.box(left + 10, bottom, right - 10, bottom + 30)
    assert (walls & front).area == 0
    # The notch for a finger is as wide as the profile says, and a sill remains below it.
    notched, whole = (section_at(tray.steps, tray.rest_mm + above) for above in (2, 0.5))
    strip = LineString([(left, bottom + 1), (right, bottom + 1)]).difference(notched)
    assert strip.length == pytest.approx(profile.notch_mm)
    assert strip.centroid.x == pytest.approx(region.centroid.x)
    assert whole.intersection(strip).length == pytest.approx(strip.length)


@pytest.mark.parametrize(
    ("settings", "lid", "message"),
    [
        (["lid.kind=snap", "lid.tongue=6 mm"], False, "3.3% when .*, and the limit is 2%; .* 7.8"),
        (["lid.kind=snap", "lid.snap=0.8 mm"], True, "choose a lid.tongue of 9.8 mm or more"),
        (["lid.thickness=1.2 mm"], False, "choose a lid.thickness of 2 mm or more"),
        (["lid.clearance=1 mm"], False, "or a smaller lid.clearance"),
        (["printer.overhang=40 deg"], False, "the grooves of a sliding lid overhang by 45 deg"),
        (["lid.kind=snap", "printer.overhang=40 deg"], True, "the hooks of a snapping lid"),
        (["board.relief=0.3 mm"], False, "does not reach the corners .* choose 0.4 mm or more"),
        (["board.title_depth=1.8 mm"], True, "choose a smaller board.title_depth"),
    ],
)
def test_bad_numbers_are_refused(settings: list[str], lid: bool, message: str) -> None:
    with pytest.raises(DrawingError, match=message):
        drawn("cubimagici", tuple(settings), lid)


def test_pillars_that_are_too_thin_are_refused_and_regions_may_meet_in_a_point() -> None:
    profile = load_profile()
    ring = shapely.box(0, 0, 60, 60) - shapely.box(30, 30, 31.2, 50)
    with pytest.raises(DrawingError, match=r"thinner than 0\.8 mm"):
        build_block(ring, 2.0, 9.0, profile, relieved=True)
    thick = shapely.box(0, 0, 60, 60) - shapely.box(30, 30, 31.4, 50)
    made = build_block(thick, 2.0, 9.0, profile, relieved=True)
    pillar = section_at(made.steps, 6.0) & shapely.box(20, 20, 40, 55)
    assert pillar.area == pytest.approx((1.4 - 0.5) * (20 - 0.5), rel=1e-6)
    two = shapely.box(0, 0, 20, 20) | shapely.box(20, 20, 40, 40)
    cut = section_at(build_block(two, 2.0, 9.0, profile, relieved=True).steps, 3.0)
    assert cut.covers(Point(10, 30))
    assert not cut.covers(Point(20, 20))


def test_titles_shrink_break_and_give_way() -> None:
    puzzle, profile = puzzles()["cubimagici"], load_profile()

    def texts(title: str, *room: float) -> tuple[str, float] | None:
        label = place_title(replace(puzzle, title=title), shapely.box(*room), profile)
        return label and (label.text, label.cap_height_mm)

    assert texts("\u7acb\u65b9", 0, 0, 100, 40) == ("cubimagici", 6.9)
    assert texts("A very long title of it", 0, 0, 60, 14) == ("cubimagici", 6.9)
    assert texts("Cubi magici", 0, 0, 12, 12) is None
    assert drawn("cubimagici", (NO_TITLE,), lid=True)[0].label is None


# --- lids ---------------------------------------------------------------------------------------


#: From a prism's cross-section and its length to x, y and z.
TURNS = {
    "x": [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]],
    "y": [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]],
    "z": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]],
}


def built(steps: Sequence[Step]) -> Manifold:
    """Prisms and cylinders, united without the kernel that makes the files."""
    from manifold3d import Manifold

    whole = Manifold()
    for step in steps:
        for one in step.shapes:
            if isinstance(one, Cylinder):
                body = cylinder(*one.centre_mm, one.diameter_mm, one.low_mm, one.high_mm)
            else:
                body = extruded(one.area, one.low_mm, one.high_mm)
                body = body.transform(np.array(TURNS[one.axis], dtype=float))
            whole = whole - body if step.cuts else whole + body
    return whole


def overlap(one: Manifold, other: Manifold, *move: float) -> float:
    return float((one.translate(move or (0, 0, 0)) ^ other).volume())


def closed(name: str, settings: tuple[str, ...]) -> tuple[Manifold, Manifold, Profile, Shape]:
    """A tray and its closed lid: only what a user does with it is done."""
    tray, profile, region = drawn(name, (*settings, NO_TITLE))
    lid, frame = drawn(name, (*settings, NO_TITLE), lid=True)[0], built(tray.steps)
    body, low_mm = built(lid.steps), levels(puzzles()[name], profile).lid_low_mm
    if "lid.kind=snap" in settings:
        x, y = region.envelope.centroid.coords[0]
        body = body.translate((-x, -y, 0)).rotate((0, 180, 0)).translate((x, y, 0))
        low_mm = tray.thickness_mm + analytic.layer_top_mm(profile, profile.lid_thickness_mm)
    body = body.translate((0, 0, low_mm))
    # It lies on the frame, and leaves pieces their air.
    assert overlap(body, frame) <= TOUCH_MM3 < overlap(body, frame, 0, 0, -0.05)
    pieces_top = tray.rest_mm + profile.thickness_mm
    pieces = extruded(region.buffer(-2), pieces_top, pieces_top + 50)
    air_mm = (body ^ pieces).bounding_box()[2] - pieces_top
    assert profile.lid_air_mm - 1e-4 <= air_mm < profile.lid_air_mm + 2 * profile.layer_mm
    return frame, body, profile, region


@pytest.mark.parametrize(
    "name", ["cubimagici", "wide", *(pytest.param(n, marks=pytest.mark.long) for n in ("flake",))]
)
def test_a_sliding_lid_slides_and_holds(name: str) -> None:
    frame, lid, profile, region = closed(name, ("lid.kind=sliding", "lid.detent=0 mm"))
    left, bottom, right, top = region.bounds
    # To the front, which is on the left of a board that is wider than deep.
    x, y = (-1, 0) if right - left > top - bottom + 1e-6 else (0, -1)
    for by in np.arange(0.0, max(right - left, top - bottom) + 30, 6.0):
        assert overlap(lid, frame, by * x, by * y, 0) <= TOUCH_MM3, by
    clearance = profile.lid_clearance_mm
    for sign in (1, -1):
        for times, holds in ((0.95, False), (1.2, True)):
            aside = sign * times * clearance
            assert (overlap(lid, frame, -aside * y, aside * x, 0) > TOUCH_MM3) == holds
    assert overlap(lid, frame, -1.2 * clearance * x, -1.2 * clearance * y, 0) > TOUCH_MM3
    # Lifted, its leaning edges meet those of the walls: root 2 times the clearance further up.
    assert overlap(lid, frame, 0, 0, 0.95 * clearance * math.sqrt(2)) <= TOUCH_MM3
    for lifted in (1.1 * clearance * math.sqrt(2), 1.0, 2.0):
        for by in (0.0, 5.0):
            assert overlap(lid, frame, by * x, by * y, lifted) > TOUCH_MM3
    # The gauge can tell: a lid for a wider frame does not go in.
    settings = ("lid.detent=0 mm", "board.relief=1.4 mm", NO_TITLE)
    other = built(drawn(name, settings, lid=True)[0].steps)
    assert overlap(other.translate((0, 0, lid.bounding_box()[2])), frame) > 1


@pytest.mark.in_turn
@pytest.mark.parametrize("catch_mm", [0.15, 0.3])
def test_a_closed_sliding_lid_catches(catch_mm: float) -> None:
    """Its bumps are free when it is closed, and pass when each half gives way by what they catch."""
    frame, lid, _, _ = closed("cubimagici", ("lid.kind=sliding", f"lid.detent={catch_mm} mm"))
    x0, _, _, x1, _, _ = lid.bounding_box()
    halves = lid.split_by_plane((1, 0, 0), (x0 + x1) / 2)
    for by in np.arange(0.0, 160.0, 0.5):
        for sign, half in zip((-1, 1), halves, strict=True):
            assert overlap(half, frame, sign * (catch_mm + 0.002), -float(by), 0) <= TOUCH_MM3, by
    for sign, half in zip((-1, 1), halves, strict=True):
        bites = [overlap(half, frame, sign * (catch_mm - 0.02), -by, 0) for by in (4.0, 6.0)]
        assert max(bites) > TOUCH_MM3


@pytest.mark.parametrize("name", ["cubimagici", pytest.param("wide", marks=pytest.mark.long)])
def test_a_snapping_lid_bends_no_further_than_it_should(name: str) -> None:
    frame, lid, profile, _ = closed(name, ("lid.kind=snap",))
    x0, y0, low, x1, y1, _ = frame.bounding_box()
    assert lid.bounding_box()[2] > low + 0.3, "it stands on the frame, not on its tongues"
    bites = []
    for up in np.arange(0.0, profile.tongue_mm + 3, 0.5):
        bite = lid.translate((0, 0, float(up))) ^ frame
        parts = bite.decompose() if bite.volume() > TOUCH_MM3 else []
        boxes = [part.bounding_box() for part in parts]
        # How deep a bite of a hook goes into the frame's nearest outer face.
        depths = [min(b[3] - x0, x1 - b[0], b[4] - y0, y1 - b[1]) for b in boxes]
        bites.append(max(depths, default=0.0))
    assert bites[0] == bites[-1] == 0.0
    assert max(bites) == pytest.approx(profile.snap_mm, abs=0.01)
    assert overlap(lid, frame, 0, 0, 3 * profile.lid_clearance_mm) > TOUCH_MM3, "it catches"
    assert snap_strain(profile) <= MAX_STRAIN


# --- meshes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings", "lid"),
    [
        ("holes", (), False),
        ("cubimagici", ("lid.kind=sliding",), True),
        ("cubimagici", ("lid.kind=sliding", NO_TITLE), False),
        pytest.param("cubimagici", ("lid.kind=none",), False, marks=pytest.mark.integration),
        pytest.param("cubimagici", ("lid.kind=snap",), True, marks=pytest.mark.integration),
        pytest.param("cubimagici", ("lid.kind=snap",), False, marks=pytest.mark.integration),
        pytest.param("wide", ("lid.kind=sliding",), True, marks=pytest.mark.long),
        pytest.param("flake", ("lid.kind=snap",), False, marks=pytest.mark.long),
    ],
)
def test_meshes_are_as_drawn_sound_and_can_be_printed(
    name: str, settings: tuple[str, ...], lid: bool, tmp_path: Path
) -> None:
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    if name == "holes":
        profile = fit_profile()
        drawing = holes_board(profile, cells_of(["####"] * 3))
    else:
        drawing, profile, _ = drawn(name, settings, lid)
    write_stl(build_solid(drawing), tmp_path / "one.stl")
    (body,) = read_meshes(tmp_path / "one.stl")
    part, sections = (
        Part(body, body.vertices),
        Sections(body),
    )
    findings = list(mesh_findings(part))
    findings += printing_findings(part, replace(profile, facing="up"))
    assert [found.message for found in findings if not found.ok] == []
    title, low_mm = drawing.label, drawing.label_low_mm
    letters = title.front.polygon() if title else shapely.Polygon()
    deep_mm = title.depth_mm if title else 0.0
    assert part.volume_mm3 == pytest.approx(built(drawing.steps).volume(), rel=0.02)
    assert np.ptp(part.vertices[:, 2]) == pytest.approx(drawing.thickness_mm, abs=1e-4)
    for share in (0.07, 0.31, 0.53, 0.77, 0.95):
        height_mm = share * drawing.thickness_mm
        expected = section_at(drawing.steps, height_mm)
        if low_mm < height_mm < low_mm + deep_mm:
            expected -= letters
        found = sections.at(height_mm)
        assert found.symmetric_difference(expected).area < 2e-3 * expected.area
    if title and lid:
        # It is read when the lid lies as it is used. C and F have more on their left.
        reads = affinity.scale(letters, xfact=-1) if "lid.kind=snap" in settings else letters
        first = min(shapely.get_parts(reads), key=lambda one: one.bounds[0])
        left, _, right, _ = first.bounds
        assert first.centroid.x <= (left + right) / 2 + 1e-3
        assert strokes_are_at_least(letters, 0.95 * profile.stroke_mm)
