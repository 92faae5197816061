"""What the rules for its kind say of a part."""

from __future__ import annotations

from collections.abc import Sequence

from shapely import union_all

from fabkit.mesh.balls.rules import inspect_balls
from fabkit.mesh.boards.rules import inspect_board
from fabkit.mesh.finding import Finding, counted
from fabkit.mesh.identity import ReadPart, identity_findings
from fabkit.mesh.part import BALLS, Part
from fabkit.mesh.rules.label import label_findings
from fabkit.mesh.rules.outline import Common, Subject, outline_findings
from fabkit.mesh.rules.recess import mark_findings, recess_findings
from fabkit.mesh.rules.surface import printing_findings, sound_findings
from fabkit.mesh.stubs import stub_findings
from fabkit.model.accessory import has_stubs
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What is said of a mesh as such, whatever it shows …
SOUND_RULES = (
    "watertight", "winding", "degenerate", "self-intersection", "shells", "cavities", "volume",
)  # fmt: skip
#: … and what tells whether it is a part of the set, or why that cannot be told.
_RECOGNITION_RULES = "read-back", "shape", "cut-through", "ball-read", "ball-shape", "board-read"


def inspect(
    one: ReadPart,
    boards: Sequence[Part],
    common: Common | None,
    puzzle: PuzzleSet,
    profile: Profile,
) -> list[Finding]:
    """What every rule for its kind says of one part, those that are kept among them.

    Of what is not recognised only what the mesh is as such, and what it was not recognised by.
    `boards` are all boards and lids that were read with it, `common` is what the flat pieces of
    its set have in common, and `profile` what is asked for.
    """
    part = one.part
    if not one.is_piece:
        found = inspect_board(part, boards, puzzle, profile)
        if part.board and part.board.optional:  # it may be made alone, as by --piece
            found = [finding for finding in found if finding.rule != "board-lid"]
    elif part.kind == BALLS:
        found = inspect_balls(part, one, puzzle, profile)
    else:
        found = _inspect_flat(one, common, puzzle, profile)
    if one.piece or part.board:
        return found
    return [finding for finding in found if finding.rule in (*SOUND_RULES, *_RECOGNITION_RULES)]


def _inspect_flat(
    one: ReadPart, common: Common | None, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    part, found = one.part, one.features
    assert found is not None
    common = common or Common(profile.unit_mm, profile.inset_mm, part.thickness_mm)
    # Heights are those above its back, whatever stands out of that.
    flat = Subject(found.level, found, one, common, puzzle, profile)
    whole = one.stubs.whole if one.stubs else part
    through = union_all([cavity.middle for cavity in found.through]) if found.through else None
    what = "letters or recesses that are cut through"
    closed = [
        *(found.recesses if profile.embedded else ()),
        *(found.hollows if common.measured else ()),  # nothing says how it is to be made
    ]
    return [
        *sound_findings(whole, sum(not one.below and not one.above for one in closed)),
        *identity_findings(one, profile),
        *outline_findings(flat),
        counted("cut-through", len(found.through), 0, what, through),
        *recess_findings(flat),
        *mark_findings(flat),
        *label_findings(flat),
        *printing_findings(found.level, profile, [hollow.high_mm for hollow in found.hollows]),
        *(stub_findings(one.stubs, puzzle.lattice, profile) if has_stubs(puzzle, profile) else ()),
    ]
