"""A part as it was read, and what the rules for its kind say of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from shapely import union_all

from fabkit.mesh.balls.rules import inspect_balls
from fabkit.mesh.boards.rules import inspect_board
from fabkit.mesh.features import Features
from fabkit.mesh.finding import DIGITS, Finding, counted
from fabkit.mesh.identity import Identity, identity_findings
from fabkit.mesh.part import BALLS, FLAT, Part
from fabkit.mesh.rules.label import label_findings
from fabkit.mesh.rules.outline import Common, Subject, outline_findings
from fabkit.mesh.rules.recess import mark_findings, recess_findings
from fabkit.mesh.rules.surface import printing_findings, sound_findings
from fabkit.mesh.stubs import OnStubs, stub_findings
from fabkit.model.accessory import has_stubs
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: What is said of a mesh as such, whatever it shows …
SOUND_RULES = (
    "watertight", "winding", "degenerate", "self-intersection", "shells", "cavities", "volume",
)  # fmt: skip
#: … and what tells whether it is a part of the set, or why that cannot be told.
_RECOGNITION_RULES = "read-back", "shape", "cut-through", "ball-read", "ball-shape", "board-read"


@dataclass(frozen=True, eq=False)
class ReadPart:
    """A part as it was read (of one on `stubs` the plate above them), and what was found on it."""

    part: Part
    identity: Identity
    features: Features | None = None
    stubs: OnStubs | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def key(self) -> str:
        """Its name in reports, different from all others'."""
        return self.identity.key

    @property
    def piece(self) -> str | None:
        """The id of the piece that it is."""
        return self.identity.piece

    @property
    def name(self) -> str:
        """The file that it was in."""
        return self.part.name

    @property
    def is_piece(self) -> bool:
        """Whether it may be a piece: it is no board and no lid."""
        return self.part.kind in (FLAT, BALLS)

    @property
    def words(self) -> str:
        """What it is, for people."""
        return self.identity.words if self.is_piece else self.part.kind or "not read"

    @property
    def failed(self) -> list[Finding]:
        """The findings of the rules that it does not keep."""
        return [finding for finding in self.findings if not finding.ok]

    def reading(self) -> dict[str, Any]:
        """What it is and how it was read, for JSON."""
        part = self.part
        if not self.is_piece:
            board = part.board.id if part.board else None
            return {"file": self.name, "kind": part.kind or None, "board": board}
        found: dict[str, Any] = {"file": self.name, "piece": self.piece, "is": self.words}
        if part.outline:
            numbers: dict[str, Any] = {
                "cells": len(part.outline.cells),
                "unit_mm": round(part.outline.unit_mm, DIGITS),
                "inset_mm": round(part.outline.inset_mm, DIGITS),
                "hausdorff_mm": round(part.hausdorff_mm, DIGITS),
                "area_off": round(part.area_off, DIGITS),
            }
        elif balls := part.balls:
            numbers = {
                "balls": len(balls.shape.balls),
                "links": len(balls.shape.bonds),
                "unit_mm": round(balls.pitch_mm, DIGITS),
                "off_mm": round(balls.off_mm, DIGITS),
                "balls_mm": [round(mm, DIGITS) for mm in balls.diameters_mm],
                "links_mm": [
                    None if math.isnan(mm) else round(mm, DIGITS) for mm in balls.links_mm
                ],
            }
        else:
            return found | {"read": False} | ({"why": part.why} if part.why else {})
        return found | {"read": True, "as_drawn": self.identity.as_drawn} | numbers

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ok": not self.failed,
            **self.reading(),
            "watertight": all(one.ok for one in self.findings if one.rule == "watertight"),
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": np.ptp(self.part.vertices, axis=0).round(DIGITS).tolist(),
            "findings": [finding.document() for finding in self.findings],
        }


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
        found = inspect_balls(part, one.identity, puzzle, profile)
    else:
        found = _inspect_flat(one, common, puzzle, profile)
    if one.piece or part.board:
        return found
    return [finding for finding in found if finding.rule in (*SOUND_RULES, *_RECOGNITION_RULES)]


def _inspect_flat(
    one: ReadPart, common: Common | None, puzzle: PuzzleSet, profile: Profile
) -> list[Finding]:
    part, identity, found = one.part, one.identity, one.features
    assert found is not None
    common = common or Common(profile.unit_mm, profile.inset_mm, part.thickness_mm)
    # Heights are those above its back, whatever stands out of that.
    flat = Subject(found.level, found, identity, common, puzzle, profile)
    whole = one.stubs.whole if one.stubs else part
    through = union_all([cavity.middle for cavity in found.through]) if found.through else None
    what = "letters or recesses that are cut through"
    closed = [
        *(found.recesses if profile.embedded else ()),
        *(found.hollows if common.measured else ()),  # nothing says how it is to be made
    ]
    return [
        *sound_findings(whole, sum(not one.below and not one.above for one in closed)),
        *identity_findings(part, identity, profile),
        *outline_findings(flat),
        counted("cut-through", len(found.through), 0, what, through),
        *recess_findings(flat),
        *mark_findings(flat),
        *label_findings(flat),
        *printing_findings(found.level, profile, [hollow.high_mm for hollow in found.hollows]),
        *(stub_findings(one.stubs, puzzle.lattice, profile) if has_stubs(puzzle, profile) else ()),
    ]
