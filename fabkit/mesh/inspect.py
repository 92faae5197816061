"""Inspecting parts: what each rule finds, and what the parts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from shapely import union_all

from fabkit.mesh.features import Features
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import Identity, identity_findings
from fabkit.mesh.part import Part
from fabkit.mesh.rules.label import label_findings
from fabkit.mesh.rules.outline import Common, outline_findings, usual_corners_mm
from fabkit.mesh.rules.polemark import mark_findings
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.recess import recess_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet


def in_common(parts: Sequence[Part]) -> Common | None:
    """What parts have in common; None when none of them could be read."""
    read = [part.outline for part in parts if part.outline]
    if not read:
        return None
    return Common(
        unit_mm=median(outline.unit_mm for outline in read),
        inset_mm=median(outline.inset_mm for outline in read),
        thickness_mm=median(part.thickness_mm for part in parts),
        corners_mm=usual_corners_mm(parts),
    )


def inspect(
    part: Part,
    anatomy: Features,
    identity: Identity,
    common: Common | None,
    puzzle: PuzzleSet,
    profile: Profile,
) -> list[Finding]:
    """What every rule says of one part.

    Args:
        part: the part.
        anatomy: what is open in it.
        identity: which piece it is.
        common: what the parts of its set have in common.
        puzzle: the set.
        profile: what is asked for.

    Returns:
        Findings in the order of the rules, those that are kept among them.
    """
    common = common or Common(profile.unit_mm, profile.inset_mm, part.thickness_mm)
    level = anatomy.level or part  # heights are those above its back, whatever stands out of that
    through = union_all([cavity.middle for cavity in anatomy.through])
    where = through if anatomy.through else None
    what = "letters or recesses that are cut through"
    return [
        *sound_findings(part, anatomy, profile, common.measured),
        *identity_findings(part, identity, profile),
        *outline_findings(level, anatomy, common, puzzle, profile),
        counted("cut-through", len(anatomy.through), 0, what, where),
        *recess_findings(level, anatomy, identity, common, puzzle.lattice, profile),
        *mark_findings(level, anatomy, identity, puzzle, profile),
        *label_findings(level, anatomy.labels, identity, common, puzzle, profile),
        *printing_findings(level, profile, [one.high_mm for one in anatomy.hollows]),
    ]
