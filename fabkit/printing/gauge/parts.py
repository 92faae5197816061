"""The parts of a fit gauge: a few drawings, made with the profile's numbers as any piece is, but for
the one that each part is there to try."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fabkit.core.errors import InputError
from fabkit.drawing.draft import Blueprint, draft
from fabkit.model.accessory import accessories, as_printed
from fabkit.model.profile import Profile
from fabkit.model.profilefile import contradictions
from fabkit.model.puzzle import PuzzleSet
from fabkit.printing.gauge.boards import board_parts
from fabkit.printing.gauge.drawings import drawings
from fabkit.printing.gauge.values import KEY_OF_FIT, values_mm
from fabkit.printing.gauge.wishes import GaugePart, Wish, made

#: The parts that go together, …
MATING = ("plug", "socket")
#: … and the one that holds a magnet.
CHIP = "recess"


def gauge_parts(profile: Profile, puzzle: PuzzleSet | None = None) -> list[GaugePart]:
    """Drafts the fit gauge for a profile.

    Plugs and sockets differ in their inset, and hold no magnets. Chips for one magnet differ in
    the allowance of the profile's own fit (see `KEY_OF_FIT`); with fit ``none`` there are none.
    Everything else is as in the profile's pieces, but that the numbers are always engraved, just
    so large that their strokes are wide enough, that poles are not marked, and that the parts are
    as small as numbers and magnets allow.

    For a set there is what the set needs: no chips when its pieces hold no magnets, neither chips
    nor plugs when they are made of balls, and with a board the parts of
    `fabkit.printing.gauge.boards.board_parts`.

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

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> parts = gauge_parts(load_profile())
        >>> [part.name for part in parts[:3]], [part.text for part in parts if part.name[0] == "r"]
        (['plug-0.00', 'socket-0.00', 'plug-0.05'], ['0.00', '0.05', '0.10', '0.15', '0.20'])
        >>> list(dict.fromkeys(part.key for part in gauge_parts(load_profile(), load_set("iqstars"))))
        ['inset', 'board.seat']
    """
    source = f"fit gauge with profile {profile.name}"
    if puzzle is not None:
        source = f"fit gauge for {puzzle.name} with profile {profile.name}"
        profile = as_printed(puzzle, profile)
    # Whichever pole shows, it fits the same, so there is none to be marked.
    lettered = _with_numbers(replace(profile, polarity="free"), source)
    parts = []
    if puzzle is None or not puzzle.made_of_balls:
        parts += _piece_parts(lettered, source)
    if puzzle is not None and accessories(puzzle, profile):
        parts += board_parts(puzzle, lettered, source)
    if not parts:
        raise InputError.of(
            source,
            "there is nothing to try: pieces of balls have no fit but that in their board, and none "
            "is made; draw a [[board]] in the set's file, or choose board.make all",
        )
    return parts


def _piece_parts(profile: Profile, source: str) -> list[GaugePart]:
    """Plugs, sockets, and chips for a magnet if the profile has any."""
    wishes = [
        Wish(one, "inset", value, partial(_piece, one))
        for value in values_mm(profile, "inset", source)
        for one in MATING
    ]
    parts = made(wishes, replace(profile, fit="none"), source)
    if profile.has_recesses:
        key = KEY_OF_FIT[profile.fit]
        wishes = [
            Wish(CHIP, key, value, partial(_piece, CHIP))
            for value in values_mm(profile, key, source)
        ]
        parts += made(wishes, profile, source)
    return parts


def _piece(drawing: str, profile: Profile, name: str, text: str) -> Blueprint:
    """A flat part, drafted as any piece.

    Raises:
        BlueprintError: when number or magnet do not fit.
    """
    drawn = drawings()
    return draft(drawn, replace(drawn.piece(drawing), id=name, label=text), profile)


def _with_numbers(profile: Profile, source: str) -> Profile:
    """The profile with something engraved: a gauge without numbers tells nothing."""
    if profile.faces != "none":
        return profile
    lettered = replace(profile, faces="front")
    faults = list(contradictions(lettered))
    if faults:
        raise InputError(f"{source}, which needs its numbers engraved", faults)
    return lettered
