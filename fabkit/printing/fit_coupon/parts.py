"""The parts of a fit gauge: a few drawings, made with the profile's numbers as any piece is, but for
the one that each part is there to try.

For a board there are rings and blocks for balls, plates for stubs, trays for flat pieces, and the
small piece that is laid into them. They are drawn as the boards of a set are, each as large as its
piece. What is left out is what says nothing of the fit: lid, notch and title, the rim that would
hide it, and below a board for balls the room for those that hang deeper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import shapely

from fabkit.core.errors import Fault, InputError
from fabkit.drawing.ball import draft_ball
from fabkit.drawing.boards.draft import draft_board
from fabkit.drawing.boards.steps import BoardBlueprint, Prism, Step, board_blueprint, section_at
from fabkit.drawing.draft import Blueprint, draft
from fabkit.drawing.glyphs import lettering
from fabkit.drawing.label import Label, place_label
from fabkit.drawing.outline import BlueprintError
from fabkit.drawing.part import PartDrawing
from fabkit.model.accessory import (
    HOLES,
    SEATS,
    TRAY,
    Accessory,
    accessories,
    as_printed,
    board_kind,
)
from fabkit.model.lattice import Cell
from fabkit.model.profile import Profile
from fabkit.model.profilefile import contradictions
from fabkit.model.puzzle import Board, PuzzleSet
from fabkit.model.setfile import read_set
from fabkit.printing.fit_coupon.values import (
    KEY_OF_FIT,
    LARGEST_UNIT_MM,
    GaugePart,
    PartSpec,
    made,
    number,
    own_mm,
    values_mm,
)


@cache
def drawings(name: str = "gauge") -> PuzzleSet:
    """What the gauge is made of, drawn as sets of their own: ``gauge`` (flat parts), ``balls``,
    ``stubs``."""
    return read_set(Path(__file__).with_name(f"{name}.toml"), f"{name}.toml")


def gauge_parts(profile: Profile, puzzle: PuzzleSet | None = None) -> list[GaugePart]:
    """Drafts the fit gauge for a profile.

    Plugs and sockets differ in their inset, and hold no magnets. Chips for one magnet differ in
    the allowance of the profile's own fit (see `KEY_OF_FIT`); with fit ``none`` there are none.
    Everything else is as in the profile's pieces, but that the numbers are always engraved, just
    so large that their strokes are wide enough, that poles are not marked, and that the parts are
    as small as numbers and magnets allow.

    For a set there is what the set needs: no chips when its pieces hold no magnets, neither chips
    nor plugs when they are made of balls, and with a board the parts of
    `fabkit.printing.fit_coupon.parts.board_parts`.

    Args:
        profile: to be tuned.
        puzzle: the set that the gauge is for; None for a gauge for flat pieces without a board.

    Returns:
        The parts by setting and value; the plug of each inset comes before its socket. Those of
        one inset share a frame: their canonical outlines meet where they go together. Parts
        without a number come before those into which they are laid.

    Raises:
        InputError: when the profile allows no gauge, or there is nothing that one could try. It
            says what to change.
    """
    source = f"fit gauge with profile {profile.name}"
    if puzzle is not None:
        source = f"fit gauge for {puzzle.name} with profile {profile.name}"
        profile = as_printed(puzzle, profile)
    # Whichever pole shows, it fits the same, so there is none to be marked.
    lettered = replace(profile, polarity="free")
    if profile.faces == "none":  # a gauge without numbers tells nothing
        lettered = replace(lettered, faces="front")
        faults = list(contradictions(lettered))
        if faults:
            raise InputError(f"{source}, which needs its numbers engraved", faults)
    # What can be refused sooner comes first.
    boards = []
    if puzzle is not None and accessories(puzzle, profile):
        boards = board_parts(puzzle, lettered, source)
    is_flat = puzzle is None or not puzzle.made_of_balls
    parts = [*(_piece_parts(lettered, source) if is_flat else []), *boards]
    if not parts:
        raise InputError.of(
            source,
            "there is nothing to try: pieces of balls have no fit but that in their board, and none "
            "is made; draw a [[board]] in the set's file, or choose board.make all",
        )
    return parts


def _piece_parts(profile: Profile, source: str) -> list[GaugePart]:
    """Plugs, sockets, and chips for a magnet if the profile has any."""
    insets, chips = values_mm(profile, "inset", source), []
    if profile.has_recesses:
        key, chip = KEY_OF_FIT[profile.fit], partial(_piece, "recess")
        values = values_mm(profile, key, source)
        chips = made([PartSpec("recess", key, one, chip) for one in values], profile, source)
    specs = [
        PartSpec(one, "inset", value, partial(_piece, one))
        for value in insets
        for one in ("plug", "socket")
    ]
    return [*made(specs, replace(profile, fit="none"), source), *chips]


def _piece(drawing: str, profile: Profile, name: str, text: str) -> Blueprint:
    """A flat part, drafted as any piece."""
    drawn = drawings()
    return draft(drawn, replace(drawn.piece(drawing), id=name, label=text), profile)


#: Drafts a part of a board: with what profile, under what name, with what number.
_Draw = Callable[[Profile, str, str], BoardBlueprint]

#: Around what is tried in a ring, a block or a plate.
_WALL_MM = 2.0
#: Plastic below a number, and what a seated ball stands clear of the table.
_BELOW_NUMBER_MM = 0.6
_BELOW_BALL_MM = 1.0
#: Between a number and the edge of the tab that carries it.
_MARGIN_MM = 1.5


def board_parts(puzzle: PuzzleSet, profile: Profile, source: str) -> list[GaugePart]:
    """Drafts what tries how the pieces of a set fit into its board.

    For pieces of balls: a bar of two of them, rings that differ in ``board.hole``, and blocks of two
    holes and a channel that differ in ``board.channel``. For pieces on stubs: one cell, and plates
    that differ in ``board.seat``. For all others: a square, and trays that differ in
    ``board.clearance``.

    Returns:
        The parts by setting and value; before them what is laid into them, without a number.

    Raises:
        InputError: when the profile suits no such board. It says what to change.
    """
    kind = board_kind(puzzle, profile)
    bare = replace(profile, fit="none", faces="none", lid="none", notch_mm=0.0, title_mm=0.0)
    if kind == HOLES:
        unit_mm = bare.unit_mm  # the distance of the set's balls
        ring, block = partial(_open_block, 1), partial(_open_block, 2)
        rings = _tried("ring", "board.hole", ring, bare, unit_mm, source)
        blocks = _tried("block", "board.channel", block, bare, unit_mm, source)
        rings = [PartSpec("bar", "board.hole", None, _bar), *rings]
        return [*made(rings, bare, source, unit_mm), *made(blocks, bare, source, unit_mm)]
    if kind == SEATS:
        specs = _tried("plate", "board.seat", _plate, bare, LARGEST_UNIT_MM, source)
        laid = PartSpec("stub", "board.seat", None, partial(_flat, "stubs", "stub"))
    else:
        specs = _tried("tray", "board.clearance", _tray, bare, LARGEST_UNIT_MM, source)
        laid = PartSpec("square", "board.clearance", None, partial(_flat, "gauge", "square"))
    # What cannot be made in any size is told first, and why.
    made([laid, *specs], bare, source, LARGEST_UNIT_MM)
    return made([laid, *specs], bare, source)


def _tried(
    drawing: str, key: str, draw: _Draw, profile: Profile, unit_mm: float, source: str
) -> list[PartSpec]:
    """A part for each value of a setting with which it can be made.

    Raises:
        InputError: when it cannot be made with the profile's own value, or with too few others.
    """
    made([PartSpec(drawing, key, own_mm(profile, key), draw)], profile, source, unit_mm)

    def refused(other: Profile) -> Iterator[Fault]:
        try:
            draw(replace(other, unit_mm=unit_mm), drawing, number(own_mm(other, key)))
        except BlueprintError as fault:
            yield Fault("", str(fault))

    return [PartSpec(drawing, key, one, draw) for one in values_mm(profile, key, source, refused)]


# --- what is laid into them ---------------------------------------------------------------


def _bar(profile: Profile, name: str, text: str) -> PartDrawing:
    return draft_ball(drawings("balls"), drawings("balls").piece("bar"), profile)


def _flat(drawn: str, piece: str, profile: Profile, name: str, text: str) -> PartDrawing:
    return draft(drawings(drawn), drawings(drawn).piece(piece), profile)


# --- what tries them ----------------------------------------------------------------------


def _open_block(count: int, profile: Profile, name: str, text: str) -> BoardBlueprint:
    """The holes of one ball, or of two and the channel between: the upper part of a board for
    balls, up to the middles of seated ones."""
    drawn, walled = drawings("balls"), replace(profile, board_wall_mm=_WALL_MM)
    cells = sorted(drawn.piece("bar").forms[0].cells)[:count]
    board = draft_board(drawn, _accessory(name, HOLES, cells, profile), walled)
    deep_mm = max(profile.ball_mm / 2 + _BELOW_BALL_MM, profile.label_depth_mm + _BELOW_NUMBER_MM)
    # Whole layers are left out, so that floors of channels stay on the boundaries of layers.
    layers = math.floor((board.rest_mm - deep_mm) / profile.layer_mm + 1e-6)
    steps = _kept(board.steps, max(0, layers) * profile.layer_mm, board.rest_mm)
    return _tabbed(board, steps, text, profile)


def _plate(profile: Profile, name: str, text: str) -> BoardBlueprint:
    """The seat of one stub, in a plate on which the piece rests."""
    drawn, walled = drawings("stubs"), replace(profile, board_wall_mm=_WALL_MM)
    cells = drawn.piece("stub").forms[0].cells
    board = draft_board(drawn, _accessory(name, SEATS, cells, profile), walled)
    return _tabbed(board, _kept(board.steps, 0.0, board.rest_mm), text, profile)


def _tray(profile: Profile, name: str, text: str) -> BoardBlueprint:
    """A tray for one square, its number in the floor."""
    drawn, depth_mm = drawings(), profile.label_depth_mm
    floor_mm = max(profile.board_floor_mm, depth_mm + _BELOW_NUMBER_MM)
    cells = drawn.piece("square").forms[0].cells
    accessory = _accessory(name, TRAY, cells, profile)
    tray = draft_board(drawn, accessory, replace(profile, board_floor_mm=floor_mm))
    room = shapely.box(0, 0, profile.unit_mm, profile.unit_mm)
    label = place_label(text, room, room.centroid, replace(profile, faces="front"))
    return replace(tray, label=label, label_low_mm=round(tray.rest_mm - depth_mm, 6))


def _accessory(name: str, kind: str, cells: Iterable[Cell], profile: Profile) -> Accessory:
    return Accessory(name, kind, Board(name, frozenset(cells)), profile.board_colour)


def _kept(steps: Sequence[Step], low_mm: float, high_mm: float) -> tuple[Step, ...]:
    """What of upright prisms and bores lies between two heights, let down on the bed."""
    kept = []
    for step in steps:
        shapes = [
            replace(
                shape,
                low_mm=round(max(shape.low_mm, low_mm) - low_mm, 6),
                high_mm=round(min(shape.high_mm, high_mm) - low_mm, 6),
            )
            for shape in step.shapes
            if shape.low_mm < high_mm and shape.high_mm > low_mm
        ]
        if shapes:
            kept.append(Step(step.cuts, tuple(shapes)))
    return tuple(kept)


def _tabbed(
    board: BoardBlueprint, steps: tuple[Step, ...], text: str, profile: Profile
) -> BoardBlueprint:
    """A part with a tab before it, which carries its number."""
    height_mm = max(shape.high_mm for step in steps for shape in step.shapes)
    left, front, right, _ = section_at(steps, height_mm / 2).bounds
    letters, size_mm = lettering(text), profile.cap_height_mm
    _, _, half_wide, half_high = (size_mm * one for one in letters.polygon().bounds)
    x_mm, y_mm = round((left + right) / 2, 3), round(front - half_high - _MARGIN_MM, 3)
    wide_mm, deep_mm = half_wide + _MARGIN_MM, half_high + _MARGIN_MM
    tab = shapely.box(x_mm - wide_mm, y_mm - deep_mm, x_mm + wide_mm, front)
    depth_mm = min(profile.label_depth_mm, height_mm - _BELOW_NUMBER_MM)
    front_side = letters.moved(x_mm, y_mm, size_mm)
    label = Label(text, size_mm, depth_mm, "front", (x_mm, y_mm), front_side, None)
    accessory = Accessory(board.piece, board.kind, Board(board.piece, frozenset()), board.colour)
    steps = (Step(False, (Prism(tab, 0.0, height_mm),)), *steps)
    low_mm = round(height_mm - depth_mm, 6)
    return board_blueprint(accessory, steps, height_mm, label, low_mm)
