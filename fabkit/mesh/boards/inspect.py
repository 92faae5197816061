"""Inspecting boards and lids: what each rule finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabkit.drawing.boards.frame import levels
from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.boards.frame import frame_findings
from fabkit.mesh.boards.holes import hole_findings, seat_findings
from fabkit.mesh.boards.lids import lid_findings, partner_findings, partners
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import Finding
from fabkit.mesh.part import Part
from fabkit.mesh.rules.printing import printing_findings
from fabkit.mesh.rules.sound import sound_findings
from fabkit.model.accessory import HOLES, LID, SEATS, board_kind
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: A grid unit is right to this part, as that of pieces.
_UNIT = 0.002
#: Nothing is closed in in a board, and it carries no letter that is asked for.
_PLAIN = Anatomy((), (), (), (), ())


def inspect_board(
    part: BoardPart, parts: Sequence[BoardPart], puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    """What every rule says of one board or lid.

    Args:
        part: the board or lid.
        parts: all that were read with it, itself among them: its lid, or its board.
        puzzle: the set.
        profile: what is asked for.

    Returns:
        Findings in the order of the rules, those that are kept among them. What concerns a board
        and its lid together stands with the lid.
    """
    plain = Part(part.body, part.vertices, 0.0, False, None)
    as_printed = replace(profile, facing="up", fit="none")
    findings = list(sound_findings(plain, _PLAIN, as_printed))
    findings.append(_read(part, puzzle, profile))
    if part.board is not None:
        findings += partner_findings(part, parts, profile)
        if part.kind == LID:
            low_mm = levels(puzzle, profile).lid_low_mm
            for board in partners(part, parts)[:1]:
                findings += lid_findings(part, board, low_mm or board.sections.high, profile)
        else:
            if part.kind == HOLES:
                findings += hole_findings(part, puzzle.lattice, profile)
            if part.kind == SEATS:
                findings += seat_findings(part, puzzle.lattice, profile)
            findings += frame_findings(part, puzzle.lattice, profile)
    findings += printing_findings(plain, as_printed)
    return findings


def _read(part: BoardPart, puzzle: PuzzleSet, profile: Profile) -> Finding:
    """Whether it is a board of the set, of the right kind, or its lid."""
    if part.board is None:
        return Finding("board-read", False, None, None, "", f"cannot be read: {part.why}")
    asked = board_kind(puzzle, profile)
    if part.kind not in (asked, LID):
        message = f"it is of kind {part.kind}; a board of {puzzle.name} is of kind {asked}"
        return Finding("board-read", False, None, None, "", message)
    what = (
        f"the lid of the board {part.board.id}"
        if part.kind == LID
        else f"the board {part.board.id}"
    )
    if part.kind != LID and abs(part.unit_mm - profile.unit_mm) > _UNIT * profile.unit_mm:
        message = f"it is {what}, with a unit of {part.unit_mm:.3f} mm; {profile.unit_mm:g} mm is asked for"
        return Finding("board-read", False, part.unit_mm, profile.unit_mm, "mm", message)
    return Finding("board-read", True, None, None, "", f"it is {what}, of kind {part.kind}")
