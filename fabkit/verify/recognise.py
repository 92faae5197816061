"""Recognising a profile: which of several the meshes were made with, measured on them alone."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from fabkit.drawing.magnets import bores
from fabkit.mesh.balls.rules import height_on_bed_mm
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE
from fabkit.model.accessory import as_printed, keeps_own_gaps
from fabkit.model.profile import Profile
from fabkit.verify.taking import Taken

#: Insets that differ by less than this (mm) are one.
_SAME_INSET_MM = 0.01
#: Where poles alternate half the magnets are marked; so many are few.
_MARKED_OF = 4


def recognise(taken: Taken, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile with which the parts may have been made; None when there is none.

    Args:
        taken: the parts; what most of them show counts.
        candidates: the likeliest first.
    """
    agrees = _balls_agree if taken.balls else _agrees
    return next((one for one in candidates if agrees(taken, as_printed(taken.puzzle, one))), None)


def _agrees(taken: Taken, profile: Profile) -> bool:
    common = taken.common
    recesses = [
        recess
        for anatomy, identity in zip(taken.anatomies, taken.identities, strict=True)
        if identity.piece
        for recess in anatomy.recesses
    ]
    if common is None or bool(recesses) != profile.has_recesses:
        return False
    if recesses:
        marks = sum(len(anatomy.marks) for anatomy in taken.anatomies)
        closed = sum(not recess.below and not recess.above for recess in recesses)
        if (
            (2 * closed > len(recesses)) != profile.embedded
            or (_MARKED_OF * marks > len(recesses) and profile.polarity != "alternating")
            or abs(median(taken.bores_mm) - bores(profile).widest_mm) > TOLERANCE_MM / 2
        ):
            return False
    return (
        abs(common.unit_mm / profile.unit_mm - 1) < UNIT_TOLERANCE
        and (
            keeps_own_gaps(taken.puzzle, profile)
            or abs(common.inset_mm - profile.inset_mm) < _SAME_INSET_MM
        )
        and abs(common.thickness_mm - profile.thickness_mm) < TOLERANCE_MM
    )


def _balls_agree(taken: Taken, profile: Profile) -> bool:
    """Whether most parts show a profile's pitch, balls and links.

    A link is as wide as the profile's, or less by what the flat cuts off, as most are.
    """
    read = [part.balls for part in taken.balls if part.balls]
    balls = [diameter for one in read for diameter in one.diameters_mm]
    links = [diameter for one in read for diameter in one.links_mm]
    if not balls or not links:
        return False
    link_mm = median(links)
    return (
        abs(median(one.pitch_mm for one in read) / profile.unit_mm - 1) < UNIT_TOLERANCE
        and abs(median(balls) - profile.ball_mm) < TOLERANCE_MM
        and min(abs(link_mm - profile.link_mm), abs(link_mm - height_on_bed_mm(profile)))
        < TOLERANCE_MM
    )
