"""The files of a set: its kinds, what each is made of, and the command that brings them up to date."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.artifacts import Artifacts, library_failures
from fabkit.build.manifest import generator_digest, pieces_in, profile_digest, read_manifest
from fabkit.build.reports import write_contents
from fabkit.build.targets import Built, Place, Progress, Target, build, silent
from fabkit.core.errors import InputError, many
from fabkit.core.files import digest, json_text
from fabkit.model.accessory import Accessory, Thing, as_printed, things
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.profilefile import dump_profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.printing.plate import Plate

#: The effective profile, written beside the files, and where one goes that was changed by hand.
PROFILE, EDITED_PROFILE = "profile.toml", "profile.edited.toml"
#: What lies on each plate, for scripts and for `fabkit slice`.
PLATES = "plates/plates.json"

#: Makes the file of some things, by its name.
_Maker = Callable[[Artifacts, Sequence[Thing], str, Place], None]


def _stl(made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    made_of.write_stl(some[0], place(name, pieces=_notes(made_of, some)))


def _step(made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    from fabkit.solid.export import NamedSolid, write_step

    parts = [NamedSolid(one.id, one.colour, made_of.solid(one)) for one in some]
    write_step(parts, made_of.puzzle.name, place(name, pieces=_notes(made_of, some)))


def _3mf(made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    """All pieces on their plates; or one alone, in the middle of the bed."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package import piece_package

    if "/" in name:
        (one,) = some
        drawing, puzzle = made_of.blueprints[one.id], made_of.puzzle
        package = piece_package(puzzle, made_of.print_of(one), drawing, made_of.profile)
        content = write_3mf(package)
    else:
        content = _plates_file(made_of, made_of.plates)
    place(name, pieces=_notes(made_of, some)).write_bytes(content)


def _plates_file(made_of: Artifacts, plates: Sequence[Plate]) -> bytes:
    """The 3MF file of some plates."""
    from fabkit.mesh.files.writing3mf import write_3mf
    from fabkit.printing.package import plates_package

    names = {spot.name for plate in plates for spot in plate.spots}
    prints = {one.id: made_of.print_of(one) for one in made_of.things if one.id in names}
    drawings, profile = made_of.blueprints, made_of.profile
    return write_3mf(plates_package(made_of.puzzle, plates, prints, drawings, profile))


