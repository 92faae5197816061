"""What files are made of: each drawing, solid, mesh and layout once, and only when one needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.core.errors import FabkitError, InputError, OutsideError, printable
from fabkit.core.files import temporary_folder
from fabkit.model.accessory import Thing
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.drawing.cut import CutPiece
    from fabkit.drawing.part import PartDrawing
    from fabkit.mesh.body import Body
    from fabkit.mesh.files.writing3mf import Object3mf
    from fabkit.printing.laser import CutSheet
    from fabkit.printing.plate import Plate
    from fabkit.solid.export import Shape
    from fabkit.solid.making import Maker


class Artifacts:
    """Makes drawings, solids, meshes and layouts of a set's pieces and boards, and keeps them.

    Drawings and layouts raise an InputError when the profile does not suit the things; libraries
    raise types of their own, see `library_failures`.

    Args:
        find_stl: finds STL files, by id, that are up to date: meshes are taken from there.
        drawings: the things in millimetres, by id, if they are not to be drafted here.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        things: Sequence[Thing],
        profile: Profile,
        find_stl: Callable[[], Mapping[str, Path]] = dict,
        drawings: Mapping[str, PartDrawing] | None = None,
    ) -> None:
        self.puzzle, self.things, self.profile = puzzle, tuple(things), profile
        self._find_stl, self._drafted = find_stl, drawings
        self._solids: dict[str, Shape] = {}
        self._bodies: dict[str, Body] = {}

    @cached_property
    def blueprints(self) -> Mapping[str, PartDrawing]:
        """The pieces and accessories in millimetres, by id."""
        from fabkit.drawing.draft import draft_things

        if self._drafted is not None:
            return self._drafted
        return {one.piece: one for one in draft_things(self.puzzle, self.things, self.profile)}

    @cached_property
    def plates(self) -> list[Plate]:
        """All of them laid out on the printer's bed."""
        from fabkit.printing.plate import lay_out

        return lay_out(list(self.blueprints.values()), self.profile)

    @cached_property
    def cuts(self) -> dict[str, CutPiece]:
        """The pieces as they are cut from a sheet, by id."""
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

    @cached_property
    def stl(self) -> dict[str, Path]:
        """The STL files that there are, by id; also those that were written by `write_stl`."""
        return dict(self._find_stl())

    def solid(self, thing: Thing) -> Shape:
        """A thing's solid."""
        if thing.id not in self._solids:
            self._solids[thing.id] = self._maker.build(self.blueprints[thing.id])
        return self._solids[thing.id]

    def write_stl(self, thing: Thing, path: Path) -> None:
        """Writes a thing's STL file, whose triangles all its other files will have."""
        from fabkit.solid.export import write_stl

        write_stl(self.solid(thing), path)
        self.stl[thing.id] = path

    def body(self, thing: Thing) -> Body:
        """A thing's mesh: the very triangles of its STL file."""
        from fabkit.mesh.files.reading import read_bodies

        if thing.id not in self._bodies:
            if thing.id in self.stl:
                (self._bodies[thing.id],) = read_bodies(self.stl[thing.id])
            else:
                self._bodies[thing.id] = _mesh(self.solid(thing))
        return self._bodies[thing.id]

    def print_of(self, thing: Thing) -> Object3mf:
        """A thing as it goes into a 3MF file: its mesh and, with more colours, those of the rest."""
        from fabkit.mesh.files.writing3mf import Object3mf, Solid3mf

        drawing, body, inlays = self.blueprints[thing.id], self.body(thing), []
        if self.profile.inlay != "none" and drawing.label is not None:
            from fabkit.solid.making import inlay

            inlays.append(("letter", self.profile.letter_colour, _mesh(inlay(drawing))))
        if self.profile.tones != "plain" and isinstance(thing, Piece) and thing.tones:
            from fabkit.drawing.draft import tones
            from fabkit.mesh.manifold import parted

            tiles = tones(self.puzzle.lattice, thing, drawing, self.profile)
            body, tile = parted(body, tiles.area, tiles.low_mm, tiles.high_mm)
            inlays.append(("tones", thing.tone, tile))
        solids = [Solid3mf(thing.id, thing.colour, body)]
        for extruder, (name, colour, mesh) in enumerate(inlays, start=2):
            solids.append(Solid3mf(f"{thing.id} {name}", colour, mesh, extruder))
        return Object3mf(thing.id, tuple(solids))


def _mesh(shape: Shape) -> Body:
    """A solid's mesh, as an STL file would have it. The kernel hands over its triangles in no
    other way in which they are the same."""
    from fabkit.mesh.files.reading import read_bodies
    from fabkit.solid.export import write_stl

    with temporary_folder() as folder:
        path = folder / "mesh.stl"
        write_stl(shape, path)
        try:
            return read_bodies(path)[0]
        except InputError as error:  # nobody's input: the kernel made it
            raise RuntimeError(f"the mesh that was made is none: {error}") from None


@contextlib.contextmanager
def library_failures(name: str) -> Iterator[None]:
    """Libraries raise types of their own; whatever they say, the file was not made.

    Raises:
        OutsideError: in place of what a library raises.
    """
    try:
        yield
    except (FabkitError, OSError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as error:
        reason = printable(str(error))
        raise OutsideError(
            f"cannot make {name}: {reason}; install fabkit again, nothing was changed"
        ) from error
    except Exception as error:
        reason = printable(str(error)) or type(error).__name__
        raise OutsideError(
            f"the CAD kernel or another library failed on {name}: {reason}; nothing was changed. Try "
            "another chamfer or label, and please report the set and profile"
        ) from error
