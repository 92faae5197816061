"""What the browser shows while a profile is tuned: its values and errors, solids, sections, plates,
the bill of materials; and the files to print."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import ErrorDetail, InputError, join_or, no_such, quote
from fabkit.core.files import digest
from fabkit.core.progress import Progress, counted
from fabkit.model.profile import SETTINGS
from fabkit.model.profile_file import (
    BY_KEY,
    dump_profile,
    format_values,
    layer_groups,
    merge_layers,
    preset_names,
    read_layer,
)
from fabkit.studio.files import WorkingFolder
from fabkit.studio.project import Emit, Project

if TYPE_CHECKING:
    from fabkit.build.artifacts import Artifacts
    from fabkit.mesh.mesh import Mesh
    from fabkit.model.accessory import Printable
    from fabkit.model.lattice import Cell
    from fabkit.solve.encoding import Layout

#: Solids that are kept: those of the largest shipped set, as they are and as they were.
_KEPT = 64
#: Time limits for the solution that is shown, and for each challenge of a check, in seconds.
_SOLUTION_S, _CHECK_S = 5.0, 60.0
#: Digits of coordinates in mm.
_DIGITS = 3
#: A key of a profile in a message.
_KEY = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, sorted(BY_KEY, key=len, reverse=True)))})(?![\w.]*\w)"
)


# --- the profile --------------------------------------------------------------------------------


def profile(project: Project) -> dict[str, Any]:
    """Read the profile for the browser.

    Returns:
        ``settings``, with key, kind, limits and description; ``layers`` to choose from, titles by
        name, in groups; by key the ``values``, and those that they have when ``reset``; and the
        ``faults`` of the values, each with its ``key`` and ``message``.
    """
    layers, settings, set_values = project.profile_layers
    reset = format_values(vars(merge_layers(layers, (), set_values)))
    try:
        values = format_values(vars(merge_layers(layers, settings, set_values)))
    except InputError:
        values = reset | {key: text for key, text in project.settings.items() if key in reset}

    def remains(key: str, other: Project) -> bool:
        return key in _errors(other)

    faults = [
        _fault(project, detail, partial(remains, key)) for key, detail in _errors(project).items()
    ]
    return {
        "settings": _settings(),
        "layers": _layers(),
        "values": values,
        "reset": reset,
        "faults": faults,
    }


@lru_cache(1)
def _settings() -> list[dict[str, Any]]:
    return [
        {
            "key": setting.key,
            "kind": setting.kind,
            "limits": list(setting.limits),
            "description": setting.description,
        }
        for setting in SETTINGS
    ]


@lru_cache(1)
def _layers() -> dict[str, dict[str, str]]:
    groups = {"profile": preset_names(), **layer_groups()}
    return {
        group: {name: read_layer(name)["title"] for name in names}
        for group, names in groups.items()
    }


def _errors(project: Project) -> dict[str, ErrorDetail]:
    """The errors of a profile, by key."""
    try:
        _ = project.profile
    except InputError as error:
        return {detail.key: detail for detail in error.errors}
    return {}


def _fault(
    project: Project, detail: ErrorDetail, remains: Callable[[Project], bool]
) -> dict[str, str]:
    """Describe an error at the key that causes it: the latest setting without which it disappears.

    An error that the layers already have is described at the first key that it names.
    """
    for key in reversed([*project.settings]):
        others = {other: text for other, text in project.settings.items() if other != key}
        if not remains(replace(project, settings=others)):
            break
    else:
        named = _KEY.search(f"{detail.key} {detail.message}")
        key = named[0] if named else ""
    return {"key": key, "message": detail.message if detail.key == key else str(detail)}


def profile_file(project: Project) -> dict[str, Any]:
    """Write the settings, without the layers below them, as a profile file.

    Returns:
        The ``name`` and ``text`` of the file; the digest by which an earlier one of that name is
        ``known``, as `WorkingFolder.save` takes it; and whether that one ``differs``.
    """
    layers, _, set_values = project.profile_layers
    text = dump_profile(project.profile, merge_layers(layers, (), set_values))
    name = f"{project.name.removesuffix('.toml')}-profile.toml"
    known, differs = "", False
    if (project.folder / name).exists():
        before = WorkingFolder(project.folder).read(name)
        known, differs = before["digest"], before["text"] != text
    return {"name": name, "text": text, "known": known, "differs": differs}


# --- solids -------------------------------------------------------------------------------------

#: What was made of drawings, by these and by what else the models depend on.
_made: OrderedDict[tuple[object, ...], tuple[Mesh, dict[str, Any]]] = OrderedDict()


def _artifacts(project: Project) -> tuple[Artifacts, list[dict[str, str]], list[str]]:
    """The parts of a set that can be drafted, with the meshes that are kept; the faults of the others;
    and the ids of all."""
    from fabkit.build.artifacts import Artifacts
    from fabkit.drawing.boards.parts import printed_parts
    from fabkit.drawing.draft import draft_possible, draft_printable

    puzzle, profile = project.puzzle, project.profile

    def fails(part: Printable, other: Project) -> bool:
        try:
            return bool(draft_possible(puzzle, [part], other.profile, draft_printable)[1])
        except InputError:
            return True

    parts = printed_parts(puzzle, profile)
    drafted, failed = draft_possible(puzzle, parts, profile, draft_printable)
    faults = [
        _fault(
            project,
            ErrorDetail(", ".join(part.id for part in group), message),
            partial(fails, group[0]),
        )
        for message, group in failed.items()
    ]
    drawings = {drawing.piece: drawing for drawing in drafted}
    possible = [part for part in parts if part.id in drawings]
    artifacts = Artifacts(puzzle, possible, profile, drawings=drawings)
    keys = {part.id: _made_from(artifacts, part) for part in possible}
    meshes = {part_id: _made[key][0] for part_id, key in keys.items() if key in _made}
    artifacts = Artifacts(puzzle, possible, profile, drawings=drawings, meshes=meshes)
    return artifacts, faults, [part.id for part in parts]


def _made_from(artifacts: Artifacts, part: Printable) -> tuple[object, ...]:
    from fabkit.model.piece import Piece

    profile, drawing = artifacts.profile, artifacts.drawings[part.id]
    if profile.tones == "plain" or not isinstance(part, Piece):
        return (drawing,)
    marks = artifacts.puzzle.marks.items() if part.back else ()
    tones = (
        part.tone,
        part.tones,
        part.back,
        part.forms[0],
        tuple(marks),
        artifacts.puzzle.lattice.name,
    )
    return drawing, profile.unit_mm, profile.label_depth_mm, *tones


def _model(artifacts: Artifacts, part: Printable) -> dict[str, Any]:
    """Return the viewer's model of a part: that of an equal drawing, if it is kept."""
    from fabkit.build.page_assets import viewer_model

    key = _made_from(artifacts, part)
    if key not in _made:
        model = viewer_model(artifacts, part)
        _made[key] = artifacts.mesh(part), model
    _made.move_to_end(key)
    while len(_made) > _KEPT:
        _made.popitem(last=False)
    return _made[key][1]


