"""A board, tray or lid: a body in millimetres, lying where its region is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.mesh.body import Body, Points
from fabkit.mesh.manifold import is_solid, manifold_of
from fabkit.mesh.section import Sections
from fabkit.mesh.topology import signed_volume
from fabkit.model.puzzle import Board


@dataclass(frozen=True, eq=False)
class BoardPart:
    """A body as a board or lid.

    Attributes:
        body: as the file has it.
        kind: ``tray``, ``holes``, ``seats`` or ``lid``; empty when it could not be read.
        board: the board that it is, or that a lid belongs to; None when it could not be read.
        vertices: its corners in mm, shape (n, 3), lowest at height 0. Of a board x and y are those
            of the lattice's frame times the unit, so that its region lies where the set draws it;
            a lid lies with the middle of its box over the middle of the region, plate down.
        unit_mm: the grid unit as measured; the profile's for a tray or lid, which do not show it.
        rest_mm: on what height pieces rest: a tray's floor, the plate around seats, or the
            middles of seated balls (the top of the posts); 0 for a lid.
        why: why it could not be read; empty when it could.
    """

    body: Body
    kind: str
    board: Board | None
    vertices: Points
    unit_mm: float
    rest_mm: float
    why: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.body.name

    @cached_property
    def sections(self) -> Sections:
        """To cut it."""
        return Sections(self.vertices, self.body.faces)

    @cached_property
    def straight(self) -> Body:
        """The body as it lies here."""
        return Body(self.body.name, self.vertices, self.body.faces)

    @cached_property
    def volume_mm3(self) -> float:
        """The volume inside; negative when the mesh is inside out."""
        return signed_volume(self.straight)

    @cached_property
    def manifold(self) -> Any:
        """The mesh for boolean operations."""
        return manifold_of(self.straight)

    @cached_property
    def is_solid(self) -> bool:
        """Whether the mesh bounds a volume, so that overlaps can be measured."""
        return is_solid(self.manifold)
