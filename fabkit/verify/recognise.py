"""Recognising a profile: which of several the meshes were made with, measured on them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from fabkit.drawing.magnets import bores
from fabkit.mesh.balls.rules import height_on_bed_mm
from fabkit.mesh.cavities import circle_of
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE
from fabkit.model.accessory import as_printed, keeps_own_gaps
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.balls import BallsTaken
from fabkit.verify.flat import FlatTaken
from fabkit.verify.taken import Taken

#: Insets that differ by less than this (mm) are one.
_SAME_INSET_MM = 0.01
#: Where poles alternate half the magnets are marked; so many are few.
_MARKED_OF = 4


@dataclass(frozen=True)
class Traits:
    """What most parts of a set show.

    Attributes:
        unit_mm: the grid unit.
        inset_mm: on each side.
        thickness_mm: from back to face.
        bore_mm: the widest diameter of a recess; None without recesses.
        embedded: whether recesses are closed.
        marked: whether south poles are marked.
    """

    unit_mm: float
    inset_mm: float
    thickness_mm: float
    bore_mm: float | None
    embedded: bool
    marked: bool


def traits(taken: FlatTaken) -> Traits | None:
    """What most parts show; None when none could be read."""
    common = taken.common
    if common is None:
        return None
    recesses = [recess for anatomy in taken.anatomies for recess in anatomy.recesses]
    marks = sum(len(anatomy.marks) for anatomy in taken.anatomies)
    closed = sum(not recess.below and not recess.above for recess in recesses)
    return Traits(
        common.unit_mm,
        common.inset_mm,
        common.thickness_mm,
        median(circle_of(recess.middle).diameter_mm for recess in recesses) if recesses else None,
        2 * closed > len(recesses),
        _MARKED_OF * marks > len(recesses),
    )


def recognise(taken: Taken, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile with which the parts may have been made; None when there is none."""
    if isinstance(taken, BallsTaken):
        return _recognise_balls(taken, candidates)
    seen = traits(taken) if isinstance(taken, FlatTaken) else None
    if seen is None:
        return None
    return next(
        (one for one in candidates if _agrees(seen, as_printed(taken.puzzle, one), taken.puzzle)),
        None,
    )


def _agrees(seen: Traits, profile: Profile, puzzle: PuzzleSet) -> bool:
    if (seen.bore_mm is not None) != profile.has_recesses:
        return False
    if seen.bore_mm is not None and (
        seen.embedded != profile.embedded
        or (seen.marked and profile.polarity != "alternating")
        or abs(seen.bore_mm - bores(profile).widest_mm) > TOLERANCE_MM / 2
    ):
        return False
    return (
        abs(seen.unit_mm / profile.unit_mm - 1) < UNIT_TOLERANCE
        and (
            keeps_own_gaps(puzzle, profile)
            or abs(seen.inset_mm - profile.inset_mm) < _SAME_INSET_MM
        )
        and abs(seen.thickness_mm - profile.thickness_mm) < TOLERANCE_MM
    )


def _recognise_balls(taken: BallsTaken, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile with the pitch, balls and links that most parts show.

    A link is as wide as the profile's, or less by what the flat cuts off, as most are.
    """
    read = [part for part in taken.parts if part.shape]
    balls = [diameter for part in read for diameter in part.diameters_mm]
    links = [diameter for part in read for diameter in part.links_mm]
    if not balls or not links:
        return None
    pitch_mm = median(part.pitch_mm for part in read)
    ball_mm, link_mm = median(balls), median(links)
    return next(
        (
            one
            for one in candidates
            if abs(pitch_mm / one.unit_mm - 1) < UNIT_TOLERANCE
            and abs(ball_mm - one.ball_mm) < TOLERANCE_MM
            and min(abs(link_mm - one.link_mm), abs(link_mm - height_on_bed_mm(one))) < TOLERANCE_MM
        ),
        None,
    )
