"""The files of a set: their kinds, recipes and builds."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.artifacts import Artifacts
from fabkit.build.manifest import generator_digest, input_digests, profile_digest, read_manifest
from fabkit.build.reports import write_contents
from fabkit.build.targets import BuildResult, OutputPath, Target, build
from fabkit.core.errors import InputError, pluralize
from fabkit.core.formats import json_text
from fabkit.core.hashes import digest
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.jobs.parallel import Calls
from fabkit.model.piece import Piece
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.accessory import (
    HOLES,
    SOCKETS,
    Accessory,
    Printable,
    bed_rooms_mm,
    may_exceed_bed,
    printables,
    profile_as_made,
)
from fabkit.profiles.filaments import filaments_for
from fabkit.profiles.profile import PRUSASLICER, Profile
from fabkit.profiles.profile_file import dump_profile

if TYPE_CHECKING:
    from fabkit.drawing.part import PartDrawing
    from fabkit.mesh.files.writing3mf import Object3mf
    from fabkit.printing.package3mf import PrintInfo
    from fabkit.printing.plate import Plate

#: The effective profile, written beside the files.
PROFILE = "profile.toml"
#: The name that an edited profile gets.
EDITED_PROFILE = "profile.edited.toml"
#: The contents of each plate, for scripts and for `fabkit slice`.
PLATES = "plates/plates.json"

#: Makes a file of some printables with the CAD kernel; called with its name.
_Maker = Callable[[Artifacts, Sequence[Printable], str, OutputPath], None]
#: Returns the files of some printables that are made without it.
_Contents = Callable[[Artifacts, Sequence[Printable], str], dict[str, bytes]]


def _stl(
    artifacts: Artifacts, printables: Sequence[Printable], name: str, output_path: OutputPath
) -> None:
    artifacts.write_stl(printables[0], output_path(name))


def _step(
    artifacts: Artifacts, printables: Sequence[Printable], name: str, output_path: OutputPath
) -> None:
    from fabkit.solid.export import NamedSolid, write_step

    parts = [
        NamedSolid(printable.id, printable.colour, artifacts.solid(printable))
        for printable in printables
    ]
    write_step(parts, artifacts.puzzle.name, output_path(name))


def _3mf(artifacts: Artifacts, printables: Sequence[Printable], name: str) -> dict[str, bytes]:
    """All pieces on their plates; or a single one, in the middle of the bed."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package3mf import PrintInfo, piece_package, plates_package

    profile, drawings = artifacts.profile, artifacts.drawings
    info = PrintInfo.of(artifacts.puzzle, profile)
    prints = {printable.id: artifacts.print_of(printable) for printable in printables}
    if "/" in name:
        (printable,) = printables
        package = piece_package(info, prints[printable.id], drawings[printable.id], profile)
    else:
        package = plates_package(info, artifacts.plates, prints, drawings, profile)
    return {name: write_3mf(package)}


def _plates(artifacts: Artifacts, printables: Sequence[Printable], name: str) -> dict[str, bytes]:
    from fabkit.printing.package3mf import PrintInfo
    from fabkit.printing.plate import plate_document

    puzzle, plates, drawings = artifacts.puzzle, artifacts.plates, artifacts.drawings
    prints = {printable.id: artifacts.print_of(printable) for printable in printables}
    info = PrintInfo.of(puzzle, artifacts.profile)
    contents = _plate_files(info, plates, prints, drawings, artifacts.profile, f"{name}plate-{{}}")
    document = plate_document(puzzle, plates, drawings, artifacts.profile)
    return contents | {PLATES: json_text(document).encode()}


