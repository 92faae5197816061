"""The files of a set: their kinds, recipes and builds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.build.manifest import generator_digest, pieces_in, profile_digest, read_manifest
from fabkit.build.reports import write_contents
from fabkit.build.targets import BuildResult, FolderResult, OutputPath, Target, build
from fabkit.core.errors import InputError, pluralize
from fabkit.core.files import digest, json_text
from fabkit.core.progress import Progress, no_progress
from fabkit.model.accessory import Accessory, Printable, printables, profile_as_made
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.profile_file import dump_profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.drawing.part import PartDrawing
    from fabkit.printing.plate import Plate

#: The effective profile, written beside the files, and the name of one that was edited.
PROFILE, EDITED_PROFILE = "profile.toml", "profile.edited.toml"
#: The contents of each plate, for scripts and for `fabkit slice`.
PLATES = "plates/plates.json"

#: Makes a file of some printables; called with its name.
_Maker = Callable[[Artifacts, Sequence[Printable], str, OutputPath], None]


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


def _3mf(
    artifacts: Artifacts, printables: Sequence[Printable], name: str, output_path: OutputPath
) -> None:
    """All pieces on their plates; or a single one, in the middle of the bed."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package3mf import piece_package

    if "/" in name:
        (printable,) = printables
        drawing, puzzle = artifacts.drawings[printable.id], artifacts.puzzle
        package = piece_package(puzzle, artifacts.print_of(printable), drawing, artifacts.profile)
        content = write_3mf(package)
    else:
        content = _plates_file(artifacts, artifacts.plates)
    output_path(name).write_bytes(content)


def _plates_file(artifacts: Artifacts, plates: Sequence[Plate]) -> bytes:
    """The 3MF file of some plates."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package3mf import plates_package

    names = {placement.name for plate in plates for placement in plate.placements}
    prints = {
        printable.id: artifacts.print_of(printable)
        for printable in artifacts.printables
        if printable.id in names
    }
    drawings, profile = artifacts.drawings, artifacts.profile
    return write_3mf(plates_package(artifacts.puzzle, plates, prints, drawings, profile))


def _plates(
    artifacts: Artifacts, printables: Sequence[Printable], name: str, output_path: OutputPath
) -> None:
    from fabkit.printing.plate import plate_document

    write_plates(artifacts, f"{name}plate-{{}}", output_path)
    document = plate_document(
        artifacts.puzzle, artifacts.plates, artifacts.drawings, artifacts.profile
    )
    output_path(PLATES).write_bytes(json_text(document).encode())


def write_plates(artifacts: Artifacts, stem: str, output_path: OutputPath) -> None:
    """A 3MF file and a drawing of each plate; ``{}`` in the stem of their names is its number."""
    from fabkit.printing.plate import plate_drawing

    puzzle, drawings, profile = artifacts.puzzle, artifacts.drawings, artifacts.profile
    for plate in artifacts.plates:
        name = stem.format(plate.number)
        output_path(f"{name}.3mf").write_bytes(_plates_file(artifacts, [plate]))
        drawing = plate_drawing(puzzle, artifacts.plates, plate, drawings, profile)
        output_path(f"{name}.svg").write_bytes(drawing.encode())


def write_print(
    puzzle: PuzzleSet,
    drawings: Sequence[PartDrawing],
    profile: Profile,
    stl: str,
    stem: str,
    output_path: OutputPath,
    progress: Progress,
    plates: Sequence[Plate] = (),
) -> None:
    """An STL file of each drawing, in a folder, and the plates; see `write_plates`."""
    pieces = tuple(Piece(drawing.piece, drawing.piece, drawing.colour, ()) for drawing in drawings)
    puzzle, by_name = (
        replace(puzzle, pieces=pieces),
        {drawing.piece: drawing for drawing in drawings},
    )
    artifacts = Artifacts(puzzle, pieces, profile, drawings=by_name)
    if plates:
        artifacts.plates = list(plates)
    for done, piece in enumerate(pieces):
        progress(done, len(pieces), piece.id)
        artifacts.write_stl(piece, output_path(f"{stl}/{piece.id}.stl"))
    write_plates(artifacts, stem, output_path)


def _cut(
    artifacts: Artifacts, printables: Sequence[Printable], name: str, output_path: OutputPath
) -> None:
    """One piece as DXF or SVG, or all of them on sheets."""
    from fabkit.output import cutting

    kind = name[:3]
    write = cutting.sheet_dxf if kind == "dxf" else cutting.sheet_svg
    if name[-1] != "/":
        text = write(*artifacts.cuts[printables[0].id].on_own_sheet())
        output_path(name).write_bytes(text.encode())
        return
    for sheet in artifacts.sheets:
        text = write(sheet.placed, sheet.width_mm, sheet.depth_mm)
        output_path(f"{name}sheet-{sheet.number}.{kind}").write_bytes(text.encode())


def _notes(artifacts: Artifacts, printables: Sequence[Printable]) -> dict[str, Any]:
    """The notes on pieces in the manifest."""
    drawings = [artifacts.drawings[printable.id] for printable in printables]
    return {
        drawing.piece: {
            "magnets_mm": [list(recess.centre_mm) for recess in drawing.recesses],
            "poles": [recess.pole for recess in drawing.recesses],
            "pause_height_mm": drawing.pause_height_mm,
            "cap_height_mm": drawing.label.cap_height_mm if drawing.label else None,
        }
        for drawing in drawings
    }


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        make: how it is made.
        each: the file of one piece, with ``{}`` for its id; empty if there is none.
        whole: the file of the whole set, with ``{}`` for its name, or a folder of files whose
            number is known only when they are made; empty for neither.
        has_metadata: whether it contains names, colours and credits.
        reads: prefixes of the profile's keys that matter besides those that shape the pieces.
        packages: the packages of fabkit that make it.
        libraries: the libraries that make it.
        cut: whether it is cut from a sheet, so that only flat pieces have one.
    """

    make: _Maker
    each: str
    whole: str
    has_metadata: bool
    reads: tuple[str, ...]
    packages: tuple[str, ...]
    libraries: tuple[str, ...]
    cut: bool = False


