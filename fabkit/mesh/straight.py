"""What every part is, whatever it is made of: a body in millimetres, lying straight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabkit.mesh.body import Body, Points
from fabkit.mesh.manifold import is_solid
from fabkit.mesh.section import Sections
from fabkit.mesh.topology import signed_volume


@dataclass(frozen=True, eq=False)
class StraightBody:
    """A body as it lies on the lattice's frame, or as in its file when it could not be read.

    Attributes:
        body: as the file has it.
        vertices: its corners in mm, shape (n, 3), turned and moved.
    """

    body: Body
    vertices: Points

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.body.name

    @cached_property
    def straight(self) -> Body:
        """The body as it lies here."""
        return Body(self.body.name, self.vertices, self.body.faces)

    @cached_property
    def sections(self) -> Sections:
        """To cut it."""
        return Sections(self.vertices, self.body.faces)

    @cached_property
    def volume_mm3(self) -> float:
        """The volume inside; negative when the mesh is inside out."""
        return signed_volume(self.straight)

    @cached_property
    def manifold(self) -> Any:
        """The mesh for boolean operations."""
        return self.straight.manifold

    @cached_property
    def is_solid(self) -> bool:
        """Whether the mesh bounds a volume, so that overlaps can be measured."""
        return is_solid(self.manifold)