def _plate_files(
    info: PrintInfo,
    plates: Sequence[Plate],
    prints: Mapping[str, Object3mf],
    drawings: Mapping[str, PartDrawing],
    profile: Profile,
    stem: str,
) -> dict[str, bytes]:
    """A 3MF file and a drawing of each plate; ``{}`` in the stem of their names is its number."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package3mf import plates_package
    from fabkit.printing.plate import plate_drawing

    contents = {}
    for plate in plates:
        name = stem.format(plate.number)
        package = plates_package(info, [plate], prints, drawings, profile)
        contents[f"{name}.3mf"] = write_3mf(package)
        drawing = plate_drawing(info.title, plates, plate, drawings, profile)
        contents[f"{name}.svg"] = drawing.encode()
    return contents


def plate_for_prusaslicer(artifacts: Artifacts, plate: Mapping[str, Any]) -> bytes:
    """The 3MF file of a plate as PrusaSlicer reads it, whatever slicer the profile's files are for.

    Args:
        plate: one of ``plates.json``.
    """
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.nesting.bin import Placement
    from fabkit.printing.package3mf import PrintInfo, plates_package
    from fabkit.printing.plate import Plate

    placements = [
        Placement(piece["piece"], piece["degrees"], piece["x_mm"], piece["y_mm"])
        for piece in plate["pieces"]
    ]
    names = {placement.name for placement in placements}
    prints = {
        part.id: artifacts.print_of(part) for part in artifacts.printables if part.id in names
    }
    profile = replace(artifacts.profile, slicer=PRUSASLICER)
    laid_out = Plate(1, tuple(placements), plate["pause_height_mm"], plate["used"])
    info = PrintInfo.of(artifacts.puzzle, artifacts.profile)
    return write_3mf(plates_package(info, [laid_out], prints, artifacts.drawings, profile))


def write_print(
    info: PrintInfo,
    drawings: Sequence[PartDrawing],
    profile: Profile,
    stl: str,
    stem: str,
    output_path: OutputPath,
    progress: Progress,
    plates: Sequence[Plate] = (),
) -> None:
    """Write parts that belong to no set: an STL file of each drawing, in a folder, and its plates.

    Args:
        stl: the folder of the STL files.
        stem: of the plates' names, without an ending; ``{}`` in it is a plate's number.
        plates: arranged here by default.
    """
    from fabkit.mesh.files.readers import read_meshes
    from fabkit.mesh.files.writing3mf import Object3mf, Solid3mf
    from fabkit.printing.plate import arrange_plates
    from fabkit.solid.builder import build_solid
    from fabkit.solid.export import write_stl

    prints = {}
    for done, drawing in enumerate(drawings):
        counted(progress, done, len(drawings), drawing.piece)
        path = output_path(f"{stl}/{drawing.piece}.stl")
        write_stl(build_solid(drawing), path)
        (mesh,) = read_meshes(path)
        solid = Solid3mf(drawing.piece, drawing.colour, mesh)
        prints[drawing.piece] = Object3mf(drawing.piece, (solid,))
    plates = plates or arrange_plates(drawings, profile)
    by_name = {drawing.piece: drawing for drawing in drawings}
    write_contents(_plate_files(info, plates, prints, by_name, profile, stem), output_path)


def _cut(artifacts: Artifacts, printables: Sequence[Printable], name: str) -> dict[str, bytes]:
    """One piece as DXF or SVG, or all of them on sheets."""
    from fabkit.output import cutting

    kind = name[:3]
    write = cutting.sheet_dxf if kind == "dxf" else cutting.sheet_svg
    if name[-1] != "/":
        return {name: write(*artifacts.cuts[printables[0].id].on_own_sheet()).encode()}
    contents = {}
    for sheet in artifacts.sheets:
        text = write(sheet.placed, sheet.width_mm, sheet.depth_mm)
        contents[f"{name}sheet-{sheet.number}.{kind}"] = text.encode()
    return contents


def _notes(artifacts: Artifacts, printables: Sequence[Printable]) -> dict[str, Any]:
    """The notes on pieces in the manifest."""
    return {
        drawing.piece: {
            "magnets_mm": [list(recess.centre_mm) for recess in drawing.recesses],
            "poles": [recess.pole for recess in drawing.recesses],
            "pause_height_mm": drawing.pause_height_mm,
            "cap_height_mm": drawing.label.cap_height_mm if drawing.label else None,
            "copies": drawing.copies,
        }
        for drawing in (artifacts.drawings[printable.id] for printable in printables)
    }


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        make: how it is made with the CAD kernel; None for a kind with `contents`.
        contents: how it is made from drawings and meshes, in any process.
        each: the file of one piece, with ``{}`` for its id; empty if there is none.
        whole: the file of the whole set, with ``{}`` for its name, or a folder of files whose
            number is known only when they are made; empty for neither.
        has_metadata: whether it contains names, colours and credits.
        reads: prefixes of the profile's keys that matter besides those that shape the pieces.
        packages: the packages of fabkit that make it.
        libraries: the libraries that make it.
        cut: whether it is cut from a sheet, so that only flat pieces have one.
    """

    make: _Maker | None
    contents: _Contents | None
    each: str
    whole: str
    has_metadata: bool
    reads: tuple[str, ...]
    packages: tuple[str, ...]
    libraries: tuple[str, ...]
    cut: bool = False


