"""`fabkit snowflakes`."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli import options
from fabkit.cli.context import NO_EXIT, Context, takes
from fabkit.cli.options import flag, option
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many, printable, shown
from fabkit.core.files import digest, json_text, read_json, writing
from fabkit.core.signals import at_stop
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabkit.jobs.run import Pool
    from fabkit.puzzles.snowflakes.query import SnowflakeQuery
    from fabkit.puzzles.snowflakes.search import Searched

PARITIES = ("even", "odd", "mixed")
_MOST_HALF_WIDTH = 40
_MOST_WORKERS = 256
LIST, SHEET, RUNS = "snowflakes.json", "snowflakes.svg", "runs"


@takes("set", "output")
def snowflakes(
    context: Context,
    parity: str | None = option(
        "--parity PARITY,...",
        "Only with this centre: even (a corner of the grid), odd (the middle of a cell), "
        "mixed (a ring and a centre half a unit apart).",
        read=options.some_of(PARITIES, "parity", "there are"),
        complete=lambda: PARITIES,
    ),
    flips: bool | None = option(
        "--flips/--no-flips",
        "Allow or forbid turning pieces over; takes no value (default: as the set says).",
    ),
    pieces: str | None = option("--pieces IDS", "Only these pieces, such as A,B,C (default: all)."),
    max_half_width: int | None = option(
        "--max-half-width H",
        "Only on boards with at most H cells from the centre to the edge (default: as far "
        "as any shape can reach).",
        read=options.whole(0, _MOST_HALF_WIDTH),
    ),
    wandering: bool = flag("--wandering", "Also list shapes that fall apart into movable blocks."),
    workers: int | None = option(
        "--workers N",
        "Number of processes (default: one per core).",
        read=options.whole(1, _MOST_WORKERS),
    ),
    cluster: str | None = option("--cluster ADDRESS", "Run on the Dask cluster of this scheduler."),
    resume: Path | None = option(
        "--resume DIR", "Keep the run in this folder, or resume it (default: output/SET/runs/...)."
    ),
    proof: Path | None = option(
        "--proof DIR", "Write a proof for every impossible shape, for `fabkit certify`."
    ),
    count_s: float = option(
        "--count-budget SECONDS",
        f"Time limit for counting the solutions of a snowflake; 0 skips it (default: {COUNT_S:g}).",
        COUNT_S,
    ),
    budget_s: float = option(
        "--budget SECONDS",
        f"Time limit for a hard shape; it is then listed as unknown (default: {DECIDE_S:g}).",
        DECIDE_S,
    ),
    timed: bool = flag("--timed", "Record in the catalog how long the search took."),
) -> int:
    """Find all shapes of the pieces that have a square's symmetry.

    Exit code 1 if there are none, or some could not be decided.
    """
    report, puzzle, folder = context.report, context.puzzle, context.folder
    with suppress(FileNotFoundError):  # before hours have been spent
        other = read_json(folder / LIST).get("set")
        if other != puzzle.name:
            message = f"holds the snowflakes of {shown(other)}; choose another folder with -o"
            raise InputError.of(printable(str(folder / LIST)), message)

    from fabkit.jobs.checkpoint import Checkpoint
    from fabkit.puzzles.snowflakes.query import SnowflakeQuery
    from fabkit.puzzles.snowflakes.search import find

    query = SnowflakeQuery(
        puzzle,
        _pieces(puzzle, pieces),
        tuple(parity or PARITIES),
        puzzle.flips if flips is None else flips,
        not wandering,
        max_half_width,
        count_s,
        budget_s,
    )
    # A folder of its own for every question.
    said = json_text(query.identity, indent=None)
    run = resume or folder / RUNS / f"snowflakes-{digest(said)[:12]}"
    again = shlex.join(["--resume", str(run)])
    message = f"stopped; what is done is kept: the same command with {again} goes on"
    with (
        at_stop(lambda: message),
        _pool(workers, cluster) as pool,
        Checkpoint(run, query.identity) as checkpoint,
    ):
        kept = len(checkpoint.keys())
        if kept:
            report.say(f"going on with the run in {run}: {many(kept, 'task')} done already")
        with report.stages() as told:
            found = find(query, checkpoint, pool, told)
    return _tell(query, found, folder, proof, context.begin if timed else None, report)


def _tell(
    query: SnowflakeQuery,
    found: Sequence[Searched],
    folder: Path,
    proofs: Path | None,
    begin: float | None,
    report: Report,
) -> int:
    """Writes the files, says what there is, and returns the exit code."""
    from fabkit.output.challenge import snowflake_sheet
    from fabkit.puzzles.snowflakes.catalog import command, document, proof_files, text
    from fabkit.puzzles.snowflakes.field import spelt

    took_s = None if begin is None else time.monotonic() - begin
    catalog = document(query, found, command(query), took_s)
    head, rows = ["unions", "full_area", "candidates", "solved", "impossible", "unknown"], []
    for one in found:  # how many were left at each step of each search
        steps = one.funnel | {"impossible": sum(one.funnel["impossible"].values())}
        rows.append([one.parity, spelt(one.half_width), *(steps[key] for key in head)])
    report.table(["parity", "up to", *(key.replace("_", " ") for key in head)], rows)
    for kind in catalog["complete"]:
        report.detail(f"{kind['parity']}: {kind['argument']}")
    drawn = snowflake_sheet(query.puzzle, catalog["challenges"])
    names = _put(folder, [(LIST, text(catalog)), (SHEET, drawn)])
    listed, unknown = len(catalog["challenges"]), len(catalog["unknown"])
    report.say(f"{many(listed, 'snowflake')}; wrote {' and '.join(map(str, names))}")
    if proofs is not None:
        for path in _put(proofs, (file for one in found for file in proof_files(query, one))):
            report.say(f"wrote {path}")
    if unknown:
        report.warn(f"{many(unknown, 'shape')} could not be decided; see unknown in {LIST}")
    report.document(catalog)
    return 0 if listed and not unknown else NO_EXIT


def _put(folder: Path, files: Iterable[tuple[str, str]]) -> list[Path]:
    """Writes files, each a name and a text, all or none of them."""
    paths = []
    with writing(folder) as staging:
        for name, text in files:
            staging.path(name).write_bytes(text.encode())
            paths.append(folder / name)
        staging.commit()
    return paths


def _pool(workers: int | None, cluster: str | None) -> Pool:
    if cluster is not None:
        from fabkit.jobs.cluster import ClusterPool

        if workers is not None:
            raise InputError.of("--workers", "a cluster has its own workers; leave one of them out")
        return ClusterPool(cluster)
    from fabkit.jobs.run import local_pool

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return local_pool(workers or cores or 1)


def _pieces(puzzle: PuzzleSet, given: str | None) -> tuple[str, ...]:
    """The ids that ``--pieces`` names, in the set's order: ``A,B,C``, or ``ABC`` as in challenges.

    Raises:
        InputError: when one is not known or named twice.
    """
    if given is None:
        return tuple(piece.id for piece in puzzle.pieces)
    letters = "," not in given and all(len(piece.id) == 1 for piece in puzzle.pieces)
    ids = list(given) if letters else [name.strip() for name in given.split(",")]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if not ids or not all(ids):
        raise InputError.of("--pieces", f"expected ids such as A,B,C, found {shown(given)}")
    if twice is not None:
        raise InputError.of("--pieces", f"{shown(twice)} is named twice; there is one")
    return tuple(piece.id for piece in puzzle.select(ids))