#: The packages and the libraries that make solids, prints and paths to cut.
_SOLID = ("model", "drawing", "solid"), ("cadquery", "cadquery-ocp", "shapely", "fonttools")
_PRINT = (
    (*_SOLID[0], "mesh", "printing", "output"),
    (*_SOLID[1], "lib3mf", "pillow", "spyrrow", "rectpack"),
)
_CUT = (
    ("model", "drawing", "printing", "output"),
    ("shapely", "fonttools", "ezdxf", "spyrrow", "rectpack"),
)
#: Keys that matter to plates in addition.
_LAYOUT = ("label.", "plate.", "printer.", "cell.")
#: Keys that shape boards and lids in addition.
_OF_BOARDS = ("board.", "lid.")

#: All kinds by name, in the order in which they are made: STL files first, since others share their
#: triangles.
KINDS: dict[str, Kind] = {
    "stl": Kind(_stl, "stl/{}.stl", "", False, (), *_SOLID),
    "step": Kind(_step, "step/{}.step", "{}.step", True, (), *_SOLID),
    "3mf": Kind(_3mf, "3mf/{}.3mf", "{}.3mf", True, _LAYOUT, *_PRINT),
    "plates": Kind(_plates, "", "plates/", True, _LAYOUT, *_PRINT),
    "dxf": Kind(_cut, "dxf/{}.dxf", "dxf-sheets/", False, ("laser.",), *_CUT, cut=True),
    "svg": Kind(_cut, "svg/{}.svg", "svg-sheets/", False, ("laser.",), *_CUT, cut=True),
}


def kinds_for(puzzle: PuzzleSet) -> list[str]:
    """All kinds of files that a set can have: ball pieces are not cut from sheets.

    Example:
        >>> from fabkit.model.library import load_set
        >>> kinds_for(load_set("iqfit"))
        ['stl', 'step', '3mf', 'plates']
    """
    return [name for name, kind in KINDS.items() if not (kind.cut and puzzle.made_of_balls)]