#: The packages and the libraries that make solids, prints and paths to cut.
_SOLID = (
    ("model", "profiles", "sets", "drawing", "solid"),
    ("cadquery", "cadquery-ocp", "shapely", "fonttools"),
)
_PRINT = (
    (*_SOLID[0], "mesh", "printing", "output"),
    (*_SOLID[1], "lib3mf", "pillow", "spyrrow", "rectpack"),
)
_CUT = (
    ("model", "profiles", "sets", "drawing", "printing", "output"),
    ("shapely", "fonttools", "ezdxf", "spyrrow", "rectpack"),
)
#: Keys that matter to plates in addition.
_LAYOUT = ("label.", "plate.", "printer.", "cell.", "filaments", "filament.preset")
#: Keys that shape boards and lids in addition.
_OF_BOARDS = ("board.", "lid.")

#: All kinds by name, in the order in which they are made: STL files first, since others share their
#: triangles.
KINDS: dict[str, Kind] = {
    "stl": Kind(_stl, None, "stl/{}.stl", "", False, (), *_SOLID),
    "step": Kind(_step, None, "step/{}.step", "{}.step", True, (), *_SOLID),
    "3mf": Kind(None, _3mf, "3mf/{}.3mf", "{}.3mf", True, _LAYOUT, *_PRINT),
    "plates": Kind(None, _plates, "", "plates/", True, _LAYOUT, *_PRINT),
    "dxf": Kind(None, _cut, "dxf/{}.dxf", "dxf-sheets/", False, ("laser.",), *_CUT, cut=True),
    "svg": Kind(None, _cut, "svg/{}.svg", "svg-sheets/", False, ("laser.",), *_CUT, cut=True),
}


def kinds_for(puzzle: PuzzleSet) -> list[str]:
    """All kinds of files that a set can have: ball pieces are not cut from sheets.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> kinds_for(load_set("iqfit"))
        ['stl', 'step', '3mf', 'plates']
    """
    return [name for name, kind in KINDS.items() if not (kind.cut and puzzle.made_of_balls)]


def targets_for(artifacts: Artifacts, kinds: Sequence[str]) -> list[Target]:
    """The files of some kinds: one for each printable, and those of the whole set.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> fridgeiq, profile = load_set("fridgeiq"), load_profile()
        >>> targets = targets_for(Artifacts(fridgeiq, fridgeiq.pieces[:2], profile), ["stl", "step"])
        >>> [name for target in targets for name in target.names]
        ['stl/A.stl', 'stl/R.stl', 'step/A.step', 'step/R.step']
    """  # noqa: E501
    puzzle, profile = artifacts.puzzle, artifacts.profile
    is_all = len(artifacts.printables) == len(parts_to_print(puzzle, profile))
    filaments = filaments_for(puzzle, profile).colours
    targets = []
    for kind, how in KINDS.items():
        of_kind = [
            printable
            for printable in artifacts.printables
            if isinstance(printable, Piece) or not how.cut
        ]
        files = [(how.each.format(printable.id), [printable]) for printable in of_kind if how.each]
        # Plates are those of the pieces that were asked for.
        if (is_all or not how.each) and how.whole and of_kind:
            files.append((how.whole.format(puzzle.name), of_kind))
        if kind not in kinds or not files:
            continue
        profiles = [profile_digest(profile, (*how.reads, *more)) for more in ((), _OF_BOARDS)]
        # The filaments, and their order, depend on all parts of the set.
        metadata = (puzzle.title, puzzle.credit, puzzle.licence, profile.name, *filaments)
        metadata = metadata if how.has_metadata else ()
        head = [kind, puzzle.name, puzzle.lattice.name, *metadata]
        head.append(generator_digest(how.packages, how.libraries))
        for name, parts in files:
            boards = not all(isinstance(printable, Piece) for printable in parts)
            title = [puzzle.title] if boards else []  # the title is engraved
            drawings = json.dumps(
                [_drawing(puzzle, printable, profile, how.has_metadata) for printable in parts]
            )
            recipe = digest(*head, profiles[boards], *title, name, drawings)
            file = _File(how, artifacts, parts, name)
            meshes = () if kind == "stl" or how.cut else (part.id for part in parts)
            needs = frozenset(KINDS["stl"].each.format(part_id) for part_id in meshes)
            make = Target((name,), recipe, file.make, file.prepare, file.begin, needs, kind)
            targets.append(make)
    return targets


