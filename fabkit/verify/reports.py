"""What was found on one part, whatever it is: a flat piece, a ball piece, a board or a lid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from fabkit.mesh.features import Features
from fabkit.mesh.finding import DIGITS, Finding
from fabkit.mesh.manifold import shadow_of
from fabkit.mesh.part import BALLS, FLAT, Part, largest


@dataclass(frozen=True, eq=False)
class Shown:
    """A part as a page shows it, seen from above, in mm.

    Attributes:
        seen: its outline.
        canonical: its outline as drawn; None when it could not be read.
        recesses: the recesses for magnets.
        letters: the letter.
    """

    seen: BaseGeometry
    canonical: Polygon | None = None
    recesses: tuple[BaseGeometry, ...] = ()
    letters: tuple[BaseGeometry, ...] = ()


@dataclass(frozen=True, eq=False)
class PartReport:
    """What was found on one part.

    Attributes:
        part: the part.
        key: its name in reports, different from all others'.
        words: what it is, for people.
        piece: the id of the piece that it is, or None.
        findings: of every rule; of a part that is not recognised only what the mesh is as such,
            and what it was not recognised by.
        anatomy: what is open in a flat piece; None for anything else.
        degrees: by how much it is to be turned so that its letter stands upright.
    """

    part: Part
    key: str
    words: str
    piece: str | None
    findings: tuple[Finding, ...]
    anatomy: Features | None = None
    degrees: float = 0.0

    @property
    def name(self) -> str:
        """The file that it was in."""
        return self.part.name

    @property
    def ok(self) -> bool:
        """Whether it keeps every rule."""
        return not self.failed

    @property
    def failed(self) -> list[Finding]:
        """The findings of the rules that it does not keep."""
        return [finding for finding in self.findings if not finding.ok]

    @property
    def shown(self) -> Shown:
        """How a page shows it."""
        part, anatomy = self.part, self.anatomy
        if anatomy is None:
            # Projected, which is quick, if it bounds a volume.
            return Shown(largest(shadow_of(part.manifold)) if part.is_solid else part.shadow)
        return Shown(
            seen=part.shadow,
            canonical=part.outline.canonical if part.outline else None,
            recesses=tuple(recess.middle for recess in anatomy.recesses),
            letters=tuple(label.middle for label in anatomy.labels if label.above),
        )

    def document(self) -> dict[str, Any]:
        """For JSON."""
        part = self.part
        found: dict[str, Any] = {
            "ok": self.ok,
            "file": self.name,
            "watertight": all(one.ok for one in self.findings if one.rule == "watertight"),
            "volume_mm3": round(part.volume_mm3, DIGITS),
            "bbox_mm": [round(size, DIGITS) for size in part.size_mm],
        }
        if part.kind not in (FLAT, BALLS):
            found |= {"kind": part.kind or None, "board": part.board.id if part.board else None}
        else:
            found |= {"piece": self.piece, "is": self.words}
        if part.kind == FLAT:
            outline = part.outline
            for name in ("unit_mm", "inset_mm", "hausdorff_mm"):
                found[name] = round(getattr(outline, name), DIGITS) if outline else None
        elif part.kind == BALLS:
            balls = part.balls
            found |= {
                "pitch_mm": round(balls.pitch_mm, DIGITS) if balls else None,
                "balls_mm": [round(mm, DIGITS) for mm in balls.diameters_mm] if balls else [],
                "links_mm": [
                    None if math.isnan(mm) else round(mm, DIGITS)
                    for mm in (balls.links_mm if balls else ())
                ],
            }
        return found | {"findings": [finding.document() for finding in self.findings]}


def read_as(part: Part) -> dict[str, Any]:
    """How the outline or the balls of a piece were read, for JSON; empty when they were not."""
    if part.outline:
        outline = part.outline
        found: dict[str, Any] = {"cells": len(outline.cells)}
        for name in ("unit_mm", "inset_mm", "hausdorff_mm", "area_off"):
            found[name] = round(getattr(outline, name), DIGITS)
        return found
    if part.balls:
        return {
            "balls": len(part.balls.shape.balls),
            "links": len(part.balls.shape.bonds),
            "unit_mm": round(part.balls.pitch_mm, DIGITS),
            "off_mm": round(part.balls.off_mm, DIGITS),
        }
    return {}