def targets_for(artifacts: Artifacts, kinds: Sequence[str]) -> list[Target]:
    """The files of some kinds: one for each printable, and those of the whole set.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profile_file import load_profile
        >>> fridgeiq, profile = load_set("fridgeiq"), load_profile()
        >>> targets = targets_for(Artifacts(fridgeiq, fridgeiq.pieces[:2], profile), ["stl", "step"])
        >>> [name for target in targets for name in target.names]
        ['stl/A.stl', 'stl/R.stl', 'step/A.step', 'step/R.step']
    """
    puzzle, profile = artifacts.puzzle, artifacts.profile
    is_all = len(artifacts.printables) == len(printables(puzzle, profile))
    targets = []
    for kind, how in KINDS.items():
        of_kind = [
            printable
            for printable in artifacts.printables
            if isinstance(printable, Piece) or not how.cut
        ]
        wanted = [(how.each.format(printable.id), [printable]) for printable in of_kind if how.each]
        if is_all and how.whole and of_kind:
            wanted.append((how.whole.format(puzzle.name), of_kind))
        if kind not in kinds or not wanted:
            continue
        profiles = [profile_digest(profile, (*how.reads, *more)) for more in ((), _OF_BOARDS)]
        metadata = (
            (puzzle.title, puzzle.credit, puzzle.licence, profile.name) if how.has_metadata else ()
        )
        head = [kind, puzzle.name, puzzle.lattice.name, *metadata]
        head.append(generator_digest(how.packages, how.libraries))
        for name, inside in wanted:
            boards = not all(isinstance(printable, Piece) for printable in inside)
            title = [puzzle.title] if boards else []  # the title is engraved
            drawings = json.dumps([_drawing(printable, how.has_metadata) for printable in inside])
            recipe = digest(*head, profiles[boards], *title, name, drawings)
            make = partial(_make, how, artifacts, inside, name)
            prepare = partial(_prepare, artifacts, name, how.cut)
            targets.append(Target((name,), recipe, make, prepare, kind))
    return targets


def _make(
    how: Kind,
    artifacts: Artifacts,
    printables: Sequence[Printable],
    name: str,
    output_path: OutputPath,
) -> None:
    with library_failures(name):
        if not how.cut:
            output_path = partial(output_path, pieces=_notes(artifacts, printables))
        how.make(artifacts, printables, name, output_path)


def _prepare(artifacts: Artifacts, name: str, cut: bool) -> None:
    """Draft and lay out, which may raise an `InputError`."""
    with library_failures(name):
        if cut:
            _ = artifacts.sheets if name[-1] == "/" else artifacts.cuts
        else:
            is_laid_out = name == "plates/" or (name.endswith(".3mf") and "/" not in name)
            _ = artifacts.plates if is_laid_out else artifacts.drawings


def _drawing(printable: Printable, has_metadata: bool) -> list[object]:
    """The content of a piece or accessory that its files depend on, for a hash."""
    colour = [printable.colour] if has_metadata else []
    if isinstance(printable, Accessory):
        return [printable.id, printable.kind, sorted(printable.board.cells), colour]
    balls = [printable.body.balls, printable.body.bonds] if printable.body else []
    tones = [printable.tone, sorted(printable.tones)] if has_metadata and printable.tones else []
    return [
        printable.id,
        printable.label,
        [form.rings for form in printable.forms],
        balls,
        tones,
        colour,
    ]