@dataclass
class _File:
    """How a file is made, or a folder of files."""

    how: Kind
    artifacts: Artifacts
    printables: Sequence[Printable]
    name: str
    _begun: Calls[dict[str, bytes]] | None = None

    def prepare(self) -> None:
        """Draft and lay out, which may raise an `InputError`."""
        artifacts = self.artifacts
        if self.how.cut:
            _ = artifacts.sheets if self.name[-1] == "/" else artifacts.cuts
        elif self.name == "plates/" or (self.name.endswith(".3mf") and "/" not in self.name):
            artifacts.begin_plates()
            if not artifacts.has_meshes(self.printables):
                import fabkit.solid.export  # noqa: F401 - while the plates are laid out
            _ = artifacts.plates
        else:
            _ = artifacts.drawings

    def begin(self) -> None:
        """Begin on another core, unless that takes the CAD kernel."""
        takes_none = self.how.cut or self.artifacts.has_meshes(self.printables)
        if self.how.contents is not None and takes_none:
            arguments = self.artifacts, self.printables, self.name
            self._begun = Calls(self.how.contents, [arguments], [self.name])

    def make(self, output_path: OutputPath) -> None:
        """Write it."""
        if not self.how.cut:
            output_path = partial(output_path, pieces=_notes(self.artifacts, self.printables))
        arguments = self.artifacts, self.printables, self.name
        if self.how.make is not None:
            self.how.make(*arguments, output_path)
        elif self._begun is not None:
            write_contents(self._begun.results()[0], output_path)
        elif self.how.contents is not None:
            write_contents(self.how.contents(*arguments), output_path)


def parts_to_print(
    puzzle: PuzzleSet, profile: Profile, ids: Sequence[str] = ()
) -> tuple[Printable, ...]:
    """The pieces, boards and lids of a set, in parts where they are larger than the bed.

    Raises:
        InputError: naming every unknown id.
    """
    if not may_exceed_bed(puzzle, profile):  # an unchanged export loads no geometry library
        return printables(puzzle, profile, ids)
    from fabkit.drawing.boards.parts import printed_parts

    return printed_parts(puzzle, profile, ids)


def _drawing(
    puzzle: PuzzleSet, printable: Printable, profile: Profile, has_metadata: bool
) -> list[object]:
    """The content of a piece or accessory that its files depend on, for a hash."""
    colour = [printable.colour] if has_metadata else []
    if isinstance(printable, Accessory):
        board = printable.board
        labels = [[label.text, sorted(label.cells)] for label in board.labels]
        bed_mm = bed_rooms_mm(profile) if printable.part else []
        return [printable.id, printable.kind, sorted(board.cells), labels, colour, *bed_mm]
    balls = [printable.body.balls, printable.body.bonds] if printable.body else []
    tones = [printable.tone, sorted(printable.tones)] if has_metadata and printable.tones else []
    looks = sorted(puzzle.marks.items()) if printable.marks or printable.back else []
    return [
        printable.id,
        printable.label,
        [looks, printable.marks, printable.back] if looks else [],
        [form.rings for form in printable.forms],
        balls,
        tones,
        colour,
        printable.copies,
    ]


