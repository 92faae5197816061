"""What files are made of: each thing once, and only when a file needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.core.errors import InputError
from fabkit.core.files import temporary_folder
from fabkit.model.accessory import Thing
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.drawing.cut import CutPiece
    from fabkit.drawing.part import Drawn
    from fabkit.mesh.body import Body
    from fabkit.printing.laser import CutSheet
    from fabkit.printing.package import PiecePrint
    from fabkit.printing.plate import Plate
    from fabkit.solid.export import Shape
    from fabkit.solid.making import Maker


class Workbench:
    """Makes drawings, solids, meshes and layouts of a set's pieces and boards, and keeps them.

    Args:
        puzzle: the set.
        things: the pieces and accessories that are wanted.
        profile: how they are printed.
        has_stl: the STL file of a thing, if there is one that is up to date. Then its mesh is taken
            from there, and no solid needs to be built.
        blueprints: the things in millimetres, by id, if they are not to be drafted here.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        things: Sequence[Thing],
        profile: Profile,
        has_stl: Callable[[Thing], Path | None] = lambda thing: None,
        blueprints: Mapping[str, Drawn] | None = None,
    ) -> None:
        self.puzzle, self.things, self.profile = puzzle, tuple(things), profile
        self._has_stl, self._drafted = has_stl, blueprints
        self._solids: dict[str, Shape] = {}
        self._bodies: dict[str, Body] = {}

    @cached_property
    def blueprints(self) -> Mapping[str, Drawn]:
        """The pieces and accessories in millimetres, by id.

        Raises:
            InputError: when the profile does not suit them.
        """
        from fabkit.drawing.draft import draft_things

        if self._drafted is not None:
            return self._drafted
        return {one.piece: one for one in draft_things(self.puzzle, self.things, self.profile)}

    @cached_property
    def plates(self) -> list[Plate]:
        """All of them laid out on the printer's bed.

        Raises:
            InputError: when one does not fit.
        """
        from fabkit.printing.plate import lay_out

        return lay_out(list(self.blueprints.values()), self.profile)

    @cached_property
    def cuts(self) -> dict[str, CutPiece]:
        """The pieces as they are cut from a sheet, by id.

        Raises:
            InputError: when the profile does not suit them.
        """
        from fabkit.drawing.cut import cut_all

        flat = [one for one in self.things if isinstance(one, Piece)]
        return {one.piece: one for one in cut_all(self.puzzle, flat, self.profile)}

    @cached_property
    def sheets(self) -> list[CutSheet]:
        """The pieces laid out on sheets to be cut."""
        from fabkit.printing.laser import cut_sheets

        return cut_sheets(list(self.cuts.values()), self.profile)

    @cached_property
    def _maker(self) -> Maker:
        from fabkit.solid.making import Maker

        return Maker()

    def solid(self, thing: Thing) -> Shape:
        """A thing's solid. The kernel raises types of its own when it fails."""
        if thing.id not in self._solids:
            self._solids[thing.id] = self._maker.build(self.blueprints[thing.id])
        return self._solids[thing.id]

    def body(self, thing: Thing) -> Body:
        """A thing's mesh: the very triangles of its STL file."""
        from fabkit.mesh.files.reading import read_bodies

        if thing.id not in self._bodies:
            ready = self._has_stl(thing)
            self._bodies[thing.id] = read_bodies(ready)[0] if ready else _mesh(self.solid(thing))
        return self._bodies[thing.id]

    def print_of(self, thing: Thing) -> PiecePrint:
        """A thing as it goes into a 3MF file: its mesh and, with more colours, those of the rest."""
        from fabkit.printing.package import Inlay, PiecePrint

        drawing, body, inlays = self.blueprints[thing.id], self.body(thing), []
        if self.profile.inlay != "none" and drawing.label is not None:
            from fabkit.solid.making import inlay

            letter = _mesh(inlay(drawing))
            inlays.append(Inlay("letter", self.profile.letter_colour, letter))
        if self.profile.tones != "plain" and isinstance(thing, Piece) and thing.tones:
            from fabkit.drawing.draft import tones
            from fabkit.mesh.parting import parted

            tiles = tones(self.puzzle.lattice, thing, drawing, self.profile)
            body, tile = parted(body, tiles.area, tiles.low_mm, tiles.high_mm)
            inlays.append(Inlay("tones", thing.tone, tile))
        return PiecePrint(thing.id, thing.colour, body, tuple(inlays))


def _mesh(shape: Shape) -> Body:
    """A mesh as an STL file has it, so that all files hold the same triangles."""
    from fabkit.mesh.files.reading import read_bodies
    from fabkit.solid.export import write_stl

    with temporary_folder() as folder:
        path = folder / "mesh.stl"
        write_stl(shape, path)
        try:
            return read_bodies(path)[0]
        except InputError as error:  # nobody's input: the kernel made it
            raise RuntimeError(f"the mesh that was made is none: {error}") from None