def solids(project: Project, first: str = "", *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Make the solids of everything that the set prints.

    Emits the ``ids`` of all parts, and the ``faults`` of those that the profile does not suit; then
    for each other part its ``id``, its ``kind`` (``piece``, or that of a board or lid) and ``model``, as soon as it is made.

    Args:
        first: the id of the part that is made before the others.

    Returns:
        ``bill``: see `_bill`; null if a part cannot be made.
    """
    from fabkit.build.slicing import bom_of

    artifacts, faults, ids = _artifacts(project)
    parts = sorted(artifacts.printables, key=lambda part: part.id != first)
    emit({"faults": faults, "ids": ids})
    for done, part in enumerate(parts):
        counted(progress, done, len(parts), part.id)
        kind = getattr(part, "kind", "piece")
        emit({"id": part.id, "kind": kind, "model": _model(artifacts, part)})
    bill = None
    if not faults:
        bom = bom_of(artifacts, artifacts.profile)
        document = bom.document()
        bill = {
            "parts": sum(piece.count for piece in bom.pieces),
            "grams": bom.grams,
            "magnets": document["magnets"],
            "cost": document["cost"],
            "pause": document["pause"],
            "notes": document["notes"],
        }
    return {"bill": bill}


def plates(project: Project, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Lay everything that the set prints out on beds.

    Returns:
        ``plates``: for each the ids of its parts and their matrices, as the viewer has them; and the
        ``faults``, if there are none.
    """
    from fabkit.build.page_assets import viewer_matrix
    from fabkit.printing.plate import mesh_transform

    def fails(other: Project) -> bool:
        try:
            artifacts, faults, _ = _artifacts(other)
            return bool(faults or not artifacts.plates)
        except InputError:
            return True

    artifacts, faults, _ = _artifacts(project)
    try:
        laid_out = [] if faults else artifacts.plates
    except InputError as error:
        # All have one cause: the bed.
        key = _fault(project, error.errors[0], fails)["key"]
        faults = [{"key": key, "message": str(detail)} for detail in error.errors]
        laid_out = []
    drawings = artifacts.drawings
    places = [
        [
            [placement.name, viewer_matrix(mesh_transform(placement, drawings[placement.name]))]
            for placement in plate.placements
        ]
        for plate in laid_out
    ]
    return {"plates": places, "faults": faults}


def assembled(project: Project, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Put the pieces of a solution on the set's board.

    Returns:
        ``parts``: their ids and matrices, as the viewer has them, the board among them if it is
        printed; null if no solution is known.
    """
    import numpy as np

    from fabkit.build.artifacts import Artifacts
    from fabkit.build.assembly_layout import boards_for_region, piece_placements
    from fabkit.build.page_assets import viewer_matrix
    from fabkit.model.accessory import LID

    puzzle, profile = project.puzzle, project.profile
    solution = _solution(project, progress)
    if solution is None:
        return {"parts": None}
    cells, layout = solution
    boards = [board for board in boards_for_region(puzzle, cells, profile) if board.kind != LID]
    artifacts = Artifacts(puzzle, (*puzzle.select([*layout]), *boards), profile)
    placements = piece_placements(artifacts, cells, layout, boards)
    parts = [[board.id, viewer_matrix(np.eye(3, 4))] for board in boards]
    parts += [[piece, viewer_matrix(matrix)] for piece, (matrix, _) in placements.items()]
    return {"parts": parts}


def _solution(project: Project, progress: Progress) -> tuple[frozenset[Cell], Layout] | None:
    """The cells of the set's first board or challenge, and a solution of it, if one is soon found."""
    from fabkit.solve.answer import solve
    from fabkit.solve.encoding import to_exact_cover
    from fabkit.solve.engines.engine import Budget

    if not (project.puzzle.boards or project.puzzle.challenges):
        return None
    challenge = project.challenge()
    encoded = to_exact_cover(project.puzzle, challenge)
    answer = solve(encoded, "first", budget=Budget(_SOLUTION_S, progress))
    if not answer.solutions:
        return None
    return challenge.board_cells, encoded.decode(answer.solutions[0])


def section(project: Project, part: str, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Cut a part through its first recess, or else through its middle.

    Returns:
        ``rings`` of points in mm, x to the right and z up, and ``measures``, each with its ``name``,
        ``mm`` and two points; all from the mesh.
    """
    import shapely

    from fabkit.mesh.section import polygons_by_size
    from fabkit.mesh.upright import measure_section, upright_section

    artifacts, _, _ = _artifacts(project)
    printable = next((known for known in artifacts.printables if known.id == part), None)
    if printable is None:
        return {"rings": [], "measures": []}
    _model(artifacts, printable)
    drawing = artifacts.drawings[part]
    recess = None
    y_mm = drawing.outline.representative_point().y
    if drawing.recesses:
        x_mm, y_mm = drawing.recesses[0].centre_mm
        recess = x_mm, drawing.recesses[0].diameters.widest_mm
    cut = upright_section(artifacts.mesh(printable), y_mm)
    rings = [ring for area in polygons_by_size(cut) for ring in (area.exterior, *area.interiors)]
    return {
        "rings": [shapely.get_coordinates(ring).round(_DIGITS).tolist() for ring in rings],
        "measures": [
            {
                "name": measure.name,
                "mm": measure.length_mm,
                "points": [
                    [round(value, _DIGITS) for value in point]
                    for point in (measure.start, measure.end)
                ],
            }
            for measure in measure_section(cut, recess)
        ],
    }


# --- files --------------------------------------------------------------------------------------

#: In the room: the folder of files to download, that of meshes to check, and that of their report.
_FILES, MESHES, _CHECK = "files", "meshes", "check"
#: The endings of meshes that can be checked.
_MESH_ENDINGS = ("stl", "3mf", "obj", "ply", "off", "glb")
#: Characters that names of meshes keep, and how many.
_UNSAFE, _LONGEST_NAME = re.compile(r"[^\w .-]|^\W+"), 60


def files(project: Project, kind: str, *, emit: Emit, progress: Progress) -> dict[str, str]:
    """Make a file to download: the whole set as one file, or its files in an archive.

    Args:
        kind: one of `MAKERS`.

    Returns:
        ``name``: its path below ``made/``.
    """
    from fabkit.core.files import write_atomically, zip_bytes
    from fabkit.jobs.parallel import all_cores

    if kind not in MAKERS:
        raise InputError.of("kind", no_such("kind of files", kind, [*MAKERS]))
    name = project.puzzle.name
    folder = project.room / _FILES / kind / name
    with all_cores():
        made = MAKERS[kind](project, folder, progress)
    if not isinstance(made, str):
        archive = f"{name}-{kind}.zip"
        write_atomically(folder / archive, zip_bytes(made))
        made = archive
    return {"name": (folder / made).relative_to(project.room).as_posix()}


def _export(kind: str, project: Project, folder: Path, progress: Progress) -> str:
    from fabkit.build.export import export

    export(project.puzzle, project.profile, [kind], folder, progress=progress)
    return f"{project.puzzle.name}.{kind}"


def _stl(project: Project, folder: Path, progress: Progress) -> Mapping[str, bytes]:
    from fabkit.build.export import PROFILE, export

    done = export(project.puzzle, project.profile, ["stl"], folder, progress=progress)
    return {Path(name).name: (folder / name).read_bytes() for name in [*done.files, PROFILE]}


def _booklet(project: Project, folder: Path, progress: Progress) -> str:
    from fabkit.build.booklet import BOOKLET, BookletFile

    BookletFile(project.puzzle, project.profile, folder, always=False).update(progress)
    return BOOKLET


def _page(project: Project, folder: Path, progress: Progress) -> Mapping[str, bytes]:
    from fabkit.build.entries import Selection
    from fabkit.build.page import make_page

    page = folder / _FILES
    done = make_page(project.puzzle, project.profile, page, Selection(), progress=progress)
    return {name: (page / name).read_bytes() for name in done.files}


def _toml(project: Project, folder: Path, progress: Progress) -> Mapping[str, bytes]:
    from fabkit.build.export import PROFILE

    texts = {project.name: project.text, PROFILE: dump_profile(project.profile)}
    return {name: text.encode() for name, text in texts.items()}


#: The kinds of files to download, and how each is made in a folder: a file in it, or the content of
#: an archive.
MAKERS: dict[str, Callable[[Project, Path, Progress], str | Mapping[str, bytes]]] = {
    "3mf": partial(_export, "3mf"),
    "stl": _stl,
    "step": partial(_export, "step"),
    "booklet": _booklet,
    "page": _page,
    "toml": _toml,
}


def mesh_path(room: Path, name: str) -> Path:
    """Return where a mesh that the browser sends is kept, under a name that is safe and like its own.

    Raises:
        InputError: when its name has no ending of meshes.

    Example:
        >>> mesh_path(Path("room"), "part of a?.stl").as_posix()
        'room/meshes/part of a_ cb5478.stl'
    """
    stem, dot, ending = name.rpartition(".")
    if ending.lower() not in _MESH_ENDINGS:
        raise InputError.of(quote(name), f"expected a mesh: {join_or(_MESH_ENDINGS)}")
    safe = _UNSAFE.sub("_", stem).lstrip("_")[-_LONGEST_NAME:]
    # Names that become alike stay different.
    mark = f" {digest(name)[:6]}" if safe != stem or not stem else ""
    return room / MESHES / f"{safe}{mark}{dot}{ending}"


def check(project: Project, names: list[str], *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Check meshes that were sent, as `fabkit check --set` does.

    Returns:
        ``ok``; the ``causes`` of failure, as sentences; the number of ``parts``; and ``page``, the
        path of the report with its pictures below ``made/``.
    """
    from fabkit.build.meshes import load_scan
    from fabkit.build.reports import check_contents
    from fabkit.core.files import write_atomically
    from fabkit.jobs.parallel import all_cores
    from fabkit.verify.reports import causes
    from fabkit.verify.reports import check as check_parts

    paths = [mesh_path(project.room, name) for name in names]
    is_known = bool(project.layers or project.settings)
    with all_cores():
        scan, limits = load_scan(paths, project.puzzle, project.profile, progress, is_known)
        report = check_parts(scan, limits, _CHECK_S, progress)
    for name, text in check_contents(report).items():
        write_atomically(project.room / _CHECK / name, text)
    return {
        "ok": report.ok,
        "profile": limits.name,
        "parts": len(report.all_parts),
        "causes": [str(cause) for cause in causes(report)] if not report.ok else [],
        "page": f"{_CHECK}/check.html",
    }
