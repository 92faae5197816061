"""All findings on one part, by the rules for its kind."""

from __future__ import annotations

from collections.abc import Sequence

from shapely import union_all

from fabkit.mesh.finding import Finding, count_finding
from fabkit.mesh.identity import ScannedPart, identity_findings
from fabkit.mesh.part import BALLS, Part
from fabkit.mesh.pegs import peg_findings
from fabkit.mesh.rules.ball import inspect_balls
from fabkit.mesh.rules.board import inspect_board
from fabkit.mesh.rules.cell_mark import cell_mark_findings
from fabkit.mesh.rules.label import label_findings
from fabkit.mesh.rules.outline import CommonSizes, Subject, outline_findings
from fabkit.mesh.rules.recess import mark_findings, recess_findings
from fabkit.mesh.rules.surface import mesh_findings, printing_findings
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import has_pegs
from fabkit.profiles.profile import Profile

#: Rules on any mesh.
MESH_RULES = (
    "watertight", "winding", "degenerate", "self-intersection", "shells", "cavities", "volume",
)  # fmt: skip
#: Rules on whether a mesh is a part of the set.
_RECOGNITION_RULES = "read-back", "shape", "cut-through", "ball-read", "ball-shape", "board-read"


def inspect(
    scanned: ScannedPart,
    boards: Sequence[Part],
    common: CommonSizes | None,
    puzzle: PuzzleSet,
    profile: Profile,
) -> list[Finding]:
    """All findings on one part, passed and failed.

    An unknown part has only the findings on its mesh and on its identification. `boards` are all
    scanned boards and lids, `common` the sizes that the flat pieces share, and `profile` sets the
    limits.
    """
    part = scanned.part
    if not scanned.is_piece:
        findings = inspect_board(part, boards, puzzle, profile)
        if part.board and part.board.optional:  # it may be exported alone, as with --piece
            findings = [finding for finding in findings if finding.rule != "board-lid"]
    elif part.kind == BALLS:
        findings = inspect_balls(part, scanned, puzzle, profile)
    else:
        findings = _inspect_flat(scanned, common, puzzle, profile)
    if scanned.piece or part.board:
        return findings
    return [finding for finding in findings if finding.rule in (*MESH_RULES, *_RECOGNITION_RULES)]


def _inspect_flat(
    scanned: ScannedPart, common: CommonSizes | None, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    part, features = scanned.part, scanned.features
    assert features is not None
    common = common or CommonSizes(profile.unit_mm, profile.inset_mm, part.thickness_mm)
    # Heights count from its back, ignoring protrusions.
    flat = Subject(features.level, features, scanned, common, puzzle, profile)
    whole = scanned.pegs.whole if scanned.pegs else part
    holes = [cavity.middle for cavity in features.through]
    through = union_all(holes) if holes else None
    what = "letters or recesses that go all the way through"
    closed = [
        *(features.recesses if profile.embedded else ()),
        *(features.hollows if common.measured else ()),  # its intended sizes are unknown
    ]
    findings = [
        *mesh_findings(whole, sum(not cavity.below and not cavity.above for cavity in closed)),
        *identity_findings(scanned, profile),
        *(outline_findings(flat) if scanned.piece else ()),
        count_finding("cut-through", len(features.through), 0, what, through),
    ]
    if not scanned.piece:
        return findings
    return [
        *findings,
        *recess_findings(flat),
        *mark_findings(flat),
        *cell_mark_findings(flat),
        *label_findings(flat),
        *printing_findings(features.level, profile, [x.high_mm for x in features.hollows]),
        *(peg_findings(scanned.pegs, puzzle.lattice, profile) if has_pegs(puzzle, profile) else ()),
    ]