def export(
    artifacts: Artifacts,
    kinds: Sequence[str],
    folder: Path,
    force: bool = False,
    progress: Progress = no_progress,
) -> BuildResult:
    """Bring the files of some kinds up to date; raises the errors of `build`.

    The profile is written beside them, and not among the files of the result.
    """
    puzzle, profile, parts = artifacts.puzzle, artifacts.profile, artifacts.printables
    if force:
        artifacts.stl.clear()
    targets = targets_for(artifacts, kinds)
    if not targets:
        ids = ", ".join(part.id for part in parts)
        raise InputError.of(puzzle.name, f"{ids}: only flat pieces can be cut from a sheet")
    text = f"# {profile.name}\n{dump_profile(profile)}"
    write = partial(write_contents, {PROFILE: text})
    beside = Target((PROFILE,), digest(text), write, edited_as=EDITED_PROFILE)
    inputs = input_digests(puzzle, profile)
    built = build(folder, puzzle.name, [*targets, beside], force, progress, inputs)
    artifacts.stl.update(current_stl_files(folder, artifacts))
    built.warnings += [
        f"board {part.id}: its labels are not on the printed board, whose {part.kind} leave no room"
        for part in parts
        if isinstance(part, Accessory) and part.kind in (HOLES, SOCKETS) and part.board.labels
        if profile.board_text != "none"
    ]
    del built.files[PROFILE]
    built.written.discard(PROFILE)
    return built


def face_down(puzzle: PuzzleSet, profile: Profile, built: BuildResult) -> list[str]:
    """The ids of pieces that are printed face down, but not drawn so in the files of an export.

    Their 3MF files are face down; STL and STEP files have the back down, and must be turned over in
    the slicer.
    """
    if puzzle.made_of_balls or profile_as_made(puzzle, profile).facing != "down":
        return []
    made = built.pieces
    ids = [piece.id for piece in puzzle.pieces if piece.id in made]
    names = {f"{kind}/{piece_id}.{kind}" for kind in ("stl", "step") for piece_id in ids}
    return ids if names & built.files.keys() else []


def pause_heights_mm(built: BuildResult) -> list[float]:
    """The heights at which the printer pauses for magnets, each once."""
    heights = {notes["pause_height_mm"] for notes in built.pieces.values()}
    return sorted(height for height in heights if height is not None)


def artifacts_in(
    folder: Path, puzzle: PuzzleSet, profile: Profile, ids: Sequence[str] = ()
) -> Artifacts:
    """Return the artifacts of what a set prints, which read the STL files in its output folder that
    are up to date.

    Raises:
        InputError: naming every unknown id.
    """
    artifacts = Artifacts(puzzle, parts_to_print(puzzle, profile, ids), profile)
    artifacts.stl.update(current_stl_files(folder, artifacts))
    return artifacts


def current_stl_files(folder: Path, artifacts: Artifacts) -> dict[str, Path]:
    """The STL files in an output folder that are up to date, by id."""
    manifest = read_manifest(folder, artifacts.puzzle.name, force=True)
    return {
        Path(target.names[0]).stem: folder / target.names[0]
        for target in targets_for(artifacts, ["stl"])
        if target.is_current(manifest, folder)
    }


def leftovers(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    kinds: Sequence[str],
    current: Collection[str] = (),
) -> Iterator[str]:
    """Warnings on files in an output folder that do not match the set or profile.

    Args:
        kinds: those written now, besides the ones a set usually has.
        current: names of files that were made as asked, of some pieces perhaps.
    """
    artifacts = Artifacts(puzzle, parts_to_print(puzzle, profile), profile)
    targets = targets_for(artifacts, [*kinds_for(puzzle), *kinds])
    manifest = read_manifest(folder, puzzle.name, force=True)
    here = {name: entry for name, entry in manifest.files.items() if (folder / name).is_file()}
    owners = {
        name: next((target for target in targets if target.owns(name)), None) for name in here
    }
    unknown_files = sorted(name for name in here if here[name].kind and owners[name] is None)
    if unknown_files:
        yield f"no longer part of the set: {', '.join(unknown_files)}"
    others = sorted(
        name
        for name, target in owners.items()
        if target and here[name].recipe != target.recipe and name not in current
    )
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made from another drawing or profile: {pluralize(len(others), 'file')} ({kinds}); "
            "export again, or keep profiles apart with -o"
        )
    old = [
        name
        for name, entry in sorted(here.items())
        if entry.about and entry.about != manifest.digest_of(entry.about.partition("/")[0])
    ]
    if old:
        yield f"out of date: {', '.join(old)}; run the commands again"
