"""What files are made of: each thing once, and only when a file needs it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.base.errors import InputError
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.blueprint.cut import CutPiece
    from fabkit.blueprint.draft import Blueprint
    from fabkit.mesh.body import Body
    from fabkit.press.laser import CutSheet
    from fabkit.press.package import PiecePrint
    from fabkit.press.plate import Plate
    from fabkit.solid.body import Workshop
    from fabkit.solid.export import Shape


class Workbench:
    """Makes blueprints, solids, meshes and layouts of a set's pieces, and keeps them.

    Args:
        puzzle: the set.
        pieces: those that are wanted.
        profile: how they are printed.
        has_stl: the STL file of a piece, if there is one that is up to date. Then its mesh is taken
            from there, and no solid needs to be built.
        blueprints: the pieces in millimetres, by id, if they are not to be drafted here.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        pieces: Sequence[Piece],
        profile: Profile,
        has_stl: Callable[[Piece], Path | None] = lambda piece: None,
        blueprints: Mapping[str, Blueprint] | None = None,
    ) -> None:
        self.puzzle, self.pieces, self.profile = puzzle, tuple(pieces), profile
        self._has_stl, self._drafted = has_stl, blueprints
        self._solids: dict[str, Shape] = {}
        self._bodies: dict[str, Body] = {}

    @cached_property
    def blueprints(self) -> Mapping[str, Blueprint]:
        """The pieces in millimetres, by id.

        Raises:
            InputError: when the profile does not suit them.
        """
        from fabkit.blueprint.draft import draft_all

        if self._drafted is not None:
            return self._drafted
        return {one.piece: one for one in draft_all(self.puzzle, self.pieces, self.profile)}

    @cached_property
    def plates(self) -> list[Plate]:
        """The pieces laid out on the printer's bed.

        Raises:
            InputError: when one does not fit.
        """
        from fabkit.press.plate import lay_out

        return lay_out(list(self.blueprints.values()), self.profile)

    @cached_property
    def cuts(self) -> dict[str, CutPiece]:
        """The pieces as they are cut from a sheet, by id.

        Raises:
            InputError: when the profile does not suit them.
        """
        from fabkit.blueprint.cut import cut_all

        return {one.piece: one for one in cut_all(self.puzzle, self.pieces, self.profile)}

    @cached_property
    def sheets(self) -> list[CutSheet]:
        """The pieces laid out on sheets to be cut."""
        from fabkit.press.laser import cut_sheets

        return cut_sheets(list(self.cuts.values()), self.profile)

    @cached_property
    def _workshop(self) -> Workshop:
        from fabkit.solid.body import Workshop

        return Workshop()

    def solid(self, piece: Piece) -> Shape:
        """A piece's solid. The kernel raises types of its own when it fails."""
        if piece.id not in self._solids:
            self._solids[piece.id] = self._workshop.build(self.blueprints[piece.id])
        return self._solids[piece.id]

    def body(self, piece: Piece) -> Body:
        """A piece's mesh: the very triangles of its STL file."""
        from fabkit.mesh.files.reading import read_bodies

        if piece.id not in self._bodies:
            ready = self._has_stl(piece)
            self._bodies[piece.id] = read_bodies(ready)[0] if ready else _mesh(self.solid(piece))
        return self._bodies[piece.id]

    def print_of(self, piece: Piece) -> PiecePrint:
        """A piece as it goes into a 3MF file: its mesh and, with two colours, that of its letter."""
        from fabkit.press.package import PiecePrint

        letter = None
        if self.profile.inlay != "none" and self.blueprints[piece.id].label is not None:
            from fabkit.solid.inlay import inlay

            letter = _mesh(inlay(self.blueprints[piece.id]))
        return PiecePrint(piece.id, piece.colour, self.body(piece), letter)


def _mesh(shape: Shape) -> Body:
    """A mesh as an STL file has it, so that all files hold the same triangles."""
    from fabkit.mesh.files.reading import read_bodies
    from fabkit.solid.export import write_stl

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh.stl"
        write_stl(shape, path)
        try:
            return read_bodies(path)[0]
        except InputError as error:  # nobody's input: the kernel made it
            raise RuntimeError(f"the mesh that was made is none: {error}") from None
