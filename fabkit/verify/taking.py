"""Taking meshes in: what they are, measured on them alone, before anything is held against limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fabkit.mesh.anatomy import Anatomy, anatomy
from fabkit.mesh.body import Body
from fabkit.mesh.identity import Identity, identify
from fabkit.mesh.inspect import in_common
from fabkit.mesh.part import Part, Parts, take_in
from fabkit.mesh.rules.outline import Common
from fabkit.mesh.separate import separate
from fabkit.model.puzzle import PuzzleSet


@dataclass(frozen=True, eq=False)
class Taken:
    """The parts of a set as their meshes show them.

    Attributes:
        puzzle: the set that they should be.
        read: the parts, and the files' unit of length.
        anatomies: what is open in each.
        identities: which piece each is.
    """

    puzzle: PuzzleSet
    read: Parts
    anatomies: tuple[Anatomy, ...]
    identities: tuple[Identity, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts."""
        return self.read.parts

    @cached_property
    def common(self) -> Common | None:
        """What the parts have in common."""
        return in_common(self.parts)

    def pieces(self) -> dict[str, Part]:
        """The part that is each piece, by the piece's id, those whose outline was read."""
        return {
            identity.piece: part
            for part, identity in zip(self.parts, self.identities, strict=True)
            if identity.piece == identity.key and part.outline is not None
        }


def take(bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float) -> Taken:
    """Reads meshes back.

    Args:
        bodies: of some files, in any order; one that holds parts apart is taken apart.
        puzzle: the set that they should be.
        units_mm: what the grid unit may be; see `fabkit.mesh.part.take_in`.
    """
    apart = [part for body in bodies for part in separate(body)]
    # The order of files must not show in any result, not even in rounding.
    ordered = sorted(apart, key=lambda body: (len(body.faces), len(body.vertices), body.name))
    read = take_in(ordered, puzzle, *units_mm)
    anatomies = tuple(anatomy(part) for part in read.parts)
    return Taken(puzzle, read, anatomies, tuple(identify(read.parts, anatomies, puzzle)))
