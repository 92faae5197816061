"""The artifacts that files are made of: drawings, solids, meshes and layouts, made lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import InputError
from fabkit.core.progress import Progress
from fabkit.core.staging import temporary_folder
from fabkit.jobs.parallel import Calls
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import Printable
from fabkit.profiles.filaments import filaments_for, in_own_colours
from fabkit.profiles.profile import Profile

if TYPE_CHECKING:
    from fabkit.drawing.laser import CutPiece
    from fabkit.drawing.part import PartDrawing
    from fabkit.mesh.files.writing3mf import Object3mf
    from fabkit.mesh.mesh import Mesh
    from fabkit.printing.cut_sheets import CutSheet
    from fabkit.printing.plate import Plate
    from fabkit.solid.export import Shape


class Artifacts:
    """Drawings, solids, meshes and layouts of a set's pieces and boards, made on demand, each once.

    Drawings and layouts raise an InputError when the profile does not suit the printables;
    libraries raise other types, see `library_failures`.

    Args:
        drawings: those that are drafted already.
        meshes: those that are known already, by id.

    Attributes:
        stl: current STL files, by id, from which meshes are read; `write_stl` adds to them.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        printables: Sequence[Printable],
        profile: Profile,
        drawings: Mapping[Printable, PartDrawing] = MappingProxyType({}),
        meshes: Mapping[str, Mesh] = MappingProxyType({}),
    ) -> None:
        self.puzzle, self.printables, self.profile = puzzle, tuple(printables), profile
        self.stl: dict[str, Path] = {}
        self._drawings, self._meshes = {**drawings}, {**meshes}
        self._solids: dict[str, Shape] = {}
        self._layout: Calls[list[Plate]] | None = None
        self._plates: list[Plate] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without solids, and with the meshes left in their files."""
        # This process goes on drafting and writing files.
        copies = {"stl": dict(self.stl), "_drawings": dict(self._drawings)}
        return {**vars(self), **copies, "_solids": {}, "_meshes": {}, "_layout": None}

    @property
    def drawings(self) -> dict[str, PartDrawing]:
        """The pieces and accessories in millimetres, by id."""
        from fabkit.drawing.draft import draft_all, draft_printable

        missing = [part for part in self.printables if part not in self._drawings]
        drafted = draft_all(self.puzzle, missing, self.profile, draft_printable)
        self._drawings.update(zip(missing, drafted, strict=True))
        return {part.id: self._drawings[part] for part in self.printables}

    def pictured(
        self, printables: Sequence[Printable], warn: Callable[[str], None] | None = None
    ) -> Artifacts:
        """Return artifacts for pictures: pieces show the set's own colours, chequered ones both,
        however they are printed. What looks the same as printed is made once for both.

        Args:
            warn: receives a message on pieces that are drawn without a letter or magnets that
                cannot be made; without it, these are refused.
        """
        profile = replace(in_own_colours(self.profile), tones="inlay")
        if warn is not None:
            from fabkit.drawing.draft import draft_for_pictures

            drafted = draft_for_pictures(self.puzzle, printables, profile, warn)
            drawings = dict(zip(printables, drafted, strict=True))
            return Artifacts(self.puzzle, printables, profile, drawings)
        pictured = Artifacts(self.puzzle, printables, profile)
        pictured.stl, pictured._meshes = self.stl, self._meshes
        if not profile.has_inlays:  # the colour of letters depends on the filaments
            pictured._drawings = self._drawings
        return pictured

    def begin_plates(self) -> Calls[list[Plate]]:
        """Begin to lay everything out on the printer's bed, on another core."""
        from fabkit.printing.plate import arrange_plates

        if self._layout is None:
            arguments = list(self.drawings.values()), self.profile
            self._layout = Calls(arrange_plates, [arguments], ["the plates"])
        return self._layout

    @property
    def plates(self) -> list[Plate]:
        """The plates: everything laid out on the printer's bed."""
        if self._plates is None:
            self._plates = self.begin_plates().results()[0]
        return self._plates

    def lay_out(self, progress: Progress) -> list[Plate]:
        """Return the `plates`, laid out in this process, which can be stopped."""
        from fabkit.printing.plate import arrange_plates

        if self._plates is None:
            self._plates = arrange_plates(list(self.drawings.values()), self.profile, progress)
        return self._plates

    @cached_property
    def cuts(self) -> dict[str, CutPiece]:
        """The pieces as they are cut from a sheet, by id."""
        from fabkit.drawing.laser import draft_cut_pieces

        flat = [printable for printable in self.printables if isinstance(printable, Piece)]
        drawings = draft_cut_pieces(self.puzzle, flat, self.profile)
        return {drawing.piece: drawing for drawing in drawings}

    @cached_property
    def sheets(self) -> list[CutSheet]:
        """The pieces laid out on sheets to be cut."""
        from fabkit.printing.cut_sheets import nest_cut_sheets

        return nest_cut_sheets(list(self.cuts.values()), self.profile)

    def has_meshes(self, printables: Sequence[Printable]) -> bool:
        """Whether all meshes are in files, so that none takes the CAD kernel."""
        return not self.profile.has_inlays and all(part.id in self.stl for part in printables)

    def solid(self, printable: Printable) -> Shape:
        """A printable's solid."""
        from fabkit.solid.builder import build_solid

        if printable.id not in self._solids:
            self._solids[printable.id] = build_solid(self.drawings[printable.id])
        return self._solids[printable.id]

    def write_stl(self, printable: Printable, path: Path) -> None:
        """Write an STL file; all other files get the same triangles."""
        from fabkit.solid.export import write_stl

        write_stl(self.solid(printable), path)
        self.stl[printable.id] = path

    def mesh(self, printable: Printable) -> Mesh:
        """A printable's mesh, with the triangles of its STL file."""
        from fabkit.mesh.files.readers import read_meshes

        if printable.id not in self._meshes:
            if printable.id in self.stl:
                (self._meshes[printable.id],) = read_meshes(self.stl[printable.id])
            else:
                self._meshes[printable.id] = _mesh(self.solid(printable))
        return self._meshes[printable.id]

    def print_of(self, printable: Printable) -> Object3mf:
        """A printable as an object of a 3MF file: its mesh, and those of its second colour."""
        from fabkit.mesh.files.writing3mf import Object3mf, Solid3mf

        drawing = self.drawings[printable.id]
        base = self.mesh(printable)
        inlays = []
        if drawing.letter_colour:
            from fabkit.solid.builder import inlay

            inlays.append(("letter", drawing.letter_colour, _mesh(inlay(drawing))))
        if self.profile.tones != "plain" and isinstance(printable, Piece):
            from fabkit.drawing.draft import tone_areas
            from fabkit.mesh.manifold import split_by_prisms

            areas = tone_areas(self.puzzle, printable, self.profile.unit_mm)
            high_mm, depth_mm = drawing.thickness_mm, self.profile.label_depth_mm
            spans = (high_mm - depth_mm, high_mm), (0.0, depth_mm)
            if any(not area.is_empty for area in areas):
                base, tile = split_by_prisms(base, zip(areas, spans, strict=True))
                inlays.append(("tones", printable.tone, tile))
        numbers = filaments_for(self.puzzle, self.profile).numbers
        parts = [(printable.id, printable.colour, base)]
        parts += [(f"{printable.id} {name}", colour, mesh) for name, colour, mesh in inlays]
        solids = [
            Solid3mf(name, colour, mesh, numbers.get(colour, role))
            for role, (name, colour, mesh) in enumerate(parts, start=1)
        ]
        return Object3mf(printable.id, tuple(solids))


def _mesh(shape: Shape) -> Mesh:
    """A solid's mesh, read back from an STL file: only this way are its triangles reproducible."""
    from fabkit.mesh.files.readers import read_meshes
    from fabkit.solid.export import write_stl

    with temporary_folder() as folder:
        path = folder / "mesh.stl"
        write_stl(shape, path)
        try:
            return read_meshes(path)[0]
        except InputError as error:  # not user input: the kernel wrote it
            raise RuntimeError(f"the generated mesh is invalid: {error}") from None
