"""What was found on one part, whatever it is: a flat piece, a ball piece, a board or a lid."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.anatomy import Anatomy
from fabkit.mesh.balls.part import BallPart
from fabkit.mesh.boards.part import BoardPart
from fabkit.mesh.finding import DIGITS, Finding
from fabkit.mesh.identity import Identity
from fabkit.mesh.manifold import shadow_of
from fabkit.mesh.outlines.edges import largest
from fabkit.mesh.part import Part
from fabkit.mesh.seen import shadow, size_mm
from fabkit.mesh.straight import StraightBody


@dataclass(frozen=True, eq=False)
class Shown:
    """A part as a page shows it, seen from above, in mm.

    Attributes:
        seen: its outline.
        canonical: its outline as drawn; None when it could not be read.
        recesses: the recesses for magnets.
        letters: the letter.
        degrees: by how much it is turned so that the letter stands upright.
    """

    seen: BaseGeometry
    canonical: Polygon | None = None
    recesses: tuple[BaseGeometry, ...] = ()
    letters: tuple[BaseGeometry, ...] = ()
    degrees: float = 0.0


class PartReport(ABC):
    """What was found on one part.

    Attributes:
        findings: of every rule.
    """

    findings: tuple[Finding, ...]

    @property
    @abstractmethod
    def name(self) -> str:
        """The file that it was in."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Its name in reports, different from all others'."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, for people."""

    @property
    def piece(self) -> str | None:
        """The id of the piece that it is, or None."""
        return None

    @property
    @abstractmethod
    def measures(self) -> dict[str, Any]:
        """What is told of it in JSON besides the findings."""

    @abstractmethod
    def shown(self, turns: int) -> Shown:
        """How a page shows it.

        Args:
            turns: how many turns the set's lattice has.
        """

    @abstractmethod
    def with_findings(self, more: Sequence[Finding]) -> PartReport:
        """The same with more findings behind its own."""

    @property
    def ok(self) -> bool:
        """Whether it keeps every rule."""
        return all(finding.ok for finding in self.findings)

    @property
    def failed(self) -> list[Finding]:
        """The findings of the rules that it does not keep."""
        return [finding for finding in self.findings if not finding.ok]

    @property
    def watertight(self) -> bool:
        """Whether its mesh is closed."""
        return next(finding for finding in self.findings if finding.rule == "watertight").ok

    def document(self) -> dict[str, Any]:
        """For JSON."""
        findings = [finding.document() for finding in self.findings]
        return {"ok": self.ok, **self.measures, "findings": findings}


class PieceReport(PartReport):
    """What was found on a part that may be a piece.

    Attributes:
        part: the part.
        identity: which piece it is.
        findings: of every rule.
    """

    part: Part | BallPart
    identity: Identity

    @property
    def name(self) -> str:
        """The file that it was in."""
        return self.part.name

    @property
    def key(self) -> str:
        """Its name in reports."""
        return self.identity.key

    @property
    def words(self) -> str:
        """What it is, for people."""
        return self.identity.words

    @property
    def piece(self) -> str | None:
        """The id of the piece that it is, or None."""
        return self.identity.piece


@dataclass(frozen=True, eq=False)
class FlatReport(PieceReport):
    """What was found on a flat piece.

    Attributes:
        part: the part.
        anatomy: what is open in it.
        identity: which piece it is.
        findings: of every rule.
    """

    part: Part
    anatomy: Anatomy
    identity: Identity
    findings: tuple[Finding, ...]

    @property
    def measures(self) -> dict[str, Any]:
        """What is told of it in JSON besides the findings."""
        outline = self.part.outline
        return {
            "piece": self.identity.piece,
            "is": self.identity.words,
            "watertight": self.watertight,
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": [round(size, DIGITS) for size in self.part.size_mm],
            "unit_mm": round(outline.unit_mm, DIGITS) if outline else None,
            "inset_mm": round(outline.inset_mm, DIGITS) if outline else None,
            "hausdorff_mm": round(outline.hausdorff_mm, DIGITS) if outline else None,
        }

    def with_findings(self, more: Sequence[Finding]) -> PartReport:
        """The same with more findings behind its own."""
        return replace(self, findings=(*self.findings, *more))

    def shown(self, turns: int) -> Shown:
        """How a page shows it: its letter upright."""
        part, identity, anatomy = self.part, self.identity, self.anatomy
        return Shown(
            seen=part.shadow,
            canonical=part.outline.canonical if part.outline else None,
            recesses=tuple(recess.middle for recess in anatomy.recesses),
            letters=tuple(label.middle for label in anatomy.labels if label.above),
            degrees=-360.0 * identity.letter.turns / turns if identity.letter else 0.0,
        )


@dataclass(frozen=True, eq=False)
class BallReport(PieceReport):
    """What was found on a piece that is made of balls.

    Attributes:
        part: the part.
        identity: which piece it is.
        findings: of every rule.
    """

    part: BallPart
    identity: Identity
    findings: tuple[Finding, ...]

    @property
    def measures(self) -> dict[str, Any]:
        """What is told of it in JSON besides the findings."""
        part = self.part
        return {
            "piece": self.identity.piece,
            "is": self.identity.words,
            "watertight": self.watertight,
            "volume_mm3": round(part.volume_mm3, DIGITS),
            "bbox_mm": [round(size, DIGITS) for size in size_mm(part.straight)],
            "pitch_mm": round(part.pitch_mm, DIGITS) if part.shape else None,
            "balls_mm": [round(diameter, DIGITS) for diameter in part.diameters_mm],
            "links_mm": [
                None if math.isnan(diameter) else round(diameter, DIGITS)
                for diameter in part.links_mm
            ],
        }

    def with_findings(self, more: Sequence[Finding]) -> PartReport:
        """The same with more findings behind its own."""
        return replace(self, findings=(*self.findings, *more))

    def shown(self, turns: int) -> Shown:
        """How a page shows it: from above."""
        return Shown(_from_above(self.part))


@dataclass(frozen=True, eq=False)
class BoardReport(PartReport):
    """What was found on a board, tray or lid.

    Attributes:
        called: its name in reports: the board's id, that with ``-lid``, or ``unknown-board-1``.
        part: the part.
        findings: of every rule.
    """

    called: str
    part: BoardPart
    findings: tuple[Finding, ...]

    @property
    def name(self) -> str:
        """The file that it was in."""
        return self.part.name

    @property
    def key(self) -> str:
        """Its name in reports."""
        return self.called

    @property
    def words(self) -> str:
        """What it is, for people."""
        return self.part.kind or "not read"

    @property
    def measures(self) -> dict[str, Any]:
        """What is told of it in JSON besides the findings."""
        return {
            "kind": self.part.kind or None,
            "board": self.part.board.id if self.part.board else None,
            "watertight": self.watertight,
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": [round(size, DIGITS) for size in size_mm(self.part.straight)],
        }

    def with_findings(self, more: Sequence[Finding]) -> PartReport:
        """The same with more findings behind its own."""
        return replace(self, findings=(*self.findings, *more))

    def shown(self, turns: int) -> Shown:
        """How a page shows it: from above."""
        return Shown(_from_above(self.part))


def _from_above(part: StraightBody) -> Polygon:
    """A part as it is seen from above; projected, which is quick, if it bounds a volume."""
    return largest(shadow_of(part.manifold)) if part.is_solid else shadow(part.straight)