def _plates(made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    from fabkit.printing.plate import plate_document

    place = partial(place, pieces=_notes(made_of, some))
    write_plates(made_of, f"{name}plate-{{}}", place)
    document = plate_document(made_of.puzzle, made_of.plates, made_of.blueprints, made_of.profile)
    place(PLATES).write_bytes(json_text(document).encode())


def write_plates(made_of: Artifacts, stem: str, place: Place) -> None:
    """A 3MF file and a drawing of each plate; in the stem of their names ``{}`` is its number."""
    from fabkit.printing.plate import plate_drawing

    puzzle, drawings, profile = made_of.puzzle, made_of.blueprints, made_of.profile
    for plate in made_of.plates:
        name = stem.format(plate.number)
        place(f"{name}.3mf").write_bytes(_plates_file(made_of, [plate]))
        drawing = plate_drawing(puzzle, made_of.plates, plate, drawings, profile)
        place(f"{name}.svg").write_bytes(drawing.encode())


def write_print(made_of: Artifacts, stl: str, stem: str, place: Place, progress: Progress) -> None:
    """An STL file of each thing, in a folder, and the plates; see `write_plates`."""
    for done, one in enumerate(made_of.things):
        progress(done, len(made_of.things), one.id)
        made_of.write_stl(one, place(f"{stl}/{one.id}.stl"))
    write_plates(made_of, stem, place)


def _cut(made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    """One piece as DXF or SVG, or all of them on sheets."""
    from fabkit.output import cutting

    kind = name[:3]
    if name[-1] != "/":
        of_piece = cutting.piece_dxf if kind == "dxf" else cutting.piece_svg
        place(name).write_bytes(of_piece(made_of.cuts[some[0].id]).encode())
        return
    of_sheet = cutting.sheet_dxf if kind == "dxf" else cutting.sheet_svg
    for sheet in made_of.sheets:
        text = of_sheet(sheet.placed, sheet.width_mm, sheet.depth_mm)
        place(f"{name}sheet-{sheet.number}.{kind}").write_bytes(text.encode())


def _notes(made_of: Artifacts, some: Sequence[Thing]) -> dict[str, Any]:
    """What people and scripts want to know of pieces beside their files."""
    drawings = [made_of.blueprints[one.id] for one in some]
    return {
        one.piece: {
            "magnets_mm": [list(recess.centre_mm) for recess in one.recesses],
            "poles": [recess.pole for recess in one.recesses],
            "pause_height_mm": one.pause_height_mm,
            "cap_height_mm": one.label.cap_height_mm if one.label else None,
        }
        for one in drawings
    }


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        make: how it is made.
        each: the file of one piece, with its id for ``{}``; empty when there is none.
        whole: the file of the whole set, with its name for ``{}``, or a folder of files whose
            number shows when they are made; empty for neither.
        tells: whether it tells names, colours and where the shapes come from.
        reads: beginnings of the profile's keys that count besides those that shape the pieces.
        rooms: what of fabkit's own code makes it.
        libraries: what else makes it.
        cut: whether it is cut from a sheet, so that there is one only of flat pieces.
    """

    make: _Maker
    each: str
    whole: str
    tells: bool
    reads: tuple[str, ...]
    rooms: tuple[str, ...]
    libraries: tuple[str, ...]
    cut: bool = False


_SOLID = ("model", "drawing", "solid")
_CAD = ("cadquery", "cadquery-ocp", "shapely", "fonttools")
_PRESS = (*_SOLID, "mesh", "printing", "output")
_PRESSED = (*_CAD, "lib3mf", "pillow", "spyrrow", "rectpack")
_LAYOUT = ("label.", "plate.", "printer.", "cell.")
_FLAT = ("model", "drawing", "printing", "output")
_DRAWN = ("shapely", "fonttools", "ezdxf", "spyrrow", "rectpack")
#: What shapes boards and lids besides.
_OF_BOARDS = ("board.", "lid.")

#: All kinds by name, in the order in which they are made: STL files first, whose triangles others
#: have, too.
KINDS: dict[str, Kind] = {
    "stl": Kind(_stl, "stl/{}.stl", "", False, (), _SOLID, _CAD),
    "step": Kind(_step, "step/{}.step", "{}.step", True, (), _SOLID, _CAD),
    "3mf": Kind(_3mf, "3mf/{}.3mf", "{}.3mf", True, _LAYOUT, _PRESS, _PRESSED),
    "plates": Kind(_plates, "", "plates/", True, _LAYOUT, _PRESS, _PRESSED),
    "dxf": Kind(_cut, "dxf/{}.dxf", "dxf-sheets/", False, ("laser.",), _FLAT, _DRAWN, cut=True),
    "svg": Kind(_cut, "svg/{}.svg", "svg-sheets/", False, ("laser.",), _FLAT, _DRAWN, cut=True),
}


def kinds_for(puzzle: PuzzleSet) -> list[str]:
    """All kinds of files that a set can have: pieces of balls are not cut from sheets.

    Example:
        >>> from fabkit.model.library import load_set
        >>> kinds_for(load_set("iqfit"))
        ['stl', 'step', '3mf', 'plates']
    """
    return [name for name, kind in KINDS.items() if not (kind.cut and puzzle.made_of_balls)]


def plan(made_of: Artifacts, kinds: Sequence[str]) -> list[Target]:
    """The files of some kinds: one for each thing, and those of the whole set with all of them.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> fridgeiq, profile = load_set("fridgeiq"), load_profile()
        >>> targets = plan(Artifacts(fridgeiq, fridgeiq.pieces[:2], profile), ["stl", "step"])
        >>> [name for target in targets for name in target.names]
        ['stl/A.stl', 'stl/R.stl', 'step/A.step', 'step/R.step']
    """
    puzzle, profile = made_of.puzzle, made_of.profile
    is_all = len(made_of.things) == len(things(puzzle, profile))
    targets = []
    for kind, how in KINDS.items():
        some = [one for one in made_of.things if isinstance(one, Piece) or not how.cut]
        wanted = [(how.each.format(one.id), [one]) for one in some if how.each]
        if is_all and how.whole and some:
            wanted.append((how.whole.format(puzzle.name), some))
        if kind not in kinds or not wanted:
            continue
        profiles = [profile_digest(profile, (*how.reads, *more)) for more in ((), _OF_BOARDS)]
        told = (puzzle.title, puzzle.credit, puzzle.licence, profile.name) if how.tells else ()
        head = [kind, puzzle.name, puzzle.lattice.name, *told]
        head.append(generator_digest(how.rooms, how.libraries))
        for name, inside in wanted:
            boards = not all(isinstance(one, Piece) for one in inside)
            title = [puzzle.title] if boards else []  # which is engraved
            drawings = json.dumps([_drawing(one, how.tells) for one in inside])
            recipe = digest(*head, profiles[boards], *title, name, drawings)
            make = partial(_make, how.make, made_of, inside, name)
            prepare = partial(_prepare, made_of, name, how.cut)
            targets.append(Target((name,), recipe, make, prepare, kind))
    return targets


def _make(make: _Maker, made_of: Artifacts, some: Sequence[Thing], name: str, place: Place) -> None:
    with library_failures(name):
        make(made_of, some, name, place)


def _prepare(made_of: Artifacts, name: str, cut: bool) -> None:
    """Draws and lays out, which may be refused."""
    with library_failures(name):
        if cut:
            _ = made_of.sheets if name[-1] == "/" else made_of.cuts
        else:
            is_laid_out = name == "plates/" or (name.endswith(".3mf") and "/" not in name)
            _ = made_of.plates if is_laid_out else made_of.blueprints


def _drawing(one: Thing, tells: bool) -> list[object]:
    """What of a piece or accessory goes into its files, for a hash."""
    colour = [one.colour] if tells else []
    if isinstance(one, Accessory):
        return [one.id, one.kind, sorted(one.board.cells), colour]
    balls = [one.body.balls, one.body.bonds] if one.body else []
    tones = [one.tone, sorted(one.tones)] if tells and one.tones else []
    return [one.id, one.label, [form.rings for form in one.forms], balls, tones, colour]


@dataclass(frozen=True)
class Export:
    """What an export did.

    Attributes:
        folder: the output folder.
        files: every file asked for, with its ``sha256`` and whether it was ``written`` now.
        pieces: for each piece what the manifest says of it: ``magnets_mm`` (places), ``poles``,
            ``pause_height_mm`` and ``cap_height_mm``.
        edited: what is told of a profile that had been changed by hand.
        left_behind: finds what in the folder does not belong to the set as it is now.
        face_down: ids of the pieces that are printed face down. Their 3MF files lie so; STL and
            STEP files lie as drawn, back down, and are to be turned over in the slicer.
    """

    folder: Path
    files: dict[str, dict[str, Any]]
    pieces: dict[str, dict[str, Any]]
    edited: tuple[str, ...]
    left_behind: Callable[[], list[str]]
    face_down: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What else in the folder deserves a look, in sentences."""
        return (*self.edited, *self.left_behind())

    @property
    def written(self) -> int:
        """How many files were written now; the others were up to date."""
        return sum(file["written"] for file in self.files.values())

    @property
    def magnets(self) -> int:
        """How many magnets the pieces hold."""
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
    progress: Progress = silent,
) -> Export:
    """Brings the files of some kinds up to date; see `build` for what is refused."""
    wanted, all_kinds = things(puzzle, profile, piece_ids), [*kinds_for(puzzle), *kinds]
    made_of = Artifacts(
        puzzle, wanted, profile, lambda: {} if force else _fresh_meshes(folder, puzzle, planned)
    )
    planned = plan(made_of, all_kinds)
    targets = [one for one in planned if one.kind in kinds]
    if not targets:
        ids = ", ".join(one.id for one in wanted)
        raise InputError.of(puzzle.name, f"{ids}: only flat pieces can be cut from a sheet")
    text = dump_profile(profile)
    write = partial(write_contents, {PROFILE: text})
    beside = Target((PROFILE,), digest(text), write, edited_as=EDITED_PROFILE)
    built = build(folder, puzzle, profile, [*targets, beside], force, progress, accounted=True)

    def left_behind() -> list[str]:
        every = things(puzzle, profile)
        is_all = len(every) == len(wanted)
        all_targets = planned if is_all else plan(Artifacts(puzzle, every, profile), all_kinds)
        return list(_left_behind(folder, puzzle, all_targets))

    files, notes = shown_files(built, PROFILE), pieces_in(built.files)
    flat = [] if puzzle.made_of_balls else [one.id for one in wanted if isinstance(one, Piece)]
    as_drawn = {f"stl/{one}.stl" for one in flat} | {f"step/{one}.step" for one in flat}
    turned = as_printed(puzzle, profile).facing == "down" and as_drawn & set(files)
    face_down = tuple(flat) if turned else ()
    return Export(folder, files, notes, tuple(built.warnings), left_behind, face_down)


def shown_files(built: Built, *but: str) -> dict[str, dict[str, Any]]:
    """What commands tell of each file: its ``sha256``, and whether it was ``written`` now."""
    return {
        name: {"sha256": entry.sha256, "written": name in built.written}
        for name, entry in built.files.items()
        if name not in but
    }


def fresh_meshes(folder: Path, puzzle: PuzzleSet, profile: Profile) -> dict[str, Path]:
    """The STL files in an output folder, by id, that are what would be built now."""
    made_of = Artifacts(puzzle, things(puzzle, profile), profile)
    return _fresh_meshes(folder, puzzle, plan(made_of, ["stl"]))


def _fresh_meshes(folder: Path, puzzle: PuzzleSet, targets: Sequence[Target]) -> dict[str, Path]:
    manifest = read_manifest(folder, puzzle, force=True)
    return {
        Path(one.names[0]).stem: folder / one.names[0]
        for one in targets
        if one.kind == "stl" and one.is_fresh(manifest, folder)
    }


def _left_behind(folder: Path, puzzle: PuzzleSet, targets: Sequence[Target]) -> Iterator[str]:
    """What in the folder does not belong to the set as it is now, in sentences."""
    manifest = read_manifest(folder, puzzle, force=True)
    here = {name: entry for name, entry in manifest.files.items() if (folder / name).is_file()}
    owners = {name: next((one for one in targets if one.owns(name)), None) for name in here}
    strangers = sorted(name for name in here if here[name].kind and owners[name] is None)
    if strangers:
        yield f"no longer part of the set: {', '.join(strangers)}"
    others = sorted(n for n, one in owners.items() if one and here[n].recipe != one.recipe)
    if others:
        kinds = ", ".join(sorted({name.partition("/")[0] for name in others}))
        yield (
            f"made from another drawing or profile: {many(len(others), 'file')} ({kinds}); export "
            "again, or keep profiles apart with -o"
        )
    old = [
        name
        for name, entry in sorted(here.items())
        if entry.about and entry.about != manifest.about(entry.about.partition("/")[0])
    ]
    if old:
        yield f"of other files than are here now: {', '.join(old)}; make them again"
