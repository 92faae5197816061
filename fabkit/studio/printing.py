"""What the browser shows while a profile is tuned, files to print, and checks of meshes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.core.progress import Progress, counted
from fabkit.core.staging import write_atomically
from fabkit.profiles.profile_form import ProfileForm
from fabkit.studio.files import WorkingFolder, mesh_path
from fabkit.studio.project import Emit, Project

if TYPE_CHECKING:
    from fabkit.profiles.accessory import Printable
    from fabkit.studio.live import LiveParts

#: Time limit for the solution that is shown, in seconds.
_SOLUTION_S = 5.0
#: Time limit for each challenge of a check, in seconds.
_CHECK_S = 60.0
#: In the room: the folder of the report on a check.
_CHECK = "check"


def profile(project: Project) -> dict[str, Any]:
    """Read the profile for the browser: see `ProfileForm.document`."""
    return project.form.document(WorkingFolder(project.folder).profiles())


def profile_file(project: Project) -> dict[str, Any]:
    """Write what is chosen as a profile file, which gives the set the same profile by itself.

    Returns:
        The ``name`` and ``text`` of the file; the digest by which an earlier one of that name is
        ``known``, as `WorkingFolder.save` takes it; and whether that one ``differs``.
    """
    text = project.form.changes()
    name = f"{project.name.removesuffix('.toml')}-profile.toml"
    before = {"digest": "", "text": text}
    if (project.folder / name).exists():
        before = WorkingFolder(project.folder).read(name)
    differs = before["text"] != text
    return {"name": name, "text": text, "known": before["digest"], "differs": differs}


def _live_parts(project: Project) -> tuple[LiveParts, list[dict[str, str]]]:
    """Return the parts of the set, and the faults of those that the profile does not suit."""
    from fabkit.drawing.draft import draft_possible, draft_printable
    from fabkit.studio.live import LiveParts

    def remains(part: Printable, other: ProfileForm) -> bool:
        try:
            _, failed = draft_possible(project.puzzle, [part], other.profile, draft_printable)
            return bool(failed)
        except InputError:
            return True

    live = LiveParts(project.puzzle, project.profile)
    faults = [
        project.form.fault(
            ErrorDetail(", ".join(part.id for part in parts), message), partial(remains, parts[0])
        )
        for message, parts in live.failed.items()
    ]
    return live, faults


def solids(project: Project, first: str = "", *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Make the solids of everything that the set prints.

    Emits the ``ids`` of all parts, and the ``faults`` of those that the profile does not suit; then
    for each other part its ``id``, its ``kind`` (``piece``, or that of a board or lid) and its
    ``model``, as soon as it is made.

    Args:
        first: the id of the part that is made, and emitted, before everything else.

    Returns:
        ``bill``: the bill of materials, see `Bom.document`, with the number of ``parts`` and
        ``grams``; null if a part cannot be made. The print time is in it if `fabkit slice` has been
        called with this set and profile.
    """
    from fabkit.build.slicing import bom_in
    from fabkit.studio.live import LiveParts

    def emit_model(live: LiveParts, part: Printable) -> None:
        kind = getattr(part, "kind", "piece")
        emit({"id": part.id, "kind": kind, "model": live.model(part)})

    if first:  # drafting all of them takes as long as making one
        alone = LiveParts(project.puzzle, project.profile, first)
        for part in alone.artifacts.printables:
            emit_model(alone, part)
    live, faults = _live_parts(project)
    emit({"faults": faults, "ids": live.ids})
    parts = [part for part in live.artifacts.printables if part.id != first]
    for done, part in enumerate(parts):
        counted(progress, done, len(parts), part.id)
        emit_model(live, part)
    if faults:
        return {"bill": None}
    bom = bom_in(project.folder / "output" / project.puzzle.name, live.artifacts)
    totals = {"parts": sum(piece.count for piece in bom.pieces), "grams": bom.grams}
    return {"bill": bom.document() | totals}


def plates(project: Project, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Lay everything that the set prints out on beds.

    Returns:
        ``plates``: for each the ids of its parts and their matrices, as the viewer has them; and
        the ``faults``, if there are none.
    """
    from fabkit.studio.live import LiveParts, plate_matrices

    def fails(other: ProfileForm) -> bool:
        try:
            live = LiveParts(project.puzzle, other.profile)
            return bool(live.failed or not live.artifacts.lay_out(progress))
        except InputError:
            return True

    live, faults = _live_parts(project)
    if faults:
        return {"plates": [], "faults": faults}
    try:
        live.artifacts.lay_out(progress)
        return {"plates": plate_matrices(live.artifacts), "faults": []}
    except InputError as error:
        # All have one cause: the bed.
        key = project.form.fault(error.errors[0], fails)["key"]
        faults = [{"key": key, "message": str(detail)} for detail in error.errors]
        return {"plates": [], "faults": faults}


def assembled(project: Project, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Solve the set's first board or challenge, and put the pieces there.

    Returns:
        ``parts``: their ids and matrices, as the viewer has them, the board among them if it is
        printed; null if no solution is soon found.
    """
    from fabkit.solve.answer import solve
    from fabkit.solve.encoding import to_exact_cover
    from fabkit.solve.engines.engine import Budget
    from fabkit.studio.live import assembled_matrices

    puzzle = project.puzzle
    if not (puzzle.boards or puzzle.challenges):
        return {"parts": None}
    challenge = project.challenge()
    encoded = to_exact_cover(puzzle, challenge)
    answer = solve(encoded, "first", budget=Budget(_SOLUTION_S, progress))
    if not answer.solutions:
        return {"parts": None}
    layout = encoded.decode(answer.solutions[0])
    return {"parts": assembled_matrices(puzzle, project.profile, challenge.board_cells, layout)}


def section(project: Project, part: str, *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Cut a part upright: see `section_document`; of a part that cannot be made, nothing."""
    from fabkit.mesh.upright import section_document

    live, _ = _live_parts(project)
    for printable in live.artifacts.printables:
        if printable.id == part:
            live.model(printable)  # keeps its mesh
            return section_document(live.artifacts.mesh(printable), live.artifacts.drawings[part])
    return {"rings": [], "measures": []}


def files(project: Project, kind: str, *, emit: Emit, progress: Progress) -> dict[str, str]:
    """Make a file to download.

    Args:
        kind: one of `fabkit.build.bundle.BUNDLES`.

    Returns:
        ``name``: its path below ``made/``.
    """
    from fabkit.build.bundle import make_bundle
    from fabkit.jobs.parallel import all_cores

    puzzle = project.puzzle
    folder = project.room / "files" / kind / puzzle.name
    with all_cores():
        set_file = project.name, project.text
        path = make_bundle(puzzle, project.profile, kind, folder, set_file, progress)
    return {"name": path.relative_to(project.room).as_posix()}


def check(project: Project, names: list[str], *, emit: Emit, progress: Progress) -> dict[str, Any]:
    """Check meshes that were sent, as `fabkit check --set` does.

    Returns:
        ``ok``; the ``causes`` of failure, as sentences; the number of ``parts``; and ``page``, the
        path of the report with its pictures below ``made/``.
    """
    from fabkit.build.meshes import load_scan
    from fabkit.build.reports import check_contents
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
