"""The artifacts that files are made of: drawings, solids, meshes and layouts, made lazily."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import ExternalError, FabkitError, InputError, escape
from fabkit.core.progress import Progress
from fabkit.core.staging import temporary_folder
from fabkit.jobs.parallel import Calls
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import Printable
from fabkit.profiles.filaments import filaments_for
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
    """Drawings, solids, meshes and layouts of a set's pieces and boards, made on demand and cached.

    Drawings and layouts raise an InputError when the profile does not suit the printables;
    libraries raise other types, see `library_failures`.

    Args:
        find_stl: returns current STL files, by id, to read meshes from.
        drawings: the printables in millimetres, by id; drafted here by default.
        meshes: meshes that are known already, by id.
    """

    def __init__(
        self,
        puzzle: PuzzleSet,
        printables: Sequence[Printable],
        profile: Profile,
        find_stl: Callable[[], Mapping[str, Path]] = dict,
        drawings: Mapping[str, PartDrawing] | None = None,
        meshes: Mapping[str, Mesh] = MappingProxyType({}),
    ) -> None:
        self.puzzle, self.printables, self.profile = puzzle, tuple(printables), profile
        self._find_stl, self._drafted = find_stl, drawings
        self._layout: Calls[list[Plate]] | None = None
        self._solids: dict[str, Shape] = {}
        self._meshes: dict[str, Mesh] = {**meshes}

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without solids, and with the meshes left in their files."""
        stl = dict(self.__dict__.get("stl", ()))  # a copy: this process goes on writing files
        left = {"_find_stl": dict, "_solids": {}, "_meshes": {}, "_layout": None}
        return self.__dict__ | {"stl": stl} | left

    @cached_property
    def drawings(self) -> Mapping[str, PartDrawing]:
        """The pieces and accessories in millimetres, by id."""
        from fabkit.drawing.draft import draft_all, draft_printable

        if self._drafted is not None:
            return self._drafted
        drawings = draft_all(self.puzzle, self.printables, self.profile, draft_printable)
        return {drawing.piece: drawing for drawing in drawings}

    def begin_plates(self) -> Calls[list[Plate]]:
        """Begin to lay everything out on the printer's bed, on another core."""
        from fabkit.printing.plate import arrange_plates

        if self._layout is None:
            arguments = list(self.drawings.values()), self.profile
            self._layout = Calls(arrange_plates, [arguments], ["the plates"])
        return self._layout

    @cached_property
    def plates(self) -> list[Plate]:
        """The plates: everything laid out on the printer's bed."""
        return self.begin_plates().results()[0]

    def lay_out(self, progress: Progress) -> list[Plate]:
        """Return the `plates`, laid out in this process with progress, so that it can be stopped."""
        from fabkit.printing.plate import arrange_plates

        if not self.has_plates:
            drawings = list(self.drawings.values())
            self.__dict__["plates"] = arrange_plates(drawings, self.profile, progress)
        return self.plates

    @cached_property
    def cuts(self) -> dict[str, CutPiece]:
        """The pieces as they are cut from a sheet, by id."""
        from fabkit.drawing.laser import draft_cut_pieces

        flat = [printable for printable in self.printables if isinstance(printable, Piece)]
        return {
            drawing.piece: drawing for drawing in draft_cut_pieces(self.puzzle, flat, self.profile)
        }

    @cached_property
    def sheets(self) -> list[CutSheet]:
        """The pieces laid out on sheets to be cut."""
        from fabkit.printing.cut_sheets import nest_cut_sheets

        return nest_cut_sheets(list(self.cuts.values()), self.profile)

    @cached_property
    def stl(self) -> dict[str, Path]:
        """The STL files, by id; including those written by `write_stl`."""
        return dict(self._find_stl())

    @property
    def has_plates(self) -> bool:
        """Whether `plates` are known."""
        return "plates" in self.__dict__

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


@contextlib.contextmanager
def library_failures(name: str) -> Iterator[None]:
    """Convert the errors of libraries, which raise other types.

    Raises:
        ExternalError: instead of the library's error.
    """
    try:
        yield
    except (FabkitError, OSError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as error:
        reason = escape(str(error))
        raise ExternalError(
            f"cannot make {name}: {reason}; nothing was changed. Reinstall fabkit"
        ) from error
    except Exception as error:
        reason = escape(str(error)) or type(error).__name__
        raise ExternalError(
            f"the CAD kernel or another library failed on {name}: {reason}; nothing was changed. Try "
            "another chamfer or label, and please report the set and profile"
        ) from error