@dataclass(frozen=True)
class ExportResult(FolderResult):
    """The result of an export.

    Attributes:
        pieces: for each piece the notes of the manifest: ``magnets_mm`` (places), ``poles``,
            ``pause_height_mm`` and ``cap_height_mm``.
        edited: the warning on an edited profile.
        leftovers: returns warnings on files that do not match the set or profile.
        face_down: ids of the pieces that are printed face down. Their 3MF files are face down; STL
            and STEP files have the back down, and must be turned over in the slicer.
    """

    pieces: dict[str, dict[str, Any]]
    edited: tuple[str, ...]
    leftovers: Callable[[], list[str]]
    face_down: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings."""
        return (*self.edited, *self.leftovers())

    @property
    def magnets(self) -> int:
        """The number of magnets."""
        return sum(len(piece["magnets_mm"]) for piece in self.pieces.values())

    @property
    def pause_heights_mm(self) -> list[float]:
        """The heights at which the printer pauses for magnets, each once."""
        heights = {piece["pause_height_mm"] for piece in self.pieces.values()}
        return sorted(height for height in heights if height is not None)


def export(
    puzzle: PuzzleSet,
    profile: Profile,
    kinds: Sequence[str],
    folder: Path,
    piece_ids: Sequence[str] = (),
    force: bool = False,
    progress: Progress = no_progress,
) -> ExportResult:
    """Bring the files of some kinds up to date; raises the errors of `build`."""
    wanted, all_kinds = printables(puzzle, profile, piece_ids), [*kinds_for(puzzle), *kinds]
    artifacts = Artifacts(
        puzzle,
        wanted,
        profile,
        lambda: {} if force else _current_stl_files(folder, puzzle, planned),
    )
    planned = targets_for(artifacts, all_kinds)
    targets = [target for target in planned if target.kind in kinds]
    if not targets:
        ids = ", ".join(printable.id for printable in wanted)
        raise InputError.of(puzzle.name, f"{ids}: only flat pieces can be cut from a sheet")
    text = dump_profile(profile)
    write = partial(write_contents, {PROFILE: text})
    beside = Target((PROFILE,), digest(text), write, edited_as=EDITED_PROFILE)
    built = build(folder, puzzle, profile, [*targets, beside], force, progress, accounted=True)

    def leftovers() -> list[str]:
        whole_set = printables(puzzle, profile)
        is_all = len(whole_set) == len(wanted)
        all_targets = (
            planned if is_all else targets_for(Artifacts(puzzle, whole_set, profile), all_kinds)
        )
        return list(_leftovers(folder, puzzle, all_targets))

    files, notes = file_summaries(built, PROFILE), pieces_in(built.files)
    flat = (
        []
        if puzzle.made_of_balls
        else [printable.id for printable in wanted if isinstance(printable, Piece)]
    )
    as_drawn = {f"stl/{piece_id}.stl" for piece_id in flat} | {
        f"step/{piece_id}.step" for piece_id in flat
    }
    turned = profile_as_made(puzzle, profile).facing == "down" and as_drawn & set(files)
    face_down = tuple(flat) if turned else ()
    return ExportResult(folder, files, notes, tuple(built.warnings), leftovers, face_down)


def file_summaries(built: BuildResult, *but: str) -> dict[str, dict[str, Any]]:
    """For each file its ``sha256``, and whether it was ``written`` now."""
    return {
        name: {"sha256": entry.sha256, "written": name in built.written}
        for name, entry in built.files.items()
        if name not in but
    }


def current_stl_files(folder: Path, puzzle: PuzzleSet, profile: Profile) -> dict[str, Path]:
    """The STL files in an output folder that are up to date, by id."""
    artifacts = Artifacts(puzzle, printables(puzzle, profile), profile)
    return _current_stl_files(folder, puzzle, targets_for(artifacts, ["stl"]))


def _current_stl_files(
    folder: Path, puzzle: PuzzleSet, targets: Sequence[Target]
) -> dict[str, Path]:
    manifest = read_manifest(folder, puzzle, force=True)
    return {
        Path(target.names[0]).stem: folder / target.names[0]
        for target in targets
        if target.kind == "stl" and target.is_current(manifest, folder)
    }


def _leftovers(folder: Path, puzzle: PuzzleSet, targets: Sequence[Target]) -> Iterator[str]:
    """Warnings on files that do not match the set or profile."""
    manifest = read_manifest(folder, puzzle, force=True)
    here = {name: entry for name, entry in manifest.files.items() if (folder / name).is_file()}
    owners = {
        name: next((target for target in targets if target.owns(name)), None) for name in here
    }
    unknown_files = sorted(name for name in here if here[name].kind and owners[name] is None)
    if unknown_files:
        yield f"no longer part of the set: {', '.join(unknown_files)}"
    others = sorted(n for n, target in owners.items() if target and here[n].recipe != target.recipe)
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made from another drawing or profile: {pluralize(len(others), 'file')} ({kinds}); export "
            "again, or keep profiles apart with -o"
        )
    old = [
        name
        for name, entry in sorted(here.items())
        if entry.about and entry.about != manifest.about(entry.about.partition("/")[0])
    ]
    if old:
        yield f"out of date: {', '.join(old)}; run the commands again"
